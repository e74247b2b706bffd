// What a reader does with the text beyond reading it: guesses before an experiment, cards with what a link leads to, how
// far one has come. All that is kept stays on this device, under one name in its storage; where there is none, it lasts for
// the visit.

const NAME = "lmbook";
const NOTHING = { guesses: {}, answers: {}, read: {}, last: "" };
let kept = structuredClone(NOTHING);
try {
  kept = { ...kept, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
} catch { /* no storage, or not ours */ }
const keep = () => {
  try {
    localStorage.setItem(NAME, JSON.stringify(kept));
  } catch { /* the guess is still in the page */ }
};
const h = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const page = location.pathname.split("/").pop().replace(/\.html$/, "");
const words = (node) => {
  const copy = node.cloneNode(true);
  for (const part of copy.querySelectorAll(".katex-html, annotation, .admonition-title, form")) part.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
};

// --- Predict first: a guess opens the answer and stands beside it

/** The alternatives of a question that ends in ": a, b or c?"; none where it does not. */
export function alternatives(question) {
  const list = /:\s([^:?]+)\?[^?]*$/.exec(question)?.[1] ?? "";
  const found = list.split(/,\s+(?:or\s+)?|\s+or\s+/).map((one) => one.replace(/^(nearer to|about) /, "").trim());
  return found.length >= 3 && found.length <= 6 && found.every((one) => one && one.length <= 42) ? found : [];
}

document.querySelectorAll("details.lm-answer").forEach((answer) => {
  const question = document.getElementById(answer.id.replace("answer", "predict"));
  if (!question) return;
  const key = `${page}: ${words(question).slice(0, 100)}`;
  const field = h("input", { type: "text", id: `${answer.id}-guess`, maxLength: 200, autocomplete: "off" });
  const choices = alternatives(words(question)).map((one) => h("button", { type: "button", className: "lm-choice", textContent: one,
    onclick: () => { field.value = one; guess(); } }));
  const form = h("form", { className: "lm-guess" }, ...(choices.length ? [h("div", { className: "lm-choices" }, ...choices)] : []),
    h("label", { htmlFor: field.id }, choices.length ? "or in your words" : "Your guess"), field,
    h("button", { type: "submit", textContent: "Compare" }));
  const yours = h("p", { className: "lm-yours", role: "status" });
  const show = () => {
    const said = kept.guesses[key];
    const again = h("button", { type: "button", textContent: "Change it", onclick: () => {
      delete kept.guesses[key];
      keep();
      answer.open = false;
      show();
      field.focus();
    } });
    form.hidden = Boolean(said);
    yours.replaceChildren(...(said ? ["You guessed: ", h("strong", { textContent: said }), " ", again] : []));
    if (said) answer.open = true;
  };
  const guess = () => {
    if (!field.value.trim()) { field.focus(); return; }
    kept.guesses[key] = field.value.trim();
    keep();
    show();
    answer.querySelector("summary").focus();
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); guess(); });
  question.append(form);
  answer.querySelector(".lm-answer-body").prepend(yours);
  show();
});

// --- the answers to self-check questions

for (const check of document.querySelectorAll(".lm-check")) {
  const key = `${page}: ${words(check.querySelector("legend")).slice(0, 100)}`;
  const options = [...check.querySelectorAll("input")];
  if (options[kept.answers[key]]) options[kept.answers[key]].checked = true;
  check.addEventListener("change", () => {
    kept.answers[key] = options.findIndex((option) => option.checked);
    keep();
  });
}

// --- how far a chapter was read: up to the end of its summary; after that come exercises and notes

const chapter = /\/notebooks\/([\w-]+)\.html$/.exec(location.pathname)?.[1];
const end = document.getElementById("summary") ?? document.querySelector(".lm-homework");
if (chapter && end) {
  let waiting = null;
  const look = () => {
    waiting = null;
    const share = Math.min(1, (scrollY + innerHeight) / (end.getBoundingClientRect().bottom + scrollY));
    if (share <= (kept.read[chapter] ?? 0) || scrollY === 0) return;
    kept.read[chapter] = Math.round(share * 100) / 100;
    keep();
  };
  addEventListener("scroll", () => { waiting ??= setTimeout(look, 500); }, { passive: true });
  kept.last = chapter;
  keep();
}

for (const station of document.querySelectorAll(".lm-station")) {
  const share = kept.read[station.dataset.page];
  if (!share) continue;
  const said = share === 1 ? "read" : `${Math.round(share * 100)}% read`;
  station.style.setProperty("--read", `${share * 100}%`);
  station.dataset.read = share === 1 ? "all" : "part";
  station.append(h("span", { className: "lm-share", textContent: said }));
}

const begin = document.querySelector(".lm-begin a");
const next = [...document.querySelectorAll(".lm-station")].find(({ dataset }) => dataset.page === kept.last);
if (begin && next) {
  const link = next.querySelector("a");
  begin.href = link.href;
  begin.textContent = `Go on with chapter ${words(link)}`;
}

// --- the page that shows what is kept

const box = document.getElementById("lm-kept");
const count = (many, one, several = `${one}s`) => `${many} ${many === 1 ? one : several}`;
if (box) {
  const show = () => {
    const [guesses, answers, chapters] = [kept.guesses, kept.answers, kept.read].map((one) => Object.keys(one).length);
    const none = guesses + answers + chapters === 0;
    const save = h("button", { type: "button", disabled: none, textContent: "Save them as a file", onclick: () => {
      const link = h("a", { download: "lmbook-answers.json",
        href: URL.createObjectURL(new Blob([JSON.stringify(kept, null, 1)], { type: "application/json" })) });
      link.click();
      URL.revokeObjectURL(link.href);
    } });
    const forget = h("button", { type: "button", disabled: none, textContent: "Delete them", onclick: () => {
      kept = structuredClone(NOTHING);
      try { localStorage.removeItem(NAME); } catch { /* there was none */ }
      show();
    } });
    box.replaceChildren(h("p", { role: "status" }, `On this device: ${count(guesses, "guess", "guesses")}, ${count(answers, "answer")} to self-check questions, how far you came in ${count(chapters, "chapter")}.`), save, " ", forget);
  };
  show();
}

// --- cards: what a citation, a term or an equation is, without leaving the line

const LINKS = ["bibliography.html#", "glossary.html#", "#equation-"].map((part) => `article a.reference[href*="${part}"]`).join(", ");
const pages = new Map();
const load = (url) => {
  const address = url.href.split("#")[0];
  if (address === location.href.split("#")[0]) return document;
  if (!pages.has(address)) {
    pages.set(address, fetch(address).then((answer) => answer.text()).then((text) => new DOMParser().parseFromString(text, "text/html")));
  }
  return pages.get(address);
};

/** What a link leads to, as nodes for a card; null where that is nothing for a card. */
async function target(link) {
  const url = new URL(link.href);
  const found = (await load(url)).getElementById(decodeURIComponent(url.hash.slice(1)));
  const whole = found?.closest("dt, .citation, .lm-equation");
  if (!whole) return null;
  let parts = [whole.cloneNode(true)];
  if (whole.localName === "dt") {
    let text = whole.nextElementSibling;
    while (text && text.localName !== "dd") text = text.nextElementSibling;
    parts = [h("strong", { textContent: words(whole).replace("#", "") }), ...(text?.cloneNode(true).childNodes ?? [])];
  }
  const card = h("div", {}, ...parts);
  for (const part of card.querySelectorAll(".headerlink, .label, .backrefs")) part.remove();
  for (const part of [card, ...card.querySelectorAll("*")]) {
    part.removeAttribute("id");
    part.removeAttribute("tabindex");
    if (part.localName === "a") { part.href = new URL(part.getAttribute("href"), url); part.tabIndex = -1; }
  }
  return card;
}

const card = h("div", { id: "lm-card", hidden: true });
card.setAttribute("role", "tooltip");
let over = null;
let timer = null;
const hide = () => {
  clearTimeout(timer);
  over?.removeAttribute("aria-describedby");
  over = null;
  card.hidden = true;
};
const show = async (link) => {
  const content = await target(link).catch(() => null);
  if (!content || over !== link) return;
  link.removeAttribute("title"); // the browser would show the same once more
  card.replaceChildren(...content.childNodes);
  card.hidden = false;
  const [at, wide] = [link.getBoundingClientRect(), document.documentElement.clientWidth];
  const left = Math.max(8, Math.min(at.left, wide - card.offsetWidth - 8));
  const below = at.bottom + 6 + card.offsetHeight < innerHeight || at.top < card.offsetHeight + 70;
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${scrollY + (below ? at.bottom + 6 : at.top - card.offsetHeight - 6)}px`;
  link.setAttribute("aria-describedby", card.id);
};
const enter = (link, delay) => {
  if (over === link) { clearTimeout(timer); return; }
  hide();
  over = link;
  timer = setTimeout(() => show(link), delay);
};
const leave = () => { clearTimeout(timer); timer = setTimeout(hide, 250); };
if (document.querySelector(LINKS)) {
  document.body.append(card);
  for (const link of document.querySelectorAll(LINKS)) {
    link.addEventListener("mouseenter", () => enter(link, 200));
    link.addEventListener("mouseleave", leave);
    link.addEventListener("focus", () => { if (link.matches(":focus-visible")) enter(link, 0); });
    link.addEventListener("blur", leave);
  }
  card.addEventListener("mouseenter", () => clearTimeout(timer));
  card.addEventListener("mouseleave", leave);
  addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
}
