// ShannonGame: the reader bets 100 points on the next word (rules.mjs) and gets a perplexity beside the models'.
import { bars, button, chips, field, figure, fmt, h, replace, roving, select, table } from "../kit/core.mjs";
import { style } from "./passage.mjs";
import { chances, loss, losses, perplexity, pp, result, spent, verdict } from "./rules.mjs";

const NAMES = { "<unk>": "<unk>, a rare word", "<eos>": "<eos>, the line ends" };
const OWN = 4; // words that the reader may add
const FEW = 6; // words on a phone, at first
const TONES = [1, 3, 4, 5, 6]; // of the models

export default figure(({ el, get, put, listen, say }) => {
  const V = get("vocabulary_size");
  const names = get("models");
  const passages = get("passages");
  let points = {};
  let extra = []; // words the reader added
  let floor = 1; // points kept for the other words
  let revealed = false;
  let few = true;
  const games = new Map(); // what was played in each text
  const place = () => passages[get("passage")];
  const bets = () => get("bets");
  const turn = () => bets().length - (revealed ? 1 : 0);
  const over = () => turn() >= place().positions.length;
  const rest = () => 100 - spent(points);
  const mine = () => chances(bets(), place().positions);
  const theirs = (many = bets().length) => losses(names, place().positions.slice(0, many));

  // --- the pieces
  const where = select({
    label: "Text",
    value: get("passage"),
    options: passages.map((p, i) => [i, p.name]),
    onchange: (i) => begin(i),
  });
  const progress = h("span", { class: "lm-muted" });
  const prose = h("p", { class: "lm-passage" });
  const list = h("div", {
    class: "lm-bets",
    role: "group",
    "aria-label":
      "Your points, one tab stop: up and down choose a word, left and right move points, digits set tens, Enter bets",
  });
  const group = roving(list, ".lm-bet:not([hidden]) input", { keys: "vertical" });
  const inputs = (/** @type {number} */ i) => lines[i].querySelector("input");
  const more = button("", () => {
    few = false;
    drawBets();
    inputs(FEW).focus();
  });
  const other = h("div", { class: "lm-bet lm-bet-rest" }, [
    h("span", {}, "any other word"),
    h("span", { class: "lm-bar-track", "aria-hidden": "true" }, h("span", { class: "lm-bar-fill" })),
    h("span", { class: "lm-points" }),
    h("span", { class: "lm-bet-note" }),
  ]);
  list.append(other);
  const lines = []; // one for each candidate, in front of the others' line
  const own = field({ label: "Add a word", maxlength: 40, delay: 1e9, size: 12 });
  const addButton = button("Add", () => add());
  const adding = h("div", { class: "lm-row lm-own" }, own.node, addButton);
  const keep = h("input", {
    type: "checkbox",
    onchange: () => {
      floor = keep.checked ? 1 : 0;
      settle();
    },
  });
  keep.checked = true;
  const safe = h("label", { class: "lm-option" }, keep, h("span", {}, "keep 1 point for the other words"));
  const shares = chips({
    label: "Points",
    options: [
      ["even", "spread evenly"],
      ["clear", "take back"],
    ],
    onchoose: (how) => share(how),
  });
  const go = button("Bet and look", () => bet(), { class: "lm-button lm-main" });
  const next = button("Next word", () => advance(), { class: "lm-button lm-main" });
  const again = button("Play again", () => begin(get("passage"), []), { class: "lm-button lm-main" });
  const another = button("Another text", () => begin((get("passage") + 1) % passages.length));
  const betting = h("div", { class: "lm-stack" }, adding, h("div", { class: "lm-row" }, shares.node, safe));
  const costs = bars({ label: "Loss on this word" });
  const scores = bars({ label: "Perplexity so far" });
  const toBeat = bars({ label: "Perplexity to beat" });
  const beatPart = h("div", {}, h("p", { class: "lm-part" }), toBeat.node);
  const marks = h("p", { class: "lm-small lm-muted" }, "Bar: your points. Marks:", [
    names.map((name, m) => [h("i", { class: "lm-mark lm-mark-key", "data-tone": TONES[m] }), name]),
  ]);
  const lossPart = h("div", {}, h("p", { class: "lm-part" }, "Loss on this word, −ln P in nats"), costs.node);
  const scorePart = h("div", {}, h("p", { class: "lm-part" }), scores.node);
  const numbers = table({ caption: "Loss in nats, word by word", head: ["Word", "Your P", "You", ...names] });
  el.append(
    h("div", { class: "lm-row lm-between" }, passages.length > 1 ? where.node : null, progress),
    prose,
    beatPart,
    h("div", { class: "lm-split lm-split-right lm-shannon" }, [
      h("div", {}, list, more, marks),
      h("div", { class: "lm-stack" }, [
        betting,
        h("div", { class: "lm-row" }, go, next, again, another),
        say.node,
        lossPart,
        scorePart,
      ]),
    ]),
    numbers.node,
  );

  // --- what the reader does
  function begin(i, from = games.get(i) ?? []) {
    games.set(get("passage"), bets());
    put({ passage: i, bets: from });
    start();
    if (!over()) group.focus(0);
  }

  function start() {
    points = {};
    extra = [];
    revealed = false;
    group.refresh();
    draw();
    say(
      over()
        ? result(names, mine(), theirs())
        : `Word ${turn() + 1} of ${place().positions.length}: share 100 points among the words that may come next.`,
    );
  }

  function share(how) {
    const words = candidates();
    points = {};
    if (how === "even") for (const word of words) points[word] = Math.floor(90 / words.length);
    settle();
    say(
      how === "even"
        ? `${points[words[0]]} points on each of ${words.length} words; ${rest()} left for all others.`
        : "All 100 points are left for the other words.",
    );
  }

  function add() {
    const [word, ...others] = own.get().trim().split(/\s+/);
    if (!word) return;
    if (others.length) return say("One word at a time, please.");
    own.set("");
    if (!candidates().includes(word)) {
      if (extra.length >= OWN) return say(`${OWN} words of your own are the most; give them points.`);
      extra.push(word);
    }
    settle();
    inputs(candidates().indexOf(word)).focus();
  }
  own.input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      add();
    }
  });

  function give(word, wanted) {
    const free = rest() + (points[word] ?? 0) - floor;
    points[word] = Math.max(0, Math.min(wanted, free));
    if (!points[word]) delete points[word];
    settle();
    if (wanted > free && free < 1) say("No point is free: take some back from another word first.");
  }

  function settle() {
    // after a change of points
    if (rest() < floor) {
      const most = Object.keys(points).reduce((a, b) => (points[b] > points[a] ? b : a));
      points[most] -= floor - rest();
    }
    drawBets();
    if (rest() === 0) {
      say("Nothing is left for other words: if one comes, your loss is −ln 0, infinite.");
    }
  }

  function bet() {
    revealed = true;
    put({ bets: [...bets(), { points: { ...points } }] });
    draw();
    next.focus();
    const i = bets().length - 1;
    say(verdict(names, place().positions[i], mine()[i]));
  }

  function advance() {
    points = {};
    extra = [];
    revealed = false;
    draw();
    if (over()) {
      say(result(names, mine(), theirs()));
      again.focus();
    } else {
      say(`Word ${turn() + 1} of ${place().positions.length}.`);
      group.focus(0);
    }
  }

  list.addEventListener("keydown", (event) => {
    if (
      event.altKey ||
      event.ctrlKey ||
      event.metaKey ||
      /** @type {Element} */ (event.target).localName !== "input" ||
      revealed
    )
      return;
    if (event.key === "Enter") bet();
    else if (/^[0-9]$/.test(event.key))
      give(
        candidates()[lines.findIndex((line) => line.contains(/** @type {Node} */ (event.target)))],
        10 * Number(event.key),
      );
    else return;
    event.preventDefault();
  });

  // --- what it comes to
  const candidates = () => (over() ? [] : [...place().positions[turn()].words, ...extra]);
  const row = (name, value, text, tone) => ({ label: name, value, text, tone, broken: value === Infinity });

  // --- drawing
  function drawBets() {
    const shown = over() ? null : place().positions[turn()];
    const words = candidates();
    list.hidden = over();
    list.classList.toggle("lm-unplayed", !bets().length);
    list.classList.toggle("lm-told", revealed);
    while (lines.length > words.length) lines.pop().remove();
    while (lines.length < words.length) {
      const i = lines.length;
      const input = h("input", {
        type: "range",
        min: 0,
        max: 100,
        step: 1,
        oninput: () => give(candidates()[i], Number(input.value)),
      });
      lines.push(
        h("div", { class: "lm-bet" }, [
          h("span", {}),
          input,
          h("span", { class: "lm-bar-track", "aria-hidden": "true" }),
          h("span", { class: "lm-points", "aria-hidden": "true" }),
          h("span", { class: "lm-bet-note" }),
        ]),
      );
      other.before(lines[i]);
    }
    const said = (p) => (p >= 0.0995 ? fmt.percent(p) : p >= 0.00095 ? fmt.percent(p, 1) : "< 0.1 %");
    const theirsHere = (p) => names.map((name, m) => `${name} ${said(p[m])}`).join(" · ");
    words.forEach((word, i) => {
      const [label, input, track, number, note] = lines[i].children;
      const n = points[word] ?? 0;
      label.textContent = NAMES[word] ?? word;
      input.value = n;
      input.disabled = revealed;
      input.hidden = revealed;
      track.hidden = !revealed;
      const came = revealed && word === shown.truth;
      lines[i].hidden = el.clientWidth < 600 && few && i >= FEW && i < words.length - extra.length && !n && !came;
      const theirP = came ? shown.truth_p : shown.words[i] === word ? shown.p[i] : [];
      const share = (part) => ({ style: { width: `${part}%` } });
      replace(track, [
        h("span", { class: "lm-bar-fill", "data-tone": 2, ...share(n) }),
        theirP.map((p, m) =>
          h("i", { class: "lm-mark", "data-tone": TONES[m], style: { left: `calc(${100 * p}% - 1.5px)` } }),
        ),
      ]);
      input.setAttribute("aria-label", NAMES[word] ?? word);
      input.setAttribute("aria-valuetext", `${fmt.some(n, "point")}, ${rest()} left for other words`);
      number.textContent = n;
      lines[i].classList.toggle("lm-came", came);
      note.textContent = came ? theirsHere(shown.truth_p) : "";
    });
    const folded = lines.filter((line) => line.hidden).length;
    more.hidden = !folded || revealed;
    more.textContent = `${folded} more words`;
    marks.hidden = !revealed;
    if (!shown) return;
    const [, track, number, note] = other.children;
    const fill = /** @type {HTMLElement} */ (track.firstChild);
    fill.style.setProperty("width", `${rest()}%`);
    number.textContent = String(rest());
    const outside = revealed && !words.includes(shown.truth);
    other.classList.toggle("lm-came", outside);
    other.classList.toggle("lm-none", rest() === 0);
    note.textContent = outside
      ? `it was ${fmt.quote(shown.truth)}: ${theirsHere(shown.truth_p)}`
      : "shared by all other words, as often as each occurs";
    group.refresh();
  }

  function drawText() {
    const { lead, positions, source } = place();
    const best = (i) => Math.max(...positions[i].truth_p);
    replace(prose, [
      lead,
      bets().map((_, i) => {
        const [, space, word] = positions[i].shown.match(/^(\s*)(.*)$/s);
        return [space, h("mark", { class: mine()[i] >= best(i) ? "lm-won" : "lm-lost" }, word)];
      }),
      over() || revealed ? null : h("span", { class: "lm-gap", role: "img", "aria-label": "the next word" }),
      h("span", { class: "lm-source" }, source),
    ]);
    const listed = positions.filter(({ truth, words }) => words.includes(truth)).length;
    progress.textContent = over()
      ? "The end"
      : `Word ${turn() + 1} of ${positions.length}; ${listed} of the ${positions.length} are in the lists`;
  }

  function drawScores() {
    const n = bets().length;
    lossPart.hidden = !revealed;
    scorePart.hidden = n === 0;
    numbers.node.hidden = n === 0;
    beatPart.hidden = n > 0;
    const { length } = place().positions;
    beatPart.firstChild.textContent = `Perplexity of the models on the ${length} words to come; lower is better`;
    const known = theirs(length).map(perplexity);
    toBeat.draw(names.map((name, m) => row(name, known[m], pp(known[m]), TONES[m])));
    if (!n) return;
    const you = mine().map(loss);
    const others = theirs();
    const last = [you, ...others].map((values) => values[n - 1]);
    const total = [you, ...others].map(perplexity);
    const tones = [2, ...TONES];
    const top = { max: 1.7 * Math.log(V) }; // a good loss ends well before one that is infinite
    const drawn = (chart, values, text) =>
      chart.draw(
        ["you", ...names].map((name, i) => row(name, values[i], text(i), tones[i])),
        top,
      );
    drawn(costs, last, (i) => (Number.isFinite(last[i]) ? fmt.num(last[i]) : "infinite"));
    drawn(scores, total.map(Math.log), (i) => pp(total[i]));
    scorePart.firstChild.textContent =
      "Perplexity " +
      (over() ? `over all ${n} words` : `after ${fmt.some(n, "word")}`) +
      " (bars on a log scale; lower is better)";
    numbers.draw(
      you.map((x, i) => [
        place().positions[i].truth,
        fmt.prob(mine()[i]),
        fmt.num(x),
        ...others.map((values) => fmt.num(values[i])),
      ]),
    );
  }

  function draw() {
    where.set(get("passage"));
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    betting.hidden = revealed || over();
    go.hidden = revealed || over();
    next.hidden = !revealed;
    again.hidden = !over();
    another.hidden = !over() || passages.length < 2;
    next.textContent = revealed && turn() + 1 >= place().positions.length ? "See the result" : "Next word";
    drawBets();
    drawText();
    drawScores();
    if (focused?.isConnected && focused !== document.activeElement && !focused.hidden) focused.focus();
  }

  let known = JSON.stringify([get("passage"), bets()]);
  listen("bets passage", () => {
    // from Python or another view: show where the game stands now
    const now = JSON.stringify([get("passage"), bets()]);
    if (now !== known && !revealed) start();
    known = now;
  });
  start();
}, style);
