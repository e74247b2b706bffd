"""CompleteDigit: draw the upper rows of a digit, and a pixel GPT goes on, live in the page.

    P(c | rows) = P(rows | c) / sum_c' P(rows | c')      which digit it takes the rows for, all digits alike before
    p_t ~ P(p_t | c, p_1 .. p_t-1)                       what it writes into the other rows

On request a second model, the classifier of the recipe digits-patches, says what it takes the whole image for; the page
fetches it (engine.mjs).  The weights of the GPT are in the state, int8 by row as in a checkpoint; pixelgpt.mjs computes
with them, and here torch does, for the first view and for the tests.
"""

import base64
import html

import torch
import traitlets

from lmbook.data.digits import PixelCodec
from lmbook.figures import Figure, bars_svg, bundle, draws_nothing, says
from lmbook.gpt import GPT, gelu_tanh
from lmbook.lab import checkpoints
from lmbook.networks import evaluating

RECIPE = "digits-page"
SIDE, LEVELS, CLASSES = 8, 17, 10
SAMPLES = 4
LIKELIEST = -1


@draws_nothing
def shipped() -> GPT:
    """The model of the recipe digits-page."""
    return checkpoints.load(RECIPE).model


@draws_nothing
def built(tensors: dict[str, torch.Tensor], n_heads: int) -> GPT:
    """A GPT of the sizes that its weights have."""
    vocab, d_model = tensors["embedding.weight"].shape
    n_layers = len({name.split(".")[1] for name in tensors if name.startswith("layers.")})
    d_ff = len(tensors["layers.0.ffn.W_1.bias"])
    window = len(tensors["position.table.weight"])
    gpt = GPT(vocab, window, d_model, n_heads, n_layers, d_ff, activation=gelu_tanh)
    gpt.load_state_dict(tensors)
    return gpt.eval()


def packed(model: GPT) -> dict:
    """The model as the page reads it: matrices int8 (q) with a float32 scale a row (s), vectors float32 (v), base64."""

    def text(tensor: torch.Tensor) -> str:
        return base64.b64encode(tensor.contiguous().cpu().numpy().tobytes()).decode("ascii")

    weights = {}
    for name, weight in model.state_dict().items():
        if name == "output.weight":  # tied to embedding.weight
            continue
        if weight.ndim == 2:
            q, s = checkpoints.quantize(weight)
            weights[name] = {"q": text(q), "s": text(s), "shape": list(weight.shape)}
        else:
            weights[name] = {"v": text(weight.detach().float()), "shape": list(weight.shape)}
    heads = model.layers[0].attention.n_heads
    sizes = {"n_heads": heads, "window": len(model.position.table.weight)}
    return {**sizes, "first_level": PixelCodec().first_level, "levels": LEVELS, "weights": weights}


def unpacked(network: dict) -> GPT:
    """The GPT that the page computes with: the weights after rounding to int8."""

    def numbers(text: str, dtype: torch.dtype, shape: list) -> torch.Tensor:
        return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=dtype).reshape(shape)

    tensors = {}
    for name, one in network["weights"].items():
        if "v" in one:
            tensors[name] = numbers(one["v"], torch.float32, one["shape"])
        else:
            s = numbers(one["s"], torch.float32, one["shape"][:1])
            tensors[name] = checkpoints.dequantize(numbers(one["q"], torch.int8, one["shape"]), s)
    return built(tensors | {"output.weight": tensors["embedding.weight"]}, network["n_heads"])


def uniforms(seed: int):
    """mulberry32, as pixelgpt.mjs has it: uniform numbers in [0, 1) from a whole number."""
    a = seed % 2**32
    while True:
        a = (a + 0x6D2B79F5) % 2**32
        t = (a ^ a >> 15) * (a | 1) % 2**32
        t ^= (t + (t ^ t >> 7) * (t | 61)) % 2**32
        yield (t ^ t >> 14) / 2**32


class CompleteDigit(Figure):
    """The upper rows of an 8 x 8 digit, drawn by the reader, and what a pixel GPT makes of them.

    model: a GPT over PixelCodec(), by default the one of the recipe digits-page.  pixels: 64 greys 0..16, row by row,
    of which the first `rows` rows count (0 to 7).  digit: the class to write, or -1 for the likeliest.
    temperature: 0 to 1.5.  seed: chooses among completions.  examples: {"label": 3, "pixels": [...]} to begin with;
    what the model takes their upper rows for is added ("taken").

    Refuses rows, greys, digits and temperatures that do not exist.
    """

    module = "digit"
    models = ("digits-patches",)
    title = says("From half a digit the model often tells which it is, and writes the rest pixel by pixel")
    caption = says(
        "Take an upper half, then change it: at which pixel does the model change its mind? Then ask for a digit "
        "that does not fit the rows, and look at what it cannot take back. Last, draw something that is no digit, "
        "and compare the bits that your rows cost."
    )

    bytes = traitlets.Int().tag(sync=True)  # of the classifier's file
    network = traitlets.Dict().tag(sync=True)
    pixels = traitlets.List(traitlets.Int()).tag(sync=True)
    rows = traitlets.Int(4, min=0, max=SIDE - 1).tag(sync=True)
    digit = traitlets.Int(LIKELIEST, min=LIKELIEST, max=CLASSES - 1).tag(sync=True)
    temperature = traitlets.Float(0.8, min=0, max=1.5).tag(sync=True)
    seed = traitlets.Int(0).tag(sync=True)
    examples = traitlets.List().tag(sync=True)

    def __init__(self, model: GPT | None = None, examples=(), pixels=None, **state):
        network = packed(shipped() if model is None else model)
        self._gpt, self._codec = unpacked(network), PixelCodec()
        if pixels is None:
            pixels = examples[0]["pixels"] if examples else [0] * SIDE**2
        given = {
            "bytes": len(bundle.weights(self.models[0])[0]),
            "network": network,
            "pixels": [int(p) for p in pixels],
            "examples": [one | {"taken": self._taken(one["pixels"], state.get("rows", 4))} for one in examples],
        }
        super().__init__(**given, **state)

    @traitlets.validate("pixels")
    def _check_pixels(self, proposal):
        greys = proposal["value"]
        if len(greys) != SIDE**2 or not all(0 <= grey < LEVELS for grey in greys):
            raise ValueError(f"pixels are {len(greys)} numbers; give {SIDE**2} greys from 0 to {LEVELS - 1}.")
        return greys

    def log_likelihoods(self) -> torch.Tensor:
        """ln P(rows | c) for each class c: (10,) float64."""
        return self._likelihoods(self.pixels[: self.rows * SIDE])

    def _taken(self, pixels: list[int], rows: int) -> int:
        """The likeliest digit of an image's upper rows."""
        return int(self._likelihoods(pixels[: rows * SIDE]).argmax())

    def _likelihoods(self, pixels: list[int]) -> torch.Tensor:
        n = len(pixels)
        given = torch.tensor(pixels, dtype=torch.int64) + self._codec.first_level
        ids = torch.cat([self._codec.class_tokens(torch.arange(CLASSES))[:, None], given.expand(CLASSES, n)], dim=1)
        if n == 0:
            return torch.zeros(CLASSES, dtype=torch.float64)
        with evaluating(self._gpt):
            log_p = torch.log_softmax(self._gpt(ids[:, :-1]).double(), -1)
        return log_p.gather(2, ids[:, 1:, None]).sum((1, 2))

    def posterior(self) -> torch.Tensor:
        """P(c | rows), if all digits are equally likely before: (10,)."""
        return torch.softmax(self.log_likelihoods(), dim=0)

    def asked(self) -> int:
        """The digit that is written: the chosen one, or the likeliest."""
        return int(self.posterior().argmax()) if self.digit == LIKELIEST else self.digit

    def completion(self, sample: int = 0) -> list[int]:
        """The greys of the rows that are not given."""
        n, first = self.rows * SIDE, self._codec.first_level
        given = torch.tensor(self.pixels[:n], dtype=torch.int64) + first
        ids, greys = torch.cat([self._codec.class_tokens(torch.tensor([self.asked()])), given]), []
        with evaluating(self._gpt):
            logits, state = self._gpt.run(ids[None], self._gpt.start(1))
            z = logits[0, -1]
            for u in uniforms(self.seed * SAMPLES + sample):
                z = z[first : first + LEVELS].double()
                if self.temperature == 0:
                    grey = int(z.argmax())
                else:
                    p = torch.softmax(z / self.temperature, dim=0)
                    grey = min(int((p.cumsum(0) <= u).sum()), LEVELS - 1)
                greys.append(grey)
                if len(greys) == SIDE**2 - n:
                    return greys
                z, state = self._gpt.step(torch.tensor([first + grey]), state)
                z = z[0]

    def _describe(self, change=None):
        p = self.posterior()
        best = p.argsort(descending=True)[:2].tolist()
        rows = f"{self.rows} row{'' if self.rows == 1 else 's'} of 8"
        said = " and ".join(f"{c} with probability {p[c]:.2f}" for c in best)
        self.alt = (
            f"An 8 by 8 digit, {rows} given. The model takes them for {said}, and writes the other "
            f"{SIDE**2 - self.rows * SIDE} pixels as {'an' if self.asked() == 8 else 'a'} {self.asked()}."
        )

    def fallback(self) -> str:
        image = self.pixels[: self.rows * SIDE] + self.completion()
        cells = "".join(
            f'<rect x="{i % SIDE * 16}" y="{i // SIDE * 16}" width="15" height="15" '
            f'fill-opacity="{0.05 + grey / 18:.2f}"/>'
            for i, grey in enumerate(image)
        )
        line = f'<path d="M0 {self.rows * 16 - 0.5}H128" stroke="currentColor" stroke-dasharray="4 3"/>'
        picture = (
            f'<svg role="img" aria-label="{html.escape(self.alt)}" viewBox="0 0 128 128" width="128" '
            f'fill="currentColor">{cells}{line}</svg>'
        )
        rows = [(str(c), float(p), f"{p:.2f}") for c, p in enumerate(self.posterior())]
        bars = bars_svg(rows, alt="Probability of each digit given the rows", top=1.0)
        return f"<p>{html.escape(self.alt)}</p>{picture}{bars}"
