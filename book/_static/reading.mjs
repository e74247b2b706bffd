// What a reader does with the text beyond reading it: guesses before an experiment, cards with what a link leads to,
// how far one has come. All that is kept stays on this device, under one name in its storage; where there is none, it
// lasts for the visit (lmbook_press.site.repairs.storage).

const NAME = "lmbook";
const NOTHING = { guesses: {}, answers: {}, read: {}, last: "", cards: {}, chosen: {}, days: {} };
let kept = structuredClone(NOTHING);
try {
  kept = { ...kept, ...JSON.parse(localStorage.getItem(NAME) ?? "{}") };
} catch {
  /* not ours */
}
const keep = () => localStorage.setItem(NAME, JSON.stringify(kept));
/** The day on this device, as 2026-11-28. */
const today = () => new Date(Date.now() - 60_000 * new Date().getTimezoneOffset()).toISOString().slice(0, 10);
/** Notes what was done today, for the record of work: one more of it, or so much. */
const did = (what, much) => {
  kept.days[today()] ??= {};
  const day = kept.days[today()];
  day[what] = much ?? (day[what] ?? 0) + 1;
  keep();
};
const lasts = () => localStorage.lasts !== false;
const GONE = "This browser keeps nothing (its storage is blocked or full): all this is gone when you leave the page. ";
// today.mjs reads and changes the same.
Object.assign(globalThis, { lmKept: { kept: () => kept, keep, did, today, warning: () => (lasts() ? "" : GONE) } });
const h = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const page = location.pathname
  .split("/")
  .pop()
  .replace(/\.html$/, "");
const words = (node) => {
  const copy = node.cloneNode(true);
  for (const part of copy.querySelectorAll(".katex-html, annotation, .admonition-title, form")) part.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
};

// --- Check yourself: the options stand in another order at each visit, so that no place is learned

for (const question of document.querySelectorAll(".lm-check fieldset")) {
  const order = [...question.querySelectorAll(".lm-option")]
    .map((option) => ({ option, at: Math.random() }))
    .sort((a, b) => a.at - b.at);
  order.forEach(({ option }, i) => (option.querySelector(".lm-letter").textContent = "ABCDEFGH"[i]));
  question.append(...order.map(({ option }) => option));
}

// --- Predict first: a guess opens the answer and stands beside it

/** The alternatives of a question that ends in ": a, b or c?"; none where it does not. */
export function alternatives(question) {
  const list = /:\s([^:?]+)\?[^?]*$/.exec(question)?.[1] ?? "";
  const found = list.split(/,\s+(?:or\s+)?|\s+or\s+/).map((one) => one.replace(/^(nearer to|about) /, "").trim());
  return found.length >= 3 && found.length <= 6 && found.every((one) => one && one.length <= 42) ? found : [];
}

/** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll("details.lm-answer")).forEach((answer) => {
  const question = document.getElementById(answer.id.replace("answer", "predict"));
  if (!question) return;
  const key = `${page}: ${words(question).slice(0, 100)}`;
  const field = h("input", { type: "text", id: `${answer.id}-guess`, maxLength: 200, autocomplete: "off" });
  const choices = alternatives(words(question)).map((one) =>
    h("button", {
      type: "button",
      className: "lm-choice",
      textContent: one,
      onclick: () => {
        field.value = one;
        guess();
      },
    }),
  );
  const form = h(
    "form",
    { className: "lm-guess" },
    ...(choices.length ? [h("div", { className: "lm-choices" }, ...choices)] : []),
    h("label", { htmlFor: field.id }, choices.length ? "or in your words" : "Your guess"),
    field,
    h("button", { type: "submit", textContent: "Compare" }),
  );
  const yours = h("p", { className: "lm-yours", role: "status" });
  const show = () => {
    const said = kept.guesses[key];
    const again = h("button", {
      type: "button",
      textContent: "Change it",
      onclick: () => {
        delete kept.guesses[key];
        keep();
        answer.open = false;
        show();
        field.focus();
      },
    });
    form.hidden = Boolean(said);
    yours.replaceChildren(...(said ? ["You guessed: ", h("strong", { textContent: said }), " ", again] : []));
    if (said) answer.open = true;
  };
  const guess = () => {
    if (!field.value.trim()) {
      field.focus();
      return;
    }
    kept.guesses[key] = field.value.trim();
    did("guesses");
    show();
    answer.querySelector("summary").focus();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    guess();
  });
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
    did("answers");
  });
}

// --- how far a chapter was read: up to the end of its summary; after that come exercises and notes

const chapter = /\/notebooks\/([\w-]+)\.html$/.exec(location.pathname)?.[1];
const end = document.getElementById("summary") ?? document.querySelector(".lm-homework");
if (chapter && end) {
  let waiting = 0;
  const look = () => {
    waiting = 0;
    const share = Math.min(1, (scrollY + innerHeight) / (end.getBoundingClientRect().bottom + scrollY));
    if (share <= (kept.read[chapter] ?? 0) || scrollY === 0) return;
    kept.read[chapter] = Math.round(share * 100) / 100;
    did(`read ${chapter}`, kept.read[chapter]);
  };
  addEventListener(
    "scroll",
    () => {
      if (!waiting) waiting = setTimeout(look, 500);
    },
    { passive: true },
  );
  kept.last = chapter;
  keep();
}

const stations = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".lm-station")]);
for (const station of stations) {
  const share = kept.read[station.dataset.page];
  if (!share) continue;
  const said = share === 1 ? "read" : `${Math.round(share * 100)}% read`;
  station.style.setProperty("--read", `${share * 100}%`);
  station.dataset.read = share === 1 ? "all" : "part";
  station.append(h("span", { className: "lm-share", textContent: said }));
}

/** @type {HTMLAnchorElement | null} */
const begin = document.querySelector(".lm-begin a");
const next = stations.find(({ dataset }) => dataset.page === kept.last);
if (begin && next) {
  const link = next.querySelector("a");
  begin.href = link.href;
  begin.textContent = `Go on with chapter ${words(link).replace(" ", ": ")}`;
}

// --- the page that shows what is kept

const LARGEST = 1_000_000; // characters; a whole book of answers has some 20,000

/** What a saved file holds. Throws an Error that says what is wrong with a file that this page did not write. */
export function saved(text) {
  const not = (why) => new Error(`This is not a file that was saved here: ${why}. Nothing was changed.`);
  if (text.length > LARGEST) throw not("it is far too long");
  let found;
  try {
    found = JSON.parse(text);
  } catch {
    throw not("it is not JSON");
  }
  const table = (one) => one !== null && typeof one === "object" && !Array.isArray(one);
  const number = (one) => typeof one === "number" && one >= 0;
  /** @type {Record<string, [right: (one: any) => boolean, rule: string]>} */
  const kinds = {
    guesses: [(one) => typeof one === "string" && one.length <= 200, "a guess is a short text"],
    answers: [(one) => Number.isInteger(one) && one >= 0, "an answer is the number of an option"],
    read: [(one) => number(one) && one <= 1, "a share that was read lies between 0 and 1"],
    cards: [(one) => Array.isArray(one) && one.length === 5 && one.every(number), "a question has five numbers"],
    chosen: [(one) => typeof one === "boolean", "a chapter is chosen or not"],
    days: [(one) => table(one) && Object.values(one).every(number), "a day has a number of each thing done"],
  };
  if (!table(found)) throw not("it holds no table");
  for (const name of ["cards", "chosen", "days"]) found[name] ??= {}; // not in files of the second edition
  for (const [name, [right, rule]] of Object.entries(kinds)) {
    if (!table(found[name])) throw not(`it has no ${name}`);
    const wrong = Object.entries(found[name]).find(([, one]) => !right(one));
    if (wrong)
      throw not(`${rule}, and under “${wrong[0].slice(0, 60)}” there is ${JSON.stringify(wrong[1]).slice(0, 40)}`);
  }
  const { guesses, answers, read, cards, chosen, days } = found;
  return { guesses, answers, read, cards, chosen, days, last: typeof found.last === "string" ? found.last : "" };
}

/**
 * What is kept, and what a file adds: where both say something the file counts; of a chapter, what was read further; of
 * a question, the answer given later; of a day, the larger numbers.
 */
export function joined(here, file) {
  const most = (a, b) => {
    const all = { ...a };
    for (const [name, much] of Object.entries(b)) all[name] = Math.max(much, a[name] ?? 0);
    return all;
  };
  const days = { ...here.days };
  for (const [day, done] of Object.entries(file.days)) days[day] = most(days[day] ?? {}, done);
  const cards = { ...here.cards };
  const answered = ([, wait, , due]) => due - wait;
  for (const [id, card] of Object.entries(file.cards))
    if (!cards[id] || answered(card) >= answered(cards[id])) cards[id] = card;
  return {
    cards,
    days,
    chosen: { ...here.chosen, ...file.chosen },
    read: most(here.read, file.read),
    guesses: { ...here.guesses, ...file.guesses },
    answers: { ...here.answers, ...file.answers },
    last: file.last || here.last,
  };
}

const box = document.getElementById("lm-kept");
const count = (many, one, several = `${one}s`) => `${many} ${many === 1 ? one : several}`;
if (box) {
  const show = (news = "") => {
    const many = [kept.guesses, kept.answers, kept.read, kept.cards].map((one) => Object.keys(one).length);
    const [guesses, answers, chapters, questions] = many;
    const none = guesses + answers + chapters + questions === 0;
    const save = h("button", {
      type: "button",
      disabled: none,
      textContent: "Save them as a file",
      onclick: () => {
        const link = h("a", {
          download: "lmbook-answers.json",
          href: URL.createObjectURL(new Blob([JSON.stringify(kept, null, 1)], { type: "application/json" })),
        });
        link.click();
        URL.revokeObjectURL(link.href);
      },
    });
    const forget = h("button", {
      type: "button",
      disabled: none,
      textContent: "Delete them",
      onclick: () => {
        kept = structuredClone(NOTHING);
        for (const name of [NAME, "lmbook:code"]) localStorage.removeItem(name); // also what was changed in code
        show();
      },
    });
    const file = h("input", {
      type: "file",
      accept: ".json,application/json",
      hidden: true,
      onchange: async () => {
        const [chosen] = file.files;
        if (!chosen) return;
        try {
          kept = joined(kept, saved(await chosen.text()));
          keep();
          show(`Brought back from ${chosen.name}.`);
        } catch (error) {
          show(error.message);
        }
        box.querySelectorAll("button")[1].focus();
      },
    });
    const bring = h("button", {
      type: "button",
      textContent: "Bring them back from a file",
      onclick: () => file.click(),
    });
    box.replaceChildren(
      h(
        "p",
        { role: "status" },
        `${news} ${lasts() ? "" : GONE}On this device: ${count(guesses, "guess", "guesses")}, ` +
          `${count(answers, "answer")} to self-check questions, how far you came in ${count(chapters, "chapter")}, ` +
          `when ${count(questions, "question")} will be asked again.`,
      ),
      save,
      " ",
      bring,
      " ",
      forget,
      file,
    );
  };
  show();
}

// --- cards: what a citation, a term, an equation or a drawing is, without leaving the line

const LINKS = ["bibliography.html#", "glossary.html#", "#equation-", "#figure-"]
  .map((part) => `article a.reference[href*="${part}"]`)
  .join(", ");
const pages = new Map();
const textAt = (address) => fetch(address).then((answer) => answer.text());
const load = (url) => {
  const address = url.href.split("#")[0];
  if (address === location.href.split("#")[0]) return document;
  if (!pages.has(address)) {
    const page = textAt(address).then((text) => new DOMParser().parseFromString(text, "text/html"));
    pages.set(address, page);
  }
  return pages.get(address);
};

/** Whether all of it is on the screen now, so that a card would only cover it. */
const inSight = (node) => {
  const { top, bottom, height } = node.getBoundingClientRect();
  return node.ownerDocument === document && height > 0 && top >= 0 && bottom <= innerHeight;
};

/** What a link leads to, as nodes for a card; null where that is nothing for a card. */
async function target(link) {
  const url = new URL(link.href);
  const found = (await load(url)).getElementById(decodeURIComponent(url.hash.slice(1)));
  const whole = found?.closest("dt, .citation, .lm-equation, .lm-drawing");
  if (!whole || inSight(whole)) return null;
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
    if (part.localName === "a") {
      part.href = new URL(part.getAttribute("href"), url);
      part.tabIndex = -1;
    }
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
  const at = link.getBoundingClientRect();
  const wide = document.documentElement.clientWidth;
  const left = Math.max(8, Math.min(at.left, wide - card.offsetWidth - 8));
  const below = at.bottom + 6 + card.offsetHeight < innerHeight || at.top < card.offsetHeight + 70;
  card.style.left = `${left + scrollX}px`;
  card.style.top = `${scrollY + (below ? at.bottom + 6 : at.top - card.offsetHeight - 6)}px`;
  link.setAttribute("aria-describedby", card.id);
};
const enter = (link, delay) => {
  if (over === link) {
    clearTimeout(timer);
    return;
  }
  hide();
  over = link;
  timer = setTimeout(() => show(link), delay);
};
const leave = () => {
  clearTimeout(timer);
  timer = setTimeout(hide, 250);
};
if (document.querySelector(LINKS)) {
  document.body.append(card);
  for (const link of document.querySelectorAll(LINKS)) {
    link.addEventListener("mouseenter", () => enter(link, 200));
    link.addEventListener("mouseleave", leave);
    link.addEventListener("focus", () => {
      if (link.matches(":focus-visible")) enter(link, 0);
    });
    link.addEventListener("blur", leave);
  }
  card.addEventListener("mouseenter", () => clearTimeout(timer));
  card.addEventListener("mouseleave", leave);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}
