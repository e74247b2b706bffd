// The code of a chapter, run and changed where it stands. run.mjs has made the buttons; this comes when one is pressed.
// A cell brings the cells above that it needs (steps.mjs).

import { Kernel, manifest, weight } from "./kernel.mjs";
import { show } from "./outputs.mjs";
import { Steps } from "./steps.mjs";

const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet" });
sheet.href = new URL("cells.css", import.meta.url).href;
document.head.append(sheet);

const kernel = new Kernel();
const KEY = "lmbook:code";
const PAGE = location.pathname
  .split("/")
  .at(-1)
  .replace(/\.html$/, "");
const views = new Map(); // number of a cell: what is on the page for it
let about; // the manifest
let plan; // the notebook's code cells: {id, source, before, imports, packs, binds, changes, names, torch, seconds}
let steps; // which of them have run
let queue = Promise.resolve();
let stopped = 0; // how often Stop was pressed: what waited then does not run
let voice; // says what happened to those who do not see it

const made = (name, classes = "", text = "") =>
  Object.assign(document.createElement(name), { className: classes, textContent: text });
const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const say = (text) => {
  if (!voice) {
    voice = made("div", "visually-hidden");
    voice.setAttribute("role", "status");
    document.body.append(voice);
  }
  voice.textContent = text;
};

/** What readers have changed, by page and id of the cell: {page: {id: text}}. Deleted with the rest (reading.mjs). */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}
const edits = { ...kept()[PAGE] }; // of this page; where the browser keeps nothing, as long as it is open
function keep(id, text) {
  if (text === undefined) delete edits[id];
  else edits[id] = text;
  const all = kept();
  const { [id]: _, ...others } = all[PAGE] ?? {};
  all[PAGE] = text === undefined ? others : { ...others, [id]: text };
  if (!Object.keys(all[PAGE]).length) delete all[PAGE];
  try {
    if (Object.keys(all).length) localStorage.setItem(KEY, JSON.stringify(all));
    else localStorage.removeItem(KEY);
  } catch {
    say("This browser keeps nothing here: what you change is gone when you leave the page.");
  }
}
const textOf = (number) => edits[plan[number].id] ?? plan[number].source;

function view(number) {
  if (views.has(number)) return views.get(number);
  const cell = document.querySelector(`.cell.lm-run-${number}, .cell.lm-torch-${number}`);
  const box = made("div", "lm-ran");
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Run here");
  const head = made("p", "lm-ran-head");
  const bar = made("progress", "lm-ran-bar");
  bar.hidden = true;
  bar.setAttribute("aria-label", "Loaded");
  const outputs = made("div", "cell_output");
  box.append(head, bar, outputs);
  cell.append(box);
  views.set(number, { cell, box, head, bar, outputs });
  return views.get(number);
}

const buttons = (number) => view(number).cell.querySelector(".lm-run-bar");
function running(number, on) {
  const button = buttons(number).querySelector(".lm-run");
  button.dataset.said ??= button.textContent; // "Run", or "Run (about 2 min)"
  const said = on ? "Stop" : button.dataset.said;
  button.textContent = said;
  button.setAttribute("aria-label", said.replace(/^\w+/, `$& code ${number + 1}`));
  view(number).cell.toggleAttribute("data-running", on);
}

async function prepared() {
  plan ??= await (await fetch(new URL(`cells/${PAGE}.json`, import.meta.url))).json();
  steps ??= new Steps(plan, textOf);
  about ??= await manifest();
}

/** Run, or Stop where it runs. */
export async function press(number) {
  const here = view(number);
  if (here.cell.hasAttribute("data-running")) {
    stopped += 1;
    kernel.stop();
    return;
  }
  running(number, true);
  const turn = stopped;
  queue = queue.then(() => (turn === stopped ? run(number) : done(number, "Stopped before it began.")));
  await queue;
}

function done(number, said) {
  view(number).head.textContent = said;
  view(number).bar.hidden = true;
  running(number, false);
  say(said);
}

async function run(number) {
  const { head, bar, outputs } = view(number);
  outputs.replaceChildren();
  const began = performance.now();
  try {
    await prepared();
    const { before, imports, packs } = steps.needs(number);
    if (!kernel.started) await load(number, packs);
    const first = steps.missing(number, before, kernel.generation);
    const lines = [...imports, ...first.flatMap((step) => plan[step].imports)];
    const onLoading = (names) => {
      const files = new Set(names.flatMap((name) => about.packs[name].files));
      const size = [...files].reduce((sum, name) => sum + about.files[name].bytes, 0);
      const titles = names.map((name) => about.packs[name].title).join(", ");
      head.textContent = `Loading ${titles}: ${megabytes(size)} at most`;
      say(head.textContent);
    };
    const ready = lines.length
      ? await kernel.run([...new Set(lines)].join("\n"), { id: `imports of ${number}`, onLoading })
      : null;
    if (ready && ready.status !== "ok") return finish(number, ready.status, ready.outputs, began);
    for (const [i, step] of first.entries()) {
      const minutes = Math.ceil(first.slice(i).reduce((sum, other) => sum + plan[other].seconds, 0) / 60);
      const long = minutes ? `, about ${minutes} min` : "";
      head.textContent = `First the code above that this needs: ${i + 1} of ${first.length}${long}`;
      if (minutes && !i) say(head.textContent);
      const { status, outputs: shown } = await kernel.run(textOf(step), { id: plan[step].id, onLoading });
      if (status !== "ok") {
        await show(outputs, shown);
        return done(number, status === "stopped" ? STOPPED : "Code above, which this needs, ended with an error.");
      }
      steps.note(step, status, shown, kernel.generation);
    }
    head.textContent = "Running";
    const said = steps.notices(before);
    let drawn = Promise.resolve();
    let waiting = false;
    const onOutput = (_, all) => {
      if (waiting) return;
      waiting = true; // what is printed in a loop is drawn once a frame
      requestAnimationFrame(() => {
        waiting = false;
        drawn = drawn.then(() => show(outputs, [...said, ...all]));
      });
    };
    const { status, outputs: shown } = await kernel.run(textOf(number), { id: plan[number].id, onOutput, onLoading });
    await drawn;
    await finish(number, status, shown, began, said);
  } catch (error) {
    done(number, error.message === "stopped" ? STOPPED : `Python could not be loaded: ${error.message}`);
  } finally {
    bar.hidden = true;
  }
}

const STOPPED = "Stopped. The next run starts a new Python, and runs what it needs again.";
async function finish(number, status, shown, began, said = []) {
  if (status !== "stopped") {
    steps.note(number, status, shown, kernel.generation);
    await show(view(number).outputs, [...said, ...shown]);
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const good = shown.length ? `Run here, ${seconds} s` : `Run here, ${seconds} s: nothing to show`;
  done(number, { ok: good, error: `An error, after ${seconds} s`, stopped: STOPPED }[status]);
}

/** The first press: what is loaded, and how much of it has come. */
async function load(number, packs) {
  const { head, bar } = view(number);
  const names = ["Python", ...packs.map((name) => about.packs[name].title)];
  const all = weight(about, packs);
  head.textContent = `Loading ${names.join(", ")}: ${megabytes(all)}, once`;
  say(head.textContent);
  Object.assign(bar, { hidden: false, value: 0 });
  await kernel.start({
    packs,
    onProgress: ({ loaded, total }) => Object.assign(bar, { max: Math.max(total, all), value: loaded }),
  });
  bar.hidden = true;
}

/** Opens the editor in place of a cell's code. */
export async function change(number, { focus = true } = {}) {
  const { cell } = view(number);
  await prepared();
  if (cell.lmEditor) {
    cell.lmEditor.focus();
    return;
  }
  const { edit } = await import(new URL("codemirror.js", import.meta.url).href);
  const printed = cell.querySelector(".cell_input .highlight");
  const place = made("div", "highlight lm-editor");
  printed.hidden = true;
  printed.after(place);
  const reset = Object.assign(made("button", "lm-button lm-reset", "Reset"), { type: "button" });
  reset.setAttribute("aria-label", `Reset code ${number + 1} to the book's`);
  const bar = buttons(number);
  const opener = bar.querySelector(".lm-edit");
  const close = (said) => {
    cell.lmEditor.destroy();
    delete cell.lmEditor;
    place.remove();
    reset.remove();
    printed.hidden = false;
    opener.hidden = false;
    keep(plan[number].id, undefined);
    opener.focus();
    say(said);
  };
  reset.onclick = () => close("The book's code is back.");
  cell.lmEditor = edit({
    parent: place,
    text: textOf(number),
    label: `Code ${number + 1}. Shift and Enter runs it, Escape leaves it.`,
    onChange: (text) => keep(plan[number].id, text === plan[number].source ? undefined : text),
    onRun: () => press(number),
    onLeave: () => bar.querySelector(".lm-run").focus(),
  });
  opener.hidden = true;
  bar.append(reset);
  if (focus) {
    cell.lmEditor.focus();
    say("Editor. Shift and Enter runs the code, Escape leaves the editor.");
  }
}

/** Code that a reader has changed on this device stands there again when the page is opened anew. */
export async function restore() {
  await prepared();
  for (const [number, { id }] of plan.entries()) {
    if (id in edits && document.querySelector(`.cell.lm-run-${number} .lm-edit`))
      await change(number, { focus: false });
  }
}
