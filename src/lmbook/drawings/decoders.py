"""The drawings of chapters 17 to 19: the decoder alone, images as sentences, and what real models add to our code."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel
from lmbook.drawings.transformers import sublayer

# ---- chapter 17


@drawing(
    17,
    caption="GPT is chapter 15's decoder without its middle sublayer: with no source there is no $H$ to look at. The "
    "table $E$ that reads the tokens also gives the logits.",
    alt="One tower. Tokens w_1 to w_T pass the table E, positions are added, and a thick line runs straight up. L "
    "times, causal attention and a feed-forward network read it through a norm and add to it. Between them a "
    "dashed, empty box marks where attention to H was. Above, a norm, the table E and a softmax give the next "
    "token's probability.",
)
def decoder_alone() -> list[Panel]:
    p = Panel(376, 442)
    stream, lowest, step = 112, 304, 72
    p.frame(36, 164, 230, 170)
    p.note(44, 179, r"$L \times$", "start")
    words = p.token(stream, 428, r"$w_1 \dots{} w_T$", 104)
    table = p.box(stream - 16, 378, 32, 24, "$E$", "parameter", 12)
    plus = p.sum(stream, 356, "state")
    place = p.box(stream + 62, 344, 84, 24, "positions", size=12)
    p.arrow(words.top, table.bottom)
    p.line(table.top, plus.bottom)
    p.arrow(place.left, plus.right)
    p.line((stream, 347), (stream, lowest - 39), role="state", width=2.5)
    p.line((stream, lowest - 57), (stream, lowest - step - 39), role="state", width=2.5)
    p.arrow((stream, lowest - step - 57), (stream, 152), role="state", width=2.5)
    sublayer(p, stream, 1, lowest, "causal\nattention", "decoder")
    sublayer(p, stream, 1, lowest - step, "FFN", "parameter")
    p.frame(286, 250, 82, 38)
    p.note(327, 269, "attention\nto $H$")
    p.line((270, 269), (286, 269), faint=0.5, width=1)
    p.box(stream - 16, 128, 32, 24, "LN", size=12)
    head = p.box(stream - 16, 84, 32, 24, "$E$", "parameter", 12)
    soft = p.box(stream + 62, 84, 84, 24, r"$\softmax$", size=12)
    p.arrow((stream, 128), head.bottom)
    p.arrow(head.right, soft.left)
    p.arrow(soft.top, (soft.top[0], 50))
    p.text(soft.top[0], 34, r"$P(w_{t+1} \mid w_1, \dots, w_t)$", 13)
    return [p]


@drawing(
    17,
    caption=r"Five tokens, three temperatures, two cuts. A temperature $\tau$ changes the heights and never the order; "
    r"top-k and top-p decide where the row ends. Here top-k is cut at $k = 2$ and top-p at $p = 0.8$, "
    r"both at temperature 1.",
    alt="A bar chart of five tokens with probabilities 0.50, 0.25, 0.15, 0.06 and 0.04. Beside each bar stand those "
    "at temperature 0.5, where the first token has 0.73, and at temperature 2, where it has 0.35 and the last 0.10. "
    "Brackets below: top-k with k = 2 keeps the first two tokens, top-p with p = 0.8 the first three, whose sum "
    "0.90 is the first to reach it.",
)
def three_temperatures_two_cuts() -> list[Panel]:
    p = Panel(376, 296)
    shares = (0.50, 0.25, 0.15, 0.06, 0.04)
    looks = ((0.5, "query"), (1, "weight"), (2, "value"))
    floor, high, wide = 178, 200, 17
    for place, (temperature, role) in enumerate(looks):
        total = sum(share ** (1 / temperature) for share in shares)
        for token, share in enumerate(shares):
            tall = high * share ** (1 / temperature) / total
            p.matrix(70 + 60 * token + wide * place, floor - tall, wide, tall, role=role, tint=0.45)
        p.matrix(200, 24 + 24 * place, 14, 14, role=role, tint=0.45)
        p.text(224, 31 + 24 * place, rf"$\tau{{}} = {temperature}$", 13, "start")
    p.line((66, floor), (366, floor), width=1)
    sums = ("0.50", "0.75", "0.90", "0.96", "1.00")
    for token, (share, reached) in enumerate(zip(shares, sums, strict=True)):
        p.text(95.5 + 60 * token, floor + 14, f"{share:.2f}", NOTE)
        p.text(95.5 + 60 * token, floor + 34, reached, NOTE)
    p.text(4, floor + 14, r"$\tau{} = 1$", NOTE, "start")
    p.text(4, floor + 34, "sum", NOTE, "start")
    p.brace(70, floor + 50, 111, "top-k, $k = 2$")
    p.brace(70, floor + 84, 171, "top-p, $p = 0.8$")
    return [p]


@drawing(
    17,
    caption="In training, one pass makes a prediction at every position, from that position and those before it. In "
    "writing, only the newest token goes through the layers; of all the others, the kept keys and values are "
    "enough.",
    alt="Training: four tokens w_1 to w_4 go up through a box of layers; lines lead from each position to those "
    "after it, never back; above each position is the token to predict, w_2 to w_5. Writing: keys and values "
    "of w_1 to w_3 are in a cache; only w_4 goes through, its query meets the four keys, its own key and "
    "value are added to the cache, and it predicts w_5.",
)
def trained_at_once_written_one_by_one() -> list[Panel]:
    p = Panel(320, 250, "Training: all four positions go through the layers in one pass.")
    p.title("Training: all positions at once")
    places = (46, 122, 198, 274)
    p.box(14, 96, 292, 86, "", "decoder", tint=0.08)
    for t, x in enumerate(places, start=1):
        p.arrow(p.token(x, 224, f"$w_{t}$").top, (x, 182))
        p.arrow((x, 96), (x, 70))
        p.text(x, 54, f"$w_{t + 1}$")
        for other in places[: t - 1]:
            p.line((other, 176), (x, 104), role="weight", faint=0.7)
        p.arrow((x, 176), (x, 104), role="weight")

    q = Panel(320, 250, "Writing: one position goes through, with the keys and values of the others kept.")
    q.title("Writing: one position at a time")
    q.box(240, 84, 68, 98, "", "decoder", tint=0.08)
    for t, x in enumerate(places, start=1):
        for left, role in ((x - 20, "key"), (x, "value")):
            box = q.cell(left, 134, 20, role, 0.4)
            q.text(*box.centre, f"${role[0]}$", inside=box)
        if t < 4:
            q.arrow((x, 134), (x, 110), (258, 110), role="weight")
        q.token(x, 224, f"$w_{t}$")
    query = q.box(260, 98, 28, 24, r"$\mathbf q_4$", "query", 12)
    q.frame(16, 124, 212, 40)
    q.text(122, 178, r"cache: $K_{<t}$ and $V_{<t}$", 13)
    q.arrow((274, 134), query.bottom, role="weight")
    q.arrow((274, 212), (274, 182))
    q.arrow((274, 84), (274, 68))
    q.text(274, 54, "$w_5$")
    return [p, q]


# ---- chapter 18


@drawing(
    18,
    caption="An image read row by row becomes a sentence, and the class in front of it is its prompt. The GPT is asked "
    "for each pixel after the pixels before it; its input and its target are the same sentence, shifted by one.",
    alt="Left: an image of 4 by 4 pixels; a line runs through it row by row from the upper left to the lower right. "
    "Right: the tokens c, p_1, p_2, p_3 and so on to p_15 go up into a box named GPT, and above it stand the "
    "targets p_1, p_2, p_3, p_4 and so on to p_16.",
)
def image_as_a_sentence() -> list[Panel]:
    p = Panel(376, 168)
    dark, cell, top = (0, 1, 2, 3, 7, 6, 10, 9, 13), 26, 32
    for k in range(16):
        row, column = divmod(k, 4)
        p.cell(6 + cell * column, top + cell * row, cell, "plain", 0.35 if k in dark else 0.02)
    middle = [(6 + cell * (column + 0.5), top + cell * (row + 0.5)) for row in range(4) for column in range(4)]
    for row in range(4):
        p.arrow(middle[4 * row], middle[4 * row + 3], role="query")
        if row < 3:
            p.line(middle[4 * row + 3], middle[4 * row + 4], role="query", width=1, dashed=True)
    p.arrow((118, top + 52), (136, top + 52))
    p.box(142, 66, 230, 36, "GPT", "decoder")
    places = (160, 202, 244, 286, 350)
    read, asked = ("$c$", "$p_1$", "$p_2$", "$p_3$", "$p_{15}$"), ("$p_1$", "$p_2$", "$p_3$", "$p_4$", "$p_{16}$")
    for x, below, above in zip(places, read, asked, strict=True):
        token = p.token(x, 144, below, 36, "query" if x == 160 else "plain")
        p.arrow(token.top, (x, 102))
        p.arrow((x, 66), (x, 42))
        p.text(x, 26, above)
    for y in (26, 144):
        p.text(318, y, r"$\dots$")
    return [p]


@drawing(
    18,
    caption="The same image as a sentence in two ways. Above, one token for each pixel, in raster order; below, one "
    "for each patch of two by two, each a vector of four greys. Compare how many tokens are left.",
    alt="An image of 4 by 4 pixels with the numbers 0 to 15 in raster order. Above it becomes a row of 16 tokens "
    "in that order, behind a token for the class. Below it is cut into four patches of 2 by 2, which become "
    "four vectors: 0 1 4 5, then 2 3 6 7, then 8 9 12 13, then 10 11 14 15.",
)
def pixels_and_patches() -> list[Panel]:
    p = Panel(376, 264)
    dark = (3, 7, 6, 10, 9, 13)
    cell = 24
    for top, cut in ((10, False), (140, True)):
        for k in range(16):
            row, column = divmod(k, 4)
            shift = 3 if cut else 0
            x, y = 8 + cell * column + shift * (column // 2), top + cell * row + shift * (row // 2)
            box = p.cell(x, y, cell, "plain", 0.35 if k in dark else 0.02)
            p.text(*box.centre, f"{k}", 12, inside=box)
    p.arrow((114, 58), (134, 58))
    p.arrow((118, 190), (140, 190))
    p.token(158, 40, "$c$", 32, "query")
    for k in range(16):
        row, column = divmod(k, 8)
        x, y = 180 + 24 * column, 28 + 36 * row
        box = p.cell(x, y, 24, "plain", 0.35 if k in dark else 0.02)
        p.text(*box.centre, f"{k}", 12, inside=box)
    p.text(276, 106, "16 tokens", NOTE)
    for n, pixels in enumerate(((0, 1, 4, 5), (2, 3, 6, 7), (8, 9, 12, 13), (10, 11, 14, 15))):
        for place, k in enumerate(pixels):
            box = p.cell(154 + 54 * n, 142 + 24 * place, 24, "plain", 0.35 if k in dark else 0.02)
            p.text(*box.centre, f"{k}", 12, inside=box)
    p.text(247, 254, "4 tokens", NOTE)
    return [p]


# ---- chapter 19


@drawing(
    19,
    caption="The values that four bits can represent, between $-1.4$ and $1.4$. One large weight in a row stretches "
    "all its steps. A format with an exponent has short steps near 0, where most weights are, and long ones far out.",
    alt="Three lines from -1.4 to 1.4 with a mark at each value that four bits can store. First, whole numbers times a "
    "scale for a row whose largest weight is 0.7: fifteen marks, 0.1 apart, from -0.7 to 0.7. Second, the same "
    "for a row with a weight of 1.4: fifteen marks, 0.2 apart. Third, numbers with an exponent: marks close "
    "together near 0 and further and further apart.",
)
def rounding_grids() -> list[Panel]:
    p = Panel(376, 214)
    small = [0.1 * k for k in range(-7, 8)]
    floats = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    rows = (
        ("whole numbers, largest weight of the row 0.7", small),
        ("whole numbers, largest weight of the row 1.4", [2 * value for value in small]),
        ("numbers with an exponent", sorted({sign * 1.4 * value / 6 for value in floats for sign in (-1, 1)})),
    )
    for number, (name, values) in enumerate(rows):
        y = 40 + 62 * number
        p.text(8, y - 26, name, 13, "start")
        p.line((12, y), (364, y), width=1, faint=0.5)
        for value in values:
            x = 188 + 124 * value
            p.line((x, y - 9), (x, y + 9), role="parameter")
    for value, name in ((-1.4, "−1.4"), (-0.7, "−0.7"), (0, "0"), (0.7, "0.7"), (1.4, "1.4")):
        at = {-1.4: "start", 1.4: "end"}.get(value, "middle")
        p.text({-1.4: 8, 1.4: 368}.get(value, 188 + 124 * value), 194, name, NOTE, at)
    return [p]


@drawing(
    19,
    caption="The memory that the smallest GPT-2 takes, to scale. Each halving of the bits halves the box of the "
    "weights. Beside them, the cache of one text of 1,024 tokens is small, but the cache of 16 texts is not.",
    alt="Boxes to scale, for GPT-2 with 124 million parameters: its weights take 498 megabytes in 32 bits, 249 in "
    "16, 124 in 8 and 62 in 4. In 16 bits the cache of one text of 1,024 tokens takes 38 megabytes, that of "
    "16 texts 604.",
)
def memory_as_boxes() -> list[Panel]:
    types, places, layers, d = 50_257, 1024, 12, 768
    weights = types * d + places * d + layers * (12 * d**2 + 13 * d) + 2 * d
    cache = 2 * layers * places * d
    p = Panel(376, 236)
    rows = [("weights", bits, weights, 1) for bits in (32, 16, 8, 4)] + [
        ("cache, 1 text", 16, cache, 1),
        ("16 texts", 16, cache, 16),
    ]
    for number, (name, bits, numbers, texts) in enumerate(rows):
        y = 10 + 36 * number + 12 * (number > 3)
        each = numbers * bits / 8e6  # MB
        for k in range(texts):
            p.box(150 + k * each * 0.26, y, each * 0.26, 26, "", "key" if number > 3 else "parameter")
        p.text(6, y + 13, name, 13, "start")
        p.text(142, y + 13, f"{bits} bits", NOTE, "end")
        p.text(156 + texts * each * 0.26, y + 13, f"{texts * each:.0f} MB", 13, "start")
    return [p]


@drawing(
    19,
    caption="A mixture of four experts, of which each token asks two. The router scores all of them and costs little; "
    "the networks with a dashed edge hold parameters that this token neither multiplies nor waits for.",
    alt="A vector x goes up to a router W_g and to four feed-forward networks side by side. The router chooses two "
    "of them, ffn_1 and ffn_3, with the weights g_1 and g_3; their outputs meet in a sum. The other two are "
    "dashed and nothing leads to them.",
)
def experts() -> list[Panel]:
    p = Panel(376, 262)
    places, chosen = (140, 210, 280, 348), (0, 2)
    added = p.sum(210, 44, "state")
    p.arrow(added.top, (210, 18))
    p.text(226, 12, r"$\text{moe}(\mathbf x)$", 13, "start")
    router = p.box(16, 118, 72, 40, "router\n$W_g$", "query", 12)
    p.line((210, 234), (210, 204), role="state")
    p.text(210, 248, r"$\mathbf x$")
    p.arrow((210, 204), (52, 204), router.bottom, role="state")
    for k, x in enumerate(places):
        name = rf"$\text{{ffn}}_{k + 1}$"
        if k not in chosen:
            p.frame(x - 27, 122, 54, 32)
            p.text(x, 138, name, 13)
            continue
        box = p.box(x - 27, 122, 54, 32, name, "parameter", 13)
        p.arrow((210, 204), (x, 204), box.bottom, role="state")
        gate = p.product(x, 84)
        p.arrow(box.top, gate.bottom)
        p.arrow(gate.top, (x, 44), added.left if x < 210 else added.right)
    p.line((52, 118), (52, 84), (131, 84), role="query", head=True)
    p.arrow((52, 118), (52, 104), (254, 104), (254, 84), (271, 84), role="query")
    p.text(92, 72, "$g_1$", 13)
    p.text(244, 72, "$g_3$", 13)
    return [p]


def _block(name: str, norm: str, network: str, notes: tuple[tuple[str, int], ...], said: str) -> Panel:
    p = Panel(320, 292, said)
    p.title(name)
    stream, lowest, step = 40, 226, 88
    p.text(stream, 276, r"$\mathbf x$")
    p.line((stream, 264), (stream, lowest - 39), role="state", width=2.5)
    p.line((stream, lowest - 57), (stream, lowest - step - 39), role="state", width=2.5)
    p.arrow((stream, lowest - step - 57), (stream, 46), role="state", width=2.5)
    sublayer(p, stream, 1, lowest, "causal\nattention", "decoder", norm)
    sublayer(p, stream, 1, lowest - step, network, "parameter", norm)
    for text, y in notes:
        p.note(196, y, text, "start")
    return p


@drawing(
    19,
    caption="One layer of GPT-2 and one of a model like Mixtral. The stream, the two sublayers and the causal mask are "
    "the same; each part beside the stream has been replaced.",
    alt="Two panels with the same shape: a thick line runs up, and two sublayers read it through a norm and add to it. "
    "GPT-2: LayerNorm, attention with as many heads of keys as of queries, learned positions added below, a "
    "network of two matrices with gelu, biases everywhere. Today: RMSNorm, attention whose heads of queries share "
    "keys and values and whose queries and keys are turned by position, experts of three matrices, no bias.",
)
def blocks_then_and_now() -> list[Panel]:
    return [
        _block(
            "GPT-2", "LN", "FFN",
            ((r"$W_2 \gelu(W_1 \mathbf x)$", 138), ("LayerNorm,\nbiases everywhere", 178),
             ("12 heads of queries,\nkeys and values", 226), ("learned positions,\nadded below", 266)),
            "A layer of GPT-2: LayerNorm, full attention, two matrices, learned positions, biases.",
        ),
        _block(
            "Mixtral", "RMS", "experts",
            (("2 of 8, with three\nmatrices each", 138), ("RMSNorm,\nno biases", 178),
             ("32 heads of queries,\n8 of keys and values", 226), ("rotary positions,\ninside attention", 266)),
            "A layer of Mixtral: RMSNorm, grouped queries, experts of three matrices, rotary positions, no biases.",
        ),
    ]  # fmt: skip
