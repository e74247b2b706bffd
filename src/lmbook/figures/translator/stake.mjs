// stake.mjs: the bet on the first view of a translation.
import { answered, fmt } from "../kit/core.mjs";
import { shown, top } from "./aligned.mjs";
import { chosenWeights, lookers } from "./tiles.mjs";

/**
 * What kit/bet.mjs is to ask of the token of a translation at this place: where a model with one map of weights looks,
 * or how many heads look at the word that is translated.
 */
export function stakeOn({ name, label }, found, place) {
  const named = (token) => fmt.quote(shown(token.text, 0).word);
  const comes = named(found.target[place]);
  const maps = found.attention.filter((one) => one.kind === "cross");
  const mean = chosenWeights(maps.at(-1), 0)[place];
  const best = top(mean);
  const word = named(found.source[best]);
  if (maps.length === 1)
    return {
      name: `translator-${name}`,
      of: "text place",
      asks: `${comes} comes next. Where does ${label} look most?`,
      options: found.source
        .map((token, i) => [i, shown(token.text, 0).word])
        .filter(([i, word]) => i === best || /[\p{L}\p{N}]/u.test(word)),
      told: (i) =>
        `For ${comes} it looks most at ${word}, weight ${fmt.num(mean[best])}` +
        answered(i, best, `; you said ${named(found.source[i ?? best])}, ${fmt.num(mean[i ?? best])}.`),
    };
  const { looks } = lookers(maps, place);
  const at = looks.filter(Boolean).length;
  return {
    name: `translator-${name}`,
    of: "text place layer",
    asks: `${comes} comes next. How many of the ${looks.length} heads look most at ${word}?`,
    pin: { label: "Heads", min: 0, max: looks.length, value: looks.length / 2 },
    told: (bet) =>
      `For ${comes} ${at} of ${looks.length} heads look most at ${word}${answered(bet, at, `; you said ${bet}.`)}`,
  };
}
