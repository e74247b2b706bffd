// bet.mjs: a question that is answered before its answer is in sight. One of a few buttons is pressed, or a pin is set
// on a scale; then what was hidden shows itself, and a sentence says by how much one missed. To skip is one press, and
// whoever uses anything else in the figure has skipped; to pass by it with the keys is no use of it. What was bet is
// kept on the device.

import { button, pairs, slider } from "./controls.mjs";
import { h, replace } from "./dom.mjs";

const KEPT = "lmbook-bets";
const ELSE = "The question was on what stood here first."; // said where something else is shown
const USING = /^(.|Enter|Backspace|Delete|Home|End|Arrow\w+)$/u; // keys that do something to what has the focus

/** The end of what is told: that one had bet right, or else by how much one missed; nothing to one who skipped. */
export const answered = (/** @type {any} */ bet, /** @type {any} */ right, /** @type {string} */ miss) =>
  bet === null ? "." : bet === right ? ", as you said." : miss;

/** What was bet on this device, by the name of the bet; null stands for skipped. Nothing where nothing is kept. */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

function keep(name, answer) {
  try {
    localStorage.setItem(KEPT, JSON.stringify({ ...kept(), [name]: answer }));
  } catch {
    // it then lasts as long as the page
  }
}

/** In place of a bet, where there is nothing to bet on. */
export const unasked = () => ({ node: h("div", { hidden: true }), open: false, answer: null, set() {}, take() {} });

/**
 * name: of the bet, on the device.  asks: the question.  options: what may be bet, or pin: a slider's label, min, max,
 * step, value and text.  by: where one bets by what is pressed there: at once, with take(answer), or then an option may
 * be a function that says what was bet.  told(answer): the sentence afterwards; null is one who skipped.  hides: what
 * shows the answer.  inside: the figure's body.  settled(answer, now) is called when it comes out, and with null where
 * it is asked again; of a bet that was out before `answer` has it.
 * @param {{ name: string, asks: string, options?: import("./controls.mjs").Option[], pin?: any, by?: Element,
 *   told: (answer: any) => string, hides?: Element[], inside: HTMLElement, of?: string,
 *   state: Pick<import("./core.mjs").Tools, "its" | "put" | "listen">,
 *   settled?: (answer: any, now: boolean) => void }} bet
 */
export function bet({ name, asks, options = [], pin, by, told, hides = [], inside, of = "", state, settled }) {
  const said = h("p", {});
  const offered = h("div", { class: "lm-row" });
  const node = h("div", { class: "lm-wager", role: "group", "aria-label": "Your bet" }, said, offered);
  const open = () => node.dataset.open === "true";
  const show = (/** @type {boolean} */ asked) => {
    node.dataset.open = String(asked);
    for (const one of hides) one.classList.toggle("lm-covered", asked);
  };
  let scale = null;
  let given = null; // what was bet
  const first = Object.fromEntries((of.match(/\S+/g) ?? []).map((trait) => [trait, state.its[trait]]));
  const now = () => JSON.stringify(Object.keys(first).map((trait) => state.its[trait]));
  const begun = now();
  let left = begun; // as settled() left it
  let made = false;
  /** Nothing below it moves. */
  const hold = () => {
    if (inside.offsetWidth > 640) node.style.minHeight = `${node.offsetHeight}px`;
  };
  /** A number stays in one line with its unit. */
  const tell = (/** @type {string} */ words) => {
    const parts = words.split(/(\S+ (?:%|nats)\S*)/);
    replace(said, ...parts.map((part, i) => (i % 2 ? h("span", { class: "lm-whole" }, part) : part)));
  };
  let answer = ""; // what is told of it
  const stay = () => {
    const words = [begun, left].includes(now()) ? answer : ELSE;
    if (open() || said.textContent === words) return;
    hold();
    tell(words);
  };

  function ask() {
    const had = node.contains(document.activeElement);
    if (now() !== begun) state.put(first);
    given = null;
    said.setAttribute("role", "status"); // what it then says is read out
    show(true);
    tell(asks);
    scale = pin && slider(pin);
    replace(offered, [
      pairs(options).map(([value, words]) =>
        button(words, () => settle(typeof value === "function" ? value() : value, true)),
      ),
      scale && [scale.node, button("Bet", () => settle(scale.get(), true), { main: true })],
      button("Skip", () => settle(null, true), { skip: true }),
    ]);
    if (had) /** @type {HTMLElement} */ (offered.querySelector("input, button")).focus();
  }

  function settle(bet, fresh = false) {
    const had = node.contains(document.activeElement);
    if (open()) hold();
    const anew = () => {
      ask();
      settled?.(null, false);
    };
    const again = button("Bet again", anew, { skip: true });
    given = bet;
    show(false);
    answer = told(bet);
    tell(answer);
    replace(offered, again);
    if (fresh) keep(name, bet);
    if (had) again.focus();
    if (made) settled?.(bet, fresh);
    left = now();
    stay();
  }

  const used = (/** @type {any} */ { type, target, key, ctrlKey, altKey, metaKey }) => {
    const passing = type === "keydown" && (!USING.test(key) || ctrlKey || altKey || metaKey);
    const within = passing || node.contains(target) || by?.contains(target);
    if (open() && !within && target.closest("button, input, select, summary, textarea, [tabindex]")) settle(null);
  };
  for (const kind of ["click", "input", "keydown"]) inside.addEventListener(kind, used, true);
  if (of) state.listen(of, stay);
  const before = kept();
  if (name in before) settle(before[name]);
  else ask();
  made = true;
  return {
    node,
    get open() {
      return open();
    },
    /** That was bet. */
    take: (/** @type {any} */ answer) => settle(answer, true),
    /** Puts the pin where the picture was pressed. */
    set(/** @type {number} */ value) {
      if (!scale) return;
      scale.input.value = String(value);
      scale.input.dispatchEvent(new Event("input"));
    },
    /** What was bet; null while it is open, and of one who skipped. A drawing marks it. */
    get answer() {
      return given;
    },
  };
}
