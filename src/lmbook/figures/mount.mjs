// Brings the figures of a page to life without a kernel. Each <figure class="lm-figure"> names its module, carries
// its state as JSON, and shows a fallback, which stays if anything here fails. Addresses are relative to this file.
const MODULES = {/* name: file, filled in by lmbook.figures.modules() */};
const STYLE = "";

/** The model that a kernel would give (get, set, on, off, save_changes), over a plain object. */
export function model(state) {
  const listeners = new Map();
  const call = (event, ...args) => { for (const callback of [...(listeners.get(event) ?? [])]) callback(...args); };
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
    send() {},
  };
  return self;
}

export async function mount(figure) {
  const fallback = figure.querySelector(".lm-fallback");
  const live = document.createElement("div");
  try {
    const file = MODULES[figure.dataset.module];
    const state = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const { default: module } = await import(new URL(file, import.meta.url).href);
    fallback.before(live);
    await module.render({ model: model(state), el: live });
    fallback.remove();
    figure.dataset.live = "true";
  } catch (error) {
    live.remove();
    figure.dataset.live = "failed";
    console.warn(`The figure ${figure.dataset.module} stays as it was printed:`, error);
  }
}

const figures = document.querySelectorAll("figure.lm-figure[data-module]");
if (figures.length) {
  document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  await Promise.all([...figures].map(mount));
}
