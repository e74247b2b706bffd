// live.mjs: a figure's line to the engine. The models run in a worker, so that the page stays quick; where a page
// allows no worker, they run in the page.
//
//   const models = connect(model);
//   await models.load("multi30k-transformer", (share) => ...)      share of the file that has come, 0 to 1
//   await models.ask("translate", { name, text })                  a task of engine.mjs
//   models.has(name)      whether it is loaded;      models.onload(callback): told of each that is
//   models.stop()
//   const own = ownText({ models, needed, label, verb, work, done });      a line for the reader's own text
//   el.append(own.node)
//
// A file of weights comes from where the figure came from: from the folder of the page (mount.mjs), or from the kernel
// (Figure in __init__.py). Both take model.send({ weights: name }) and answer with "msg:custom": { weights, loaded,
// total } on the way, then { weights, card } with the bytes, or { weights, error }.
import { button, field, fmt, h } from "./core.mjs";
import { program } from "./program-engine.mjs";

const PATIENCE = 30000; // ms without a sign of the file

/** ask(task, given): a worker of its own, or the engine in the page. */
function workplace() {
  let worker = null;
  let inside = null;
  let count = 0;
  const waiting = new Map();
  const here = (task, given) => {
    inside ??= program().engine();
    return new Promise((resolve, reject) =>
      setTimeout(() => {
        // after the page has drawn
        try {
          resolve(inside[task](given));
        } catch (error) {
          reject(error);
        }
      }),
    );
  };
  try {
    const address = URL.createObjectURL(new Blob([`(${program})().serve(self);`], { type: "text/javascript" }));
    worker = new Worker(address);
  } catch {
    /* no worker here */
  }
  if (worker) {
    worker.onmessage = ({ data: { number, found, error } }) => {
      const { resolve, reject } = waiting.get(number);
      waiting.delete(number);
      if (error === undefined) resolve(found);
      else reject(new Error(error));
    };
    worker.onerror = (event) => {
      // the page's policy stopped it, or it is out of memory
      event.preventDefault();
      worker = null;
      for (const { task, given, resolve, reject } of waiting.values()) here(task, given).then(resolve, reject);
      waiting.clear();
    };
  }
  const ask = (task, given) =>
    worker
      ? new Promise((resolve, reject) => {
          count += 1;
          waiting.set(count, { task, given, resolve, reject });
          worker.postMessage({ number: count, task, given });
        })
      : here(task, given);
  return { ask, stop: () => worker?.terminate() };
}

export function connect(model) {
  const coming = new Map();
  const there = new Set();
  const callbacks = [];
  let place = null;
  const ask = (task, given) => {
    place ??= workplace();
    return place.ask(task, given);
  };

  function fetched(name, told) {
    return new Promise((resolve, reject) => {
      let timer = null;
      const end = (then, value) => {
        clearTimeout(timer);
        model.off("msg:custom", heard);
        then(value);
      };
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(
          () => end(reject, new Error("its weights did not arrive; in a notebook, run the cell again")),
          PATIENCE,
        );
      };
      function heard(message, buffers) {
        if (message?.weights !== name) return;
        if (message.error) end(reject, new Error(message.error));
        else if (!message.card) {
          wait();
          told?.(message.loaded / message.total);
        } else {
          const [{ buffer, byteOffset, byteLength }] = buffers;
          end(resolve, { file: new Uint8Array(buffer, byteOffset, byteLength), card: message.card });
        }
      }
      model.on("msg:custom", heard);
      wait();
      model.send({ weights: name });
    });
  }

  /** Fetches a model once and makes it ready; told(share) on the way. A load that failed may be tried again. */
  function load(name, told) {
    if (!coming.has(name)) {
      coming.set(
        name,
        fetched(name, told)
          .then((found) => ask("load", { name, ...found }))
          .then(
            (found) => {
              there.add(name);
              for (const callback of callbacks) callback();
              return found;
            },
            (error) => {
              coming.delete(name);
              throw error;
            },
          ),
      );
    }
    return coming.get(name);
  }

  return {
    load,
    ask,
    has: (name) => there.has(name),
    onload: (callback) => callbacks.push(callback),
    stop: () => place?.stop(),
  };
}

/**
 * A line of text with a button, the size of what is to be fetched, and how much of it has come.
 * needed: [{ name, bytes }] of models.  verb: on the button.  work(text): a promise of what is found, once the models
 * are there; an Error says what is wrong with the text.  done(found, text): shows it.  blank: an empty line is no
 * fault, but goes to done(null, text).  beside: further buttons.
 * After the first time the text is looked at as it is typed. What fails is said beside the button. put(text): as if
 * typed and asked; set(text): as if only typed.
 */
export function ownText({
  models,
  needed,
  label,
  verb,
  value = "",
  maxlength = 200,
  blank = false,
  beside = null,
  work,
  done,
}) {
  const megabytes = fmt.num(needed.reduce((sum, one) => sum + one.bytes, 0) / 1e6, 1);
  const there = () => needed.every(({ name }) => models.has(name));
  let ready = there();
  let busy = false;
  let again = false;
  let gone = false;
  let last = null;
  const size = `fetches ${megabytes} MB once; the text stays in this page`;
  const kept = "the text stays in this page";
  const line = field({
    label,
    value,
    maxlength,
    delay: 500,
    oninput: (text) => {
      if (ready && text !== last) go();
    },
  });
  const start = button(verb, () => go(), { class: "lm-button lm-main" });
  const bar = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "loading the model" });
  const note = h("span", { class: "lm-small lm-muted", role: "status" }, ready ? kept : size);
  line.input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !ready) go();
  });
  const node = h("div", { class: "lm-stack lm-own-text" }, [
    line.node,
    h("div", { class: "lm-row" }, start, beside, bar, note),
  ]);

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
      if (!ready && !empty) {
        note.textContent = `Loading ${megabytes} MB, once …`;
        bar.hidden = false;
        const shares = needed.map(() => 0);
        const told = (i) => (share) => {
          shares[i] = share;
          bar.value = shares.reduce((sum, one) => sum + one, 0) / shares.length;
        };
        await Promise.all(needed.map((one, i) => models.load(one.name, told(i))));
      }
      const found = empty ? null : await work(text);
      if (!gone) done(found, text);
    } catch (error) {
      said = `That could not be done: ${error.message}.`;
    }
    busy = false;
    bar.hidden = true;
    note.textContent = said || (there() ? "" : size);
    node.dataset.state = said ? "failed" : "done";
    return again && line.get() !== text ? go() : undefined;
  }

  models.onload(() => {
    // by this line, or by what else the figure does
    ready = there();
    if (ready && note.textContent === size) note.textContent = kept;
  });
  return {
    node,
    set: line.set,
    put: (text) => {
      line.set(text);
      return go();
    },
    stop: () => {
      gone = true;
    },
  };
}
