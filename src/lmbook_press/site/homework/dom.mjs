// Elements.

/** @param {string} tag @param {any} properties @param {(Node | string)[]} children @returns {any} */
export function h(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

/** What a cell has put out, in nbformat's shape. Nothing of it is taken for HTML but what the page's Python drew. */
export function shown(outputs) {
  return outputs.map((output) => {
    if (output.output_type === "stream")
      return h("pre", { className: `lm-printed lm-${output.name}`, textContent: output.text });
    if (output.output_type === "error")
      return h("pre", { className: "lm-raised", textContent: output.traceback.join("\n") });
    const data = output.data ?? {};
    const text = (value) => (Array.isArray(value) ? value.join("") : value);
    if (data["image/svg+xml"])
      return h("img", {
        className: "lm-drawn",
        alt: text(data["text/plain"]) ?? "A figure",
        src: `data:image/svg+xml,${encodeURIComponent(text(data["image/svg+xml"]))}`,
      });
    if (data["image/png"])
      return h("img", {
        className: "lm-drawn",
        alt: "A figure",
        src: `data:image/png;base64,${text(data["image/png"])}`,
      });
    return h("pre", { className: "lm-printed", textContent: text(data["text/plain"]) ?? "" });
  });
}
