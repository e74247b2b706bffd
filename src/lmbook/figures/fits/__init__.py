"""DoesItFit: memory and time of a step of writing, for a model, its bits, and a batch of texts on one GPU.

weights   bits / 8 * parameters
cache     2 n_layers width * 2 bytes * tokens * texts                              keys and values in 16 bits
reading   (bits / 8 * (parameters outside experts + share * those inside) + cache) / bandwidth
          share = 1 - (1 - top_k / experts)^texts                                  experts chosen evenly
computing 2 * parameters used for a token * texts / operations

A step takes at least the longer of the two times.
"""

import html

import traitlets

from lmbook.figures import Figure, bars_svg

BITS, TEXTS, TOKENS = (32, 16, 8, 4), 10, (5, 15)  # texts: 1 to 2^10; tokens: 2^5 to 2^15


def _gpt2(name: str, d: int, n_layers: int) -> dict:
    """A GPT of these sizes: two embeddings; in a layer twelve d x d matrices, biases and norms; one norm more."""
    return {
        "name": name,
        "parameters": (50_257 + 1024) * d + n_layers * (12 * d**2 + 13 * d) + 2 * d,
        "in_experts": 0,
        "experts": 1,
        "top_k": 1,
        "n_layers": n_layers,
        "width": d,
        "window": 1024,
    }


def _mixtral() -> dict:
    """Sizes: Jiang et al. 2024, table 1. 8 heads of 128 for keys and for values; experts of three matrices."""
    d, d_ff, n_layers, experts, width = 4096, 14_336, 32, 8, 1024
    inside = n_layers * experts * 3 * d * d_ff
    outside = n_layers * (2 * d * d + 2 * d * width + experts * d + 2 * d) + 2 * 32_000 * d + d
    return {
        "name": "Mixtral 8x7B",
        "parameters": inside + outside,
        "in_experts": inside,
        "experts": experts,
        "top_k": 2,
        "n_layers": n_layers,
        "width": width,
        "window": 32_768,
    }


def _time(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} µs" if seconds < 1e-4 else f"{1000 * seconds:.2f} ms"


class DoesItFit(Figure):
    """One model, its bits, and a batch: what memory it takes and how long a step lasts at least.

    model: index into models.  bits: of a weight, one of 32, 16, 8, 4.  texts, tokens: as powers of 2, tokens those that
    each text has so far, cut at the model's window.  memory in GB, bandwidth in GB/s and operations in 10^12 a second
    are those of the GPU.
    """

    module = "fits"

    models = traitlets.List(traitlets.Dict()).tag(sync=True)
    model = traitlets.Int(0).tag(sync=True)
    bits = traitlets.Enum(BITS, 16).tag(sync=True)
    texts = traitlets.Int(0, min=0, max=TEXTS).tag(sync=True)
    tokens = traitlets.Int(9, min=TOKENS[0], max=TOKENS[1]).tag(sync=True)
    memory = traitlets.Float(40.0).tag(sync=True)
    bandwidth = traitlets.Float(1555.0).tag(sync=True)
    operations = traitlets.Float(312.0).tag(sync=True)

    def __init__(self, **state):
        known = [_gpt2("GPT-2, smallest", 768, 12), _gpt2("GPT-2, largest", 1600, 48), _mixtral()]
        state.setdefault("models", known)
        state.setdefault("title", "Writing waits for memory: for the weights with one text, for the caches with many")
        state.setdefault(
            "caption",
            "One GPU with 40 GB (NVIDIA A100). Raise the number of texts: the tokens per second grow, and so does the "
            "time for reading. Does computing ever take longer, with short texts or with long ones? Then find the bits "
            "with which Mixtral fits into the memory, and compare what share of its experts one text reads, and eight.",
        )
        state.setdefault("alt", "…")  # said by _describe() as soon as the state is known
        super().__init__(**state)
        if state["alt"] == "…":
            self._describe()
            self.observe(self._describe, ["model", "bits", "texts", "tokens"])

    @traitlets.validate("model")
    def _check_model(self, proposal):
        if not 0 <= proposal["value"] < len(self.models):
            raise ValueError(f"model is {proposal['value']}; choose 0 to {len(self.models) - 1}.")
        return proposal["value"]

    def numbers(self) -> dict:
        """Bytes of weights and cache, what a step reads, seconds of reading and computing, and tokens per second."""
        m, B = self.models[self.model], 2**self.texts
        T = min(2**self.tokens, m["window"])
        share = 1 - (1 - m["top_k"] / m["experts"]) ** B
        cache = 2 * m["n_layers"] * m["width"] * 2 * T * B
        outside = m["parameters"] - m["in_experts"]
        reading = (self.bits / 8 * (outside + share * m["in_experts"]) + cache) / (self.bandwidth * 1e9)
        used = outside + m["in_experts"] * m["top_k"] / m["experts"]
        computing = 2 * used * B / (self.operations * 1e12)
        return {
            "texts": B,
            "tokens": T,
            "weights": self.bits / 8 * m["parameters"],
            "cache": cache,
            "reading": reading,
            "computing": computing,
            "speed": B / max(reading, computing),
        }

    def _describe(self, change=None):
        now, m = self.numbers(), self.models[self.model]
        total = (now["weights"] + now["cache"]) / 1e9
        self.alt = (
            f"{m['name']} with {self.bits} bits per weight and {now['texts']:,} "
            f"text{'s' if now['texts'] > 1 else ''} of {now['tokens']:,} tokens: weights {now['weights'] / 1e9:.2f} GB "
            f"and cache {now['cache'] / 1e9:.2f} GB, {'which fits' if total <= self.memory else 'too much'} in "
            f"{self.memory:.0f} GB. A step reads for {_time(now['reading'])} and computes for "
            f"{_time(now['computing'])}: at most {now['speed']:,.0f} tokens per second."
        )

    def fallback(self) -> str:
        now = self.numbers()
        rows = [(name, now[name] / 1e9, f"{now[name] / 1e9:.2f} GB") for name in ("weights", "cache")]
        words = html.escape(f"Memory of the weights and of the cache. {self.alt}")
        return f"<p>{words}</p>{bars_svg(rows, alt=self.alt, top=self.memory)}"
