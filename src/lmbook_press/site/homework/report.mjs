// The report of the check, in words, as `lmbook homework check` prints it.

import { h } from "./dom.mjs";

/** Shows what was found; returns one sentence for the status line. */
export function report(box, found) {
  if (found.error) {
    box.replaceChildren(h("h2", { textContent: "Check" }), h("p", { textContent: found.error }));
    return found.error;
  }
  const rows = found.questions.map((one) => {
    const passed = one.checks ? `${one.passed} of ${one.checks} visible checks pass` : "";
    const said = [...one.said.map((words) => h("li", { textContent: words }))];
    if (one.hint) said.push(h("li", { className: "lm-hint", textContent: `Hint: ${one.hint}` }));
    const good = one.state === "answered" && one.passed === one.checks && !one.said.length;
    return h(
      "li",
      { className: good ? "lm-correct" : "lm-open" },
      h("strong", { textContent: one.title }),
      `: ${[one.state, passed].filter(Boolean).join(", ")}`,
      ...(said.length ? [h("ul", {}, ...said)] : []),
    );
  });
  const more = [...found.faults, ...found.hints.map((words) => `Note: ${words}`)];
  const last = found.lines.at(-1);
  box.replaceChildren(
    h("h2", { textContent: "Check" }),
    h("ul", {}, ...rows),
    ...more.map((words) => h("p", { textContent: words })),
    h("p", { textContent: last }),
    h("p", {
      className: "lm-aside",
      textContent:
        "This is what lmbook homework check says. It was computed in this page, and nothing was sent anywhere.",
    }),
  );
  const good = found.questions.filter((one) => one.state === "answered" && one.passed === one.checks).length;
  const all = found.questions.length;
  return `Checked: ${good} of ${all} questions are answered and pass. The report stands below the buttons.`;
}
