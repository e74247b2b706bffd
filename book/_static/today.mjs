// The page "Today" and the record of work. What was answered is kept with the rest, by reading.mjs; the questions come
// from a file for each chapter, written by lmbook_exams.recall.page.

const { kept, keep, did, today, warning } = globalThis.lmKept;
const NEW = 20; // questions a day that were never asked
const GRADES = [
  ["Wrong", 1],
  ["Right, with difficulty", 3],
  ["Right, after a hesitation", 4],
  ["Right at once", 5],
];
const h = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};
const count = (many, one) => `${many} ${one}${many === 1 ? "" : "s"}`;
/** Days since 1970, of a day written as 2026-11-28. */
const number = (day) => Date.parse(day) / 86_400_000;

/**
 * Algorithm SM-2 (Wozniak 1990, section 3.2).  state: [repetitions, days of the last interval, hundredths of the
 * E-factor]; quality: 0 to 5.  Returns the state after the answer; the question is due after its days.
 */
export function repeated([times, days, ease], quality) {
  if (quality < 3) return [1, 1, ease]; // as if it were learned anew; the E-factor stays
  const next = times === 0 ? 1 : times === 1 ? 6 : Math.ceil((days * ease) / 100);
  const miss = 5 - quality;
  return [times + 1, next, Math.max(130, ease + 10 - miss * (8 + 2 * miss))];
}
const FRESH = [0, 0, 250];

/** The questions of a chapter, as elements: question, answer. */
const textAt = (address) => fetch(address).then((answer) => answer.text());
const questions = async (page) => {
  const root = document.documentElement.dataset.content_root;
  const text = await textAt(new URL(`${root}_static/questions/${page.slice(0, 2)}.html`, location.href).href);
  return [...new DOMParser().parseFromString(text, "text/html").querySelectorAll("article")].map((card) => ({
    id: card.id,
    chapter: Number(page.slice(0, 2)),
    kind: card.dataset.kind,
    where: `${root}${card.dataset.where}`,
    sides: /** @type {Element[]} */ ([...card.children]),
  }));
};

const titles = (box) => [...box.querySelectorAll("li")].map((item) => [item.dataset.page, item.textContent]);
const begun = (page) => kept().chosen[page] ?? (page in kept().read || page === kept().last);

async function ask(box) {
  const chapters = titles(box);
  const news = h("p", { role: "status" });
  const place = h("section", { className: "lm-asked", tabIndex: -1, ariaLabel: "The question" });
  const boxes = chapters.map(([page, title]) => {
    const input = h("input", { type: "checkbox", checked: begun(page) });
    input.addEventListener("change", () => {
      kept().chosen[page] = input.checked;
      keep();
      start();
    });
    return h("label", {}, input, ` ${title}`);
  });
  const chosen = h("details", {}, h("summary", { textContent: "Chapters that are asked about" }), ...boxes);
  box.replaceChildren(news, place, chosen);

  let pile = [];
  let fresh = NEW;
  const state = (card) => kept().cards[card.id];
  const day = () => number(today());
  const start = async () => {
    const pages = chapters.map(([page]) => page).filter(begun);
    let all;
    try {
      all = (await Promise.all(pages.map(questions))).flat();
    } catch {
      news.textContent = "The questions could not be loaded.";
      return;
    }
    const due = all.filter((card) => state(card)?.[3] <= day()).sort((a, b) => state(a)[3] - state(b)[3]);
    const left = Math.max(0, fresh - (kept().days[today()]?.new ?? 0));
    pile = [...due, ...all.filter((card) => !state(card)).slice(0, left)];
    const wait = all.map((card) => state(card)?.[3]).filter((when) => when > day());
    show(
      pages.length === 0,
      all.some((card) => !state(card)),
      Math.min(...wait) - day(),
    );
  };
  const say = () => {
    const never = pile.filter((card) => !state(card)).length;
    news.textContent = `${warning()}${count(pile.length, "question")} due today, ${never} of them new.`;
  };
  const show = (none = false, more = false, wait = Infinity) => {
    const [card] = pile;
    if (card) {
      say();
      front(card);
      return;
    }
    const next = wait < Infinity ? ` The next one comes in ${count(wait, "day")}.` : "";
    news.textContent = none
      ? `${warning()}Nothing is asked yet: begin a chapter, or choose one below.`
      : `${warning()}Nothing more is due today.${next}`;
    const twenty = h("button", { type: "button", textContent: `Ask ${NEW} new ones` });
    twenty.addEventListener("click", () => {
      fresh = (kept().days[today()]?.new ?? 0) + NEW;
      start();
    });
    place.replaceChildren(...(more ? [twenty] : []));
  };
  // What is wider than a phone scrolls, by the keyboard too.
  const reach = () => {
    for (const wide of place.querySelectorAll("pre, table, .katex-display"))
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  };
  const front = (card) => {
    const reveal = h("button", { type: "button", textContent: "Show the answer" });
    reveal.addEventListener("click", () => back(card));
    const kicker = h("p", { className: "lm-kicker", textContent: `Chapter ${card.chapter}, ${card.kind}` });
    place.replaceChildren(kicker, card.sides[0], reveal);
    reach();
  };
  const back = (card) => {
    const old = state(card) ?? FRESH;
    const grades = GRADES.map(([name, quality], i) => {
      const [, days] = repeated(old, quality);
      const when = h("small", { textContent: `in ${count(days, "day")}` });
      const grade = h("button", { type: "button", value: i + 1 }, `${i + 1} ${name} `, when);
      grade.addEventListener("click", () => answer(card, quality));
      return grade;
    });
    const link = h("a", { href: card.where, textContent: "In the book" });
    const buttons = h("div", { className: "lm-grades", role: "group", ariaLabel: "How was it?" }, ...grades);
    place.lastElementChild.remove();
    place.append(h("hr", {}), card.sides[1], h("p", {}, link), buttons);
    reach();
    grades[0].focus({ preventScroll: true });
  };
  // A question that was hard is asked again today, until it is not; that changes no date (step 7 of SM-2).
  const answer = (card, quality) => {
    pile.shift();
    if (!card.again) {
      const [times, days, ease] = repeated(state(card) ?? FRESH, quality);
      if (!state(card)) did("new");
      kept().cards[card.id] = [times, days, ease, day() + days, card.chapter];
      did("questions");
    }
    if (quality < 4) pile.push({ ...card, again: true });
    if (pile.length) {
      show();
      place.focus({ preventScroll: true });
    } else start().then(() => place.focus({ preventScroll: true }));
  };
  place.addEventListener("keydown", ({ key, target }) => {
    const grade = place.querySelector(`.lm-grades button[value="${Number(key)}"]`);
    if (grade && !(target instanceof HTMLInputElement)) grade.click();
  });
  await start();
}

function table(caption, head, rows) {
  const line = (tag, cells) => h("tr", {}, ...cells.map((cell) => h(tag, { textContent: cell })));
  const body = h("tbody", {}, ...rows.map((row) => line("td", row)));
  return h(
    "table",
    { className: "table" },
    h("caption", { textContent: caption }),
    h("thead", {}, line("th", head)),
    body,
  );
}

function record(box) {
  const { read, guesses, answers, cards, days } = kept();
  const of = (things, page) => Object.keys(things).filter((key) => key.startsWith(`${page}: `)).length;
  const chapters = titles(box)
    .map(([page, title]) => {
      const asked = Object.values(cards).filter((card) => card[4] === Number(page.slice(0, 2))).length;
      return [title, `${Math.round(100 * (read[page] ?? 0))}%`, of(guesses, page), of(answers, page), asked];
    })
    .filter(([, share, ...counts]) => share !== "0%" || counts.some(Boolean));
  const calendar = Object.entries(days)
    .sort()
    .map(([day, done]) => {
      const pages = Object.keys(done).filter((what) => what.startsWith("read "));
      const where = pages.map((what) => `${Number(what.slice(5, 7))} to ${Math.round(100 * done[what])}%`).join(", ");
      return [day, where, done.guesses ?? 0, done.answers ?? 0, done.questions ?? 0];
    });
  const who = h("input", { type: "text", autocomplete: "name", maxLength: 80 });
  const print = h("button", { type: "button", textContent: "Print it" });
  print.addEventListener("click", () => globalThis.print());
  const news = h("p", { role: "status" }, `${warning()}As of ${today()}.`);
  const empty = h("p", { textContent: "Nothing has been done on this device yet." });
  const head = ["guesses", "checks", "questions"];
  box.replaceChildren(
    h("p", { className: "lm-who" }, h("label", {}, "Name (for the print, not kept) ", who), " ", print),
    news,
    ...(chapters.length + calendar.length === 0 ? [empty] : []),
    ...(chapters.length ? [table("By chapter", ["chapter", "read", ...head], chapters)] : []),
    ...(calendar.length ? [table("By day", ["day", "chapters", ...head], calendar)] : []),
  );
}

const due = document.getElementById("lm-today");
if (due) ask(due);
const work = document.getElementById("lm-record");
if (work) record(work);
