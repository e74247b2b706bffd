"""Common wrong answers to homework 8, and the points of the automatic checks that each must get.

WRONG: name -> {"answers": grade_id of an answer cell -> its wrong source, "score": points}. All other answers are
right; without any mistake the automatic checks give FULL points.
"""

FULL = 16

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
        "score": 12,
    },
    "the backward outputs stay in the order of reading": {
        "answers": {
            "both-ways": """
def both_ways(x, lengths, to_right, to_left):
    (B, T, _), m = x.shape, to_right["U"].shape[1]
    outputs, final = np.zeros((B, T, 2 * m)), np.zeros((B, 2 * m))
    for b, n in enumerate(lengths):
        for weights, rows, first in ((to_right, x[b, :n], 0), (to_left, x[b, :n][::-1], m)):
            h, c = np.zeros(m), np.zeros(m)
            for t, row in enumerate(rows):
                h, c = lstm_step(row, h, c, weights)
                outputs[b, t, first : first + m] = h
            final[b, first : first + m] = h
    return {"outputs": outputs, "final": final}
"""
        },
        "score": 12,
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
        "score": 14,
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
        "score": 12,
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
    "the mean of the sentences' scores": {
        "answers": {
            "span-scores": """
def span_scores(predicted, gold):
    rows = []
    for ours, theirs in zip(predicted, gold):
        hits = len(set(ours) & set(theirs))
        rows.append([hits / max(len(ours), 1), hits / max(len(theirs), 1), 2 * hits / max(len(ours) + len(theirs), 1)])
    return dict(zip(("precision", "recall", "f1"), np.mean(rows, axis=0).tolist()))
"""
        },
        "score": 14,
    },
    "the spans of all sentences in one set": {
        "answers": {
            "span-scores": """
def span_scores(predicted, gold):
    ours = {span for spans in predicted for span in spans}
    theirs = {span for spans in gold for span in spans}
    hits = len(ours & theirs)
    total = len(ours) + len(theirs)
    return {
        "precision": hits / len(ours) if ours else 0.0,
        "recall": hits / len(theirs) if theirs else 0.0,
        "f1": 2 * hits / total if total else 0.0,
    }
"""
        },
        "score": 14,  # a span in one sentence is taken for the same places in another
    },
    "precision and recall change places": {
        "answers": {
            "span-scores": """
def span_scores(predicted, gold):
    ours = {(i, *span) for i, spans in enumerate(predicted) for span in spans}
    theirs = {(i, *span) for i, spans in enumerate(gold) for span in spans}
    hits = len(ours & theirs)
    return {
        "precision": hits / max(len(theirs), 1),
        "recall": hits / max(len(ours), 1),
        "f1": 2 * hits / max(len(ours) + len(theirs), 1),
    }
"""
        },
        "score": 14,
    },
}
