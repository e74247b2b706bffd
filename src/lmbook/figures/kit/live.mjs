// live.mjs: a figure's line to the engine. The models run in a worker, so that the page stays quick; where a page
// allows no worker, they run in the page.
//
//   const models = connect(model, ends);      until the figure's view ends: what is asked later, is not answered
//   await models.load("multi30k-transformer", (share) => ...)      share of the file that has come, 0 to 1
//   await models.ask("translate", { name, text })                  a task of engine.mjs
//   models.has(name)      whether it is loaded;      models.onload(callback): told of each that is
//   const own = ownText({ models, needed, label, verb, work, done });      a line for the reader's own text
//   el.append(own.node)
import { fetched, workerOf } from "./bring.mjs";
import { button, chips, field, fmt, h } from "./core.mjs";
import { program } from "./program-engine.mjs";

/** ask(task, given): a worker of its own, or the engine in the page. */
function workplace() {
  let inside = null;
  let count = 0;
  const waiting = new Map();
  const here = async (task, given) => {
    await new Promise((then) => setTimeout(then)); // after the page has drawn
    inside ??= program().engine();
    return inside[task](given);
  };
  const heard = ({ number, found, error }) => {
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) resolve(found);
    else reject(new Error(error));
  };
  let worker = workerOf(program, heard, () => {
    worker = null;
    for (const { task, given, resolve } of waiting.values()) resolve(here(task, given));
    waiting.clear();
  });
  const ask = async (task, given) => {
    if (!worker) return here(task, given);
    count += 1;
    worker.postMessage({ number: count, task, given });
    return new Promise((resolve, reject) => waiting.set(count, { task, given, resolve, reject }));
  };
  return { ask, stop: () => worker?.terminate() };
}

// One worker and one store of models for all figures that share this module; the last one that stops ends both.
const coming = new Map();
const there = new Set();
const told = new Map(); // what each figure wants called when a model has come
let place = null;

/** @type {(model: any, ends: (then: () => void) => void) => any} */
export function connect(model, ends) {
  const own = {};
  told.set(own, []);
  /** What comes, or nothing ever where the figure has gone. */
  const answer = (promise) => promise.finally(() => told.has(own) || new Promise(() => {}));
  const ask = (task, given) => {
    place ??= workplace();
    return place.ask(task, given);
  };
  async function fetching(name, share) {
    try {
      const found = await ask("load", { name, ...(await fetched(model, name, share)) });
      there.add(name);
      for (const callback of [...told.values()].flat()) callback();
      return found;
    } catch (error) {
      coming.delete(name);
      throw error;
    }
  }
  /** Fetches a model once and makes it ready; share(what has come of it). A load that failed may be tried again. */
  function load(name, share) {
    if (!coming.has(name)) coming.set(name, fetching(name, share));
    return coming.get(name);
  }

  ends(() => {
    told.delete(own);
    if (told.size) return;
    place?.stop();
    place = null;
    coming.clear();
    there.clear();
  });

  return {
    load: (name, share) => answer(load(name, share)),
    ask: (task, given) => answer(ask(task, given)),
    has: (name) => there.has(name),
    onload: (callback) => told.get(own)?.push(callback),
  };
}

const megabytes = (list) => `${fmt.num(list.reduce((sum, one) => sum + one.bytes, 0) / 1e6, 1)} MB`;
const KEPT = "the text stays in this page";
/** What is said before models, [{ name, bytes }], are fetched. */
export const fetches = (list) => `fetches ${megabytes(list)} once; ${KEPT}`;

/**
 * Models on their way: a bar and a note to be shown, and come(list), which fetches those of the list that are not here
 * and says how much of them has come.
 */
export function loading(models) {
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "loading the model" });
  const note = h("span", { class: "lm-small lm-muted", role: "status" });
  async function come(list) {
    const missing = list.filter(({ name }) => !models.has(name));
    if (!missing.length) return;
    note.textContent = `Loading ${megabytes(missing)}, once …`;
    bar.hidden = false;
    const shares = missing.map(() => 0);
    const load = ({ name }, i) =>
      models.load(name, (share) => {
        shares[i] = share;
        bar.value = shares.reduce((sum, one) => sum + one, 0) / shares.length;
      });
    await Promise.all(missing.map(load)).finally(() => (bar.hidden = true));
  }
  return { bar, note, come };
}

/** Sentences to try, of a long one its beginning. */
export const sentences = (list, onchoose) =>
  chips({
    label: "Examples",
    options: list.map((text) => [text, text.length > 28 ? `${text.slice(0, 26).trim()} …` : text]),
    onchoose,
  });

/**
 * A line of text with a button, the size of what is to be fetched, and how much of it has come.
 * needed: [{ name, bytes }] of models.  verb: on the button.  work(text): a promise of what is found, once the models
 * are there; an Error says what is wrong with the text.  done(found, text): shows it.  blank: an empty line is no
 * fault, but goes to done(null, text).  beside: further buttons.  rest: of the line, as field() has it.
 * After the first time the text is looked at as it is typed. What fails is said beside the button. put(text): as if
 * typed and asked; set(text): as if only typed.
 */
export function ownText({ models, needed, verb, blank = false, beside = null, work, done, ...rest }) {
  const there = () => needed.every(({ name }) => models.has(name));
  let busy = false;
  let again = false;
  let last = null;
  const size = fetches(needed);
  const oninput = (text) => there() && text !== last && go();
  const line = field({ label: "", maxlength: 200, delay: 500, ...rest, oninput, onenter: () => go() });
  const start = button(verb, () => go(), { main: true });
  const { bar, note, come } = loading(models);
  note.textContent = there() ? KEPT : size;
  const node = h("div", { class: "lm-stack lm-own-text" }, line.node, h.row(start, beside, bar, note));

  async function go() {
    if (busy) {
      again = true;
      return undefined;
    }
    const text = line.get();
    busy = true;
    again = false;
    last = text;
    node.dataset.state = "busy";
    let said = "";
    try {
      const empty = !text.trim();
      if (empty && !blank) throw new Error("there is no word yet");
      if (!empty) await come(needed);
      const found = empty ? null : await work(text);
      done(found, text);
    } catch (error) {
      said = `That could not be done: ${error.message}.`;
    }
    busy = false;
    note.textContent = said || (there() ? "" : size);
    node.dataset.state = said ? "failed" : "done";
    return again && line.get() !== text ? go() : undefined;
  }

  // by this line, or by what else the figure does
  models.onload(() => {
    if (there() && note.textContent === size) note.textContent = KEPT;
  });
  const put = (text) => {
    line.set(text);
    return go();
  };
  return { node, set: line.set, put };
}
