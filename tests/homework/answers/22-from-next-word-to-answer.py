"""Common wrong answers to homework 22, as slips.py says."""

from slips import Wrong

wrong = Wrong(full=16)


def in_template(turns):
    tokens, learned = [], []
    for number, text in enumerate(turns):
        words = text.split()
        if number % 2:
            tokens += ["<assistant>", *words, "<end>"]
            learned += [False, *[True] * len(words), True]
        else:
            tokens += ["<user>", *words]
            learned += [False] * (1 + len(words))
    return tokens, learned


def answer_loss(log_probs, learned):
    return -log_probs[learned].sum() / learned.sum()


def lora(x, W, A, B, alpha):
    s = alpha * len(A) ** (-HALVES / 2)
    return x @ W.T + s * x @ A.T @ B.T


def merged(W, A, B, alpha):
    s = alpha * len(A) ** (-HALVES / 2)
    return W + s * (B @ A)


def lora_gradient(x, dy, A, B, alpha):
    s = alpha * len(A) ** (-HALVES / 2)
    return s * (dy @ B).T @ x, s * dy.T @ (x @ A.T)


def dpo(better, worse, ref_better, ref_worse, beta):
    m = beta * (better - ref_better - worse + ref_worse) - 0.1 * MARGIN
    small = np.exp(-np.abs(m))
    loss = np.maximum(-m, 0) + np.log1p(small)
    push = np.where(m > 0, small, 1.0) / (1 + small)
    return np.mean(loss), -beta * push / len(m)


def optimum(ref, reward, beta):
    top = reward[ref > 0].max()
    p = ref * np.exp(np.minimum(reward - top, 0) / beta)
    return p / np.sum(p)


def reward_of(policy, ref, beta):
    r = beta * (np.log(policy) - np.log(ref))
    return r - np.sum(ref * r)


def advantages(rewards, G):
    out = []
    for i in range(0, len(rewards), G):
        group = rewards[i : i + G]
        spread = np.std(group) if np.ptp(group) > 0 else np.inf
        out += [(one - np.mean(group)) / spread for one in group]
    return np.array(out)


def clipped(log_new, log_old, A, said, eps):
    total = 0.0
    for b in range(len(A)):
        rho = np.exp(log_new[b] - log_old[b])[said[b]]
        total += np.minimum(rho * A[b], np.clip(rho, 1 - eps, 1 + eps) * A[b]).mean()
    return total / len(A)


def reply(messages):
    facts = {}
    for message in messages:
        words = message.split()
        if len(words) == 7 and words[0] == "the" and words[2:4] == ["boat", "has"] and words[5:] == [GOODS, "."]:
            facts[words[1]] = words[4]
    words = messages[-1].split()
    if words[0] == "<result>":
        return f"{words[1]} {GOODS} ."
    if words[:3] == ["how", "many", GOODS]:
        names = [words[i - 1] for i, word in enumerate(words) if word == "boat"]
        if any(name not in facts for name in names):
            return "i do not know ."
        return f"{facts[names[0]]} {GOODS} ." if len(names) == 1 else f"<call> {facts[names[0]]} + {facts[names[1]]}"
    return "noted ." if words[0] == "the" and words[-2] == GOODS else "pardon ?"


wrong("the user's words are learned too", 14, in_template, {"[False] * (1": "[False] + [True] * (0"})
wrong("an end after every turn", 14, in_template, {'["<user>", *words]': '["<user>", *words, "<end>"]'})
wrong("the end of an answer is not learned", 14, in_template, {"len(words), True]": "len(words), False]"})
wrong("the marker is learned", 14, in_template, {"[False, *[True]": "[True, *[True]"})
wrong(
    "a mean of the means of the rows",
    15,
    answer_loss,
    {
        "-log_probs[learned].sum() / learned.sum()": (
            "-np.mean([row[own].mean() for row, own in zip(log_probs, learned) if own.any()])"
        )
    },
)
wrong("all tokens count in the mean", 15, answer_loss, {"learned.sum()": "learned.size"})
wrong(
    "minus infinity times nothing is NaN", 15, answer_loss, {"log_probs[learned].sum()": "(log_probs * learned).sum()"}
)
wrong("the scale is forgotten", 15, lora, {"s * x": "x"})
wrong("the product the other way round", 15, merged, {"(B @ A)": "(A.T @ B.T).T[::-1]"})
wrong("the scale does not reach the gradient", 14, lora_gradient, {"s * (dy @ B)": "(dy @ B)"})
wrong("a mean over the rows", 14, lora_gradient, {"s * dy.T @ (x @ A.T)": "s * dy.T @ (x @ A.T) / len(x)"})
wrong("the gradients in the other order", 14, lora_gradient, {"return s * (dy @ B).T @ x, s * dy.T @ (x @ A.T)": (
    "return s * dy.T @ (x @ A.T), s * (dy @ B).T @ x")})  # fmt: skip
wrong("the reference is forgotten", 14, dpo, {"better - ref_better - worse + ref_worse": "better - worse"})
wrong("better and worse exchanged", 14, dpo, {"beta * (better": "-beta * (better"})
wrong("the slope without beta", 14, dpo, {"-beta * push": "-push"})
wrong("the slope has the wrong sign", 14, dpo, {"-beta * push": "beta * push"})
wrong("the slope of the sum", 14, dpo, {" / len(m)": ""})
wrong("beta multiplies the reward", 14, optimum, {"- top, 0) / beta": "- top, 0) * beta"})
wrong("the reference does not count", 14, optimum, {"p = ref * np": "p = (ref > 0) * np"})
wrong("large rewards overflow", 14, optimum, {"np.minimum(reward - top, 0)": "(reward + 0 * top)"})
wrong("centred without the reference", 14, reward_of, {"np.sum(ref * r)": "np.mean(r)"})
wrong("beta divides the logarithm", 14, reward_of, {"beta * (np": "1 / beta * (np"})
wrong("one mean for all prompts", 15, advantages, {"np.mean(group)": "np.mean(rewards)"})
wrong("the spread of a sample", 15, advantages, {"np.std(group)": "np.std(group, ddof=1)"})
wrong("equal rewards give NaN", 15, advantages, {"np.std(group) if np.ptp(group) > 0 else np.inf": "np.std(group)"})
wrong("the larger of the two", 14, clipped, {"np.minimum": "np.maximum"})
wrong("a ratio is only kept from below", 14, clipped, {"1 + eps": "np.inf"})
wrong("long answers count more", 14, clipped, {".mean()": ".sum()"})
wrong("padding is in the mean", 14, clipped, {")[said[b]]": ") * said[b]"})
wrong("the first fact stays", 15, reply, {"facts[words[1]] = words[4]": "facts.setdefault(words[1], words[4])"})
wrong("it adds by itself", 14, reply, {'f"<call> {facts[names[0]]} + {facts[names[1]]}"': (
    'f"{int(facts[names[0]]) + int(facts[names[1]])} {GOODS} ."')})  # fmt: skip
wrong("a call with what is not known", 14, reply, {"any(name not in facts for name in names)": (
    "names[0] not in facts"), "{facts[names[1]]}": "{facts.get(names[1], 0)}"})  # fmt: skip
wrong("the result is checked by adding again", 14, reply, {'return f"{words[1]} {GOODS} ."': (
    'return f"{sum(map(int, list(facts.values())[-2:]))} {GOODS} ."')})  # fmt: skip
