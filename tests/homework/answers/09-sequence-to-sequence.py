"""Common wrong answers to homework 9, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

STEP = """
def decoder_step(w, y, s, c):
    moved = s @ w["W_ss"].T + w["E"][torch.as_tensor(y)] @ w["W_ys"].T + c @ w["W_cs"].T
    new = torch.tanh(moved + w["b_s"])
    logits = new @ w["W_so"].T + c @ w["W_co"].T + w["b_o"]
    powers = torch.exp(logits - logits.amax(dim=1, keepdim=True))
    return new, powers / powers.sum(dim=1, keepdim=True)
"""
TARGET = """
def log_prob(w, targets, sos, s0, c):
    s, before, total = s0, [sos] * len(targets), 0.0
    for t in range(targets.shape[1]):
        s, p = decoder_step(w, before, s, c)
        total = total + p.gather(1, targets[:, t : t + 1])[:, 0].log()
        before = targets[:, t]
    return total
"""
TRAIN = """
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
"""
TRANSLATE = """
def translate(w, sources, longest):
    found = []
    for source in sources:
        c = encode(w, source[None]).detach()
        s, written = c, []
        while len(written) < longest and STOP not in written:
            s, p = decoder_step(w, torch.tensor([written[-1] if written else START]), s, c)
            written.append(int(p[0].argmax()))
        found.append([y for y in written if y != STOP])
    return found
"""
BEAM = """
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
    log_p, words = max(aside, key=lambda one: one[0] / len(one[1]) ** alpha)
    return {"words": words, "log_p": log_p, "score": log_p / len(words) ** alpha}
"""


def changed(source: str, old: str, new: str) -> str:
    """The right answer with one mistake. Raises ValueError where there is nothing to change."""
    if old not in source:
        raise ValueError(f"{old!r} is not in the answer")
    return source.replace(old, new)


WRONG = {
    "the softmax of the state itself": {
        "answers": {
            "decoder-step": changed(STEP, 'logits = new @ w["W_so"].T + c @ w["W_co"].T + w["b_o"]', "logits = new")
            + TARGET
        },
        "score": 6,  # so many numbers are no distribution over the tokens
    },
    "the context enters the cell only": {
        "answers": {"decoder-step": changed(STEP, ' + c @ w["W_co"].T', "") + TARGET},
        "score": 11,
    },
    "the context enters the output only": {
        "answers": {"decoder-step": changed(STEP, ' + c @ w["W_cs"].T', "") + TARGET},
        "score": 11,
    },
    "a softmax over the whole batch": {
        "answers": {
            "decoder-step": changed(
                changed(STEP, "logits.amax(dim=1, keepdim=True)", "logits.amax()"),
                "powers.sum(dim=1, keepdim=True)",
                "powers.sum()",
            )
            + TARGET
        },
        "score": 10,  # right for one row
    },
    "exponentials of the logits as they are": {
        "answers": {"decoder-step": changed(STEP, "logits - logits.amax(dim=1, keepdim=True)", "logits") + TARGET},
        "score": 15,
    },
    "targets that are not shifted": {
        "answers": {
            "decoder-step": STEP + changed(TARGET, "decoder_step(w, before,", "decoder_step(w, targets[:, t],")
        },
        "score": 11,  # trained so, it copies what it reads
    },
    "the end does not count": {
        "answers": {"decoder-step": STEP + changed(TARGET, "range(targets.shape[1])", "range(targets.shape[1] - 1)")},
        "score": 11,  # trained so, it never ends
    },
    "the state is not carried on": {
        "answers": {"decoder-step": STEP + changed(TARGET, "s, p = decoder_step", "_, p = decoder_step")},
        "score": 11,  # what was trained so does not know at which place it is
    },
    "numbers without a gradient": {
        "answers": {"decoder-step": STEP + changed(TARGET, "return total", "return total.detach()")},
        "score": 13,
    },
    "greedy for every width": {
        "answers": {"beam-search": changed(BEAM, "[:width]", "[:1]")},
        "score": 11,
    },
    "the beam is kept for each beginning apart": {
        "answers": {
            "beam-search": changed(
                BEAM,
                "        held = sorted(new, key=lambda one: one[0], reverse=True)[:width]",
                """        held = []
        for beginning in {tuple(words[:-1]) for _, words in new}:
            group = [one for one in new if tuple(one[1][:-1]) == beginning]
            held += sorted(group, key=lambda one: one[0], reverse=True)[:width]""",
            )
        },
        "score": 12,
    },
    "complete outputs leave the beam": {
        "answers": {
            "beam-search": changed(
                BEAM,
                "            if words[-1:] == [END]:\n                new.append((log_p, words))\n            else:",
                "            if words[-1:] != [END]:",
            )
        },
        "score": 14,
    },
    "what is pushed out is forgotten": {
        "answers": {"beam-search": changed(BEAM, "aside += [one", "aside = [one")},
        "score": 14,
    },
    "the search ends with the first complete output": {
        "answers": {
            "beam-search": changed(
                BEAM,
                "while any(words[-1:] != [END] for _, words in held):",
                "while not any(words[-1:] == [END] for _, words in held):",
            )
        },
        "score": 11,
    },
    "no division by the length": {
        "answers": {
            "beam-search": changed(BEAM, "key=lambda one: one[0] / len(one[1]) ** alpha", "key=lambda one: one[0]")
        },
        "score": 13,
    },
    "beginnings are compared by their mean over words": {
        "answers": {
            "beam-search": changed(
                BEAM,
                "sorted(new, key=lambda one: one[0], reverse",
                "sorted(new, key=lambda one: one[0] / len(one[1]), reverse",
            )
        },
        "score": 14,
    },
    "the start comes back as it was": {
        "answers": {"training": changed(TRAIN, "return learned", "return w")},
        "score": 13,
    },
    "the steps make the targets less likely": {
        "answers": {"training": changed(TRAIN, "loss = -log_prob", "loss = log_prob")},
        "score": 13,
    },
    "every source gets the target of another": {
        "answers": {"training": changed(TRAIN, "targets[batch]", "targets[batch.flip(0)]")},
        "score": 13,
    },
    "the encoder is not trained": {
        "answers": {"training": changed(TRAIN, "encode(learned, sources[batch])", "encode(w, sources[batch])")},
        "score": 13,
    },
    "another training that works": {  # another rate and no clipping: what counts is the result
        "answers": {
            "training": changed(
                changed(TRAIN, "rate * min(1.0,", "rate / 2 * min(1.0,"),
                "list(learned.values()), 1.0",
                "list(learned.values()), 9.0",
            )
        },
        "score": 16,
    },
    "the end is written": {
        "answers": {"writing": changed(TRANSLATE, "[y for y in written if y != STOP]", "written")},
        "score": 14,
    },
    "every step reads the start": {
        "answers": {"writing": changed(TRANSLATE, "written[-1] if written else START", "START")},
        "score": 14,
    },
    "the state is thrown away after each token": {
        "answers": {"writing": changed(TRANSLATE, "s, p = decoder_step", "_, p = decoder_step")},
        "score": 14,
    },
    "all outputs end with the first one": {
        "answers": {
            "writing": """
def translate(w, sources, longest):
    s = c = encode(w, sources).detach()
    y, rows = torch.full((len(sources),), START), [[] for _ in sources]
    for _ in range(longest):
        s, p = decoder_step(w, y, s, c)
        y = p.argmax(1)
        if STOP in y:
            break
        for row, token in zip(rows, y.tolist()):
            row.append(token)
    return rows
"""
        },
        "score": 14,
    },
}
