"""Common wrong answers to homework 8, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def find_spans(tags):
    spans, start = [], None
    for i, tag in enumerate(tags):
        if start is not None and (tag[0] not in "IE" or tag[2:] != tags[start][2:]):
            start = None
        if tag[0] == "S":
            spans.append((i, i, tag[2:]))
        if tag[0] == "B":
            start = i
        if tag[0] == "E" and start is not None:
            spans += [(start, i, tag[2:])] * (i < start + MOST)
            start = None
    return spans


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


def tag(model, sentences):
    x, lengths = vectors(model, sentences)
    states = both_ways(x, lengths, model["to_right"], model["to_left"])["outputs"]
    rows = np.argmax(states @ model["W"].T + model["b"], axis=-1)
    return [[TAGS[i] for i in row[:n]] for row, n in zip(rows, lengths)]


wrong("the place after the last word", 13, find_spans, {"i, i": "i, i + 1", "(start, i,": "(start, i + 1,"})
wrong("the model comes back as it was", 13, train, {"{**model, **layer}": "model"})
wrong("every step learns the same sentence", 13, train, {"chance.integers(len(examples), size=32)": "[0] * 32"})
wrong("only the bias is learned", 13, train, {"**layer": '"b": layer["b"]'})
wrong(
    "the labels stand one word too far to the right",
    13,
    train,
    {"[row, : len(tags)] = tags": "[row, 1 : len(tags)] = tags[:-1]"},
)
# other batches, and no falling rate: what counts is the result
wrong("another training that works", 16, train, {"size=32": "size=48"})
wrong("tags of padding come back", 15, tag, {"[:n]": ""})
wrong("the last layer without its bias", 15, tag, {' + model["b"]': ""})
wrong("ids in place of tags", 15, tag, {"TAGS[i]": "int(i)"})
wrong("the steps go uphill", 13, train, {"g = masked_loss": "g = -masked_loss"})


@wrong("the mean of the sentences' means", 11)  # right only where there is one sentence
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


@wrong("padding is multiplied by zero", 15)  # zero times NaN is NaN
def masked_loss(logits, labels, lengths):
    with np.errstate(all="ignore"):
        B, T, K = logits.shape
        mask = (np.arange(T) < np.array(lengths)[:, None]) * np.where(labels == 0, WEIGHT, 1.0)
        z = logits - logits.max(axis=-1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        came = np.eye(K)[np.clip(labels, 0, K - 1)]
        nll = -np.take_along_axis(log_p, np.clip(labels, 0, K - 1)[..., None], axis=-1)[..., 0]
        loss = (nll * mask).sum() / mask.sum()
        return {"loss": loss, "gradient": (np.exp(log_p) - came) * mask[..., None] / mask.sum()}


@wrong("the mean over the whole array", 11)
def masked_loss(logits, labels, lengths):
    B, T, K = logits.shape
    labels = np.clip(labels, 0, K - 1)
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    came = np.eye(K)[labels]
    return {"loss": -(log_p * came).sum() / (B * T), "gradient": (np.exp(log_p) - came) / (B * T)}


@wrong("the gradient at padding is not zero", 14)
def masked_loss(logits, labels, lengths):
    B, T, K = logits.shape
    with np.errstate(all="ignore"):
        mask = np.arange(T) < np.array(lengths)[:, None]
        labels = np.clip(labels, 0, K - 1)
        z = logits - logits.max(axis=-1, keepdims=True)
        log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
        weights = np.where(labels == 0, WEIGHT, 1.0)
        nll = -np.take_along_axis(log_p, labels[..., None], axis=-1)[..., 0]
        gradient = weights[..., None] * (np.exp(log_p) - np.eye(K)[labels]) / weights[mask].sum()
    return {"loss": np.average(nll[mask], weights=weights[mask]), "gradient": gradient}


@wrong("exponentials of the logits as they are", 14)
def masked_loss(logits, labels, lengths):
    gradient, total, words = np.zeros(logits.shape), 0.0, 0.0
    with np.errstate(all="ignore"):
        for b, n in enumerate(lengths):
            p = np.exp(logits[b, :n]) / np.exp(logits[b, :n]).sum(axis=1, keepdims=True)
            at = np.arange(n), labels[b, :n]
            weights = np.where(at[1] == 0, WEIGHT, 1.0)
            total -= (weights * np.log(p[at])).sum()
            p[at] -= 1
            gradient[b, :n] = weights[:, None] * p
            words += weights.sum()
    return {"loss": total / words, "gradient": gradient / words}


@wrong("the backward direction begins in the padding", 13)
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


@wrong("the final state is the output at the last word", 15)
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


@wrong("one set of weights for both directions", 14)
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


@wrong("the last state is repeated at padding", 14)
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


@wrong("from a B to the next E, whatever stands between", 14)
def find_spans(tags):
    spans, start = [], None
    for i, tag in enumerate(tags):
        if tag.startswith("S-"):
            spans.append((i, i, tag[2:]))
        if tag.startswith("B-"):
            start = i
        if tag.startswith("E-") and start is not None:
            spans += [(start, i, tag[2:])] * (i < start + MOST)
            start = None
    return spans


@wrong("the type ends at its first hyphen", 15)
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
            spans += [(start, i, parts[1])] * (i < start + MOST)
            start = None
    return spans
