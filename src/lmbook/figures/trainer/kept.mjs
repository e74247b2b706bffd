// kept.mjs: trainings that outlive a reload, in the browser's own storage. Where a browser keeps nothing, neither does
// this: each function then gives null, and nothing fails.
//
//   await keep(name, value)      await found(name)      await forget(name)

const PLACE = "lmbook";
const TABLE = "trainings";

/** @returns {Promise<any>} */
function asked(mode, ask) {
  return new Promise((then) => {
    const no = () => then(null);
    try {
      const opening = indexedDB.open(PLACE, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
      opening.onerror = no;
      opening.onblocked = no;
      opening.onsuccess = () => {
        const base = opening.result;
        try {
          const change = base.transaction(TABLE, mode);
          const answer = ask(change.objectStore(TABLE));
          change.oncomplete = () => {
            base.close();
            then(answer.result ?? null);
          };
          change.onerror = no;
          change.onabort = no;
        } catch {
          no();
        }
      };
    } catch {
      no();
    }
  });
}

export const keep = (name, value) => asked("readwrite", (table) => table.put(value, name));
export const found = (name) => asked("readonly", (table) => table.get(name));
export const forget = (name) => asked("readwrite", (table) => table.delete(name));
