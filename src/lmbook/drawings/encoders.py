"""The drawings of chapter 16: what is hidden in pre-training, and what is put on top of it."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import Panel


@drawing(
    16,
    caption="One selected word and its three fates, with their probabilities. Only <mask> shows that something is "
    "hidden; where the word stays, nothing does. The target is the same each time, and no other position has "
    "a loss.",
    alt="Three rows show the sentence 'the seal sleeps on rocks' with the word 'sleeps' selected. With "
    "probability 0.8 it becomes <mask>, with 0.1 another word, here 'lamp', with 0.1 it stays. Each row goes "
    "through the encoder, which must answer 'sleeps' there; no other position has a loss.",
)
def mask_or_not() -> list[Panel]:
    p = Panel(376, 252)
    for row, (share, word) in enumerate((("0.8", "<mask>"), ("0.1", "lamp"), ("0.1", "sleeps"))):
        y = 218 - 46 * row
        p.text(16, y, share, 13)
        for x, other, wide in ((60, "the", 40), (112, "seal", 48), (236, "on", 36), (292, "rocks", 56)):
            p.token(x, y, other, wide)
        p.token(176, y, word, 66, "query" if row < 2 else "plain")
    p.frame(138, 102, 76, 136)
    encoder = p.box(36, 64, 288, 26, "encoder", "encoder")
    p.arrow((176, 102), (176, encoder.bottom[1]))
    p.arrow((176, 64), (176, 38))
    p.box(122, 12, 108, 26, r"$-\ln P$(sleeps)", "loss", 13)
    for x in (60, 112, 236, 292):
        p.line((x, 114), (x, 90), faint=0.5, width=1)
        p.text(x, 50, "–", 14)
    return [p]


def _read(title: str, name: str, whole_text: bool, frozen: bool) -> Panel:
    """The encoder over four tokens, and what reads its states: `W` at each word, or two matrices at the first token."""
    p = Panel(212, 262, name)
    p.title(title)
    columns = (30, 80, 130, 180)
    p.box(8, 164, 190, 38, "encoder, frozen" if frozen else "encoder", "encoder", 13)
    for t, x in enumerate(columns, start=1):
        token = p.token(x, 244, "<sos>" if t == 1 else f"$w_{t}$", 46 if t == 1 else 32)
        state = p.box(x - 16, 122, 32, 26, rf"$\mathbf h_{t}$", "state" if (t == 1) == whole_text else "plain", 13)
        p.arrow(token.top, (x, 202))
        p.arrow((x, 164), state.bottom)
        if not whole_text and t > 1:
            p.arrow(state.top, (x, 100))
            p.arrow((x, 76), (x, 58))
            p.text(x - 2, 44, rf"$\hat{{\mathbf y}}_{t}$", 13)
    if whole_text:
        pooled = p.box(8, 84, 86, 24, r"$\tanh, W_p$", "parameter", 13)
        top = p.box(112, 84, 44, 24, "$W_c$", "parameter", 13)
        p.arrow((30, 122), (30, 108))
        p.arrow(pooled.right, top.left)
        p.arrow(top.top, (134, 58))
        p.text(134, 44, r"$\hat{\mathbf y}$", 13)
    else:
        p.box(62, 76, 136, 24, "$W$" if frozen else "$W_c$", "parameter", 13)
    p.gradient((206, 62), (206, 108 if frozen else 222))
    return p


@drawing(
    16,
    caption="Three ways to read the states. A probe trains its matrix and nothing else: the gradient (dashed) ends "
    "before the encoder. Fine-tuning trains everything. Tags are read at each word; one label for a whole text is read "
    "at the first token, through a new matrix $W_p$.",
    alt="Three panels, each with the tokens <sos>, w_2, w_3, w_4, the encoder and the states h_1 to h_4. Probe: a "
    "matrix W reads the states of the words, the encoder is frozen, and the dashed gradient ends above it. Fine-tuned "
    "for tags: W_c reads the states of the words, and the gradient goes down through the encoder. Fine-tuned for a "
    "text: h_1 alone goes through W_p with tanh and then W_c, and the gradient goes down through the encoder.",
)
def probe_tag_or_pool() -> list[Panel]:
    return [
        _read("Probe", "A probe: one matrix reads the states of a frozen encoder.", False, True),
        _read("Fine-tuned, tags", "Fine-tuning for tags: a matrix at each word, all weights trained.", False, False),
        _read("Fine-tuned, text", "Fine-tuning for one label: the first state, two matrices.", True, False),
    ]
