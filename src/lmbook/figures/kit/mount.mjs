// Brings the figures of a page to life without a kernel. Each <figure class="lm-figure"> names its module, carries
// its state as JSON, and shows a fallback, which stays if anything here fails. Addresses are relative to this file.
const MODULES = {}; // name: [its file, files that it shares with others], filled in by lmbook.figures.modules()
const WEIGHTS = {}; // name: [file, bytes] of the trained models that figures fetch
const LIMITS = {}; // figure: trait: [lowest, highest], the list whose places it counts, or a list of its values
const WORDS = ["title", "caption", "alt"]; // the book's, not the reader's

/** A model's file and its card; told(bytes so far, bytes in all) on the way. */
async function fetched(name, told) {
  if (!(name in WEIGHTS)) throw new Error(`this page has no weights of ${name}`);
  const [file, total] = WEIGHTS[name];
  const get = async (address) => {
    const answer = await fetch(new URL(address, import.meta.url));
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    return answer;
  };
  const card = await (await get(file.replace(/safetensors$/, "json"))).json();
  const reader = (await get(file)).body.getReader();
  const data = new Uint8Array(total);
  let loaded = 0;
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (loaded + piece.value.length > total) throw new Error("the file of weights is longer than it should be");
    data.set(piece.value, loaded);
    loaded += piece.value.length;
    told(loaded, total);
  }
  return { card, data: data.subarray(0, loaded) };
}

/** The state in a figure's script; a long one is in a file that the script names. */
async function stated(script) {
  if (!script.dataset.from) return JSON.parse(script.textContent);
  return (await fetch(new URL(`../states/${script.dataset.from}`, import.meta.url))).json();
}

/** The model that a kernel would give (get, set, on, off, save_changes), over a plain object. */
export function model(state) {
  const listeners = new Map();
  const call = (event, ...args) => {
    for (const callback of [...(listeners.get(event) ?? [])]) callback(...args);
  };
  const self = {
    get: (name) => state[name],
    set(name, value) {
      if (JSON.stringify(state[name]) === JSON.stringify(value)) return;
      state[name] = value;
      call(`change:${name}`, self, value);
      call("change", self);
    },
    on(events, callback) {
      for (const event of events.split(/\s+/)) listeners.set(event, [...(listeners.get(event) ?? []), callback]);
    },
    off(events, callback) {
      for (const event of events.split(/\s+/)) {
        listeners.set(event, callback ? (listeners.get(event) ?? []).filter((known) => known !== callback) : []);
      }
    },
    save_changes() {},
    /** What a kernel would answer: a figure asks for the weights of a model. */
    async send({ weights }) {
      const answer = (message, ...buffers) => call("msg:custom", { weights, ...message }, buffers);
      try {
        const { card, data } = await fetched(weights, (loaded, total) => answer({ loaded, total }));
        answer({ card }, data);
      } catch (error) {
        answer({ error: error.message });
      }
    },
  };
  return self;
}

/** Whether the figure could be made with this value: what its Python class checks, checked here. */
function allowed(name, { allows = {} }, limits, state, value) {
  if (name in allows) return allows[name](value, state);
  const limit = limits[name];
  if (typeof value === "number") {
    if (Array.isArray(limit?.of)) return limit.of.includes(value);
    const [least, most] = limit?.counts ? [0, state[limit.counts].length - 1] : (limit?.from ?? []);
    const whole = limit?.whole && !Number.isInteger(value);
    return !whole && Number.isFinite(value) && value >= (least ?? -Infinity) && value <= (most ?? Infinity);
  }
  if (typeof value === "string") return !limit?.of || limit.of.includes(value);
  return typeof value === "boolean";
}

const first = (figure) => figure === document.querySelector(`figure[data-module="${figure.dataset.module}"]`);

/**
 * What the address asks of a figure: #figure=NAME&trait=value is the first figure of the module NAME with these traits.
 * Lists are JSON. Returns the traits that it can have, and the names of those that it cannot; null where nothing is
 * asked of it.
 */
export function addressed(figure, state, module) {
  const asked = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (asked.figure !== figure.dataset.module || !first(figure)) return null;
  const taken = {};
  const refused = [];
  delete asked.figure;
  for (const [name, text] of Object.entries(asked)) {
    const own = state[name];
    let value = text;
    try {
      if (typeof own !== "string") value = JSON.parse(text);
    } catch {
      value = null;
    }
    const kind = typeof value === typeof own && Array.isArray(value) === Array.isArray(own) && value !== null;
    const limits = LIMITS[figure.dataset.module] ?? {};
    const can = kind && !WORDS.includes(name) && allowed(name, module, limits, { ...state, ...taken }, value);
    if (can) taken[name] = value;
    else refused.push(name);
  }
  return { taken, refused };
}

/** The address of what a figure shows now: of each trait that is no longer what was printed. */
export function address(figure, now, printed, { allows = {} }) {
  const kept = ([name, value]) =>
    !WORDS.includes(name) &&
    (name in allows || ["number", "string", "boolean"].includes(typeof value)) &&
    JSON.stringify(value) !== JSON.stringify(printed[name]);
  const link = new URLSearchParams({ figure: figure.dataset.module });
  for (const [name, value] of Object.entries(now).filter(kept))
    link.append(name, typeof value === "string" ? value : JSON.stringify(value));
  return `${location.href.split("#")[0]}#${link}`;
}

/** A button that copies this address, and a line for what of the page's own address cannot be had: say(names). */
function linked(figure, now, printed, module) {
  const line = Object.assign(document.createElement("p"), { className: "lm-small lm-refused" });
  const button = Object.assign(document.createElement("button"), { type: "button", className: "lm-link" });
  button.title = "Copy a link to this state";
  button.dataset.lmSuppressShortcuts = "true";
  const name = (textContent, ariaLabel) => Object.assign(button, { textContent, ariaLabel });
  name("#", button.title);
  button.onclick = async () => {
    const link = address(figure, now, printed, module);
    history.replaceState(null, "", link);
    await navigator.clipboard?.writeText(link).catch(() => {}); // without leave to copy, it stands in the address line
    name("# copied", "The link is copied");
    setTimeout(() => name("#", button.title), 2000);
  };
  figure.append(button);
  return (names) => {
    if (names.length) figure.append(line);
    line.setAttribute("role", "status");
    line.textContent = names.length ? `The address asks for a ${names.join(", ")} that this figure cannot have.` : "";
  };
}

const brought = (file) => import(new URL(file, import.meta.url).href);

export async function mount(figure) {
  const fallback = figure.querySelector(".lm-fallback");
  const live = document.createElement("div");
  try {
    const state = await stated(figure.querySelector('script[type="application/json"]'));
    const [{ default: module }] = await Promise.all(MODULES[figure.dataset.module].map(brought)); // all at once
    fallback.before(live);
    const wanted = addressed(figure, state, module);
    const now = { ...state, ...wanted?.taken };
    const own = model(now);
    await module.render({ model: own, el: live });
    fallback.remove();
    if (first(figure)) {
      const say = linked(figure, now, state, module);
      say(wanted?.refused ?? []);
      addEventListener("hashchange", () => {
        const next = addressed(figure, state, module);
        if (!next) return;
        for (const [name, value] of Object.entries(next.taken)) own.set(name, value);
        say(next.refused);
        figure.scrollIntoView();
      });
    }
    figure.dataset.live = "true";
  } catch (error) {
    live.remove();
    figure.dataset.live = "failed";
    console.warn(`The figure ${figure.dataset.module} stays as it was printed:`, error);
  }
}

/** When the page has nothing else to do, and at the latest after a second. */
const idle = () =>
  new Promise((then) => {
    if (globalThis.requestIdleCallback) requestIdleCallback(then, { timeout: 1000 });
    else setTimeout(then, 50);
  });

/** When the reader has begun to move, and after a while in any case. */
const PATIENCE = 6000; // ms
const begun = () =>
  new Promise((then) => {
    for (const move of ["pointermove", "pointerdown", "wheel", "scroll", "touchmove", "keydown"]) {
      addEventListener(move, then, { once: true, passive: true });
    }
    setTimeout(then, PATIENCE);
  });

/**
 * Those of the figures that are on the screen or less than a screen away. An observer leaves the sections that are not
 * drawn yet as they are; asking a figure for its place would have them all laid out.
 */
const near = (figures) =>
  new Promise((then) => {
    const told = (entries) => {
      observer.disconnect();
      then(entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target));
    };
    const observer = new IntersectionObserver(told, { rootMargin: "100% 0px" });
    for (const figure of figures) observer.observe(figure);
  });

const figures = [...document.querySelectorAll("figure.lm-figure[data-module]")];
if (figures.length) {
  const wanted = figures.find((figure) => addressed(figure, {}, {}));
  const moves = begun(); // listens from now on
  const first = (await near(figures)).filter((figure) => figure !== wanted).concat(wanted ?? []);
  await Promise.all(first.map(mount));
  wanted?.scrollIntoView(); // the browser knows no place of that name
  if (first.length < figures.length) await moves; // one who reads the first screen waits for none of the others
  for (const figure of figures) {
    if (first.includes(figure)) continue;
    await idle(); // one after the other, so that a page with many answers to the reader meanwhile
    await mount(figure);
  }
}
