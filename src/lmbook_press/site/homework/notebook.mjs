// A homework's notebook as a page holds it: the JSON of its file, of which only the answers change.

/** @typedef {{outputs?: any[], execution_count?: number | null, attachments?: any}} Rest */
/** @typedef {Rest & {cell_type: string, id?: string, metadata: any, source: string | string[]}} Cell */
/** @typedef {{cells: Cell[], metadata: any, nbformat: number, nbformat_minor: number}} Notebook */

export const LARGEST = 20 * 2 ** 20; // bytes that the grader reads

/** The text of a cell. @param {Cell} cell */
export const sourceOf = (cell) => (Array.isArray(cell.source) ? cell.source.join("") : String(cell.source ?? ""));
/** Text as notebooks store it: a list of lines. @param {string} text */
export const linesOf = (text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
const marks = (cell) => cell?.metadata?.nbgrader ?? {};
export const gradeId = (cell) => (typeof marks(cell).grade_id === "string" ? marks(cell).grade_id : null);
export const isAnswer = (cell) => Boolean(marks(cell).solution);
export const isCheck = (cell) => cell.cell_type === "code" && Boolean(marks(cell).grade) && !isAnswer(cell);
const bare = (text) =>
  text
    .split("\n")
    .map((line) => line.trimEnd())
    .filter(Boolean)
    .join("\n");
/** What an answer is before anybody answers. */
export const STUB = /\braise NotImplementedError\b/;

/** The notebook in the text of a file. Throws an Error, in words for the reader, where there is none.
 * @param {string} text @returns {Notebook} */
export function read(text) {
  let found;
  try {
    found = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new Error("This file is not a notebook, or it was cut off. Choose the .ipynb file itself.");
  }
  if (!Array.isArray(found?.cells)) throw new Error("This file is not a notebook: it has no list of cells.");
  if (found.nbformat !== 4) throw new Error("This notebook has an old format. Save it anew in Jupyter or Colab.");
  const taken = new Set();
  found.cells = found.cells.filter((cell) => ["code", "markdown", "raw"].includes(cell?.cell_type));
  found.cells.forEach((cell, number) => {
    cell.metadata ??= {};
    let id = typeof cell.id === "string" && !taken.has(cell.id) ? cell.id : `n${number + 1}`;
    while (taken.has(id)) id += "x";
    taken.add(id);
    cell.id = id; // by which what is written is kept
  });
  return found;
}

/** The text of a file, as Jupyter writes it. @param {Notebook} notebook */
export function textOf(notebook) {
  const cells = notebook.cells.map((cell) => ({ ...cell, source: linesOf(sourceOf(cell)) }));
  return `${JSON.stringify({ ...notebook, cells }, null, 1)}\n`;
}

/** How a notebook that somebody opens belongs to a homework: its answers by name, whatever has been done to them.
 * "same": all cells but the answers are those of the release; "own": some are not, as in one that was drawn for a
 * student; "other": it is another homework.
 * @param {Notebook} notebook @param {Notebook} release */
export function kinship(notebook, release) {
  const theirs = new Set(notebook.cells.map(gradeId).filter(Boolean));
  const ours = release.cells.map(gradeId).filter(Boolean);
  if (ours.filter((name) => theirs.has(name)).length <= ours.length / 2) return "other";
  const there = new Set(notebook.cells.map((cell) => bare(sourceOf(cell))));
  const given = release.cells.filter((cell) => !isAnswer(cell));
  return given.every((cell) => there.has(bare(sourceOf(cell)))) ? "same" : "own";
}

/** The notebook as it was handed out, without its answers. @param {Notebook} notebook @param {Notebook} release */
export function handedOut(notebook, release) {
  const stubs = new Map(release.cells.filter(isAnswer).map((cell) => [gradeId(cell), sourceOf(cell)]));
  const cells = notebook.cells.map((cell) => {
    const text = sourceOf(cell);
    const open = !isAnswer(cell) || (cell.cell_type === "code" && STUB.test(text));
    const source = open ? text : (stubs.get(gradeId(cell)) ?? "raise NotImplementedError()");
    return { ...cell, source, ...(cell.cell_type === "code" ? { outputs: [] } : {}) };
  });
  return { ...notebook, cells };
}

/** The text that the check reads: without outputs and pictures. @param {Notebook} notebook */
export function forCheck(notebook) {
  const cells = notebook.cells.map(({ attachments, ...cell }) =>
    cell.cell_type === "code" ? { ...cell, outputs: [] } : cell,
  );
  return textOf({ ...notebook, cells });
}

/** Heading above each cell, without its points: Map of cell id to words. @param {Notebook} notebook */
export function titles(notebook) {
  const found = new Map();
  let last = "Your answer";
  for (const cell of notebook.cells) {
    if (cell.cell_type === "markdown" && !isAnswer(cell))
      for (const [, words] of sourceOf(cell).matchAll(/^#+[ \t]+(.+?)(?:[ \t]*\([^()]*points?\))?[ \t]*$/gm))
        last = words;
    found.set(cell.id, last);
  }
  return found;
}
