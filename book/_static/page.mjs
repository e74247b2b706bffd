// What a stylesheet cannot do. Without it the pages still read well.

// The theme marks where the reader is in the page's contents. Without contents it would take every link for one.
if (!document.querySelector(".bd-toc-nav")) document.body.removeAttribute("data-bs-spy");

// A box that scrolls sideways can be reached with the keyboard, as long as it does scroll. What is in it is watched too:
// it may grow (a font arrives) while the box keeps its size. The theme sets -1 on boxes that do not scroll when it loads.
const boxes = document.querySelectorAll(".lm-scroll, .pst-scrollable-table-container, .cell_output .output, .bd-article pre");
const reach = (box) => {
  const scrolls = box.scrollWidth > box.clientWidth + 1;
  if (!scrolls) {
    box.removeAttribute("tabindex");
    if (box.dataset.lmName) for (const name of ["role", "aria-label"]) box.removeAttribute(name);
    return;
  }
  box.tabIndex = 0;
  if (box.dataset.lmName) {
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `${box.dataset.lmName}, scrolls sideways`);
  }
};
const watch = new ResizeObserver(() => boxes.forEach(reach));
for (const box of boxes) for (const part of [box, ...box.children]) watch.observe(part);
addEventListener("load", () => boxes.forEach(reach));

// A link to something folded opens it; a printed page has everything open and is light.
const unfold = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = target?.closest("details"); box; box = box.parentElement?.closest("details")) box.open = true;
};
addEventListener("hashchange", unfold);
unfold();
let opened = [];
let theme = "";
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("main details:not([open])")];
  for (const box of opened) box.open = true;
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  for (const box of opened) box.open = false;
  document.documentElement.dataset.theme = theme;
});
