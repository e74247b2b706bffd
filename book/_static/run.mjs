// The buttons Run and Edit beside the code of a chapter. What they do is in python/cells.mjs, which comes at the first
// press, and nothing else comes before it. A page from a disk, where browsers load nothing, says so.
const DISK =
  "A page that is opened from a disk may load nothing. In the folder that was unpacked, run " +
  "“python -m http.server” and open http://localhost:8000 to run the code here.";
const LOOK = `
.cell_input { position: relative; }
.lm-run-bar { position: absolute; right: 0.6rem; bottom: -0.8rem; z-index: 2; display: flex; gap: 0.35rem; }
.lm-run-bar > * {
  min-height: 1.6rem; padding: 0 0.6rem; border: 1px solid var(--book-line); border-radius: 0.8rem; cursor: pointer;
  background: var(--book-paper); color: var(--book-accent); font: 0.8rem/1.5rem var(--book-sans); text-decoration: none;
}
.lm-run-bar > *:is(:hover, :focus-visible) { border-color: var(--book-accent); color: var(--book-accent-strong); }
.lm-run-bar > a { color: var(--book-muted); }
.lm-run-bar [hidden] { display: none; }
@media print { .lm-run-bar, .lm-ran { display: none !important; } }`;

const made = (name, classes, text, label) => {
  const part = Object.assign(document.createElement(name), { className: classes, textContent: text });
  part.setAttribute("aria-label", label);
  return part;
};
const SCRIPT = "./python/cells.mjs"; // the build puts it there
const python = () => import(SCRIPT);
const cells = document.querySelectorAll('.cell:is([class*=" lm-run-"], [class*=" lm-torch-"])');
const colab = /** @type {HTMLAnchorElement | null} */ (document.querySelector('a[href*="colab.research.google.com"]'));

if (cells.length) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(LOOK);
  document.adoptedStyleSheets.push(sheet);
}
for (const cell of cells) {
  const input = cell.querySelector(".cell_input");
  if (!input) continue;
  const [, kind, number] = /lm-(run|torch)-(\d+)/.exec(cell.className);
  const bar = made("div", "lm-run-bar", "", `Code ${Number(number) + 1}`);
  bar.setAttribute("role", "group");
  if (kind === "torch") {
    if (!colab) continue;
    const link = /** @type {HTMLAnchorElement} */ (made("a", "", "In Colab", "In Colab, opens the notebook"));
    Object.assign(link, {
      href: colab.href,
      target: "_blank",
      title: "This code needs more than this page has: a large training, trained weights, or parts of PyTorch",
    });
    bar.append(link);
  } else {
    const seconds = Number(/lm-slow-(\d+)/.exec(cell.className)?.[1] ?? 0);
    const long = seconds ? ` (about ${Math.ceil(seconds / 60)} min)` : "";
    const run = made("button", "lm-run", `Run${long}`, `Run code ${Number(number) + 1}${long}`);
    const edit = made("button", "lm-edit", "Edit", `Edit code ${Number(number) + 1}`);
    const first = "Runs Python in this page. The first press loads 6 to 20 MB and says how much.";
    Object.assign(run, { type: "button", title: first });
    Object.assign(edit, { type: "button" });
    const act = (deed) => async () => {
      if (location.protocol === "file:") {
        const said = made("p", "lm-ran", DISK, "Not from a disk");
        said.setAttribute("role", "status");
        if (!cell.querySelector(".lm-ran")) cell.append(said);
      } else deed(await python());
    };
    run.addEventListener(
      "click",
      act(({ press }) => press(Number(number))),
    );
    edit.addEventListener(
      "click",
      act(({ change }) => change(Number(number))),
    );
    bar.append(run, edit);
  }
  input.append(bar);
}
const page = location.pathname
  .split("/")
  .at(-1)
  .replace(/\.html$/, "");
const changed =
  cells.length && location.protocol !== "file:" && localStorage.getItem("lmbook:code")?.includes(`"${page}":`);
if (changed) python().then(({ restore }) => restore());
