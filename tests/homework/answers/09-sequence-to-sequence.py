"""Common wrong answers to homework 9, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def decoder_step(w, y, s, c):
    moved = s @ w["W_ss"].T + w["E"][torch.as_tensor(y)] @ w["W_ys"].T + c @ w["W_cs"].T
    new = torch.tanh(moved + w["b_s"])
    logits = new @ w["W_so"].T + c @ w["W_co"].T + w["b_o"]
    powers = torch.exp(logits - logits.amax(dim=1, keepdim=True))
    return new, powers / powers.sum(dim=1, keepdim=True)


def log_prob(w, targets, sos, s0, c):
    s, before, total = s0, [sos] * len(targets), 0.0
    for t in range(targets.shape[1]):
        s, p = decoder_step(w, before, s, c)
        total = total + p.gather(1, targets[:, t : t + 1])[:, 0].log()
        before = targets[:, t]
    return total


def beam_search(table, width, alpha):
    held, aside = [(0.0, [])], []
    while any(words[-1:] != [END] for _, words in held):
        new = []
        for log_p, words in held:
            if words[-1:] == [END]:
                new.append((log_p, words))
            else:
                following = table[" ".join(words)]
                new.extend((log_p + math.log(p), [*words, word]) for word, p in following.items())
        held = sorted(new, key=lambda one: one[0], reverse=True)[:width]
        aside += [one for one in held if one[1][-1] == END]
    log_p, words = max(aside, key=lambda one: one[0] / ((OFFSET + len(one[1])) / (OFFSET + 1)) ** alpha)
    return {"words": words, "log_p": log_p, "score": log_p / ((OFFSET + len(words)) / (OFFSET + 1)) ** alpha}


def train(w, sources, targets, steps, rate):
    learned = {name: torch.nn.Parameter(value.clone()) for name, value in w.items()}
    adam, chance = torch.optim.Adam(learned.values(), lr=rate), torch.Generator().manual_seed(1)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * min(1.0, 2 - 2 * step / steps)
        batch = torch.randint(len(sources), (64,), generator=chance)
        c = encode(learned, sources[batch])
        loss = -log_prob(learned, targets[batch], START, c, c).mean() / targets.shape[1]
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(learned.values()), 1.0)
        adam.step()
    return learned


def translate(w, sources, longest):
    found = []
    for source in sources:
        c = encode(w, source[None]).detach()
        s, written = c, []
        while len(written) < longest and STOP not in written:
            s, p = decoder_step(w, torch.tensor([written[-1] if written else START]), s, c)
            p[0, STOP] *= len(written) >= LEAST
            written.append(int(p[0].argmax()))
        found.append([y for y in written if y != STOP])
    return found


# so many numbers are no distribution over the tokens
wrong("the softmax of the state itself", 6, decoder_step, {' @ w["W_so"].T + c @ w["W_co"].T + w["b_o"]': ""})
wrong("the context enters the cell only", 11, decoder_step, {'c @ w["W_co"].T + ': ""})
wrong("the context enters the output only", 11, decoder_step, {' + c @ w["W_cs"].T': ""})
# right for one row
wrong(
    "a softmax over the whole batch",
    10,
    decoder_step,
    {"amax(dim=1, keepdim=True)": "amax()", "sum(dim=1, keepdim=True)": "sum()"},
)
wrong("exponentials of the logits as they are", 15, decoder_step, {" - logits.amax(dim=1, keepdim=True)": ""})
# trained so, it copies what it reads
wrong("targets that are not shifted", 11, log_prob, {"before, s": "targets[:, t], s"})
wrong("the end does not count", 11, log_prob, {"shape[1]": "shape[1] - 1"})  # trained so, it never ends
# what was trained so does not know at which place it is
wrong("the state is not carried on", 11, log_prob, {"s, p": "_, p"})
wrong("numbers without a gradient", 13, log_prob, {"return total": "return total.detach()"})
wrong("greedy for every width", 11, beam_search, {":width": ":1"})
wrong(
    "complete outputs leave the beam",
    14,
    beam_search,
    {"== [END]:\n                new.append((log_p, words))\n            else": "!= [END]"},
)
wrong("what is pushed out is forgotten", 14, beam_search, {"aside +": "aside "})
wrong(
    "the search ends with the first complete output",
    11,
    beam_search,
    {"any(words[-1:] != [END] for _, words in held)": "not any(words[-1:] == [END] for _, words in held)"},
)
wrong("no division by the length", 13, beam_search, {" / ((OFFSET + len(one[1])) / (OFFSET + 1)) ** alpha": ""})
wrong("beginnings are compared by their mean over words", 14, beam_search, {", reverse": " / len(one[1]), reverse"})
wrong("the start comes back as it was", 13, train, {"return learned": "return w"})
wrong("the steps make the targets less likely", 13, train, {"-log_prob": "log_prob"})
wrong("every source gets the target of another", 13, train, {"[batch],": "[batch.flip(0)],"})
wrong("the encoder is not trained", 13, train, {"learned, sources": "w, sources"})
# another rate and no clipping: what counts is the result
wrong("another training that works", 16, train, {"* min": "/ 2 * min", ", 1.": ", 9."})
wrong("the end is written", 14, translate, {"[y for y in written if y != STOP]": "written"})
wrong("every step reads the start", 14, translate, {"written[-1] if written else ": ""})
wrong("the state is thrown away after each token", 14, translate, {"s, p": "_, p"})
wrong(
    "the beam is kept for each beginning apart",
    12,
    beam_search,
    {
        "held = sorted(new, key=lambda one: one[0], reverse=True)[:width]": """held = []
        for beginning in {tuple(words[:-1]) for _, words in new}:
            group = [one for one in new if tuple(one[1][:-1]) == beginning]
            held += sorted(group, key=lambda one: one[0], reverse=True)[:width]"""
    },
)


@wrong("all outputs end with the first one", 14)
def translate(w, sources, longest):
    s = c = encode(w, sources).detach()
    y, rows = torch.full((len(sources),), START), [[] for _ in sources]
    for _ in range(longest):
        s, p = decoder_step(w, y, s, c)
        p[:, STOP] *= len(rows[0]) >= LEAST
        y = p.argmax(1)
        if STOP in y:
            break
        for row, token in zip(rows, y.tolist()):
            row.append(token)
    return rows
