// What a stylesheet cannot do. Without it the pages still read well.

// The theme marks where the reader is in the page's contents. Without contents it would take every link for one.
if (!document.querySelector(".bd-toc-nav")) document.body.removeAttribute("data-bs-spy");

// A box that scrolls sideways can be reached with the keyboard, as long as it does scroll. What is in it is watched too:
// it may grow (a font arrives) while the box keeps its size. The theme sets -1 on boxes that do not scroll when it loads.
const boxes = document.querySelectorAll(".lm-scroll, .pst-scrollable-table-container, .cell_output .output, .bd-article pre");
const reach = (box, scrolls) => {
  if (scrolls === (box.tabIndex === 0) && scrolls === box.hasAttribute("tabindex")) return;
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
// All boxes are measured before any is changed: a change between two measurements has the whole page laid out again.
const reachAll = () => {
  const scroll = [...boxes].map((box) => box.scrollWidth > box.clientWidth + 1);
  boxes.forEach((box, i) => reach(box, scroll[i]));
};
const watch = new ResizeObserver(reachAll);
for (const box of boxes) for (const part of [box, ...box.children]) watch.observe(part);
addEventListener("load", reachAll);

// A formula that is too wide even where it breaks gets smaller letters, down to SMALLEST of theirs; then its box scrolls.
const SMALLEST = 0.6;
const formulae = [...document.querySelectorAll(".lm-equation .lm-scroll")];
const fit = () => {
  for (const box of formulae) if (box.style.getPropertyValue("--lm-fit")) box.style.removeProperty("--lm-fit");
  const sizes = formulae.map(() => 1);
  for (let round = 0; round < 3; round += 1) { // smaller letters break elsewhere
    const shares = formulae.map((box) => box.clientWidth / box.scrollWidth);
    if (shares.every((share) => !(share < 1))) break;
    formulae.forEach((box, i) => {
      if (!(shares[i] < 1)) return;
      sizes[i] = Math.max(SMALLEST, Math.floor(99 * sizes[i] * shares[i]) / 100);
      box.style.setProperty("--lm-fit", sizes[i]);
    });
  }
};
let fitted = 0;
new ResizeObserver(() => {
  if (fitted !== innerWidth) fit();
  fitted = innerWidth;
}).observe(document.documentElement);
document.fonts.ready.then(fit);
document.addEventListener("toggle", fit, true); // what was folded had no width

// A link to something folded opens it. While figures come to life, the page above its target grows: it is scrolled to
// again, unless the reader has begun to move.
const aim = () => {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch { // a link that somebody cut
    return null;
  }
};
const unfold = () => {
  for (let box = aim()?.closest("details"); box; box = box.parentElement?.closest("details")) box.open = true;
};
addEventListener("hashchange", unfold);
unfold();
let landing = performance.getEntriesByType("navigation")[0]?.type === "navigate";
setTimeout(() => { landing = false; }, 10_000);
for (const move of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  addEventListener(move, () => { landing = false; }, { passive: true });
}
const article = document.querySelector("article");
if (article && aim()) new ResizeObserver(() => { if (landing) aim()?.scrollIntoView({ behavior: "instant" }); }).observe(article);

// Where the index of the search does not come, the page would search for ever.
const results = document.getElementById("search-results");
if (results) {
  setTimeout(() => {
    if (Search.hasIndex()) return;
    Search.stopPulse();
    results.textContent = "The index of the search could not be loaded. All pages are in the contents of the book.";
  }, 6000);
}

// A printed page is light. What is folded is open, but for code and numbers that only repeat what a figure shows; the
// solutions, and the answers to the questions of the page, come at its end.
let opened = [];
let moved = [];
let theme = "";
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("main details:not([open], .hide, .lm-table)")];
  for (const box of opened) box.open = true;
  const end = document.createElement("section");
  end.id = "lm-print-end";
  end.append(Object.assign(document.createElement("h2"), { textContent: "Answers and solutions" }));
  document.querySelectorAll(".lm-check").forEach((check, i) => {
    const list = Object.assign(document.createElement("div"), { className: "lm-print-answer" });
    check.querySelector(".lm-kicker").dataset.number = i + 1;
    list.append(Object.assign(document.createElement("h3"), { textContent: `Check yourself ${i + 1}` }));
    for (const option of check.querySelectorAll(".lm-option")) {
      const [letter, why] = [option.querySelector(".lm-letter").textContent, option.querySelector(".lm-why > div").cloneNode(true)];
      why.prepend(Object.assign(document.createElement("strong"), { textContent: `${letter} ` }));
      list.append(why);
    }
    end.append(list);
  });
  moved = [...document.querySelectorAll("main details.solution")].map((box) => [box, document.createComment("")]);
  for (const [box, place] of moved) { box.replaceWith(place); end.append(box); }
  if (end.children.length > 1) article?.append(end);
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  for (const [box, place] of moved) place.replaceWith(box);
  for (const box of opened) box.open = false;
  document.getElementById("lm-print-end")?.remove();
  document.documentElement.dataset.theme = theme;
});
