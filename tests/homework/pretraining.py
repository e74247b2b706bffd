"""The weights that homework 16 gives: how they were made.

    python tests/homework/pretraining.py          writes them into the master anew

The encoder is the homework's, the blanks are made by its own answer, and the words are numbered in their order.
"""

import base64
import json
import re

import numpy as np
import torch
from points import ROOT, code_cells, marks

STEM = "16-bert"
LONG = 80  # characters a line


def space() -> dict:
    """What the master's cells define, without its checks and its last cell."""
    found: dict = {"__name__": "homework"}
    for cell in code_cells(STEM, None)[:-1]:
        if not marks(cell).get("grade"):
            exec(cell.source, found)
    return found


def pretrained(given: dict, steps: int = 2500, rate: float = 0.01) -> dict[str, torch.Tensor]:
    """Weights that fill blanks: 64 of 20,000 opinions a step, Adam, 100 steps of warm-up.

    With seed 0 the loss stays where it is for someone who knows only how frequent the words are; with 1 it falls.
    """
    ids = np.split(np.arange(5, 135), np.cumsum([*given["KINDS"].values()])[:-1])
    rows, _ = given["opinions"](dict(zip(given["KINDS"], ids, strict=True)), 99, 20_000)
    generator, rng = torch.Generator().manual_seed(1), np.random.default_rng(1)
    shapes = given["SHAPES"].items()
    w = {name: (torch.randn(shape, generator=generator) / 8).requires_grad_() for name, shape in shapes}
    optimizer = torch.optim.Adam(w.values(), lr=rate)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = rate * min(1, (step + 1) / 100) * (1 - step / steps)
        tokens = rows[rng.integers(len(rows), size=64)]
        other = rng.integers(5, 135, size=tokens.shape)
        inputs, selected = given["make_blanks"](tokens, *rng.random((2, *tokens.shape)), other, rate=0.2)
        z = fill(given, w, inputs)[torch.tensor(selected)]
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(z, torch.tensor(tokens[selected])).backward()
        optimizer.step()
    return {name: value.detach() for name, value in w.items()}


def fill(given: dict, w: dict, tokens) -> torch.Tensor:
    """The logits of what was at each place: (B, T, vocab)."""
    return 2 * given["encode"](w, tokens) @ w["E"].T


def packed(w: dict[str, torch.Tensor]) -> str:
    """The source of the master's cell: each number in one byte, with one scale a matrix."""
    scales = {name: round(float(value.abs().max()) / 127, 5) + 1e-5 for name, value in w.items()}
    numbers = b"".join((w[name] / scales[name]).round().to(torch.int8).numpy().tobytes() for name in w)
    text = base64.b64encode(numbers).decode()
    lines = [text[at : at + LONG] for at in range(0, len(text), LONG)]
    listed = "".join(f'    "{name}": {scale:.5f},\n' for name, scale in scales.items())
    body = "\n".join(lines)
    return f'PACKED = """\n{body}\n"""  # the weights, a byte each: nothing to read here\nSCALES = {{\n{listed}}}'


def write() -> None:
    path = ROOT / "notebooks" / "homework" / f"{STEM}.ipynb"
    notebook, made = json.loads(path.read_text(encoding="utf-8")), packed(pretrained(space()))
    cell = next(cell for cell in notebook["cells"] if re.match(r"PACKED\b", "".join(cell["source"])))
    cell["source"] = made.splitlines(keepends=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
