// coach.mjs: the line from a figure to a training (training.mjs), in a worker of its own or, where a page allows none,
// in the page.
//
//   const own = coach((message) => ..);      own.tell({ start, go: true })      own.stop()
//   own.inPage: no worker was to be had
import { program } from "./program-training.mjs";

export function coach(heard) {
  let worker = null;
  let inside = null;
  const asked = [];
  const own = { inPage: false };
  const here = () => {
    own.inPage = true;
    inside = program().training(heard, 15);
    for (const message of asked) inside(message);
  };
  try {
    worker = new Worker(URL.createObjectURL(new Blob([`(${program})().serve(self);`], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => heard(data);
    worker.onerror = (event) => {
      // the page's policy stopped it, or it is out of memory
      event.preventDefault();
      worker = null;
      here();
    };
  } catch {
    here();
  }
  own.tell = (message) => {
    asked.push(message);
    if (worker) worker.postMessage(message);
    else inside(message);
  };
  own.stop = () => {
    worker?.terminate();
    inside?.({ go: false });
  };
  return own;
}
