// coach.mjs: the line from a figure to a training (training.mjs), in a worker of its own or, where a page allows none,
// in the page.
//
//   const own = coach((message) => ..);      own.tell({ start, go: true })      own.stop()
//   coach(heard, 4)      so many workers share each batch; own.parts says how many there are
//   own.inPage: no worker was to be had
import { workerOf } from "../kit/bring.mjs";
import { program } from "./program-engine.mjs";

/** @param {() => void} [lost]  called in place of going on in the page */
export function coach(heard, parts = 1, lost = undefined) {
  let inside = null;
  const asked = [];
  const here = () => {
    worker?.terminate();
    worker = null;
    if (lost || others.length) return (lost ?? (() => heard({ error: LOST })))();
    own.inPage = true;
    inside = program().training((message) => inside && heard(message), 15);
    for (const message of asked) inside(message);
    return undefined;
  };
  const own = {
    inPage: false,
    parts: 1,
    tell(message, lines = []) {
      asked.push(message);
      if (worker) worker.postMessage(message, lines);
      else inside?.(message);
      if (message.start) for (const other of others) other.tell({ start: message.start });
    },
    stop() {
      worker?.terminate();
      inside?.({ go: false });
      inside = null;
      for (const other of others) other.stop();
    },
  };
  const others = [];
  let worker = workerOf(program, heard, here);
  if (!worker) here();
  else if (parts > 1) {
    own.parts = parts;
    const ends = Array.from({ length: parts - 1 }, () => new MessageChannel());
    const lines = ends.map(({ port1 }) => port1);
    own.tell({ crew: { part: 0, parts, lines } }, lines);
    for (const [i, { port2 }] of ends.entries()) {
      const other = coach(heard, 1, () => heard({ error: LOST }));
      other.tell({ crew: { part: i + 1, parts, lines: [port2] } }, [port2]);
      others.push(other);
    }
  }
  return own;
}

const LOST = "one of the workers has ended; choose fewer and start again";
