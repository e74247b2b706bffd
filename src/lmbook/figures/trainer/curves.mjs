// curves.mjs: the losses of a training while it goes on, over those of a recorded one, and the bet on it. The scale is
// that of the record: it grows where a training leaves it, and never shrinks while one goes on.
import { fmt, h, onwidth, replace, s } from "../kit/core.mjs";

const LEFT = 34;
const RIGHT = 80; // for the names of the curves
const ABOVE = 14; // px more where a bracket says by how much one ends above a line
const TOP = 24;
const LOW = 22; // px of the margins
const APART = 15; // px between two names
const TALL = 284; // px

/** The point at which the held-out loss is lowest. */
export const lowest = (points) =>
  points.reduce((best, point) => (point[2] < (best?.[2] ?? Number.POSITIVE_INFINITY) ? point : best), null);

/** A line from where it comes down into the frame, whose upper edge is at `top`. */
function entering(line, top) {
  const k = line.findLastIndex(([, v]) => v > top);
  if (k < 0) return line;
  if (k + 1 === line.length) return [];
  const [[a, high], [b, v]] = line.slice(k, k + 2);
  return [[a + ((b - a) * (high - top)) / (high - v), top], ...line.slice(k + 1)];
}

const round = (most, lines) => {
  const size = 10 ** Math.floor(Math.log10(most / lines));
  return [1, 2, 5, 10].map((k) => k * size).find((gap) => most / gap <= lines);
};
const BEGUN = { class: "lmt-name lmt-begun" };
const lowestAt = (cx, cy, r, tone, begun = "") =>
  s("circle", { class: `lmt-lowest ${begun}`, "data-tone": tone, cx, cy, r });

/**
 * The curves. live, before: of each run, now and recorded, its points; seeds: of each, held-out losses with other
 * seeds; names, tones: of the runs; marks: [[height, words]]; steps: of the whole training; bet: { on, level, truth,
 * hides }, pin: what is bet, covered: it is open; behind: the title says by how much. picked(step, nats) is told of a
 * press. tall: there is much to see in little of the height.
 */
export function chart(picked, tall = false) {
  const svg = s("svg", { "aria-hidden": "true" });
  const node = h("div", { class: "lmt-chart" }, svg);
  let wide = 320;
  let given = null;
  let scale = null; // { top, last } of this record, as far as they have grown
  let place = null;

  function draw() {
    if (!given) return;
    const { live, before, seeds, names, tones, marks, steps, bet, pin, covered, behind } = given;
    const high = node.closest(".spare") ? 180 : tall ? TALL : 250;
    const bottom = high - LOW;
    const right = wide - RIGHT - (behind ? ABOVE : 0);
    const all = [...live, ...before].flat();
    const heights = marks.map(([height]) => height);
    const losses = [...all.flatMap(([, ...both]) => both), ...heights].filter(Number.isFinite);
    if (scale?.of !== before) scale = { of: before, top: 0, last: steps };
    const most = Math.max(...losses);
    // Where the first tenth falls through more than half of the frame, it comes in from above, and the rest is seen.
    const later = [
      ...all.flatMap(([step, ...both]) => (step < steps / 10 ? [] : both)),
      ...seeds.flat().flatMap((valid) => valid.slice(valid.length / 10)),
      ...heights,
      ...(bet?.on === "nats" ? [bet.pin.max] : []),
    ].filter(Number.isFinite);
    const rest = Math.max(...later);
    const cut = before.length && !bet?.whole && most - rest > rest - Math.min(...later);
    scale.top = Math.max(scale.top, losses.length ? 1.03 * (cut ? rest : most) : 4);
    scale.last = Math.ceil(Math.max(scale.last, ...all.map(([step]) => step)) / steps) * steps;
    const { top, last } = scale;
    const least = Math.min(top, ...losses);
    const low = least > top / 4 ? Math.floor(2 * least - 0.05) / 2 : 0;
    const x = (step) => LEFT + ((right - LEFT) * step) / last;
    const y = (v) => TOP + ((bottom - TOP) * (top - v)) / (top - low);
    place = (left, up) => [(last * (left - LEFT)) / (right - LEFT), top - ((top - low) * (up - TOP)) / (bottom - TOP)];

    const shown = live.some((points) => points.length) ? live : before;
    const begin = shown[0]?.[0]?.[2];
    const above = begin > top;
    const early = shown.some((points) => points.length && points.at(-1)[0] < 0.9 * last);
    const levels = bet?.words ? [...heights, bet.level] : heights;
    const margin = behind && early && bet?.words ? [y(bet.level) + 4] : null; // there stand the words of the bet
    // by their words, which names in the drawing avoid
    const taken = margin ?? (early ? levels.map((level) => y(level) - 5) : []);
    /** A name right of a place, free of the others. */
    const tag = (left, at, words, kind, tone) => {
      const place = s.free(taken, at + 4, APART, [TOP, bottom - 2]);
      return s.text(left + 6, place, words, "start", { class: kind, "data-tone": tone });
    };
    const hidden = (i, column) => covered && bet.hides.some(([run, which]) => run === i && which === column);
    const single = names.length < 2;
    /** Around what lies between the losses held out and in training, from a step on. */
    const between = (points, from) => {
      const there = points.filter(([step, train]) => step >= from && Number.isFinite(train));
      const edge = (column) => there.map((point) => [x(point[0]), y(point[column])]);
      return [...edge(2), ...edge(1).reverse()];
    };
    const called = (i) => (single ? "held out" : names[i]);
    const pale = seeds.map((others) =>
      others.map((valid) => valid.map((v, k) => [(k * steps) / (valid.length - 1), null, v])),
    );
    /** Of one network that is in training: the name above all that is drawn from there on. */
    function flag({ i, end: [step, , valid] }) {
      const near = [...all, ...pale.flat(2)].filter(([at]) => at >= step && x(at) < x(step) + 75);
      const tops = near.flatMap(([, ...both]) => both.filter(Number.isFinite)).map(y);
      const roof = Math.max(TOP, Math.min(...tops) - 9);
      const up = s.free(taken, roof, margin ? 11 : 20, [-Infinity, roof]);
      return [
        y(valid) >= TOP - 1 &&
          s("circle", { class: "lmt-pen", "data-tone": tones[i], cx: x(step), cy: y(valid), r: 3.5 }),
        s.text(x(step) + 1, up, called(i), "start", { class: "lmt-name", "data-tone": tones[i] }),
      ];
    }
    function curve(points, i, column, kind) {
      const there = points.map((point) => [point[0], point[column]]).filter(([, v]) => Number.isFinite(v));
      const seen = entering(there, top).map(([step, v]) => [x(step), y(v)]);
      if (!seen.length) return null;
      const [[at, up]] = seen;
      const hides = hidden(i, column);
      const begins = hides && column === 2 && !kind.includes("seed"); // what is covered shows where it begins
      return [
        s("path", { class: `${kind}${hides ? " lm-covered" : ""}`, "data-tone": tones[i], d: s.through(seen) }),
        begins && [
          lowestAt(at, up, 3.5, tones[i], "lmt-begun"),
          s.text(at + 9, up + 4, `${called(i)} …`, "start", BEGUN),
        ],
      ];
    }
    /** trains: with the loss in training. */
    const both = (runs, kind, trains = true) =>
      runs.map((points, i) => [
        single && trains && curve(points, i, 1, `lmt-line lmt-train ${kind}`),
        curve(points, i, 2, `lmt-line ${kind}`),
      ]);
    const ends = shown
      .flatMap((points, i) => (single ? [2, 1] : [2]).map((column) => ({ i, column, end: points.at(-1) })))
      .filter(({ end, column }) => Number.isFinite(end?.[column]))
      .sort((a, b) => a.end[a.column] - b.end[b.column]);
    /** Room for the bracket beside the end of a curve. */
    const aside = (step) => (behind && step === last ? 6 : 0);
    const named = ends.map(({ i, column, end }) => {
      if (early && single) return column === 2 && flag({ i, end });
      const kind = `${column === 1 ? "lm-tick" : "lmt-name"}${hidden(i, column) ? " lm-covered" : ""}`;
      const words = column === 1 ? "in training" : called(i);
      return tag(x(end[0]) + aside(end[0]), y(end[column]), words, kind, tones[i]);
    });
    const gap = round(top - low, 5);
    const first = Math.ceil(low / gap - 1e-9);
    const lines = Array.from({ length: 12 }, (_, k) => (first + k) * gap).filter((v) => v <= top);
    const across = round(last, 4);
    const inner = Array.from({ length: Math.ceil(last / across) }, (_, k) => k * across);
    const below = inner
      .filter((step) => right - x(step) > 66)
      .map((step) => s.tick(x(step), bottom + 16, fmt.count(step), step ? "middle" : "start"));
    const best = single && shown[0] ? lowest(shown[0]) : null;
    const ended = shown[0]?.at(-1)?.[2] ?? 0;
    const [height] = heights;
    const complete = shown[0]?.at(-1)?.[0] >= last && ended > height;
    const recorded = before[0]?.at(-1)?.[2] ?? ended;
    const overfits = best && (!behind || complete) && best[0] < 0.9 * shown[0].at(-1)[0] && ended > best[2] + 0.01;
    const parts = [
      s.levels(losses.length ? lines : [], y, LEFT, right, (v) => fmt.num(v, gap < 1 ? 1 : 0)),
      below,
      s.tick(right, bottom + 16, `${fmt.count(last)} steps`),
      s.tick(0, 10, `loss, nats per prediction${above ? ` (at step 0: ${fmt.num(begin, 1)})` : ""}`, "start"),
      !losses.length && s.tick((LEFT + right) / 2, (TOP + bottom) / 2, "Press Train: the losses are drawn here."),
      heights.map((v) => s.rule(`M${LEFT} ${y(v)}H${right}`, "lmt-mark")),
      bet && s("g", { class: "lmt-stake" }, [stake(bet)]),
      pale.map((others, i) => others.map((points) => curve(points, i, 2, "lmt-line lmt-seed-line"))),
      both(before, live.length ? "lmt-before" : "", !live.length),
      both(live, "lmt-live"),
      overfits &&
        s("g", { class: hidden(0, 2) ? "lm-covered" : null }, [
          s("path", { class: "lmt-gap", "data-tone": tones[0], d: `${s.through(between(shown[0], best[0]))}Z` }),
          lowestAt(x(best[0]), y(best[2]), 4, tones[0]),
          s.tick(x(best[0]), y(best[2]) + (y(best[2]) < bottom - 22 ? 18 : -10), `lowest ${fmt.num(best[2])}`),
        ]),
      named,
      // above the lines; below its own where curves end above it
      marks.map(([level, words]) =>
        behind // of the whole fall: over the line, where curves are high
          ? s.tick(LEFT + 4, y(level) - 5, words, "start")
          : s.tick(right - 4, y(level) + (level > recorded ? -5 : 14), words, "end"),
      ),
      behind &&
        complete &&
        s("g", { class: hidden(0, 2) ? "lm-covered" : null }, [
          short(y(ended), y(height), `${fmt.num(ended - height)} above`),
        ]),
    ];
    s.sized(svg, wide, high);
    replace(svg, parts);

    /** By how much a curve ends above what it is compared with. */
    function short(from, to, words) {
      return [
        s.rule(`M${right} ${from}h6m-3 0V${to}m-3 0h6`, "lmt-short"),
        tag(right + 6, (from + to) / 2, words, "lmt-name", null),
      ];
    }

    /** What is bet on the curve, and when it is settled by how much one missed. */
    function stake({ on, level, truth, words }) {
      if (on === "share") return null;
      const step = on === "step";
      const at = (v) => (step ? [x(v), y(level)] : [right, y(v)]);
      const to = at(truth);
      return [
        step && s.rule(`M${LEFT} ${y(level)}H${right}`, "lmt-mark"),
        pin !== null && yours(step, at(pin), to),
        step && words && !margin && s.tick(right - 4, y(level) - 5, words, "end"), // over the line of the bet
        margin && s.tick(right + 6, y(level) + 4, words, "start"),
        s("circle", { class: `lmt-truth${covered ? " lm-covered" : ""}`, cx: to[0], cy: to[1], r: 4.5 }),
      ];
    }

    function yours(step, from, to) {
      const [across, up] = from;
      const late = across > right - 70;
      return [
        s.rule(step ? `M${across} ${TOP}V${bottom}` : `M${LEFT} ${up}H${right}`, "lmt-bet"),
        step
          ? s.text(across + (late ? -5 : 5), TOP + 10, "your bet", late ? "end" : "start")
          : s.text(right - 4, up + (up < to[1] || up > bottom - 18 ? -5 : 14), "your bet", "end"), // clear of the fall
        !covered && s("path", { class: "lmt-miss", d: s.through([from, to]) }),
      ];
    }
  }

  svg.addEventListener("click", ({ offsetX, offsetY }) => place && picked(...place(offsetX, offsetY)));
  onwidth(node, (width) => {
    wide = Math.max(240, width);
    draw();
  });
  return {
    node,
    draw: (next) => {
      given = next;
      draw();
    },
  };
}
