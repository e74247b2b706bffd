// spoken.mjs: what is said of a training: how it ended, how fast it goes, what its rate does.
import { fmt } from "../kit/core.mjs";
import { lowest } from "./curves.mjs";

const SLOW = 1.5; // times the seconds of the record, above which a device is called slow

export const steps = (n) => `${fmt.count(n)} steps`;
export const spent = (seconds) =>
  seconds < 90 ? `${fmt.num(seconds, seconds < 10 ? 1 : 0)} s` : `${fmt.num(seconds / 60, 1)} min`;
/** Seconds of work on all networks, with their reports. */
export const total = (runs) => runs.reduce((sum, { seconds }) => sum + seconds, 0);

/** The result in a sentence: what was lost on what is held out. How long it took stands beside it. */
export function finding(runs) {
  const said = ({ label, points }) => {
    const [step, , valid] = points.at(-1) ?? [0, 0, NaN];
    const best = lowest(points);
    const nats = `${valid < 0.005 ? "< 0.01" : fmt.num(valid)} nats`;
    if (runs.length > 1) return `${label} ${nats}`;
    const before = best && best[0] < step && valid > best[2] + 0.01;
    return `held out ${nats}${before ? `, lowest ${fmt.num(best[2])} at step ${fmt.count(best[0])}` : ""}`;
  };
  return `after ${steps(runs[0]?.points.at(-1)?.[0] ?? 0)}: ${runs.map(said).join(", ")}.`;
}

/** What the rate does, where it does not stay. */
export function course(way, rate, { runs, state }) {
  if (way.warmup === undefined) return "";
  const { end = way.steps, rate: next = null, more } = runs[0] ?? {};
  const again = () => `begins again at ${fmt.num(more.rate, 4)} and falls to 0 there.`;
  if (state === "done" && more)
    return ` The rate has fallen to 0. Go on raises the budget to ${steps(more.end)}: the rate ${again()}`;
  const zero = `0 at step ${fmt.count(end)}`;
  if (next !== null) return ` The rate is now ${next ? fmt.share(next, 4) : 0}, and ${zero}.`;
  return ` The rate climbs to ${rate} in ${steps(way.warmup)}, then falls along half a cosine to ${zero}.`;
}

/** Which line is which while one trains here. */
export function key({ record, runs }) {
  const lines = [record && "dotted: recorded", record?.seeds && "pale: four other seeds"];
  const said = [...lines, runs.length < 2 && "thin: in training"].filter(Boolean).join("; ");
  return said && ` ${said[0].toUpperCase()}${said.slice(1)}.`;
}

/** How fast it goes here, and how long it will take. */
export function speed(way, { runs, state, parts, notes }) {
  const step = runs[0]?.points.at(-1)?.[0];
  if (!step) return "";
  const took = total(runs);
  const all = (took / step) * way.steps;
  const record = way.record ? way.record.seconds * runs.length : null;
  const last = state === "paused" ? "Last report: " : "";
  const said = [
    `${last}${steps(step)} of ${fmt.count(runs[0].end ?? way.steps)}${runs.length > 1 ? " each" : ""}, ${spent(took)},`,
    `${fmt.count((runs.length * step * way.batch) / took)} ${way.unit} per second.`,
  ];
  if (record && all > SLOW * record && state === "going" && step < way.steps) {
    const times = `${fmt.num(all / record, 1)} times as long as that of the record`;
    said.push(`This device takes ${times}: about ${spent(all)} in all.`);
  }
  const each = `${fmt.count(way.batch / parts)} each`;
  if (parts > 1) said.push(`${parts} workers read ${each}; at every step their gradients are sent and averaged.`);
  return [...said, ...notes.map((note) => `Of the text, ${note}.`)].join(" ");
}
