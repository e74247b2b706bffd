"""The drawings of chapters 1 to 3: counting and embedding."""

from lmbook.drawings import drawing
from lmbook.drawings.shapes import NOTE, Panel

# ---- chapter 1


@drawing(
    1,
    caption="The five sentences as a tree of histories. Each block is as high as the share of the sentences that begin "
    "in this way; the fraction in it is the word's share of the block to its left. Follow the marked sentence: shares "
    "of shares leave one fifth of the height.",
    alt="Four columns of blocks, one for each position in the sentence; a block's height is the probability of the "
    "words so far. First 'the' with 4/5 and 'a' with 1/5. After 'the', gull 3/4 and boat 1/4; after 'the "
    "gull', sleeps 1/3 and calls 2/3; after 'the gull calls', the end 1/2 and 'and' 1/2. The path 'the gull "
    "calls', end, is marked; its last block has 1/5 of the full height.",
)
def tree_of_histories() -> list[Panel]:
    p = Panel(376, 238)
    columns = [
        [("the", "4/5", 4, 1), ("a", "1/5", 1, 0)],
        [("gull", "3/4", 3, 1), ("boat", "1/4", 1, 0), ("boat", "1", 1, 0)],
        [("sleeps", "1/3", 1, 0), ("calls", "2/3", 2, 1), ("waits", "1", 1, 0), ("waits", "1", 1, 0)],
        [
            ("<eos>", "1", 1, 0),
            ("<eos>", "1/2", 1, 1),
            ("and …", "1/2", 1, 0),
            ("<eos>", "1", 1, 0),
            ("<eos>", "1", 1, 0),
        ],
    ]
    for number, blocks in enumerate(columns):
        y = 24
        p.text(48 + 94 * number, 10, f"$w_{number + 1}$")
        for word, share, fifths, marked in blocks:
            role = "weight" if marked else "plain"
            box = p.box(4 + 94 * number, y, 88, 41 * fifths - 3, "", role, tint=0.3)
            p.text(12 + 94 * number, box.centre[1], word, 13, "start", bold=bool(marked), inside=box)
            p.text(86 + 94 * number, box.centre[1], share, NOTE, "end", inside=box)
            y += 41 * fifths
    return [p]


# ---- chapter 2


@drawing(
    2,
    caption="A staircase of histories, for the word “nine” after “waits at” in the text of nineteen tokens. Each step "
    "down forgets one word and finds more to count; interpolation adds up all steps, each with its weight.",
    alt="Four steps, each with a shorter history. With 'waits at', nine followed 0 times out of 1; with 'at', 2 "
    "out of 3; with no history, 2 out of 19; at the bottom every one of the 9 types has 1/9. Arrows with the "
    "weights lambda_3 to lambda_0 lead from the steps to one sum, the probability of nine.",
)
def staircase() -> list[Panel]:
    p = Panel(376, 216)
    steps = [(("waits", "at"), "0/1"), (("at",), "2/3"), ((), "2/19"), (None, "1/9")]
    mixed = p.sum(318, 102)
    for number, (history, share) in enumerate(steps):
        y, order = 24 + 52 * number, 3 - number
        for place, word in enumerate(history or ()):
            p.token(30 + 58 * (place + number), y, word, 54)
        if not history:
            p.note(114, y, "no history" if number == 2 else "no counts", "end")
        p.arrow((120, y), (148, y))
        box = p.box(150, y - 13, 92, 26, f"$P_{order} = {share}$", "weight")
        p.arrow(box.right, mixed.at(0.1, 0.2 + 0.2 * number), role="weight")
        p.text(258, y - 9 if number < 2 else y + 9, rf"$\lambda_{order}$", 13)
    p.arrow(mixed.right, (362, 102))
    p.note(344, 84, "$P$(nine)")
    return [p]


@drawing(
    2,
    caption="Two words that occur equally often in the text of nineteen tokens. Each arrow is one occurrence. The word "
    "“nine” always follows “at”; “leaves” follows two different words, so it counts for two of the 13 different "
    "bigrams, and is the better guess in a new place.",
    alt="Above, two arrows from the word 'at' to the word 'nine': it occurs 2 times out of 19, in 1 place out of 13. "
    "Below, one arrow from 'ferry' and one from 'tide' to the word 'leaves': it occurs 2 times out of 19, in 2 "
    "places out of 13.",
)
def continuation_counts() -> list[Panel]:
    p = Panel(376, 168)
    for x, said in ((38, "before"), (152, "word"), (246, "how often"), (332, "in how\nmany places")):
        p.note(x, 16, said)
    rows = (("nine", 62, (("at", 62, -5), ("at", 62, 5)), 1), ("leaves", 128, (("ferry", 112, 0), ("tide", 144, 0)), 2))
    for word, y, before, places in rows:
        target = p.token(152, y, word, 62, "query")
        for number, (name, high, shift) in enumerate(before):
            if number < places:
                start = p.token(38, high, name, 56).right
            bend = 0 if shift else (high - y) * 0.3
            p.arrow((start[0], high + shift), (target.x, y + shift + bend), role="weight")
        for x, filled, of in ((246, 2, 19), (332, places, 13)):
            for k in range(filled):
                p.cell(x - 8 * filled + 16 * k, y - 17, 14, "weight" if of == 19 else "value")
            p.text(x - 1, y + 12, f"${filled}/{of}$", 13)
    return [p]


# ---- chapter 3


@drawing(
    3,
    caption="Three merges build a tree over the bytes of “␣tides” (␣ is the space). Each joins the pair of neighbours "
    "that is then the most frequent in the whole text. What has no parent is a token: ␣tid, e, s.",
    alt="The letters space, t, i, d, e, s in a row. The first merge joins i and d to id, the second t and id to tid, "
    "the third the space and tid to one token. The letters e and s stay alone. Three tokens are left.",
)
def merge_tree() -> list[Panel]:
    p = Panel(330, 206)
    leaves = [p.token(34 + 44 * k, 184, letter, 34, "value" if k > 3 else "plain") for k, letter in enumerate("␣tides")]
    lower, order = leaves[2], ("first merge", "second merge", "third merge")
    for number, (left, right, name) in enumerate(((2, 3, "id"), (1, None, "tid"), (0, None, "␣tid"))):
        y, first = 132 - 50 * number, leaves[left]
        second = leaves[right] if right else lower
        x = (first.centre[0] + second.centre[0]) / 2
        node = p.token(x, y, name, 34 + 8 * number, "value" if number == 2 else "plain")
        for child in (first, second):
            p.line(child.top, (child.centre[0], y + 26), (x, y + 26), node.bottom)
        p.note(204, y, order[number], "start")
        lower = node
    p.note(282, 184, "bytes", "start")
    return [p]


@drawing(
    3,
    caption="The product of one-hot rows with the embedding table. Row 2 of $W$ has its 1 in column 5, so of all rows "
    "of $D$ only row 5 arrives in row 2 of $X$: the product picks rows.",
    alt="Three matrices: W with T = 3 rows and 6 columns, a single 1 in each row; D with 6 rows and d = 4 "
    "columns; X with 3 rows and 4 columns. The 1 in row 2, column 5 of W, row 5 of D and row 2 of X are "
    "marked: X gets a copy of that row.",
)
def one_hot_picks_a_row() -> list[Panel]:
    p = Panel(376, 208)
    ones, cell = (2, 4, 0), 20
    for row, one in enumerate(ones):
        for column in range(6):
            marked = row == 1 and column == one
            box = p.cell(
                14 + cell * column, 76 + cell * row, cell, "query" if marked else "plain", 0.5 if marked else 0
            )
            p.text(*box.centre, "1" if column == one else "0", NOTE, inside=box)
    for row in range(6):
        for column in range(4):
            p.cell(162 + cell * column, 46 + cell * row, cell, "value" if row == 4 else "plain", 0.5 if row == 4 else 0)
    for row in range(3):
        for column in range(4):
            p.cell(284 + cell * column, 76 + cell * row, cell, "value" if row == 1 else "plain", 0.5 if row == 1 else 0)
    p.text(148, 106, r"$\cdot$", 18)
    p.text(263, 106, "$=$", 18)
    for x, name, shape, bottom in ((74, "$W$", r"$T \times |V|$", 150), (202, "$D$", r"$|V| \times d$", 180),
                                   (324, "$X$", r"$T \times d$", 150)):  # fmt: skip
        p.text(x, 24, name, 16)
        p.text(x, bottom, shape, NOTE)
    return [p]


@drawing(
    3,
    caption="Skip-gram with a window of 2. The centre makes a real pair with each of the four words around it. For "
    "each real pair a few words are drawn at random, and the model has to tell the two kinds apart.",
    alt="The words the, ferry, waits, at, the, pier in a row; a dashed frame surrounds the first five. Arrows lead "
    "from the centre 'waits' up and over to the four words around it, marked as real pairs; other arrows lead down "
    "from it to 'nine', 'tide' and 'lamp', marked as drawn at random.",
)
def skip_gram_window() -> list[Panel]:
    p = Panel(376, 206)
    words = ["the", "ferry", "waits", "at", "the", "pier"]
    p.frame(4, 64, 306, 52)
    row = []
    for k, word in enumerate(words):
        role = "query" if k == 2 else "value" if k < 5 else "plain"
        row.append(p.token(35 + 61 * k, 90, word, 54, role))
    centre = row[2]
    for k, across, high in ((0, 0.38, 32), (1, 0.2, 46), (3, 0.8, 46), (4, 0.62, 32)):
        x = row[k].centre[0]
        p.arrow(centre.at(across, 0), (centre.at(across, 0)[0], high), (x, high), row[k].top, role="value")
    p.note(157, 14, "real pairs: $u_o \\cdot v_c$ should be large")
    for across, x, word in ((0.2, 65, "nine"), (0.5, 157, "tide"), (0.8, 249, "lamp")):
        token = p.token(x, 162, word, 54, "loss")
        start = centre.at(across, 1)
        if across == 0.5:
            p.arrow(start, token.top, role="loss")
        else:
            p.arrow(start, (start[0], 132), (x, 132), token.top, role="loss")
    p.note(157, 192, "drawn at random: $u_n \\cdot v_c$ should be small")
    return [p]
