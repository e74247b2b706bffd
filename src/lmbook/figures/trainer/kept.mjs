// kept.mjs: trainings that outlive a reload, in the browser's own storage. Where a browser keeps nothing, neither does
// this: each function then gives null, and nothing fails.
//
//   await keep(name, value)      await found(name)      await forget(name)

const PLACE = "lmbook";
const TABLE = "trainings";

const answer = (/** @type {IDBRequest} */ request) =>
  new Promise((then, fail) => {
    request.onsuccess = () => then(request.result);
    request.onerror = fail;
  });

/** @returns {Promise<any>} */
async function asked(mode, ask) {
  try {
    const opening = indexedDB.open(PLACE, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
    const base = await answer(opening);
    const found = await answer(ask(base.transaction(TABLE, mode).objectStore(TABLE)));
    base.close(); // once all is written
    return found ?? null;
  } catch {
    return null;
  }
}

export const keep = (name, value) => asked("readwrite", (table) => table.put(value, name));
export const found = (name) => asked("readonly", (table) => table.get(name));
export const forget = (name) => asked("readwrite", (table) => table.delete(name));
