// Where an answer is written: code in CodeMirror, as in the chapters, words in a plain field.

import { h } from "./dom.mjs";

/** @typedef {{parent: HTMLElement, text: string, label: string, onChange: (text: string) => void}} Shown */

/** A field as high as what stands in it. @param {Shown & {onRun?: () => void, mono?: boolean}} options */
export function plain({ parent, text, label, onChange, onRun = undefined, mono = false }) {
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { className: `lm-write${mono ? " lm-mono" : ""}`, value: text, dir: "auto" })
  );
  area.setAttribute("aria-label", label);
  const grow = () => {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 4}px`;
  };
  area.addEventListener("input", () => {
    grow();
    onChange(area.value);
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.shiftKey || event.ctrlKey || event.metaKey) || !onRun) return;
    event.preventDefault();
    onRun();
  });
  parent.append(area);
  requestAnimationFrame(grow);
  return {
    area,
    text: () => area.value,
    set: (given) => {
      area.value = given;
      grow();
    },
    focus: () => area.focus(),
    destroy: () => area.remove(),
  };
}

let codemirror = null;
/** A field for code. @param {Shown & {onRun: () => void}} options */
export async function code(options) {
  codemirror ??= import(new URL("../python/codemirror.js", import.meta.url).href).catch(() => null);
  const editor = await codemirror;
  const leave = () => /** @type {HTMLElement} */ (options.parent.parentElement.querySelector("button"))?.focus();
  return editor ? editor.edit({ ...options, onLeave: leave }) : plain({ ...options, mono: true });
}

/** Pictures that are pasted or dropped into a field of words become attachments, as in Jupyter.
 * @param {HTMLTextAreaElement} area @param {(name: string, type: string, base64: string) => void} onPicture */
export function pictures(area, onPicture) {
  const take = async (event, given) => {
    const files = [...(given?.files ?? [])].filter((file) => file.type.startsWith("image/"));
    if (!files.length) return;
    event.preventDefault();
    for (const file of files) {
      const data = await new Promise((resolve, reject) => {
        const reader = new FileReader();
        reader.onload = () => resolve(String(reader.result));
        reader.onerror = () => reject(reader.error);
        reader.readAsDataURL(file);
      });
      onPicture(file.name || "picture.png", file.type, data.slice(data.indexOf(",") + 1));
    }
  };
  area.addEventListener("paste", (event) => take(event, event.clipboardData));
  area.addEventListener("drop", (event) => take(event, event.dataTransfer));
}
