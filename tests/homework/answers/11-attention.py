"""Common wrong answers to homework 11, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

SCORES = """
def scores(kind, S, H, weights):
    if kind == "dot":
        return S @ H.mT
    if kind == "additive":
        hidden = torch.tanh((H @ weights["W_h"].T)[..., None, :, :] + (S @ weights["W_s"].T)[..., :, None, :])
        return ADDITIVE
    found = MULTIPLICATIVE
    return found / DIVISOR if kind == "scaled" else found
"""


def scores(additive='hidden @ weights["v"]', multiplicative='S @ weights["W"] @ H.mT', divisor="S.shape[-1] ** 0.5"):
    """The answer of question 1 with one of its parts replaced."""
    return SCORES.replace("ADDITIVE", additive).replace("MULTIPLICATIVE", multiplicative).replace("DIVISOR", divisor)


LOOK = """
def look_back(w, S, H, real):
    E = scores("scaled", S, H, {"W": w["W"]})
    A = masked_weights(E, real[:, None, :].expand_as(E))
    C = A @ H
    z = torch.tanh(torch.cat([S, C], -1) @ w["W_c"].T)
    return z @ w["W_o"].T, A
"""
DECODE = """
def decode(H, s0, Y, A, B, U, when):
    s, rows, c = s0, [], torch.zeros_like(s0)
    for y in Y:
        STEPS
        rows.append(c)
    return torch.stack(rows)
"""
TRAIN = """
def train(w, sources, targets, steps, rate):
    learned = {name: torch.nn.Parameter(value.clone()) for name, value in w.items()}
    adam, chance = torch.optim.Adam(learned.values(), lr=rate), torch.Generator().manual_seed(1)
    before = torch.nn.functional.pad(targets[:, :-1], (1, 0), value=START)
    for step in range(steps):
        adam.param_groups[0]["lr"] = rate * min(1.0, 2 - 2 * step / steps)
        batch = torch.randint(len(sources), (64,), generator=chance)
        z, A = logits(learned, sources[batch], before[batch])
        loss = -z.log_softmax(2).gather(2, targets[batch][..., None]).mean()
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(learned.values()), 1.0)
        adam.step()
    return learned
"""


def decode(*steps):
    return DECODE.replace("STEPS", "\n        ".join(steps))


def changed(source: str, old: str, new: str) -> str:
    """The right answer with one mistake; what is replaced must be there."""
    assert source.count(old) == 1, old
    return source.replace(old, new)


WRONG = {
    "the root of the wrong width": {
        "answers": {"scores": scores(divisor="H.shape[-1] ** 0.5")},
        "score": 14,  # right where the sizes are equal
    },
    "an elementwise product with v": {
        "answers": {"scores": scores(additive='hidden * weights["v"]')},
        "score": 12,
    },
    "no tanh": {
        "answers": {"scores": scores(additive='torch.arctanh(hidden) @ weights["v"]')},
        "score": 12,
    },
    "W the other way round": {
        "answers": {"scores": scores(multiplicative='S @ weights["W"].T @ H.mT')},
        "score": 12,
    },
    "the mask comes after the softmax": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    return torch.softmax(E, dim=-1) * mask
"""
        },
        "score": 12,  # the blanks keep a share of each weight
    },
    "masked scores are set to 0": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    return torch.softmax(torch.where(mask, E, 0.0), dim=-1)
"""
        },
        "score": 12,
    },
    "true means forbidden": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    return torch.nan_to_num(torch.softmax(E.masked_fill(mask, -torch.inf), dim=-1))
"""
        },
        "score": 7,  # nothing is looked at but blanks
    },
    "exponentials overflow": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    p = torch.where(mask, torch.exp(torch.where(mask, E, 0.0)), 0.0)
    return p / p.sum(-1, keepdim=True).clamp(min=1e-300)
"""
        },
        "score": 14,
    },
    "a large negative number in place of minus infinity": {
        "answers": {
            "masked": """
def masked_weights(E, mask):
    return torch.softmax(E.masked_fill(~mask, -1e9), dim=-1)
"""
        },
        "score": 14,  # a step that may attend to nothing gets even weights
    },
    "the softmax runs over the steps": {
        "answers": {
            "contexts": changed(
                LOOK,
                "A = masked_weights(E, real[:, None, :].expand_as(E))",
                "A = torch.softmax(E, dim=1) * real[:, None, :]",
            )
        },
        "score": 10,  # in writing there is one step, and all positions get the weight 1
    },
    "blanks are looked at": {
        "answers": {"contexts": changed(LOOK, "real[:, None, :].expand_as(E)", "torch.ones_like(E) > 0")},
        "score": 15,  # in the dates, it can do no harm to look at them
    },
    "the score is not scaled": {
        "answers": {"contexts": changed(LOOK, '"scaled"', '"multiplicative"')},
        "score": 14,
    },
    "the context comes first": {
        "answers": {"contexts": changed(LOOK, "torch.cat([S, C], -1)", "torch.cat([C, S], -1)")},
        "score": 14,
    },
    "only the decoder's state is read": {
        "answers": {"contexts": changed(LOOK, "C = A @ H", "C = 0 * (A @ H)")},
        "score": 11,
    },
    "always looks after the update": {
        "answers": {
            "stepwise": decode("s = torch.tanh(A @ s + B @ y)", "c = torch.softmax(H @ s, 0) @ H"),
        },
        "score": 13,
    },
    "what was seen does not reach the state": {
        "answers": {
            "stepwise": decode(
                "new = torch.tanh(A @ s + B @ y)",
                'c = torch.softmax(H @ (s if when == "before" else new), 0) @ H',
                "s = new",
            )
        },
        "score": 14,
    },
    "the context of the step before enters": {
        "answers": {
            "stepwise": decode(
                'new = torch.tanh(A @ s + B @ y + (U @ c if when == "before" else 0))',
                'c = torch.softmax(H @ (s if when == "before" else new), 0) @ H',
                "s = new",
            )
        },
        "score": 14,
    },
    "the start comes back as it was": {
        "answers": {"training": changed(TRAIN, "return learned", "return w")},
        "score": 13,
    },
    "the decoder reads what it should predict": {
        "answers": {"training": changed(TRAIN, "before[batch])", "targets[batch])")},
        "score": 13,
    },
    "the end is not learned": {
        "answers": {
            "training": changed(TRAIN, "z.log_softmax(2)", "z[:, :-1].log_softmax(2)").replace(
                "targets[batch][..., None]", "targets[batch][:, :-1, None]"
            )
        },
        "score": 13,
    },
    "only the tables are trained": {
        "answers": {"training": changed(TRAIN, "Adam(learned.values()", 'Adam([learned["X"], learned["E"]]')},
        "score": 13,
    },
    "another training that works": {  # neither a falling rate nor clipping: what counts is the result
        "answers": {
            "training": changed(TRAIN, 'adam.param_groups[0]["lr"] = rate * min(1.0, 2 - 2 * step / steps)', "pass")
        },
        "score": 16,
    },
}
