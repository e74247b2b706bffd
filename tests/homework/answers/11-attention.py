"""Common wrong answers to homework 11, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def scores(kind, S, H, weights):
    if kind == "dot":
        return S @ H.mT
    if kind == "additive":
        hidden = torch.tanh((H @ weights["W_h"].T)[..., None, :, :] + (S @ weights["W_s"].T)[..., :, None, :])
        return hidden @ weights["v"]
    found = S @ weights["W"] @ H.mT
    return found / S.shape[-1] ** POWER if kind == "scaled" else found


def look_back(w, S, H, real):
    E = scores("scaled", S, H, {"W": w["W"]})
    A = masked_weights(E, real[:, None, :].expand_as(E))
    C = A @ H
    z = torch.tanh(torch.cat([S, C], -1) @ w["W_c"].T)
    return z @ w["W_o"].T, A


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


wrong("the root of the wrong width", 14, scores, {"S.shape": "H.shape"})  # right where the sizes are equal
wrong("an elementwise product with v", 12, scores, {"hidden @": "hidden *"})
wrong("no tanh", 12, scores, {"hidden @": "torch.arctanh(hidden) @"})
wrong("W the other way round", 12, scores, {'["W"]': '["W"].T'})
# in writing there is one step, and all positions get the weight 1
wrong(
    "the softmax runs over the steps",
    10,
    look_back,
    {"masked_weights(E, real[:, None, :].expand_as(E))": "torch.softmax(E, dim=1) * real[:, None, :]"},
)
# in the dates, it can do no harm to look at them
wrong("blanks are looked at", 15, look_back, {"real[:, None, :].expand_as(E)": "torch.ones_like(E) > 0"})
wrong("the score is not scaled", 14, look_back, {"scaled": "multiplicative"})
wrong("the context comes first", 14, look_back, {"S, C": "C, S"})
wrong("only the decoder's state is read", 11, look_back, {"A @ H": "0 * (A @ H)"})
wrong("the start comes back as it was", 13, train, {"return learned": "return w"})
wrong("the decoder reads what it should predict", 13, train, {", before": ", targets"})
wrong("the end is not learned", 13, train, {".log_softmax": "[:, :-1].log_softmax", "...,": ":, :-1,"})
wrong("only the tables are trained", 13, train, {"learned.values(),": '[learned["X"], learned["E"]],'})
# neither a falling rate nor clipping: what counts is the result
wrong(
    "another training that works",
    16,
    train,
    {'adam.param_groups[0]["lr"] = rate * min(1.0, 2 - 2 * step / steps)': "pass"},
)


@wrong("the mask comes after the softmax", 12)  # the blanks keep a share of each weight
def masked_weights(E, mask):
    return torch.softmax(E, dim=-1) * mask


@wrong("masked scores are set to 0", 12)
def masked_weights(E, mask):
    return torch.softmax(torch.where(mask, E, 0.0), dim=-1)


@wrong("true means forbidden", 7)  # nothing is looked at but blanks
def masked_weights(E, mask):
    return torch.nan_to_num(torch.softmax(E.masked_fill(mask, -torch.inf), dim=-1))


@wrong("exponentials overflow", 14)
def masked_weights(E, mask):
    p = torch.where(mask, torch.exp(torch.where(mask, E, 0.0)), 0.0)
    return p / p.sum(-1, keepdim=True).clamp(min=1e-300)


@wrong("a large negative number in place of minus infinity", 14)  # a step that may attend to nothing gets even weights
def masked_weights(E, mask):
    return torch.softmax(E.masked_fill(~mask, -1e9), dim=-1)


@wrong("always looks after the update", 13)
def decode(H, s0, Y, A, B, U, when):
    s, rows, c = s0, [], torch.zeros_like(s0)
    for y in Y:
        s = torch.tanh(A @ s + B @ y)
        c = torch.softmax(H @ s / HEAT, 0) @ H
        rows.append(c)
    return torch.stack(rows)


@wrong("what was seen does not reach the state", 14)
def decode(H, s0, Y, A, B, U, when):
    s, rows, c = s0, [], torch.zeros_like(s0)
    for y in Y:
        new = torch.tanh(A @ s + B @ y)
        c = torch.softmax(H @ (s if when == "before" else new) / HEAT, 0) @ H
        s = new
        rows.append(c)
    return torch.stack(rows)


@wrong("the context of the step before enters", 14)
def decode(H, s0, Y, A, B, U, when):
    s, rows, c = s0, [], torch.zeros_like(s0)
    for y in Y:
        new = torch.tanh(A @ s + B @ y + (U @ c if when == "before" else 0))
        c = torch.softmax(H @ (s if when == "before" else new) / HEAT, 0) @ H
        s = new
        rows.append(c)
    return torch.stack(rows)
