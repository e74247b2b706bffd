// bring.mjs: what a figure has brought: the weights of a model, and a worker for a module's program.
//
// A file of weights comes from where the figure came from: from the folder of the page (mount.mjs), or from the kernel
// (Figure in __init__.py). Both take model.send({ weights: name }) and answer with "msg:custom": { weights, loaded,
// total } on the way, then { weights, card } with the bytes, or { weights, error }.

const PATIENCE = 30000; // ms without a sign of the file

/**
 * The file of a model and its card; told(share of it that has come) on the way.
 * @type {(model: any, name: string, told?: (share: number) => void) => Promise<{ file: Uint8Array, card: any }>}
 */
export function fetched(model, name, told) {
  return new Promise((resolve, reject) => {
    let timer = null;
    const end = (then, value) => {
      clearTimeout(timer);
      model.off("msg:custom", heard);
      then(value);
    };
    const fail = (/** @type {string} */ words) => end(reject, new Error(words));
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(fail, PATIENCE, "its weights did not arrive; in a notebook, run the cell again");
    };
    function heard(message, buffers) {
      if (message?.weights !== name) return;
      if (message.error) fail(message.error);
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

/** @type {Map<() => any, string>} */
const addresses = new Map(); // of programs: one of each for a page, however many workers run it

/**
 * A worker that runs a program (bundle.py), or null where the page allows none. failed() is called where its policy
 * stops the worker later, or memory ends.
 * @type {(program: () => any, heard: (message: any) => void, failed: () => void) => Worker | null}
 */
export function workerOf(program, heard, failed) {
  try {
    const made = () => URL.createObjectURL(new Blob([`(${program})().serve(self);`], { type: "text/javascript" }));
    const address = addresses.get(program) ?? made();
    addresses.set(program, address);
    const worker = new Worker(address);
    worker.onmessage = ({ data }) => heard(data);
    worker.onerror = (event) => {
      event.preventDefault();
      failed();
    };
    return worker;
  } catch {
    return null;
  }
}
