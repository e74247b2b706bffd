// opening.mjs: one word of a translation opened: what each sublayer adds, what the decoder would write there, and the
// scores behind the weights.
import { button, fmt, grid, h, replace } from "../kit/core.mjs";
import { shown } from "./aligned.mjs";

const STAGES = {
  embedding: "embedding",
  position: "position",
  self: "self-attention",
  cross: "attention to the source",
  feed: "feed-forward",
};

/**
 * The fold. about(): what the first board's model is; ready(name): whether it is there; load(): fetches it;
 * ask(given): the engine's answer; head(), layer(): of the first board.
 */
export function opening({ about, ready, load, ask, head, layer }) {
  const body = h.scroller("lm-scroll lm-table", "The way of one token through the layers");
  const words = h.small();
  const node = h("details", { class: "lmx-open" }, [
    h("summary", {}, "Open this word: the sum of all that the layers add to it"),
    words,
    body,
  ]);
  let wanted = "";

  async function draw(found, now) {
    node.hidden = found.attention.length === 1;
    if (!node.open || node.hidden) {
      wanted = "";
      return;
    }
    const { name, bytes } = about();
    if (!ready(name)) {
      const start = button(`Load it (${fmt.num(bytes / 1e6, 1)} MB)`, load);
      replace(words, "The numbers are computed here, by the model itself. ", start);
      replace(body);
      return;
    }
    const side = now.way === "encoder" ? "source" : "target";
    const given = { name, text: found.of, ids: found.target.map((token) => token.id), side, place: now.place };
    const asked = JSON.stringify([given, head(), layer(), now.way]);
    if (asked === wanted) return;
    wanted = asked;
    body.setAttribute("aria-busy", "true");
    const trace = await ask(given);
    if (wanted !== asked) return;
    body.setAttribute("aria-busy", "false");
    const quoted = (token) => fmt.quote(shown(token.text).word);
    const written = side === "target";
    const read = now.place ? quoted(found.target[now.place - 1]) : "“<sos>”";
    const token = quoted(now.queries[now.place]);
    replace(words, [
      written ? `The decoder has read ${read} and is to write ${token}.` : `The encoder reads ${token}.`,
      " Each line adds a vector to the sum; the lengths of both are given.",
      written ? " The second column says what the model would write if it ended there." : "",
    ]);
    const kind = written ? now.way : "self";
    const chosen = trace.find((one) => one.scores && one.layer === layer() && one.kind === kind);
    const k = head() || 1;
    const sublayer = ({ kind, layer, added, sum, says }) => [
      `${STAGES[kind]}${layer ? `, layer ${layer}` : ""}`,
      ...(written ? [says ? `${says.text.trim() || "␣"} (${fmt.share(says.p)})` : ""] : []),
      fmt.num(added, 1),
      fmt.num(sum, 1),
    ];
    const key = (score, i) => [shown(now.seen[i].text).word, fmt.num(score), fmt.num(chosen.weights[k - 1][i], 3)];
    const heads = ["sublayer", ...(written ? ["would write"] : []), "length added", "length of the sum"];
    replace(body, [
      grid(heads, trace.map(sublayer)),
      chosen && [
        h.small(`Layer ${chosen.layer}, head ${k}: score q·k/√d_k, then its softmax`),
        grid(["looked at", "score", "e^score / sum"], chosen.scores[k - 1].map(key)),
      ],
    ]);
  }
  return { node, draw };
}
