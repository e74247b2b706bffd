// training.mjs: a lesson that goes on while its page lives: in a worker, or, where a page allows none, in turns with
// the page.
//
//   tell it   { start: { about, seed, text, every, steps, rate } }   { go: true }   { go: false }   { rate }
//   it tells  { step, seconds, train, valid, samples, right }  before the first step and after every `every` steps
//             { done: true }  after `steps` steps, from where { go: true } takes as many again      { error }
import { lesson } from "./lessons.mjs";
import { mean } from "../kit/numbers.mjs";

/** turn: ms of work before messages are heard. Returns what hears a message. */
export function training(tell, turn) {
  let own = null;
  let plan = null;
  let going = false;
  let timer = null;
  let step = 0;
  let end = 0;
  let seconds = 0;
  let losses = [];

  function report() {
    const train = losses.length ? mean(losses) : null;
    losses = [];
    tell({ step, seconds, train, ...own.report() });
  }

  function work() {
    const start = performance.now();
    let now = start;
    try {
      if (!own) {
        own = lesson(plan.about, plan.seed, plan.text);
        report();
      }
      while (step < end && now - start < turn) {
        const before = now;
        losses.push(own.step(plan.rate));
        step += 1;
        now = performance.now();
        seconds += (now - before) / 1000;
        if (step % plan.every === 0) report();
        now = performance.now();
      }
    } catch (error) {
      going = false;
      tell({ error: error.message });
    }
    if (going && step >= end) {
      going = false;
      tell({ done: true });
    }
    timer = going ? setTimeout(work) : null;
  }

  return ({ start, go, rate }) => {
    if (start) {
      plan = start;
      end = start.steps;
    }
    if (rate) plan.rate = rate;
    if (go === undefined) return;
    going = go;
    if (going && step >= end) end += plan.steps;
    if (going) timer ??= setTimeout(work);
    else {
      clearTimeout(timer);
      timer = null;
    }
  };
}

export function serve(scope) {
  const hear = training((message) => scope.postMessage(message), 100);
  scope.onmessage = ({ data }) => hear(data);
}
