// What a stylesheet cannot do. Without it the pages still read well.

// The contents of the page mark the section that the reader has reached. Bootstrap does that too, but it first asks
// each section whether it is visible, and so has the browser lay out all of them at once.
document.body.removeAttribute("data-bs-spy");
const links = new Map(
  /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll('.bd-toc-nav a[href^="#"]')]).map((link) => [
    decodeURIComponent(link.hash.slice(1)),
    link,
  ]),
);
const inSight = new Set();
const mark = (here) => {
  for (const link of links.values()) for (const part of [link, link.closest("li")]) part?.classList.remove("active");
  for (let item = here.closest("li"); item; item = item.parentElement.closest(".bd-toc-nav li")) {
    for (const part of [item, item.querySelector("a")]) part.classList.add("active");
  }
};
const reached = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) inSight[isIntersecting ? "add" : "delete"](target.id);
    const last = [...links.keys()].filter((id) => inSight.has(id)).pop();
    if (last) mark(links.get(last));
  },
  { rootMargin: "0px 0px -60%" },
);
for (const id of links.keys()) if (document.getElementById(id)) reached.observe(document.getElementById(id));

// A box that scrolls sideways can be reached with the keyboard, as long as it does scroll. What is in it is watched
// too: it may grow (a font arrives) while the box keeps its size.
const SCROLLING = ".lm-scroll, .pst-scrollable-table-container, .cell_output .output, .bd-article pre";
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
const reachAll = (boxes) => {
  const scroll = boxes.map((box) => box.scrollWidth > box.clientWidth + 1);
  boxes.forEach((box, i) => reach(box, scroll[i]));
};
// The observer tells of each box at first, and later of those alone that have changed their size, or their contents
// theirs.
const watch = new ResizeObserver((entries) => {
  const near = entries.flatMap(({ target }) => [target, target.parentElement]).filter((box) => box?.matches(SCROLLING));
  reachAll([...new Set(near)]);
});
const boxes = [...document.querySelectorAll(SCROLLING)];
for (const box of boxes) for (const part of [box, ...box.children]) watch.observe(part);

// A formula that is too wide even where it breaks gets smaller letters, down to SMALLEST of theirs; then its box
// scrolls.
const SMALLEST = 0.6;
const formulae = [...document.querySelectorAll(".lm-equation .lm-scroll")];
const fit = (some) => {
  for (const box of some) if (box.style.getPropertyValue("--lm-fit")) box.style.removeProperty("--lm-fit");
  const sizes = some.map(() => 1);
  for (let round = 0; round < 3; round += 1) {
    // smaller letters break elsewhere
    const shares = some.map((box) => box.clientWidth / box.scrollWidth);
    if (shares.every((share) => !(share < 1))) break;
    some.forEach((box, i) => {
      if (!(shares[i] < 1)) return;
      sizes[i] = Math.max(SMALLEST, Math.floor(99 * sizes[i] * shares[i]) / 100);
      box.style.setProperty("--lm-fit", sizes[i]);
    });
  }
};

// Letters of a plot are larger on a phone than where it was drawn: the name of an axis upwards steps aside from the
// numbers that have grown towards it, and a plot whose labels then leave it gets a larger frame.
const NARROW = matchMedia("(max-width: 768px)");
const plots = [...document.querySelectorAll("figure.lm-plot:not(.lm-drawing) svg")];
const UPWARDS = '[transform^="rotate(-90"][style*="font-size: 11px"]';
const GAP = 2; // px between the name of an axis and its numbers
const aside = (svg) => {
  const box = svg.getBoundingClientRect();
  const drawn = Number(svg.dataset.drawn.split(" ")[2]);
  const words = [...svg.querySelectorAll("text")].map((text) => [text, text.getBoundingClientRect()]);
  return words
    .filter(([text]) => text.matches(UPWARDS))
    .map(([name, a]) => {
      const far = (sides) =>
        Math.max(
          0,
          ...words
            .filter(([text, b]) => text !== name && b.top < a.bottom && b.bottom > a.top)
            .map(([, b]) =>
              b.left + b.right > a.left + a.right === sides > 0
                ? GAP + (sides > 0 ? a.right - b.left : b.right - a.left)
                : 0,
            ),
        );
      return [name, ((far(-1) - far(1)) * drawn) / box.width];
    });
};
const frame = (some) => {
  for (const svg of some) {
    svg.dataset.drawn ??= svg.getAttribute("viewBox");
    svg.setAttribute("viewBox", svg.dataset.drawn);
    for (const name of svg.querySelectorAll(UPWARDS)) name.style.translate = "";
  }
  const moves = NARROW.matches ? some.flatMap(aside) : [];
  for (const [name, by] of moves) if (by) name.style.translate = `${by.toFixed(2)}px 0`;
  const larger = NARROW.matches
    ? some.map((svg) => {
        const box = svg.getBoundingClientRect();
        const labels = [...svg.querySelectorAll("text")].map((text) => text.getBoundingClientRect());
        const [x, y, width, height] = svg.dataset.drawn.split(" ").map(Number);
        const beyond = (sides) => (Math.max(0, ...sides.map(Math.ceil)) * width) / box.width;
        const left = beyond(labels.map((label) => box.left - label.left));
        const right = beyond(labels.map((label) => label.right - box.right));
        const top = beyond(labels.map((label) => box.top - label.top));
        const bottom = beyond(labels.map((label) => label.bottom - box.bottom));
        return box.width ? [x - left, y - top, width + left + right, height + top + bottom] : null;
      })
    : [];
  larger.forEach((box, i) => {
    if (box) some[i].setAttribute("viewBox", box.map((side) => +side.toFixed(2)).join(" "));
  });
};

// To measure something in a section that is far away has the browser lay it out (lmbook.css). So a section is measured
// when it is near, and those far away one by one in pauses, once the reader has begun to move, or after a while.
const PART = ".bd-article > section > section";
const PATIENCE = 6000; // ms
const inside = (list) =>
  Map.groupBy?.(list, (box) => box.closest(PART)) ??
  list.reduce((found, box) => found.set(box.closest(PART), [...(found.get(box.closest(PART)) ?? []), box]), new Map());
const formulaeIn = inside(formulae);
const boxesIn = inside(boxes);
const plotsIn = inside(plots);
const parts = [...document.querySelectorAll(PART)];
const done = new Set();
const measure = (part) => {
  done.add(part);
  fit(formulaeIn.get(part) ?? []);
  frame(plotsIn.get(part) ?? []);
  reachAll(boxesIn.get(part) ?? []);
  // now its height is known, so that far from the reader it takes the room that it needs, not what lmbook.css guesses
  const last = part?.lastElementChild;
  if (!last) return;
  const height = last.getBoundingClientRect().bottom - part.getBoundingClientRect().top;
  part.style.containIntrinsicBlockSize = `auto ${Math.round(height)}px`;
};
const comes = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting && !done.has(target)) measure(target);
  },
  { rootMargin: "50%" },
);
const pause = () =>
  new Promise((then) => {
    if (window.requestIdleCallback) requestIdleCallback(then, { timeout: 100 });
    else setTimeout(then, 30);
  });
let busy = false;
const rest = async () => {
  if (busy) return;
  busy = true;
  for (const part of parts) {
    if (done.has(part)) continue;
    await pause();
    if (!done.has(part)) measure(part);
  }
  busy = false;
};
for (const move of ["pointermove", "pointerdown", "wheel", "touchmove", "keydown"])
  addEventListener(move, rest, { once: true, passive: true });
addEventListener("load", () => setTimeout(rest, PATIENCE));
// Before a jump inside the page all of it is laid out: past sections whose height is only guessed it would end
// elsewhere.
const layOut = () => document.documentElement.classList.add("lm-laid-out");
document.addEventListener(
  "click",
  ({ target }) => {
    if (target instanceof Element && target.closest('a[href^="#"]')) layOut();
  },
  true,
);
addEventListener("popstate", layOut);
let width = 0;
new ResizeObserver(() => {
  if (width === innerWidth) return;
  if (width)
    for (const part of [null, ...parts]) measure(part); // a phone is turned: seldom, and all at once
  else {
    measure(null);
    for (const part of parts) comes.observe(part); // tells of each that is near
  }
  width = innerWidth;
}).observe(document.documentElement);
const anew = () => {
  for (const part of [...done]) measure(part);
};
document.fonts.ready.then(anew);
document.fonts.addEventListener("loadingdone", anew); // a font may come later, with the first section that needs it
// what was folded had no width
document.addEventListener("toggle", (event) => measure(/** @type {Element} */ (event.target).closest(PART)), true);

// A link to something folded opens it. While figures come to life, the page above its target grows: it is scrolled to
// again, unless the reader has begun to move.
const aim = () => {
  try {
    return document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // a link that somebody cut
    return null;
  }
};
const unfold = () => {
  for (let box = aim()?.closest("details"); box; box = box.parentElement?.closest("details")) box.open = true;
};
addEventListener("hashchange", unfold);
unfold();
// What was searched for comes into sight, also where it is folded away. Sphinx marks it soon after the page has loaded.
const toMark = (tries) => {
  const found = document.querySelector("article .highlighted");
  if (location.hash || scrollY > 0) return;
  if (!found) {
    if (tries) setTimeout(toMark, 50, tries - 1);
    return;
  }
  for (let box = found.closest("details"); box; box = box.parentElement?.closest("details")) box.open = true;
  layOut();
  found.scrollIntoView({ behavior: "instant", block: "center" });
};
addEventListener("load", () => toMark(10));
const [arrival] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
let landing = arrival?.type === "navigate";
setTimeout(() => {
  landing = false;
}, 10_000);
for (const move of ["wheel", "touchmove", "keydown", "pointerdown"]) {
  addEventListener(
    move,
    () => {
      landing = false;
    },
    { passive: true },
  );
}
const article = document.querySelector("article");
if (article && aim())
  new ResizeObserver(() => {
    if (landing) aim()?.scrollIntoView({ behavior: "instant" });
  }).observe(article);

// Where the index of the search does not come, the page would search for ever.
const results = document.getElementById("search-results");
if (results) {
  setTimeout(() => {
    // @ts-expect-error: Sphinx declares it in a script of its own
    if (Search.hasIndex()) return;
    // @ts-expect-error: Sphinx declares it in a script of its own
    Search.stopPulse();
    results.textContent = "The index of the search could not be loaded. All pages are in the contents of the book.";
  }, 6000);
}

// A printed page is light. What is folded is open, but for code and numbers that only repeat what a figure shows; the
// solutions, and the answers to the questions of the page, come at its end.
let opened = [];
let moved = [];
let theme = "";
const LONG = 12; // lines of code that may go on on the next page, as in the printed book
const TALL = 800; // pixels of a figure that may
addEventListener("beforeprint", () => {
  for (const code of document.querySelectorAll("div.cell_input pre")) {
    code.classList.toggle("lm-long", code.textContent.trimEnd().split("\n").length > LONG);
  }
  for (const figure of document.querySelectorAll("figure.lm-figure[data-live]"))
    figure.classList.toggle("lm-tall", /** @type {HTMLElement} */ (figure).offsetHeight > TALL);
  opened = [...document.querySelectorAll("main details:not([open], .hide, .lm-table)")];
  for (const box of opened) box.open = true;
  const end = document.createElement("section");
  end.id = "lm-print-end";
  end.append(Object.assign(document.createElement("h2"), { textContent: "Answers and solutions" }));
  document.querySelectorAll(".lm-check").forEach((check, i) => {
    const list = Object.assign(document.createElement("div"), { className: "lm-print-answer" });
    check.querySelector(".lm-kicker").setAttribute("data-number", String(i + 1));
    list.append(Object.assign(document.createElement("h3"), { textContent: `Check yourself ${i + 1}` }));
    for (const option of check.querySelectorAll(".lm-option")) {
      const letter = option.querySelector(".lm-letter").textContent;
      const why = /** @type {Element} */ (option.querySelector(".lm-why > div").cloneNode(true));
      why.prepend(Object.assign(document.createElement("strong"), { textContent: `${letter} ` }));
      list.append(why);
    }
    end.append(list);
  });
  moved = [...document.querySelectorAll("main details.solution")].map((box) => [box, document.createComment("")]);
  for (const [box, place] of moved) {
    box.replaceWith(place);
    end.append(box);
  }
  if (end.children.length > 1) article?.append(end);
  // long code goes on on the next page; kept whole, it would leave half a page empty
  for (const code of document.querySelectorAll("main pre"))
    code.classList.toggle("lm-long", code.textContent.trim().split("\n").length > 12);
  theme = document.documentElement.dataset.theme;
  document.documentElement.dataset.theme = "light";
});
addEventListener("afterprint", () => {
  for (const [box, place] of moved) place.replaceWith(box);
  for (const box of opened) box.open = false;
  document.getElementById("lm-print-end")?.remove();
  document.documentElement.dataset.theme = theme;
});
