// reading.mjs: what two trained networks say of the words of a text, when the first k of them are read.
import { fmt } from "../kit/core.mjs";

/** Thousandths as a share. */
export const percent = (/** @type {number} */ thousandths) =>
  thousandths === 0 ? "< 0.1 %" : thousandths === 1000 ? "> 99.9 %" : `${fmt.num(thousandths / 10, 1)} %`;

const LOOKS = {
  ...{ url: "a web address", mail: "a mail address", "@": "an @name", "#": "a #tag", 0: "a number", ".": "a sign" },
  ...{ X0: "LETTERS and digits", x0: "letters and digits", XX: "a WORD", Xx: "a Word", xX: "a woRd" },
  ...{ "x-x": "a hyphened word", xx: "a word" },
};

/** A class of words by their look (wordforms.mjs) in words: <xx-ged> is "a word in -ged"; what is none stays. */
export const inWords = (/** @type {string} */ token) =>
  token.replace(/^<(.+?)-(\p{L}*)>$/u, (_, kind, ending) => LOOKS[kind] + (ending && ` in -${ending}`));

/**
 * said(t, k): of word t, [from the left, both directions], numbers as in the text.  name(numbers): a tag, or a share.
 * one(t, k): the tag in both directions.  changes(k): the words before the k-th whose tag it changes.  told(k): so in
 * words.
 * @param {any} text
 * @param {string[]} tags
 */
export function reading({ task, words, left, both }, tags) {
  const spammy = task === "spam";
  const said = (t, k) => (spammy ? [left[t], both[t]] : [left[t], both[k - 1][t]]);
  const name = (numbers) => (spammy ? percent(numbers) : tags[numbers[0]]);
  const one = (/** @type {number} */ t, /** @type {number} */ k) => name(said(t, k)[1]);
  const changes = (/** @type {number} */ k) =>
    spammy ? [] : [...Array(k - 1).keys()].filter((t) => one(t, k) !== one(t, k - 1));
  function told(/** @type {number} */ k) {
    const last = fmt.quote(words[k - 1]);
    const changed = changes(k).map((t) => `${fmt.quote(words[t])} from ${one(t, k - 1)} to ${one(t, k)}`);
    return changed.length ? `${last} changes ${fmt.list(changed)}.` : `${last} changes no tag before it.`;
  }
  return { spammy, said, name, one, changes, told };
}
