// ShannonGame: the reader bets 100 points on the next word (rules.mjs) and gets a perplexity beside the models'.
import { button, chips, field, figure, fmt, h, replace, select } from "../kit/core.mjs";
import { column } from "./column.mjs";
import { style } from "./passage.mjs";
import { chances, losses, result, spent, verdict } from "./rules.mjs";
import { scores } from "./scores.mjs";

const OWN = 4; // words that the reader may add
const LONGEST = 20; // letters of one
const TONES = [1, 3, 4, 5, 6]; // of the models

export default figure(({ el, its, put, listen, say }) => {
  const { vocabulary_size: V, models: names, passages } = its;
  let points = {};
  let extra = []; // words the reader added
  let revealed = false;
  const games = new Map(); // what was played in each text
  const place = () => passages[its.passage];
  const bets = () => its.bets;
  const turn = () => bets().length - (revealed ? 1 : 0);
  const over = () => turn() >= place().positions.length;
  const rest = () => 100 - spent(points);
  const mine = () => chances(bets(), place().positions);

  // --- the pieces
  const where = select({
    label: "Text",
    value: its.passage,
    options: passages.map((p, i) => [i, p.name]),
    onchange: (i) => begin(i, undefined, false), // the focus stays at the menu
  });
  const progress = h("span", { class: "lm-muted" });
  const prose = h("p", { class: "lm-passage" });
  const narrow = () => el.clientWidth < 600;
  const game = column({ names, tones: TONES, give, enter: () => bet(), narrow });
  const own = field({ label: "Add a word", maxlength: 40, size: 12, onenter: () => add() });
  const addButton = button("Add", () => add());
  const adding = h("div", { class: "lm-row lm-own" }, own.node, addButton);
  const keep = h("input", { type: "checkbox", checked: true, onchange: () => settle() });
  const floor = () => Number(keep.checked); // points kept for the other words
  const safe = h("label", { class: "lm-option" }, keep, h("span", {}, "keep 1 point for the other words"));
  const shares = chips({
    label: "Points",
    options: Object.entries({ even: "spread evenly", clear: "take back" }),
    onchoose: share,
  });
  const go = button("Bet and look", () => bet(), { main: true });
  const next = button("Next word", () => advance(), { main: true });
  const again = button("Play again", () => begin(its.passage, []), { main: true });
  const another = button("Another text", () => begin((its.passage + 1) % passages.length));
  const betting = h.stack(adding, h.row(shares.node, safe));
  const score = scores(names, TONES, V);
  const marks = h.small("Bar: your points. Marks:", [
    names.map((name, m) =>
      h("span", { class: "lm-each" }, h("i", { class: "lm-mark lm-mark-key", "data-tone": TONES[m] }), name),
    ),
  ]);
  const both = h("div", { class: "lm-split lm-split-right" }, [
    h("div", {}, game.node, score.table),
    h.stack([h.row(go, next, again, another), say.node, betting, score.loss, marks]),
  ]);
  el.append(
    h("div", { class: "lm-row lm-between" }, passages.length > 1 ? where.node : null, progress),
    h.onstage("Bet Score", prose),
    h.onstage("Score", score.total),
    h.onstage("Bet", both),
  );

  // --- what the reader does
  function begin(i, from = games.get(i) ?? [], focus = true) {
    games.set(its.passage, bets());
    put({ passage: i, bets: from });
    start();
    if (focus && !over()) game.focus(0);
  }

  function start(hint = ": share 100 points among the words that may come next.") {
    points = {};
    extra = [];
    revealed = false;
    game.refresh();
    draw();
    const all = place().positions;
    say(over() ? result(names, mine(), losses(names, all)) : `Word ${turn() + 1} of ${all.length}${hint}`);
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
    const near = candidates().includes(word) || word.length <= LONGEST;
    if (!near || !/^[\p{L}\p{N}\p{M}'’-]+$|^\p{P}+$/u.test(word.replace(/^<\w+>$/, "x")))
      return say(`No model here knows ${fmt.quote(word)}: points on it would be lost.`);
    if (!candidates().includes(word)) {
      if (extra.length >= OWN) return say(`${OWN} words of your own are the most; give them points.`);
      extra.push(word);
    }
    settle();
    game.focusOn(word);
  }

  function give(word, wanted) {
    const free = rest() + (points[word] ?? 0) - floor();
    points[word] = Math.max(0, Math.min(wanted, free));
    if (!points[word]) delete points[word];
    settle();
    if (wanted > free && free < 1) say("No point is free: take some back from another word first.");
  }

  function settle() {
    // after a change of points
    if (rest() < floor()) {
      const most = Object.keys(points).reduce((a, b) => (points[b] > points[a] ? b : a));
      points[most] -= floor() - rest();
    }
    drawBets();
    if (rest() === 0) say("Nothing is left for other words: if one comes, your loss is −ln 0, infinite.");
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
    start(".");
    if (over()) again.focus();
    else game.focus(0);
  }

  // --- what it comes to
  const candidates = () => (over() ? [] : [...place().positions[turn()].words, ...extra]);

  // --- drawing
  function drawBets() {
    const now = over() ? null : place().positions[turn()];
    game.node.hidden = over();
    game.node.classList.toggle("lm-unplayed", !bets().length);
    game.draw({ words: candidates(), own: extra.length, points, rest: rest(), now, revealed });
    marks.hidden = !revealed;
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

  function draw() {
    where.set(its.passage);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement);
    betting.hidden = revealed || over();
    go.hidden = revealed || over();
    next.hidden = !revealed;
    again.hidden = !over();
    another.hidden = !over() || passages.length < 2;
    next.textContent = revealed && turn() + 1 >= place().positions.length ? "See the result" : "Next word";
    drawBets();
    drawText();
    score.draw(place().positions, mine(), { revealed, over: over() });
    if (focused?.isConnected && focused !== document.activeElement && !focused.hidden) focused.focus();
  }

  const stands = () => JSON.stringify([its.passage, bets()]);
  let known = stands();
  listen("bets passage", () => {
    // from Python or another view: show where the game stands now
    if (stands() !== known && !revealed) start();
    known = stands();
  });
  start();
}, style);
