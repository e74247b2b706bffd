// What a stylesheet cannot do. Without it the pages still read well.

// The theme marks where the reader is in the page's contents. Without contents it would take every link for one.
if (!document.querySelector(".bd-toc-nav")) document.body.removeAttribute("data-bs-spy");

// A box that scrolls sideways can be reached with the keyboard, as long as it does scroll.
const boxes = document.querySelectorAll(".lm-scroll, .pst-scrollable-table-container, .cell_output .output, .bd-article pre");
const watch = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const scrolls = target.scrollWidth > target.clientWidth + 1;
    if (!scrolls) {
      target.removeAttribute("tabindex");
      if (target.dataset.lmName) for (const name of ["role", "aria-label"]) target.removeAttribute(name);
      continue;
    }
    target.tabIndex = 0;
    if (target.dataset.lmName) {
      target.setAttribute("role", "group");
      target.setAttribute("aria-label", `${target.dataset.lmName}, scrolls sideways`);
    }
  }
});
for (const box of boxes) watch.observe(box);

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
