// Ticks, points, comments and minutes of a marker: kept in this page, and saved as marks.csv.
// A line of marks.csv that has changed since an entry was kept counts before the entry.
const { rows, columns, store } = JSON.parse(document.getElementById("lines").content.textContent);
const said = document.getElementById("said");
const fields = { points: ".points", comment: ".comment", minutes: ".minutes" };
let saved = true;

const own = (article) => JSON.parse(article.dataset.lines).map((at) => rows[at]);
const boxes = (article) => [...article.querySelectorAll("input[type=checkbox]")];
const state = (article) => ({
  ticks: boxes(article).map((box) => box.checked),
  ...Object.fromEntries(Object.entries(fields).map(([name, one]) => [name, article.querySelector(one).value.trim()])),
});
const before = (article) => own(article).map((row) => [row.points, row.comment, row.minutes].map((text) => text ?? ""));

function keep(article) {
  saved = false;
  try {
    localStorage.setItem(store + article.id, JSON.stringify({ ...state(article), before: before(article) }));
  } catch {
    said.textContent = "This browser keeps nothing: save marks.csv before you close this page.";
  }
  count();
}

function restore(article) {
  let kept = null;
  try {
    kept = JSON.parse(localStorage.getItem(store + article.id));
  } catch {}
  if (!kept || JSON.stringify(kept.before) !== JSON.stringify(before(article))) return;
  boxes(article).forEach((box, at) => (box.checked = kept.ticks[at] ?? false));
  for (const [name, one] of Object.entries(fields)) article.querySelector(one).value = kept[name] ?? "";
}

function count() {
  const all = [...document.querySelectorAll("article")];
  const done = all.filter((article) => article.querySelector(".points").value.trim()).length;
  document.getElementById("done").textContent = `${done} of ${all.length} answers have points.`;
}

// The same guards as lmbook_grader/spreadsheet.py.
function cell(value) {
  const text = String(value ?? "");
  const guarded = !/^[+-]?\d+([.,]\d+)?$/.test(text) && /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

function table() {
  const made = rows.map((row) => ({ ...row }));
  for (const article of document.querySelectorAll("article")) {
    const { points, comment, minutes } = state(article);
    // One text is marked once: its points are those of all who wrote it, its minutes those of one of them.
    JSON.parse(article.dataset.lines).forEach((at, first) =>
      Object.assign(made[at], { points, comment, minutes: first ? "" : minutes }),
    );
  }
  const lines = [columns, ...made.map((row) => columns.map((name) => row[name]))];
  return `\ufeff${lines.map((line) => `${line.map(cell).join(",")}\r\n`).join("")}`;
}

for (const article of document.querySelectorAll("article")) {
  restore(article);
  article.addEventListener("input", (event) => {
    if (event.target.type === "checkbox") {
      const sum = boxes(article).reduce((total, box) => total + (box.checked ? Number(box.dataset.points) : 0), 0);
      article.querySelector(".points").value = sum;
    }
    keep(article);
  });
}
document.getElementById("save").addEventListener("click", () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
  link.download = "marks.csv";
  link.click();
  saved = true;
  said.textContent = "Saved as marks.csv: put it into the folder of this page, in the place of the old one.";
});
// What another tab keeps, or this one's last page kept so late that it was not there yet when it was asked for.
addEventListener("storage", ({ key }) => {
  const article = [...document.querySelectorAll("article")].find(({ id }) => store + id === key);
  if (article) restore(article);
  count();
});
addEventListener("beforeunload", (event) => {
  if (!saved) event.preventDefault();
});
count();
