// Outputs of a cell, in nbformat's shape, as elements that look like those that the book has printed.

const made = (name, classes = "", text = "") =>
  Object.assign(document.createElement(name), { className: classes, textContent: text });

/** Text as the page shows what a cell prints. */
function printed(text, kind) {
  const box = made("div", `output ${kind} highlight-myst-ansi notranslate`);
  const inner = made("div", "highlight");
  inner.append(made("pre", "", text.replace(/\n$/, "")));
  box.append(inner);
  return box;
}

function html(text) {
  const box = made("div", "output text_html");
  box.innerHTML = text;
  return box;
}

const escaped = (text) =>
  text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);

/** A line of Markdown as HTML: code, bold, italic. Formulae stay as they are written. */
const line = (text) =>
  escaped(text)
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`") && part.length > 1
        ? `<code class="literal">${part.slice(1, -1)}</code>`
        : part
            .replace(/\*\*(.+?)\*\*/g, "<strong>$1</strong>")
            .replace(/(?<![\w*])[*_](.+?)[*_](?![\w*])/g, "<em>$1</em>"),
    )
    .join("");

const fields = (row) =>
  row
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((field) => field.trim());

/** Markdown as HTML: paragraphs, headings, lists, tables, which is what cells of this book put out. */
export function markdown(text) {
  return text
    .trim()
    .split(/\n\s*\n/)
    .map((block) => {
      const lines = block.split("\n");
      if (lines.length > 1 && /^[\s|:-]+$/.test(lines[1]) && lines[1].includes("-")) {
        const sides = fields(lines[1]).map((sign) => (/^-+:$/.test(sign) ? ' style="text-align:right"' : ""));
        const row = (kind) => (source) =>
          `<tr>${fields(source)
            .map((field, i) => `<${kind}${sides[i] ?? ""}>${line(field)}</${kind}>`)
            .join("")}</tr>`;
        const body = lines.slice(2).map(row("td")).join("");
        return `<table class="table"><thead>${row("th")(lines[0])}</thead><tbody>${body}</tbody></table>`;
      }
      if (lines.every((each) => /^\s*[-*] /.test(each))) {
        return `<ul>${lines.map((each) => `<li>${line(each.replace(/^\s*[-*] /, ""))}</li>`).join("")}</ul>`;
      }
      const heading = /^(#+) (.*)$/.exec(block);
      return heading ? `<p><strong>${line(heading[2])}</strong></p>` : `<p>${line(lines.join(" "))}</p>`;
    })
    .join("");
}

const KINDS = {
  "text/html": html,
  "image/svg+xml": html,
  "image/png": (data) => picture("png", data),
  "image/jpeg": (data) => picture("jpeg", data),
  "text/markdown": (text) => html(markdown(text)),
  "text/latex": (text) => printed(text, "text_plain"),
  "text/plain": (text) => printed(text, "text_plain"),
};

function picture(kind, data) {
  const box = made("div", "output image");
  box.append(
    Object.assign(document.createElement("img"), {
      src: `data:image/${kind};base64,${data}`,
      alt: "What the code has drawn",
    }),
  );
  return box;
}

/** The element of one output, or null where there is nothing to see, as of a number that is kept for the text. */
export function element(output) {
  if (output.output_type === "stream")
    return printed(output.text, `stream${output.name === "stderr" ? " stderr" : ""}`);
  if (output.output_type === "error") return printed(output.traceback.join("\n"), "traceback");
  const kind = Object.keys(KINDS).find((name) => name in output.data);
  return kind ? KINDS[kind](output.data[kind]) : null;
}

const printedFigures = document.querySelector("figure.lm-figure") !== null;

/** The module that brings figures to life: the one that the page has loaded, if it has. */
async function figures() {
  const script = /** @type {HTMLScriptElement | null} */ (document.querySelector('script[src*="figures/mount.mjs"]'));
  if (!printedFigures && !document.querySelector("link[data-lm-figures]")) {
    const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet" });
    sheet.href = new URL("../figures/figures.css", import.meta.url).href;
    sheet.dataset.lmFigures = "";
    document.head.append(sheet);
  }
  return import(script?.src ?? new URL("../figures/mount.mjs", import.meta.url).href);
}

/** Shows outputs in a box in place of those before; figures come to life. */
export async function show(box, outputs) {
  box.replaceChildren(...outputs.map(element).filter(Boolean));
  if (!box.querySelector("figure.lm-figure")) return;
  const { mount } = await figures().catch(() => ({ mount: null })); // it stays as it is printed
  if (!mount) return;
  for (const figure of box.querySelectorAll("figure.lm-figure[data-module]:not([data-live])")) {
    if (figure.isConnected) await mount(figure);
  }
}
