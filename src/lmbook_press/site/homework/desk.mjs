// The desk: a homework is solved on its page. Loaded when a reader presses "Solve it here"; Python comes with the first
// Run or Check.

import { FROM_DISK, Kernel, manifest, weight } from "../python/kernel.mjs";
import { draw, places } from "./cells.mjs";
import { Device, Taken } from "./device.mjs";
import { h, shown } from "./dom.mjs";
import { forCheck, handedOut, isAnswer, kinship, LARGEST, read, sourceOf, STUB, textOf } from "./notebook.mjs";
import { report } from "./report.mjs";

const LOST =
  "This browser keeps nothing here (its storage is blocked or full): what you write is gone when you leave the page. " +
  "Press Save as file before you do.";
const ELSEWHERE = "This homework is open in another tab, which keeps what is written now. ";
const PACKS = ["numpy", "lmbook", "grader"];
const TORCH = /^\s*(import|from) torch\b/m; // of the page: what the book uses of it

class Desk {
  constructor(article, name, text) {
    this.article = article;
    this.name = name; // NN-name
    this.release = read(text);
    this.kernel = new Kernel();
    this.ran = new Map(); // view: what of it ran in this Python
    this.views = [];
    this.tries = {};
    this.unsaved = false; // something that is kept nowhere
    this.waiting = 0; // writes to the device
    this.busy = 0; // runs
    addEventListener("beforeunload", (event) => this.unsaved && event.preventDefault());
  }

  say(words) {
    this.status.textContent = words;
  }

  warn(words, ...buttons) {
    this.warning.replaceChildren(...(words ? [words, ...buttons] : []));
    this.warning.hidden = !words;
  }

  async begin(after) {
    const button = (words, deed) => h("button", { type: "button", textContent: words, onclick: deed });
    this.status = h("p", { className: "lm-said", role: "status" });
    this.warning = h("p", { className: "lm-warning", role: "alert", hidden: true });
    this.result = h("div", { className: "lm-result", tabIndex: -1 });
    const file = h("input", { type: "file", accept: ".ipynb,application/json", hidden: true });
    file.addEventListener("change", () => {
      if (file.files[0]) this.openFile(file.files[0]);
      file.value = "";
    });
    this.halt = button("Stop", () => this.stop());
    this.halt.disabled = true;
    this.earlier = button("Earlier answers", () => this.back());
    this.earlier.hidden = true;
    const bar = h(
      "div",
      { className: "lm-tools", role: "group" },
      button("Check", () => this.check()),
      button("Run all", () => this.runAll()),
      this.halt,
      button("Save as file", () => this.save()),
      button("Open a file", () => file.click()),
      button("Start over", () => this.startOver()),
      this.earlier,
      file,
    );
    bar.setAttribute("aria-label", "Homework");
    this.bar = h("div", { className: "lm-desk" }, bar, this.warning, this.status);
    after.after(this.bar, this.result);
    this.article.addEventListener(
      "dragover",
      (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault(),
    );
    this.article.addEventListener("drop", (event) => {
      const dropped = event.dataTransfer?.files[0];
      if (event.defaultPrevented || !dropped) return;
      event.preventDefault();
      this.openFile(dropped);
    });
    const head = document.querySelector(".bd-header-article");
    this.bar.style.setProperty("--lm-top", `${head instanceof HTMLElement ? head.offsetHeight : 0}px`);
    this.places = places(this.article, this.release);
    if (!this.places) throw new Error("The page and the homework do not fit together: load the page anew.");
    try {
      this.device = await Device.open(this.name);
      this.device.onTaken(() => this.elsewhere());
      await this.load();
      this.earlier.hidden = !(await this.device.aside());
    } catch {
      this.device = null;
      await this.show(null, {});
      this.warn(LOST);
    }
    this.say(await this.greeting());
  }

  async greeting() {
    try {
      const mega = (weight(await manifest(), PACKS) / 1e6).toFixed(0);
      return `Your answers are kept on this device at each key. The first Run or Check loads Python, ${mega} MB.`;
    } catch (error) {
      return error.message === FROM_DISK
        ? FROM_DISK
        : `Write your answers; Run and Check do not work now: ${error.message}`;
    }
  }

  /** Takes the pen, and shows what is kept. */
  async load() {
    const kept = await this.device.take();
    this.tries = kept.tries;
    this.locked = false;
    this.warn("");
    await this.show(kept.file, kept.cells);
  }

  async show(file, cells) {
    for (const view of this.views) view.remove();
    this.notebook = file ? read(file) : structuredClone(this.release);
    this.own = kinship(this.notebook, this.release) === "own";
    this.handed = this.own ? handedOut(this.notebook, this.release) : this.release; // before anything is written
    for (const cell of this.notebook.cells) Object.assign(cell, cells[cell.id] ?? {});
    this.views = await draw(this, this.article, this.places, this.notebook, this.release);
    this.ran.clear();
    this.result.replaceChildren();
  }

  /** A key was pressed in an answer. */
  changed(view, text) {
    view.cell.source = text;
    this.ran.delete(view);
    if (view.code) view.state.textContent = "";
    this.keep(view);
  }

  async keep(view) {
    if (!this.device) {
      this.unsaved = true;
      return;
    }
    this.waiting += 1;
    const { source, attachments } = view.cell;
    try {
      await this.device.save(view.cell.id, attachments ? { source, attachments } : { source });
    } catch (error) {
      this.unsaved = true;
      if (error instanceof Taken) this.elsewhere();
      else this.warn(LOST);
    } finally {
      this.waiting -= 1;
    }
  }

  /** Another tab has the pen: nothing can be written here. */
  elsewhere() {
    if (this.locked) return;
    this.locked = true;
    for (const view of this.views) view.input.inert = true;
    const back = h("button", { type: "button", textContent: "Go on in this tab" });
    back.addEventListener("click", async () => {
      if (this.unsaved) this.save();
      await this.load();
      this.say("What the other tab wrote is here now.");
    });
    this.warn(ELSEWHERE, back);
  }

  get file() {
    return `${this.name}.ipynb`;
  }

  save() {
    const link = h("a", { download: this.file, href: URL.createObjectURL(new Blob([textOf(this.notebook)])) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    this.unsaved = false;
    const open = this.views.filter((view) => view.answer && !answered(view.cell)).length;
    this.say(`${this.file} is saved: hand in this file. ${open ? `${open} of its questions are not answered.` : ""}`);
  }

  async openFile(file) {
    if (this.locked) return;
    try {
      if (file.size > LARGEST)
        throw new Error("This file has more than 20 MB, which nobody reads: clear its outputs first.");
      const text = await file.text();
      const found = read(text);
      if (kinship(found, this.release) === "other")
        throw new Error("This notebook is not this homework. Open it on the page of its own homework.");
      if (this.written() && !confirm("Put your answers here aside, and open this file?")) return;
      await this.begun(text);
      this.say(
        `${file.name} is open${this.own ? ", an edition of your own: its questions and checks are shown" : ""}.`,
      );
    } catch (error) {
      this.warn(error.message);
    }
  }

  async startOver() {
    if (this.locked) return;
    if (this.written() && !confirm("Put all your answers aside, and begin with the empty homework?")) return;
    await this.begun(null);
    this.say("This is the homework as it is handed out. Earlier answers brings yours back.");
  }

  /** Goes back to the answers that were put aside last; those that stand here are put aside then. */
  async back() {
    if (this.locked) return;
    const text = (await this.device?.aside()) ?? this.put;
    if (text) await this.begun(text);
    this.say("These are the answers that were put aside.");
  }

  written() {
    return this.views.some((view) => view.answer && answered(view.cell));
  }

  /** Goes on with the text of a file, or with the book's; what was here can be had back. */
  async begun(text) {
    const aside = this.written() ? textOf(this.notebook) : null;
    this.put = aside ?? this.put; // for a browser that keeps nothing
    this.warn("");
    try {
      await this.device?.replace(text, aside);
    } catch (error) {
      if (error instanceof Taken) return this.elsewhere();
      this.unsaved = true;
      this.warn(LOST);
    }
    await this.show(text, {});
    this.earlier.hidden = !aside && this.earlier.hidden;
  }

  // --- Python

  async python(deed) {
    this.busy += 1;
    this.halt.disabled = false;
    const loads = !this.kernel.started;
    try {
      if (loads) await this.kernel.start({ packs: ["numpy"], onProgress: (so) => this.progress(so) });
      return await deed();
    } catch (error) {
      if (error.message !== "stopped") this.warn(`Python cannot be loaded: ${error.message}`);
      return null;
    } finally {
      this.busy -= 1;
      this.halt.disabled = this.busy === 0;
    }
  }

  progress({ loaded, total }) {
    const mega = (bytes) => (bytes / 1e6).toFixed(1);
    this.say(loaded < total ? `Python is coming: ${mega(loaded)} of ${mega(total)} MB.` : "Python is here.");
  }

  stop() {
    this.kernel.stop();
    this.ran.clear();
    for (const view of this.views) if (view.code) view.state.textContent = "";
    this.say("Stopped. The cells run anew when you press Run.");
  }

  async runOne(view) {
    const source = sourceOf(view.cell);
    view.state.textContent = "runs";
    const { status, outputs } = await this.kernel.run(source, {
      id: view.cell.id,
      onOutput: (_, all) => view.out.replaceChildren(...shown(all)),
    });
    view.out.replaceChildren(...shown(outputs));
    if (status === "stopped") return status;
    this.count = (this.count ?? 0) + 1;
    Object.assign(view.cell, { outputs, execution_count: this.count });
    for (const output of outputs) if (output.output_type === "execute_result") output.execution_count = this.count;
    this.ran.set(view, source);
    const right = view.check ? "passes" : "ran";
    view.state.textContent = status === "ok" ? right : view.check ? "does not pass" : "an error";
    view.state.className = `lm-went lm-${status}`;
    return status;
  }

  /** Runs a cell after those above it that have not run, and the checks that stand below an answer. */
  run(view) {
    return this.python(async () => {
      const at = this.views.indexOf(view);
      const codes = this.views.filter((one) => one.code);
      const before = codes.filter((one) => this.views.indexOf(one) < at && !one.check && !this.ran.has(one));
      const below = [];
      for (const one of this.views.slice(at + 1)) {
        if (!view.answer || !one.check) break;
        below.push(one);
      }
      const found = [];
      for (const one of [...before, view, ...below]) {
        found.push(await this.runOne(one));
        if (found.at(-1) === "stopped") return;
        if (one === view && found.at(-1) !== "ok") break;
      }
      const passed = found.slice(before.length + 1).filter((status) => status === "ok").length;
      const words = found[before.length] === "ok" ? "ran" : "stopped with an error";
      this.say(
        `${view.title}: the cell ${words}.${below.length ? ` ${passed} of ${below.length} checks below pass.` : ""}`,
      );
    });
  }

  runAll() {
    return this.python(async () => {
      const found = [];
      for (const view of this.views.filter((one) => one.code)) {
        found.push(await this.runOne(view));
        if (found.at(-1) === "stopped") return;
      }
      this.say(`${found.length} cells ran, ${found.filter((status) => status !== "ok").length} of them with an error.`);
    });
  }

  /** What `lmbook homework check` says of the notebook as it is. */
  check() {
    return this.python(async () => {
      this.say("The check runs: all cells anew, as the grader runs them.");
      const given = [textOf(this.handed), forCheck(this.notebook), this.file, JSON.stringify(this.tries)];
      const words = given.map((one) => JSON.stringify(one)).join(", ");
      const torch = TORCH.test(this.notebook.cells.map(sourceOf).join("\n")) ? "import torch\n" : ""; // loads it
      const code = `${torch}import lmbook_grader.in_page as _check\n_check.check(${words})`;
      const { status, outputs } = await this.kernel.run(code, { id: "check" });
      if (status === "stopped") return;
      const printed = outputs.filter((one) => one.name === "stdout").map((one) => one.text);
      const found = status === "ok" ? JSON.parse(printed.join("")) : { error: outputs.at(-1)?.evalue ?? "It failed." };
      if (found.tries) {
        this.tries = found.tries;
        this.device?.saveTries(found.tries).catch(() => {});
      }
      for (const view of this.views.filter((one) => one.check)) {
        const passes = found.passed?.[view.cell.metadata.nbgrader.grade_id];
        view.state.textContent = passes === undefined ? "" : passes ? "passes" : "does not pass";
        view.state.className = `lm-went ${passes ? "lm-ok" : "lm-error"}`;
      }
      this.say(report(this.result, found));
      this.result.focus({ preventScroll: true });
      this.result.scrollIntoView({ block: "start" });
      return found;
    });
  }
}

const answered = (cell) => {
  const text = sourceOf(cell).trim();
  return (
    isAnswer(cell) && Boolean(text) && text !== "YOUR ANSWER HERE" && !(cell.cell_type === "code" && STUB.test(text))
  );
};

/** Makes a page's homework one that is solved there. @param {HTMLElement} after @param {string} name */
export async function open(after, name) {
  const sheets = ["solve.css", "../python/cells.css"].map((at) => {
    const sheet = h("link", { rel: "stylesheet", href: new URL(at, import.meta.url).href });
    document.head.append(sheet);
    return new Promise((then) => sheet.addEventListener("load", then));
  });
  const answer = await fetch(new URL(`${name}.ipynb`, import.meta.url));
  if (!answer.ok) throw new Error(`The homework cannot be loaded: the server answered ${answer.status}.`);
  const desk = new Desk(after.closest("article"), name, await answer.text());
  await Promise.all(sheets);
  await desk.begin(after);
  return desk;
}
