// The editor of a cell: CodeMirror 6 with Python. `npm run editor` bundles it into codemirror.js, which is what a page
// loads when a reader presses Edit.
//
// Tab leaves the editor, as everywhere on the page: it is no trap. Colours come from the classes that the page's
// stylesheet has for code.

import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { tagHighlighter, tags } from "@lezer/highlight";

const LIKE_THE_PAGE = tagHighlighter([
  { tag: tags.comment, class: "c1" },
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], class: "k" },
  { tag: tags.operatorKeyword, class: "ow" },
  { tag: [tags.bool, tags.null], class: "kc" },
  { tag: [tags.string, tags.special(tags.string)], class: "s2" },
  { tag: tags.number, class: "mi" },
  { tag: tags.function(tags.definition(tags.variableName)), class: "nf" },
  { tag: tags.definition(tags.className), class: "nc" },
  { tag: tags.operator, class: "o" },
  { tag: tags.meta, class: "nd" },
]);

/**
 * An editor in `parent`. label: its name for those who do not see it. onChange(text) hears of each change, onRun of
 * Shift+Enter (and Ctrl+Enter), onLeave of Escape.
 */
export function edit({ parent, text, label, onChange, onRun, onLeave }) {
  const run = () => {
    onRun();
    return true;
  };
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        keymap.of([
          { key: "Shift-Enter", run },
          { key: "Mod-Enter", run },
          {
            key: "Escape",
            run: () => {
              onLeave();
              return true;
            },
          },
          { key: "Mod-]", run: indentMore },
          { key: "Mod-[", run: indentLess },
          ...historyKeymap,
          ...defaultKeymap,
        ]),
        history(),
        python(),
        indentUnit.of("    "),
        indentOnInput(),
        bracketMatching(),
        syntaxHighlighting(LIKE_THE_PAGE),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", autocapitalize: "off" }),
        EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
      ],
    }),
  });
  view.dom.addEventListener("keydown", (event) => event.stopPropagation()); // the page takes / for its search
  return {
    text: () => view.state.doc.toString(),
    set: (given) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: given } }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}
