// bets.mjs: the bet on the recorded training of a lesson's first data: a loss, a step from which on a curve is
// below a level, or a share of right answers. What is asked and what was recorded come from Python.
import { fmt } from "../kit/core.mjs";

const UNITS = {
  nats: { label: "Loss", text: (v) => fmt.nats(v), miss: (v) => fmt.num(v), more: "high", less: "low" },
  step: { label: "Step", text: fmt.count, miss: (v) => fmt.some(v, "step"), more: "late", less: "early" },
  share: { label: "Share", text: fmt.percent, miss: (v) => `${fmt.num(100 * v, 0)} points`, more: "high", less: "low" },
};

/** The step from which on the loss of these points stays below a level, in tens, as in bets.py; null: it does not. */
function crossing(points, level) {
  const k = points.findLastIndex(([, , loss]) => loss > level);
  if (k < 0 || k + 1 === points.length) return null;
  const [[a, , high], [b, , low]] = points.slice(k, k + 2);
  return 10 * Math.round((a + ((b - a) * (high - level)) / (high - low)) / 10);
}

/** How a training here stands to what was bet on the recorded one. */
export function compared(bet, runs) {
  if (bet?.on !== "step") return "";
  const { label, points } = runs[bet.hides[0][0]];
  const step = crossing(points, bet.level);
  const level = fmt.num(bet.level);
  const said = step === null ? `not below ${level} to the end.` : `below ${level} from about step ${fmt.count(step)}.`;
  return runs.length > 1 ? ` ${label}: ${said}` : ` ${said[0].toUpperCase()}${said.slice(1)}`;
}

/** What kit/bet.mjs is to ask; moved(value) is told where the pin stands, settled(bet) what was bet. */
export function stakeOn(name, { on, asks, told, truth, pin }, hides, moved, settled) {
  const { label, text, miss, more, less } = UNITS[on];
  return {
    name: `trainer-${name}`,
    asks,
    pin: { label, ...pin, text, oninput: moved },
    hides,
    told: (bet) => {
      const missed = () => `; you said ${text(bet)}, ${miss(Math.abs(bet - truth))} too ${bet > truth ? more : less}.`;
      const end = bet === null ? "." : bet === truth ? " and as you said." : missed();
      return `${told} ${text(truth)}, as recorded${end}`;
    },
    settled,
  };
}
