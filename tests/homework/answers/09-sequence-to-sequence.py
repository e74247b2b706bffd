"""Common wrong answers to homework 9, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

STEP = """
def decoder_step(w, y, s, c):
    moved = s @ w["W_ss"].T + w["E"][np.asarray(y, dtype=int)] @ w["W_ys"].T + c @ w["W_cs"].T
    new = np.tanh(moved + w["b_s"])
    logits = new @ w["W_so"].T + c @ w["W_co"].T + w["b_o"]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return new, powers / powers.sum(axis=1, keepdims=True)
"""
TARGET = """
def log_prob(w, target, sos, s0, c):
    s, c, total = np.array([s0]), np.array([c]), 0.0
    for before, y in zip([sos, *target], target):
        s, p = decoder_step(w, [before], s, c)
        total += math.log(p[0, y])
    return total
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
EXPOSURE = """
def exposure(pairs):
    forced = free = exact = places = 0
    for pair in pairs:
        says, target, own, slips = pair["says"], pair["target"], [], 0
        for t, right in enumerate(target):
            forced += says.get(" ".join(target[:t]), END) != right
            stopped = own[-1:] == [END]
            own.append(END if stopped else says.get(" ".join(own), END))
            slips += stopped or own[t] != right
        free, exact, places = free + slips, exact + (slips == 0), places + len(target)
    return {"forced": forced / places, "free": free / places, "exact": exact / len(pairs)}
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
        "score": 11,
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
                changed(STEP, "logits.max(axis=1, keepdims=True)", "logits.max()"),
                "powers.sum(axis=1, keepdims=True)",
                "powers.sum()",
            )
            + TARGET
        },
        "score": 15,  # right for one row
    },
    "exponentials of the logits as they are": {
        "answers": {"decoder-step": changed(STEP, "logits - logits.max(axis=1, keepdims=True)", "logits") + TARGET},
        "score": 15,
    },
    "targets that are not shifted": {
        "answers": {"decoder-step": STEP + changed(TARGET, "zip([sos, *target], target)", "zip(target, target)")},
        "score": 14,
    },
    "the end does not count": {
        "answers": {
            "decoder-step": STEP + changed(TARGET, "zip([sos, *target], target)", "zip([sos, *target], target[:-1])")
        },
        "score": 14,
    },
    "the state is not carried on": {
        "answers": {
            "decoder-step": STEP
            + changed(TARGET, "s, p = decoder_step(w, [before], s, c)", "_, p = decoder_step(w, [before], s, c)")
        },
        "score": 14,
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
    "the right history in both": {
        "answers": {
            "exposure": changed(EXPOSURE, 'says.get(" ".join(own), END))', 'says.get(" ".join(target[:t]), END))')
        },
        "score": 13,
    },
    "its own history in both": {
        "answers": {
            "exposure": changed(
                EXPOSURE, 'forced += says.get(" ".join(target[:t]), END)', 'forced += says.get(" ".join(own), END)'
            )
        },
        "score": 15,
    },
    "the mean over pairs of shares": {
        "answers": {
            "exposure": changed(
                changed(EXPOSURE, "free + slips", "free + slips / len(target)"),
                '"free": free / places',
                '"free": free / len(pairs)',
            )
        },
        "score": 13,
    },
    "missing places do not count": {
        "answers": {
            "exposure": changed(
                EXPOSURE, "slips += stopped or own[t] != right", "slips += not stopped and own[t] != right"
            )
        },
        "score": 13,
    },
}
