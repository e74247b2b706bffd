// coach.mjs: the line from a figure to a training (training.mjs), in a worker of its own or, where a page allows none,
// in the page.
//
//   const own = coach((message) => ..);      own.tell({ start, go: true })      own.stop()
//   own.inPage: no worker was to be had
import { workerOf } from "../kit/bring.mjs";
import { program } from "./program-training.mjs";

export function coach(heard) {
  let inside = null;
  const asked = [];
  const here = () => {
    worker = null;
    own.inPage = true;
    inside = program().training(heard, 15);
    for (const message of asked) inside(message);
  };
  const own = {
    inPage: false,
    tell(message) {
      asked.push(message);
      if (worker) worker.postMessage(message);
      else inside(message);
    },
    stop() {
      worker?.terminate();
      inside?.({ go: false });
    },
  };
  let worker = workerOf(program, heard, here);
  if (!worker) here();
  return own;
}
