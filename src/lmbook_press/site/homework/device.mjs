// What a student writes, kept on the device at each key: one record for the homework, one for each changed cell.
//
// Of several tabs with the same homework one has the pen, the one that asked last. The record says which, and a write
// looks there in the same transaction, so no tab can overwrite what another has written.

const NAME = "lmbook-homework";
const RECORDS = "kept";
/** Another tab has the pen. */
export class Taken extends Error {}

const done = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

export class Device {
  /** @param {IDBDatabase} base @param {string} homework */
  constructor(base, homework) {
    this.base = base;
    this.homework = homework;
    this.tab = crypto.getRandomValues(new Uint32Array(2)).join("-");
    this.channel = "BroadcastChannel" in globalThis ? new BroadcastChannel(`${NAME}-${homework}`) : null;
  }

  /** Rejects where the browser keeps nothing. @param {string} homework */
  static async open(homework) {
    const asked = indexedDB.open(NAME, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(RECORDS);
    return new Device(await done(asked), homework);
  }

  /** Tells when another tab takes the pen. */
  onTaken(heard) {
    if (this.channel) this.channel.onmessage = ({ data }) => data !== this.tab && heard();
  }

  #do(deed) {
    return new Promise((resolve, reject) => {
      const write = this.base.transaction(RECORDS, "readwrite");
      let value;
      let why = null;
      write.oncomplete = () => resolve(value);
      write.onabort = () => reject(why ?? write.error ?? new Error("Nothing can be kept."));
      const fail = (error) => {
        why = error;
        write.abort();
      };
      deed(
        write.objectStore(RECORDS),
        (found) => {
          value = found;
        },
        fail,
      );
    });
  }

  #cells() {
    return IDBKeyRange.bound(`cell:${this.homework}:`, `cell:${this.homework}:\uffff`);
  }

  /** Takes the pen, gives what is kept: {file, tries, cells: {id: {source, attachments}}}; file: null if the book's. */
  async take() {
    const found = await this.#do((store, give, fail) => {
      const kept = { file: null, tries: {}, cells: {} };
      give(kept);
      const head = store.get(`work:${this.homework}`);
      head.onsuccess = () => {
        Object.assign(kept, { file: head.result?.file ?? null, tries: head.result?.tries ?? {} });
        try {
          store.put({ file: kept.file, tries: kept.tries, tab: this.tab }, `work:${this.homework}`);
        } catch (error) {
          fail(error);
        }
      };
      const all = store.openCursor(this.#cells());
      all.onsuccess = () => {
        if (!all.result) return;
        kept.cells[String(all.result.key).split(":").slice(2).join(":")] = all.result.value;
        all.result.continue();
      };
    });
    this.channel?.postMessage(this.tab);
    return found;
  }

  #mine(store, fail, then) {
    const head = store.get(`work:${this.homework}`);
    head.onsuccess = () => {
      if (head.result?.tab !== this.tab) return fail(new Taken());
      try {
        then(head.result);
      } catch (error) {
        fail(error);
      }
    };
  }

  /** Keeps a cell. Rejects with Taken, or with why nothing can be kept. */
  save(id, value) {
    return this.#do((store, _, fail) => this.#mine(store, fail, () => store.put(value, `cell:${this.homework}:${id}`)));
  }

  /** Keeps how often wrong answers were tried. */
  saveTries(tries) {
    return this.#do((store, _, fail) =>
      this.#mine(store, fail, (head) => store.put({ ...head, tries }, `work:${this.homework}`)),
    );
  }

  /** Begins anew with a file, or with the book's; what was there is put aside. */
  replace(file, aside) {
    return this.#do((store, _, fail) =>
      this.#mine(store, fail, (head) => {
        if (aside) store.put(aside, `aside:${this.homework}`);
        store.delete(this.#cells());
        store.put({ ...head, file }, `work:${this.homework}`);
      }),
    );
  }

  /** The text of the file that was put aside, or undefined. */
  aside() {
    return done(this.base.transaction(RECORDS).objectStore(RECORDS).get(`aside:${this.homework}`));
  }
}
