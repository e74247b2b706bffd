// curves.mjs: the losses of a training while it goes on, over those of a recorded one.
import { fmt, h, replace, s } from "../kit/core.mjs";

const HIGH = 250;
const LEFT = 40;
const RIGHT = 12;
const TOP = 22;
const LOW = 36; // px of the chart and of its margins
const LETTER = 8; // px of one in a name, about
const EARLY = 0.06; // share of the steps in which a curve may be above the chart

/** The point at which the held-out loss is lowest. */
export const lowest = (points) =>
  points.reduce((best, point) => (point[2] < (best?.[2] ?? Number.POSITIVE_INFINITY) ? point : best), null);

/** The curves: for each run its points, and those of the recorded run. marks: [[height, words]]; tones: of the runs. */
export function chart() {
  const node = h("div", { class: "lmt-chart" });
  let wide = 320;
  let given = null;
  const draw = () => {
    if (!given) return;
    const { runs, before, marks, end, tones, labels, covered } = given;
    const all = [...runs, ...before].flat();
    const last = Math.max(end, ...all.map(([step]) => step));
    // the fall from the start would flatten what comes after it
    const settled = all.filter(([step]) => step >= EARLY * last);
    const heights = [
      ...(settled.length ? settled : all).flatMap(([, train, valid]) => [train, valid]),
      ...marks.map(([height]) => height),
    ].filter(Number.isFinite);
    const first = Math.max(...[...runs, ...before].map((points) => Math.max(points[0]?.[1] ?? 0, points[0]?.[2] ?? 0)));
    const top = 1.05 * (covered ? first : Math.max(...heights, 0.1));
    const high = !covered && Math.min(...heights) > 0.5 * top;
    const low = high ? Math.floor(Math.min(...heights) * 10) / 10 : 0;
    const x = (step) => LEFT + ((wide - LEFT - RIGHT) * step) / last;
    const y = (v) => TOP + (HIGH - LOW - TOP) * (1 - (v - low) / (top - low));
    const ended = ([points]) => points?.at(-1)?.[2] ?? 0;
    const line = (points, which) =>
      points
        .filter((point) => Number.isFinite(point[which]))
        .map((point, i) => `${i ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[which]).toFixed(1)}`)
        .join("");
    const size = 10 ** Math.floor(Math.log10(last / 2));
    const every = [1, 2, 5, 10].map((k) => k * size).find((step) => last / step <= 5);
    const gap = [0.1, 0.2, 0.5, 1, 2].find((step) => (top - low) / step <= 5) ?? 5;
    const across = [];
    const up = [];
    for (let step = 0; step <= last; step += every) across.push(step);
    for (let v = Math.ceil(low / gap) * gap; v <= top + 1e-9; v += gap) up.push(v);
    // the names of the curves stand behind their ends, or, where there is no room, above; below where another is near
    const named = (runs.length ? runs : before).map((points, i) => {
      const [step, , valid] = points.at(-1) ?? [last, NaN, low];
      const behind = x(step) + 8 + LETTER * labels[i].length < wide - RIGHT;
      return [labels[i], y(valid) + (behind ? 12 : 0), i, behind ? x(step) + 8 : null];
    });
    named.sort((a, b) => a[1] - b[1]);
    named.forEach((one, i) => {
      one[1] = Math.min(Math.max(one[1] - 8, TOP + 10, (named[i - 1]?.[1] ?? 0) + 16), HIGH - LOW - 4);
    });
    replace(node, [
      s("svg", { width: wide, height: HIGH, viewBox: `0 0 ${wide} ${HIGH}`, "aria-hidden": "true" }, [
        up.map((v) => [
          s("line", { class: "lm-grid", x1: LEFT, x2: wide - RIGHT, y1: y(v), y2: y(v) }),
          s("text", { class: "lm-tick", x: LEFT - 6, y: y(v) + 4, "text-anchor": "end" }, fmt.num(v, gap < 1 ? 1 : 0)),
        ]),
        across.map((step) =>
          s("text", { class: "lm-tick", x: x(step), y: HIGH - LOW + 16, "text-anchor": "middle" }, fmt.count(step)),
        ),
        s("text", { class: "lm-tick", x: wide - RIGHT, y: HIGH - 2, "text-anchor": "end" }, "steps"),
        s(
          "text",
          { class: "lm-tick", x: 0, y: 10 },
          `loss, nats per prediction${first > top ? `; ${fmt.num(first, 1)} at first` : ""}`,
        ),
        marks.map(([height, words]) => [
          s("line", { class: "lmt-mark", x1: LEFT, x2: wide - RIGHT, y1: y(height), y2: y(height) }),
          s(
            "text",
            {
              class: "lm-tick",
              x: wide - RIGHT,
              y: y(height) + (ended(before) > height ? 14 : -4),
              "text-anchor": "end",
            },
            [words],
          ),
        ]),
        s(
          "svg",
          {
            class: "lmt-inside",
            y: TOP - 2,
            width: wide,
            height: HIGH - LOW - TOP + 4,
            viewBox: `0 ${TOP - 2} ${wide} ${HIGH - LOW - TOP + 4}`,
          },
          [
            before.map((points, i) =>
              s("g", { class: covered ? "lm-covered" : null }, [
                s("path", { class: "lmt-before lmt-train", "data-tone": tones[i], d: line(points, 1) }),
                s("path", { class: "lmt-before", "data-tone": tones[i], d: line(points, 2) }),
              ]),
            ),
            runs.map((points, i) => [
              s("path", { class: "lmt-train", "data-tone": tones[i], d: line(points, 1) }),
              s("path", { class: "lmt-live", "data-tone": tones[i], d: line(points, 2) }),
            ]),
            (runs.length ? runs : before).map((points, i) => {
              const best = lowest(points);
              return best && points.length > 2 && !covered
                ? s("circle", { class: "lmt-lowest", "data-tone": tones[i], cx: x(best[0]), cy: y(best[2]), r: 4 })
                : null;
            }),
          ],
        ),
        named.map(([words, at, i, from]) =>
          s(
            "text",
            {
              class: `lmt-name${covered ? " lm-covered" : ""}`,
              "data-tone": tones[i],
              x: from ?? wide - RIGHT,
              y: at,
              "text-anchor": from ? "start" : "end",
            },
            words,
          ),
        ),
      ]),
    ]);
  };
  return {
    node,
    draw: (next) => {
      given = next;
      draw();
    },
    resize: (width) => {
      wide = Math.max(240, width);
      draw();
    },
  };
}
