// Added by lmbook_press.site.features.search: pages are ranked by how much they say of what was asked, in the words
// of the query or in those of LM.synonyms for them: BM25, which
// a word said again and again helps the less the more words are asked for.
const LM = %DATA%;
// Lower case, without punctuation, and "normalisation" as "normalization".
LM.plain = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number}_]+/gu, " ")
    .trim()
    .replace(/is(?=(ations?|ers?|e[sd]?|ing)\b)/g, "iz");
LM.stem = (said) =>
  (LM.stems[said] ??= said.split(" ").map((word) => new Stemmer().stemWord(word)).join(" "));
LM.stems = {};
// "homework 7", "figure 17.2", "eq. (13.2)": the page, and the place on it; null for what is no such number.
LM.direct = (query) => {
  const asked = /^(ch|chapter|homework|hw|fig|figure|ex|exercise|eq|equation|formula)\b[\s.]*\(?(\d+)(?:\.(\d+))?\)?$/;
  const [, kind, chapter, number] = asked.exec(query.trim().toLowerCase()) ?? [];
  if (!kind) return null;
  const folder = kind.startsWith("h") ? "book/homework/" : "notebooks/";
  const page = Search._index.docnames.find((name) => name.startsWith(`${folder}${chapter.padStart(2, "0")}-`));
  if (!page) return null;
  const title = Search._index.titles[Search._index.docnames.indexOf(page)];
  let anchor = "";
  if (number && kind.startsWith("f") && kind !== "formula") anchor = `#figure-${chapter}-${number}`;
  else if (number && kind.startsWith("ex")) anchor = `#ex-${chapter}-${number}`;
  else if (number) anchor = `#${LM.equations[page]?.[number - 1] ?? ""}`;
  return { page, title: number ? `${query.trim()}: ${title}` : title, anchor, score: 10_000 };
};
// How often each page says a word, by its stem, roughly: LM.words has a digit a page, log2(1 + count), for words that
// some page says often; Sphinx's index has the pages of all others.
LM.counts = (word) => {
  LM.often ??= new Map(Object.entries(LM.words).map(([one, digits]) => [LM.stem(one), digits]));
  const { docnames, terms, titleterms } = Search._index;
  const stem = LM.stem(word);
  const counts = new Map();
  const stems = [stem, LM.stem(word.replace(/iz(?=(ations?|ers?|e[sd]?|ing)$)/, "is"))];
  for (const [table, count] of [[terms, 1], [titleterms, LM.heading]])
    for (const page of stems.flatMap((one) => table[one] ?? [])) counts.set(docnames[page], count);
  const digits = LM.often.get(stem) ?? "";
  LM.pages.forEach((page, i) => {
    if (Number(digits[i])) counts.set(page, 2 ** digits[i] - 1);
  });
  return counts;
};
// Steps from one word to the other: a letter more, less, another, or two exchanged.
LM.steps = (a, b) => {
  const rows = [...Array(a.length + 1)].map((_, i) => [i]);
  for (let j = 0; j <= b.length; j++) rows[0][j] = j;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows[a.length][b.length];
};
// The word itself or, where no page has it, the two that it is made of, or the nearest that many pages have.
LM.meant = (word) => {
  const known = (one) => one in LM.words || one in LM.synonyms;
  if (word.length < 5 || known(word) || LM.counts(word).size) return word;
  for (let i = 3; i <= word.length - 3; i++)
    if (known(word.slice(0, i)) && known(word.slice(i))) return `${word.slice(0, i)} ${word.slice(i)}`;
  const far = word.length > 7 ? 2 : 1;
  const { alltitles, indexentries } = Search._index;
  const titles = LM.plain(Object.keys({ ...alltitles, ...indexentries }).join(" ")).split(" ");
  const near = [...new Set([...Object.keys({ ...LM.words, ...LM.synonyms }), ...titles])]
    .filter((one) => Math.abs(one.length - word.length) <= far && one[0] === word[0])
    .map((one) => [LM.steps(word, one), -LM.counts(one).size, one])
    .filter(([steps]) => steps <= far)
    .sort(([a, x], [b, y]) => a - b || x - y);
  return near[0]?.[2] ?? word;
};
// The query in parts, each a list of ways to say it: ["bidirectional"], ["rnn", "recurrent"].
LM.parts = (query) => {
  const stems = (text) => LM.stem(LM.plain(text));
  LM.ours ??= new Map(Object.entries(LM.synonyms).map(([said, one]) => [stems(said), LM.plain(one)]));
  const words = LM.plain(query).split(" ").flatMap((word) => LM.meant(word).split(" "));
  const parts = [];
  for (let i = 0, long; i < words.length; i += long) {
    long = Math.min(4, words.length - i);
    while (long > 1 && !LM.ours.has(stems(words.slice(i, i + long).join(" ")))) long--;
    const said = words.slice(i, i + long).join(" ");
    const joined = words.slice(i, i + 2).join("");
    const ours = LM.ours.get(stems(said));
    if (ours) parts.push(said in LM.words ? [said, ours] : [ours]);
    else if (i + 1 < words.length && LM.counts(joined).size) {
      parts.push([words.slice(i, i + 2).join(" "), joined]);
      long = 2;
    } else if (!stopwords.includes(said) && !LM.asking.includes(said)) parts.push([said]);
  }
  return parts;
};
// Page -> how much it says of these words, weighed by how few pages say them.
LM.weigh = (said, parts) => {
  const sum = new Map();
  for (const word of said) {
    const counts = LM.counts(word);
    const rare = Math.log(1 + (Search._index.docnames.length - counts.size + 0.5) / (counts.size + 0.5));
    for (const [page, count] of counts) {
      const long = (LM.k / parts) * (1 - LM.b + LM.b * (LM.lengths[LM.pages.indexOf(page)] ?? 1));
      sum.set(page, (sum.get(page) ?? 0) + (rare * count * (LM.k / parts + 1)) / (count + long));
    }
  }
  return sum;
};
LM.prior = (page) => LM.priors.find(([start]) => page.startsWith(start))?.[1] ?? 1;
// The heading of a page, or the term of the glossary, that has the most words of the query, if it has any.
LM.place = (page, stems) => {
  const { docnames, alltitles, titles, indexentries } = Search._index;
  const number = docnames.indexOf(page);
  const heads = Object.entries({ ...indexentries, ...alltitles }).flatMap(([title, places]) =>
    places.filter(([doc]) => doc === number).map(([, id]) => [title, id]));
  let best = [stems.size / 2, "", null];
  for (const [title, id] of heads) {
    const has = new Set(LM.plain(title).split(" ").map(LM.stem).filter((stem) => stems.has(stem))).size;
    if (has > best[0] && !titles[number].endsWith(title)) best = [has, title, id]; // with "7. " before it
  }
  return best;
};
LM.find = (query) => {
  const { docnames, titles, filenames } = Search._index;
  const parts = LM.parts(query);
  const scores = new Map();
  const spoken = (way) => way.split(" ").filter((word) => !stopwords.includes(word));
  for (const ways of parts) {
    const best = new Map();
    for (const way of ways)
      for (const [page, score] of LM.weigh(spoken(way), parts.length)) best.set(page, Math.max(score, best.get(page) ?? 0));
    for (const [page, score] of best) scores.set(page, [...(scores.get(page) ?? []), score]);
  }
  // Two words that stand side by side, here and there, and the chapter that introduces a term, count beside that.
  const said = parts.flatMap((ways) => spoken(ways.at(-1)));
  const more = LM.weigh(said.slice(1).map((word, i) => `${said[i]} ${word}`), parts.length);
  const asked = ` ${LM.stem(said.join(" "))} | ${LM.stem(LM.plain(query))} `;
  const named = Object.entries(LM.first).filter(([term]) => asked.includes(` ${LM.stem(term)} `));
  for (const [term, page] of named)
    if (!named.some(([other]) => other !== term && ` ${other} `.includes(` ${term} `)))
      more.set(page, (more.get(page) ?? 0) + LM.home * term.split(" ").length);
  const words = [...new Set(parts.flat().flatMap((way) => way.split(" ")))];
  const terms = new Set(words.map(LM.stem));
  const found = [...scores].map(([page, some]) => {
    const all = some.reduce((a, b) => a + b, 0) * (some.length / parts.length);
    return { page, score: LM.prior(page) * (all + (more.get(page) ?? 0)) };
  });
  const most = Math.max(...found.map(({ score }) => score));
  const results = found
    .filter(({ score }) => score > LM.least * most)
    .map((one) => {
      const title = titles[docnames.indexOf(one.page)];
      const [, heading, id] = LM.place(one.page, terms);
      return { ...one, title: heading ? `${title} > ${heading}` : title, anchor: id ? `#${id}` : "" };
    });
  const direct = LM.direct(query);
  const list = [...(direct ? [direct] : []), ...results].map(({ page, title, anchor, score }) =>
    [page, title, anchor, null, score, filenames[docnames.indexOf(page)]]);
  return { results: list.sort(_orderResultsByScoreThenName), terms, highlight: new Set(words) };
};
Search.query = (query) => {
  const { results, terms, highlight } = LM.find(query);
  localStorage.setItem("sphinx_highlight_terms", [...highlight].join(" "));
  _displayNextItem(results, results.length, terms, highlight);
};
