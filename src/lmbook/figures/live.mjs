// live.mjs: a figure's line to the engine. The models run in a worker, so that the page stays quick; where a page allows no
// worker, they run in the page.
//
//   const models = connect(model);
//   await models.load("multi30k-transformer", (share) => ...)      share of the file that has come, 0 to 1
//   await models.ask("translate", { name, text })                  a task of engine.mjs
//   models.stop()
//
// A file of weights comes from where the figure came from: from the folder of the page (mount.mjs), or from the kernel (Figure
// in __init__.py). Both take model.send({ weights: name }) and answer with "msg:custom": { weights, loaded, total } on the way,
// then { weights, card } with the bytes, or { weights, error }.
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
    return new Promise((resolve, reject) => setTimeout(() => { // after the page has drawn
      try { resolve(inside[task](given)); } catch (error) { reject(error); }
    }));
  };
  try {
    const address = URL.createObjectURL(new Blob([`(${program})().serve(self);`], { type: "text/javascript" }));
    worker = new Worker(address);
  } catch { /* no worker here */ }
  if (worker) {
    worker.onmessage = ({ data: { number, found, error } }) => {
      const { resolve, reject } = waiting.get(number);
      waiting.delete(number);
      if (error === undefined) resolve(found);
      else reject(new Error(error));
    };
    worker.onerror = (event) => { // the page's policy stopped it, or it is out of memory
      event.preventDefault();
      worker = null;
      for (const { task, given, resolve, reject } of waiting.values()) here(task, given).then(resolve, reject);
      waiting.clear();
    };
  }
  const ask = (task, given) => (worker ? new Promise((resolve, reject) => {
    count += 1;
    waiting.set(count, { task, given, resolve, reject });
    worker.postMessage({ number: count, task, given });
  }) : here(task, given));
  return { ask, stop: () => worker?.terminate() };
}

export function connect(model) {
  const coming = new Map();
  let place = null;
  const ask = (task, given) => { place ??= workplace(); return place.ask(task, given); };

  function fetched(name, told) {
    return new Promise((resolve, reject) => {
      let timer = null;
      const end = (then, value) => { clearTimeout(timer); model.off("msg:custom", heard); then(value); };
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => end(reject, new Error("its weights did not arrive; in a notebook, run the cell again")), PATIENCE);
      };
      function heard(message, buffers) {
        if (message?.weights !== name) return;
        if (message.error) end(reject, new Error(message.error));
        else if (!message.card) { wait(); told?.(message.loaded / message.total); } else {
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
      coming.set(name, fetched(name, told).then((found) => ask("load", { name, ...found })).catch((error) => {
        coming.delete(name);
        throw error;
      }));
    }
    return coming.get(name);
  }

  return { load, ask, stop: () => place?.stop() };
}
