// bars.mjs: numbers as bars, and as a table. core.mjs hands them on, and says how they are called.

import { h, replace } from "./dom.mjs";

/**
 * @typedef {{ label: string, value: number, text?: string, note?: string, tone?: any, title?: string,
 *   broken?: boolean, mark?: number, ticks?: number[], pin?: number, yours?: boolean, covered?: boolean }} Bar
 */

const decimals = (text) => /^(?:[<>] )?[\d,]+(?:\.(\d+))?$/.exec(text)?.[1]?.length ?? 0;

/** Horizontal bars. The label, the number and the note are text; the bar itself is decoration and moves smoothly. */
export function bars(/** @type {{ label?: string }} */ { label } = {}) {
  const node = h("div", { class: "lm-bars", role: "list", "aria-label": label });
  const rows = [];
  const make = () => {
    const parts = {
      label: h("span", { class: "lm-bar-label" }),
      fill: h("span", { class: "lm-bar-fill" }),
      mark: h("i", { class: "lm-mark" }),
      pin: h("i", { class: "lm-mark lm-pin" }),
      ticks: h("span", {}),
      text: h("span", { class: "lm-bar-text" }),
      note: h("span", { class: "lm-bar-note" }),
    };
    const { label, fill, mark, pin, ticks, text, note } = parts;
    const track = h("span", { class: "lm-bar-track", "aria-hidden": "true" }, fill, ticks, mark, pin);
    const row = h("div", { class: "lm-bar", role: "listitem" }, label, track, text, note);
    node.append(row);
    return { ...parts, node: row };
  };
  return {
    node,
    /** @type {(data: Bar[], options?: { max?: number }) => void} */
    draw(data, { max } = {}) {
      const top = max ?? Math.max(...data.map((row) => row.value), Number.MIN_VALUE);
      const textOf = (/** @type {Bar} */ row) => row.text ?? String(row.value);
      const most = Math.max(0, ...data.map((row) => decimals(textOf(row))));
      while (rows.length < data.length) rows.push(make());
      for (const row of rows.splice(data.length)) row.node.remove();
      data.forEach((row, i) => {
        const parts = rows[i];
        replace(parts.label, [row.label, row.yours && h("small", { class: "lm-yours" }, " your bet")]);
        parts.text.textContent = textOf(row);
        const short = most - decimals(parts.text.textContent); // points below one another
        parts.text.dataset.pad = (short === most && most ? "\u2008" : "") + "\u2007".repeat(short);
        parts.note.textContent = row.note ?? "";
        parts.note.hidden = !row.note;
        parts.fill.style.setProperty("width", `${Math.max(0, Math.min(1, row.value / top)) * 100}%`);
        for (const which of ["mark", "pin"]) {
          parts[which].hidden = row[which] === undefined;
          parts[which].style.setProperty("left", `calc(${(100 * (row[which] ?? 0)) / top}% - 1.5px)`);
        }
        const tick = (/** @type {number} */ v) =>
          h("i", { class: "lm-mark lm-seed", style: { left: `${(100 * v) / top}%` } });
        replace(parts.ticks, row.ticks?.map(tick));
        for (const part of ["fill", "text", "ticks"]) parts[part].classList.toggle("lm-covered", row.covered ?? false);
        parts.node.dataset.tone = String(row.tone ?? 1);
        parts.node.toggleAttribute("data-broken", row.broken ?? false); // it goes on beyond the drawing
        if (row.title) parts.node.title = row.title;
        else parts.node.removeAttribute("title");
      });
    },
  };
}

/** A table: cells of the first column are row headers. */
export const grid = (/** @type {any[]} */ head, /** @type {any[][]} */ rows) =>
  h("table", {}, [
    h("thead", {}, h("tr", {}, [head.map((cell) => h("th", { scope: "col" }, cell))])),
    h("tbody", {}, [
      rows.map((row) => h("tr", {}, [row.map((cell, i) => h(i ? "td" : "th", i ? {} : { scope: "row" }, cell))])),
    ]),
  ]);

/**
 * The numbers as a table, folded away. Cells of the first column are row headers.
 * @param {{ summary?: string, caption?: string, head?: import("./dom.mjs").Child[],
 *   rows?: import("./dom.mjs").Child[][] }} options
 */
export function table({ summary = "The numbers as a table", caption, head = [], rows = [] }) {
  const scroll = h.scroller("lm-scroll", caption ?? summary);
  const draw = (newRows, newHead = head) => replace(scroll, grid(newHead, newRows));
  draw(rows);
  // a <caption> would be as wide as the table
  const words = caption ? h.small(caption) : null;
  return { node: h("details", { class: "lm-table" }, h("summary", {}, summary), words, scroll), draw };
}
