// A living figure on its slide: its letters have 18 px, and it is as large as the slide lets it be (see `living` in
// stage.py). Where it has no room for that, its caption goes (it is in the notes, too), then what its module calls
// part("", ..); then its parts stand there one at a time, with a button each below it. Keys 1 to 9 press these.
const MOST = 1.5, STEP = 0.05, LETTERS = 18, FOOT = 690; // below is the number of the slide
// Letters in px, the least zoom, and what stands around; the last ones are for what cannot be had in large letters.
const WAYS = [
  { letters: LETTERS, least: 1.2, caption: true }, { letters: LETTERS, least: 1.1 }, { letters: LETTERS, least: 1.05, spare: true },
  ...[LETTERS, 16.5, 15, 13.5, 12].map((letters) => ({ letters, least: 0.85, spare: true, parts: true })),
];
const shown = (figure) => {
  const texts = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT), found = [];
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const box = text.parentElement;
    if (!text.data.trim() || box.closest("style, title, desc, option, figcaption, .lm-hidden") || !box.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    found.push({ text, box, frame: (box.closest("svg") ?? figure).getBoundingClientRect(), lines: [...range.getClientRects()].filter(({ width }) => width > 1) });
  }
  return found;
};
// How many words lie over others or end outside their picture, and how many numbers go on in the next line.
const crowded = (figure) => {
  const texts = shown(figure), boxes = texts.flatMap(({ lines }) => lines), TOUCHING = 4;
  const out = texts.flatMap(({ frame, lines }) => lines.filter((line) => line.right > frame.right + 1 || line.left < frame.left - 1)).length;
  const broken = texts.filter(({ text, lines }) => lines.length > 1 && /^\S*\d\S*$/.test(text.data.trim())).length;
  const over = (one, two) => Math.min(one.right, two.right) - Math.max(one.left, two.left) > TOUCHING && Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > TOUCHING;
  return out + broken + boxes.reduce((all, one, at) => all + boxes.slice(at + 1).filter((two) => over(one, two)).length, 0);
};
const drawn = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); });
const scale = (svg) => Math.hypot(svg.getScreenCTM().b, svg.getScreenCTM().d) / Reveal.getScale();
// A drawing that is shown smaller than it was made has larger letters in its own measure.
const letter = (figure, least) => {
  figure.style.setProperty("--lm-least", `${least / figure.currentCSSZoom}px`);
  for (const svg of figure.querySelectorAll("svg"))
    if (svg.checkVisibility()) svg.parentElement.style.setProperty("--lm-drawn", `${least / scale(svg)}px`);
};
const legible = (figure, least) => shown(figure).every(({ box }) =>
  box.closest("sub, sup") || parseFloat(getComputedStyle(box).fontSize) * (box.closest("svg") ? scale(box) : figure.currentCSSZoom) > least - 0.1);
// The names of its parts; the one that has the bet comes first.
const named = (figure) => {
  const asked = figure.querySelector("[data-part]:is(.lm-wager, :has(.lm-wager))")?.dataset.part.split(" ") ?? [];
  return [...new Set([...asked, ...[...figure.querySelectorAll("[data-part]")].flatMap(({ dataset }) => dataset.part.split(" "))])].filter(Boolean);
};
// Shows one part of the figure, all of them (null), or all and what is not needed here (undefined).
const turn = (figure, part) => {
  for (const one of figure.querySelectorAll("[data-part]"))
    one.classList.toggle("lm-off", part !== undefined && (!one.dataset.part || (part !== null && !one.dataset.part.split(" ").includes(part))));
  for (const one of figure.closest("section").querySelectorAll(".parts button")) one.ariaPressed = `${one.textContent === part}`;
};
const inside = (body, figure) => shown(figure).every(({ lines }) => lines.every(({ right }) => right <= body.getBoundingClientRect().right + 1));
const fitting = (body) => body.scrollHeight <= body.clientHeight + 1 && body.scrollWidth <= body.clientWidth + 1;
// Whether every part of the figure has its room in this way, at the largest zoom at which it has.
const fitted = async (body, figure, { letters, least, caption, spare, parts }, before) => {
  body.classList.toggle("quiet", !caption);
  body.classList.toggle("spare", !!spare);
  const names = parts ? named(figure) : [], views = names.length ? names : [spare ? null : undefined];
  for (let zoom = MOST; zoom > least - 0.01; zoom -= STEP) {
    figure.style.zoom = zoom.toFixed(2);
    let right = true;
    for (const view of views) {
      turn(figure, view);
      letter(figure, letters);
      await drawn();
      letter(figure, letters); // of what was drawn anew
      right &&= fitting(body) && (letters < LETTERS || (legible(figure, letters) && inside(body, figure) && crowded(figure) <= before));
      if (!right) zoom = Math.min(zoom, STEP * Math.ceil((zoom * (body.clientHeight / body.scrollHeight) ** 0.6) / STEP) + STEP); // far too high
      if (!right) break;
    }
    if (right) {
      turn(figure, views[0]);
      return true;
    }
  }
  return false;
};
const offer = (body, figure, names) => {
  body.parentElement.querySelector(".parts")?.remove();
  if (names.length < 2) return;
  const bar = body.parentElement.appendChild(Object.assign(document.createElement("div"), { className: "parts" }));
  for (const name of names) bar.append(Object.assign(document.createElement("button"), { type: "button", textContent: name, onclick: () => turn(figure, name) }));
  turn(figure, names[0]);
};
const settle = async (body) => {
  const figure = body.querySelector(".lm-figure"), { live } = figure.dataset;
  if (!live || !figure.offsetParent || body.dataset.settled === "at work") return; // not there yet, or not now
  const title = body.parentElement.querySelector("h2"), lines = () => title.offsetHeight / (1.2 * parseFloat(title.style.fontSize));
  for (let size = 30; size >= 24; size -= 2) { // on one line, where it can be
    title.style.fontSize = `${size}px`;
    if (lines() < 1.5) break;
  }
  body.dataset.settled = "at work";
  body.classList.add("unsettled");
  body.style.maxHeight = `${FOOT - body.offsetTop}px`;
  body.style.height = body.style.maxHeight;
  figure.style.zoom = MOST;
  letter(figure, WAYS.at(-1).letters);
  await drawn();
  const before = crowded(figure); // larger letters must not lie over each other more than they do on the page
  let way = live === body.dataset.live ? Number(body.dataset.way) : 0; // when it grows in use, it is not made larger
  while (!(await fitted(body, figure, WAYS[way], before)) && way < WAYS.length - 1) way += 1;
  offer(body, figure, WAYS[way].parts ? named(figure) : []);
  Object.assign(body.dataset, { live, way, smallest: WAYS[way].letters });
  body.classList.remove("unsettled");
  await drawn();
  body.dataset.settled = live;
};
// It keeps its size while it is used, unless it grows.
const watched = new ResizeObserver((sizes) => {
  for (const { target: figure } of sizes) {
    const body = figure.closest(".body"), { settled } = body.dataset;
    if (figure.offsetParent && (settled !== figure.dataset.live || (!fitting(body) && Number(body.dataset.way) < WAYS.length - 1))) settle(body);
  }
});
const begun = new MutationObserver((changes) => { for (const { target } of changes) settle(target.closest(".body")); });
for (const figure of document.querySelectorAll(".body > .lm-figure")) {
  watched.observe(figure);
  begun.observe(figure, { attributeFilter: ["data-live"] });
}
Reveal.on("ready", () => {
  for (let key = 1; key <= 9; key += 1)
    Reveal.addKeyBinding({ keyCode: 48 + key, key: `${key}`, description: "A part of the figure" }, () =>
      Reveal.getCurrentSlide().querySelectorAll(".parts button")[key - 1]?.click());
});
