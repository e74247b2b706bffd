"""Common wrong answers to homework 8, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

TRAIN = """
def train(model, examples, steps, rate):
    x, lengths = vectors(model, [words for words, _ in examples])
    states, lengths = both_ways(x, lengths, model["to_right"], model["to_left"])["outputs"], np.array(lengths)
    labels = np.zeros(x.shape[:2], dtype=int)
    for row, (_, tags) in enumerate(examples):
        labels[row, : len(tags)] = tags
    adam, chance, layer = Adam(rate), np.random.default_rng(3), {"W": model["W"], "b": model["b"]}
    for _ in range(steps):
        at = chance.integers(len(examples), size=32)
        logits = states[at] @ layer["W"].T + layer["b"]
        g = masked_loss(logits, labels[at], lengths[at])["gradient"].reshape(-1, len(TAGS)).T
        layer = adam.step(layer, {"W": g @ states[at].reshape(-1, states.shape[2]), "b": g.sum(axis=1)})
    return {**model, **layer}
"""
TAG = """
def tag(model, sentences):
    x, lengths = vectors(model, sentences)
    states = both_ways(x, lengths, model["to_right"], model["to_left"])["outputs"]
    rows = np.argmax(states @ model["W"].T + model["b"], axis=-1)
    return [[TAGS[i] for i in row[:n]] for row, n in zip(rows, lengths)]
"""


def tagger(train: str = TRAIN, tag: str = TAG) -> dict[str, str]:
    return {"tagger": train + tag}


def changed(source: str, right: str, wrong: str) -> str:
    """The right answer with one thing replaced; the thing must be there."""
    assert source.count(right) == 1, right
    return source.replace(right, wrong)


WRONG = {
    "the mean of the sentences' means": {
        "answers": {
            "masked-loss": """
def masked_loss(logits, labels, lengths):
    gradient, losses = np.zeros(logits.shape), []
    for b, n in enumerate(lengths):
        z = logits[b, :n] - logits[b, :n].max(axis=1, keepdims=True)
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        at = np.arange(n), labels[b, :n]
        losses.append(-(z[at] - np.log(np.exp(z).sum(axis=1))).mean())
        p[at] -= 1
        gradient[b, :n] = p / n / len(lengths)
    return {"loss": np.mean(losses), "gradient": gradient}
"""
        },
        "score": 11,  # right only where there is one sentence
    },
    "padding is multiplied by zero": {
        "answers": {
            "masked-loss": """
def masked_loss(logits, labels, lengths):
    with np.errstate(all="ignore"):
        B, T, K = logits.shape
        mask = np.arange(T) < np.array(lengths)[:, None]
        z = logits - logits.max(axis=-1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        came = np.eye(K)[np.clip(labels, 0, K - 1)]
        nll = -np.take_along_axis(log_p, np.clip(labels, 0, K - 1)[..., None], axis=-1)[..., 0]
        loss = (nll * mask).sum() / mask.sum()
        return {"loss": loss, "gradient": (np.exp(log_p) - came) * mask[..., None] / mask.sum()}
"""
        },
        "score": 15,  # zero times NaN is NaN
    },
    "the mean over the whole array": {
        "answers": {
            "masked-loss": """
def masked_loss(logits, labels, lengths):
    B, T, K = logits.shape
    labels = np.clip(labels, 0, K - 1)
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    came = np.eye(K)[labels]
    return {"loss": -(log_p * came).sum() / (B * T), "gradient": (np.exp(log_p) - came) / (B * T)}
"""
        },
        "score": 11,
    },
    "the gradient at padding is not zero": {
        "answers": {
            "masked-loss": """
def masked_loss(logits, labels, lengths):
    B, T, K = logits.shape
    with np.errstate(all="ignore"):
        mask = np.arange(T) < np.array(lengths)[:, None]
        labels = np.clip(labels, 0, K - 1)
        z = logits - logits.max(axis=-1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        nll = -np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
        gradient = (np.exp(log_p) - np.eye(K)[labels]) / mask.sum()
    return {"loss": nll[mask].mean(), "gradient": gradient}
"""
        },
        "score": 14,
    },
    "exponentials of the logits as they are": {
        "answers": {
            "masked-loss": """
def masked_loss(logits, labels, lengths):
    gradient, total = np.zeros(logits.shape), 0.0
    with np.errstate(all="ignore"):
        for b, n in enumerate(lengths):
            p = np.exp(logits[b, :n]) / np.exp(logits[b, :n]).sum(axis=1, keepdims=True)
            at = np.arange(n), labels[b, :n]
            total -= np.log(p[at]).sum()
            p[at] -= 1
            gradient[b, :n] = p / sum(lengths)
    return {"loss": total / sum(lengths), "gradient": gradient}
"""
        },
        "score": 14,
    },
    "the backward direction begins in the padding": {
        "answers": {
            "both-ways": """
def both_ways(x, lengths, to_right, to_left):
    (B, T, _), m = x.shape, to_right["U"].shape[1]
    outputs, final = np.zeros((B, T, 2 * m)), np.zeros((B, 2 * m))
    for b, n in enumerate(lengths):
        h, c = np.zeros(m), np.zeros(m)
        for t in range(n):
            h, c = lstm_step(x[b, t], h, c, to_right)
            outputs[b, t, :m] = h
        final[b, :m] = h
        h, c = np.zeros(m), np.zeros(m)
        for t in range(T)[::-1]:
            h, c = lstm_step(x[b, t], h, c, to_left)
            outputs[b, t, m:] = h if t < n else 0
        final[b, m:] = h
    return {"outputs": outputs, "final": final}
"""
        },
        "score": 13,
    },
    "the final state is the output at the last word": {
        "answers": {
            "both-ways": """
def both_ways(x, lengths, to_right, to_left):
    (B, T, _), m = x.shape, to_right["U"].shape[1]
    outputs = np.zeros((B, T, 2 * m))
    for b, n in enumerate(lengths):
        for weights, order, first in ((to_right, range(n), 0), (to_left, range(n)[::-1], m)):
            h, c = np.zeros(m), np.zeros(m)
            for t in order:
                h, c = lstm_step(x[b, t], h, c, weights)
                outputs[b, t, first : first + m] = h
    return {"outputs": outputs, "final": outputs[np.arange(B), np.array(lengths) - 1]}
"""
        },
        "score": 15,
    },
    "one set of weights for both directions": {
        "answers": {
            "both-ways": """
def both_ways(x, lengths, to_right, to_left):
    (B, T, _), m = x.shape, to_right["U"].shape[1]
    outputs, final = np.zeros((B, T, 2 * m)), np.zeros((B, 2 * m))
    for b, n in enumerate(lengths):
        for order, first in ((range(n), 0), (range(n)[::-1], m)):
            h, c = np.zeros(m), np.zeros(m)
            for t in order:
                h, c = lstm_step(x[b, t], h, c, to_right)
                outputs[b, t, first : first + m] = h
            final[b, first : first + m] = h
    return {"outputs": outputs, "final": final}
"""
        },
        "score": 14,
    },
    "the last state is repeated at padding": {
        "answers": {
            "both-ways": """
def both_ways(x, lengths, to_right, to_left):
    (B, T, _), m = x.shape, to_right["U"].shape[1]
    outputs, final = np.zeros((B, T, 2 * m)), np.zeros((B, 2 * m))
    for b, n in enumerate(lengths):
        for weights, order, first in ((to_right, range(n), 0), (to_left, range(n)[::-1], m)):
            h, c = np.zeros(m), np.zeros(m)
            for t in order:
                h, c = lstm_step(x[b, t], h, c, weights)
                outputs[b, t, first : first + m] = h
            final[b, first : first + m] = h
        outputs[b, n:] = outputs[b, n - 1]
    return {"outputs": outputs, "final": final}
"""
        },
        "score": 14,
    },
    "from a B to the next E, whatever stands between": {
        "answers": {
            "find-spans": """
def find_spans(tags):
    spans, start = [], None
    for i, tag in enumerate(tags):
        if tag.startswith("S-"):
            spans.append((i, i, tag[2:]))
        if tag.startswith("B-"):
            start = i
        if tag.startswith("E-") and start is not None:
            spans.append((start, i, tag[2:]))
            start = None
    return spans
"""
        },
        "score": 14,
    },
    "the place after the last word": {
        "answers": {
            "find-spans": """
def find_spans(tags):
    spans, start = [], None
    for i, tag in enumerate(tags):
        if start is not None and (tag[0] not in "IE" or tag[2:] != tags[start][2:]):
            start = None
        if tag[0] == "S":
            spans.append((i, i + 1, tag[2:]))
        if tag[0] == "B":
            start = i
        if tag[0] == "E" and start is not None:
            spans.append((start, i + 1, tag[2:]))
            start = None
    return spans
"""
        },
        "score": 13,
    },
    "the type ends at its first hyphen": {
        "answers": {
            "find-spans": """
def find_spans(tags):
    spans, start = [], None
    for i, tag in enumerate(tags):
        parts = tag.split("-")
        if start is not None and (parts[0] not in "IE" or parts[1] != tags[start].split("-")[1]):
            start = None
        if parts[0] == "S":
            spans.append((i, i, parts[1]))
        if parts[0] == "B":
            start = i
        if parts[0] == "E" and start is not None:
            spans.append((start, i, parts[1]))
            start = None
    return spans
"""
        },
        "score": 15,
    },
    "the model comes back as it was": {
        "answers": tagger(changed(TRAIN, "return {**model, **layer}", "return model")),
        "score": 13,
    },
    "the steps go uphill": {
        "answers": tagger(
            changed(TRAIN, "adam.step(layer, {", "adam.step(layer, {k: -v for k, v in {").replace(
                "axis=1)})", "axis=1)}.items()})"
            )
        ),
        "score": 13,
    },
    "every step learns the same sentence": {
        "answers": tagger(changed(TRAIN, "chance.integers(len(examples), size=32)", "[0] * 32")),
        "score": 13,
    },
    "only the bias is learned": {
        "answers": tagger(changed(TRAIN, "return {**model, **layer}", "return {**model, 'b': layer['b']}")),
        "score": 13,
    },
    "the labels stand one word too far to the right": {
        "answers": tagger(changed(TRAIN, "labels[row, : len(tags)] = tags", "labels[row, 1 : len(tags)] = tags[:-1]")),
        "score": 13,
    },
    "another training that works": {  # other batches, and no falling rate: what counts is the result
        "answers": tagger(
            changed(TRAIN, "chance.integers(len(examples), size=32)", "chance.integers(len(examples), size=48)")
        ),
        "score": 16,
    },
    "tags of padding come back": {
        "answers": tagger(tag=changed(TAG, "[:n]]", "]")),
        "score": 15,
    },
    "the last layer without its bias": {
        "answers": tagger(tag=changed(TAG, ' + model["b"]', "")),
        "score": 15,
    },
    "ids in place of tags": {
        "answers": tagger(tag=changed(TAG, "[TAGS[i] for i in", "[int(i) for i in")),
        "score": 15,
    },
}
