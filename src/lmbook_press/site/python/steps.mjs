// Which code above a cell has to run before it, and what that code has said. No page and no Python is touched here.
//
// A cell needs the cells that lmbook_press.site.python.needs has found. Of these run those that have not run in this
// Python, that ended with an error, whose text has changed since, or whose names another cell has bound anew. So a
// press gives what the book prints, however often and in whatever order cells were run.

export class Steps {
  #plan;
  #textOf;
  #ran = new Map(); // number of a cell: {generation of the Python, text, at, notices}
  #clock = 0;

  /** plan: the notebook's code cells, as cells.mjs has them. textOf: the text of a cell as it stands on the page. */
  constructor(plan, textOf) {
    this.#plan = plan;
    this.#textOf = textOf;
  }

  /** What a cell needs. Text that a reader has changed may use other names: the last cell above to bind each counts. */
  needs(number) {
    const plan = this.#plan;
    const { before, imports, packs, source } = plan[number];
    const found = { before: new Set(before), imports: new Set(imports), packs: new Set(packs) };
    const add = (other) => {
      for (const name of ["before", "imports", "packs"]) for (const one of plan[other][name]) found[name].add(one);
      found.before.add(other);
    };
    const text = this.#textOf(number);
    if (text !== source) {
      for (const word of new Set(text.match(/\b[A-Za-z_]\w*\b/g) ?? [])) {
        for (let other = number - 1; other >= 0; other -= 1) {
          const cell = plan[other];
          if (cell.binds.includes(word)) {
            if (!cell.torch) add(other);
            break;
          }
          if (word in cell.names) {
            found.imports.add(cell.names[word]);
            break;
          }
        }
      }
    }
    for (const other of found.before) for (const pack of plan[other].packs) found.packs.add(pack);
    return { before: [...found.before].sort((a, b) => a - b), imports: [...found.imports], packs: [...found.packs] };
  }

  /** The cells that have to run before this one, in order; generation counts the Pythons of this page. */
  missing(number, before, generation) {
    const plan = this.#plan;
    const chosen = new Set();
    const own = new Set([...before, number]);
    const touches = (other) => new Set([...plan[other].binds, ...plan[other].changes]);
    for (const other of before) {
      const last = this.#ran.get(other);
      const stale =
        !last ||
        last.generation !== generation ||
        last.text !== this.#textOf(other) ||
        plan[other].before.some((one) => chosen.has(one) || (this.#ran.get(one)?.at ?? 0) > last.at) ||
        [...this.#ran].some(
          ([one, { at, generation: then }]) =>
            at > last.at &&
            then === generation &&
            (!own.has(one) || one >= number) &&
            [...touches(one)].some((name) => touches(other).has(name)),
        );
      if (stale) chosen.add(other);
    }
    return [...chosen].sort((a, b) => a - b);
  }

  /** Keeps that a cell has run, and what it said on stderr; one that ended with an error has to run again. */
  note(number, status, outputs, generation) {
    const text = status === "ok" ? this.#textOf(number) : null;
    const notices = outputs.filter((one) => one.name === "stderr").map((one) => one.text);
    this.#clock += 1;
    this.#ran.set(number, { generation, text, at: this.#clock, notices });
  }

  /** What cells that another rests on have said on stderr, say that a built-in text stands in for a corpus. */
  notices(before) {
    const text = [...new Set(before.flatMap((other) => this.#ran.get(other)?.notices ?? []))].join("");
    return text ? [{ output_type: "stream", name: "stderr", text }] : [];
  }
}
