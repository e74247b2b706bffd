// Python for a page. Nothing is fetched before `start` or the first `run`.
//
//     import { Kernel, inThePage } from "./python/kernel.mjs";
//     const kernel = new Kernel();
//     await kernel.start({ onProgress: ({ loaded, total }) => {}, packs: ["numpy"] });
//     const { status, outputs } = await kernel.run("1 + 1", { id: "first", onOutput: (output, outputs) => {} });
//     kernel.stop();
//
// status is "ok", "error" or "stopped". outputs are nbformat's: {output_type: "stream", name, text},
// {output_type: "display_data" or "execute_result", data: {"text/plain": ..., "image/svg+xml": ...}, metadata},
// {output_type: "error", ename, evalue, traceback: [lines]}.
// All cells of one kernel share their names; each page has a kernel of its own.
// Cells run one after the other, in the order in which they are asked for. `stop` ends the worker, the only way to end
// an endless loop: what it has made is gone, and the next `run` starts a new one, so run anew what the cell needs.

/** What is in the site's folder python/, and how large: {files, core, packs: {NAME: {title, files, imports}}}. */
export async function manifest() {
  if (location.protocol === "file:") throw new Error(FROM_DISK);
  const answer = await fetch(new URL("manifest.json", import.meta.url), { cache: "no-cache" });
  if (!answer.ok) throw new Error(`Python cannot be loaded: the server answered ${answer.status}.`);
  return answer.json();
}
/** Said where the page lies on a disk: browsers let it load nothing. */
export const FROM_DISK =
  "A page that is opened from a disk may load nothing. In the folder that was unpacked, run " +
  "python -m http.server and open http://localhost:8000.";

/** Bytes that loading these packs, and Python itself, brings over the network. */
export function weight(about, packs = []) {
  const names = new Set([...about.core, ...packs.flatMap((name) => about.packs[name]?.files ?? [])]);
  return [...names].reduce((sum, name) => sum + about.files[name].bytes, 0);
}

export class Kernel {
  /** @type {Worker | null} */
  #worker = null;
  #started = null;
  #number = 0;
  #waiting = new Map(); // number of a message: {resolve, reject}
  #cells = new Map(); // id of a running cell: {outputs, onOutput, onRunning}
  #onProgress = null;
  /** Counts the workers: a cell that ran in an earlier one has to run again. */
  generation = 0;

  get started() {
    return this.#worker !== null;
  }

  #ask(message, transfer = []) {
    const number = ++this.#number;
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#worker.postMessage({ ...message, number }, transfer);
    });
  }

  #heard({ data }) {
    const waits = this.#waiting.get(data.number);
    if (data.type === "progress") this.#onProgress?.({ loaded: data.loaded, total: data.total });
    else if (data.type === "loading") this.#cells.get(data.id)?.onLoading?.(data.packs);
    else if (data.type === "running") this.#cells.get(data.id)?.onRunning?.();
    else if (data.type === "output") this.#put(this.#cells.get(data.id), data.output);
    else if (waits) {
      this.#waiting.delete(data.number);
      if (data.type === "done") waits.resolve(data.value);
      else waits.reject(new Error(data.message));
    }
  }

  #put(cell, output) {
    if (!cell) return;
    const last = cell.outputs.at(-1);
    if (output.output_type === "clear") cell.outputs.length = 0;
    else if (output.output_type === "stream" && last?.output_type === "stream" && last.name === output.name)
      last.text += output.text;
    else cell.outputs.push(output);
    cell.onOutput?.(output, cell.outputs);
  }

  /** Loads Python, once; packs are loaded with it. onProgress({loaded, total}) hears of bytes, later ones too. */
  start({ onProgress = undefined, packs = [] } = {}) {
    if (onProgress) this.#onProgress = onProgress;
    if (!this.#started) {
      const generation = ++this.generation;
      this.#started = (async () => {
        const about = await manifest();
        if (generation !== this.generation) throw new Error("stopped");
        const type = "pyodide.mjs" in about.files ? "module" : "classic"; // as its loader wants it
        this.#worker = new Worker(new URL(about.worker, import.meta.url), { type });
        this.#worker.onmessage = (event) => this.#heard(event);
        this.#worker.onerror = (event) => this.#end(new Error(event.message || "Python's worker cannot be started."));
        await this.#ask({ type: "start", manifest: about, packs });
      })();
      this.#started.catch((error) => {
        if (generation === this.generation) this.#end(error);
      });
    }
    return this.#started;
  }

  /** Runs a cell; starts Python where need be. onLoading(packs), onRunning() and onOutput(output, outputs) tell how. */
  async run(code, { id = "", onOutput = undefined, onRunning = undefined, onLoading = undefined } = {}) {
    const outputs = [];
    const cell = { outputs, onOutput, onRunning, onLoading };
    try {
      await this.start();
      this.#cells.set(id, cell);
      return { status: await this.#ask({ type: "run", id, code }), outputs };
    } catch (error) {
      if (error.message === "stopped") return { status: "stopped", outputs };
      const output = { output_type: "error", ename: "Error", evalue: error.message, traceback: [error.message] };
      this.#put(cell, output);
      return { status: "error", outputs };
    } finally {
      if (this.#cells.get(id) === cell) this.#cells.delete(id);
    }
  }

  /** Writes a file into the page's own file system. */
  async put(path, data) {
    await this.start();
    await this.#ask({ type: "put", path, data });
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = this.#started = null;
    this.generation += 1;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(error);
  }

  /** Ends the worker, whatever it does: cells that run or wait have the status "stopped". */
  stop() {
    this.#end(new Error("stopped"));
  }

  /** A new Python that knows nothing of what ran before. */
  restart(options = {}) {
    this.stop();
    return this.start(options);
  }
}
