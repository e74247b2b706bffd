"""DoesItFit: memory and time of a step of writing, for a model, its bits, and a batch of texts on one GPU.

weights   bits / 8 * parameters
cache     2 n_layers width * 2 bytes * tokens * texts                              keys and values in 16 bits;
          where every second layer looks back `short` tokens at most, half of them keep no more than these
reading   (bits / 8 * (parameters outside experts + share * those inside) + cache) / bandwidth
          share = 1 - (1 - top_k / experts)^texts                                  experts chosen evenly
computing 2 * parameters used for a token * texts / operations

A step takes at least the longer of the two times.
"""

import html

import traitlets

from lmbook.figures import Figure, bars_svg, counts, says

BITS, TEXTS, TOKENS = (32, 16, 8, 4), 10, (5, 15)  # texts: 1 to 2^10; tokens: 2^5 to 2^15


def _gpt2(name: str, d: int, n_layers: int) -> dict:
    """A GPT of these sizes: two embeddings; in a layer twelve d x d matrices, biases and norms; one norm more."""
    parameters = (50_257 + 1024) * d + n_layers * (12 * d**2 + 13 * d) + 2 * d
    return ONE_NETWORK | {"name": name, "parameters": parameters, "n_layers": n_layers, "width": d, "window": 1024}


def _gated(
    name: str, vocab: int, d: int, n_layers: int, heads: int, kept: int, head: int, d_ff: int, window: int,
    experts: int = 1, top_k: int = 1, tied: bool = False, qk_norm: bool = False, biases: bool = False, short: int = 0,
) -> dict:  # fmt: skip
    """A model in today's form: networks of three matrices, norms with a gain alone, fewer heads of keys and values.

    heads, kept: of queries, of keys and values, each of width `head`.  d_ff: of one network.  qk_norm: a gain for
    queries and one for keys.  biases: in attention, router and networks, with a learned sink a head, as in gpt-oss.
    short: of two layers one attends to so many tokens at most, and caches no more.
    """
    wide, narrow = heads * head, kept * head
    network = 3 * d * d_ff + biases * (2 * d_ff + d)
    layer = 2 * d * wide + 2 * d * narrow + biases * (wide + 2 * narrow + d + heads) + qk_norm * 2 * head + 2 * d
    layer += (experts > 1) * (experts * d + biases * experts)
    inside = n_layers * experts * network
    outside = n_layers * layer + (1 if tied else 2) * vocab * d + d
    return {
        "name": name, "parameters": inside + outside, "in_experts": inside if experts > 1 else 0, "experts": experts,
        "top_k": top_k, "n_layers": n_layers, "width": narrow, "window": window, "short": short,
    }  # fmt: skip


ONE_NETWORK = {"in_experts": 0, "experts": 1, "top_k": 1, "short": 0}
# Mixtral: Jiang et al. 2024, table 1. Qwen3: Yang et al. 2025, tables 1 and 2. gpt-oss: OpenAI 2025, section 2.
# What these leave out is in the config.json of each; a test compares all counts with the library's.
MODELS = [
    _gpt2("GPT-2, smallest (2019)", 768, 12),
    _gated("Qwen3-0.6B (2025)", 151_936, 1024, 28, 16, 8, 128, 3072, 32_768, tied=True, qk_norm=True),
    _gated("Qwen3-8B (2025)", 151_936, 4096, 36, 32, 8, 128, 12_288, 32_768, qk_norm=True),
    _gated("Mixtral 8x7B (2023)", 32_000, 4096, 32, 32, 8, 128, 14_336, 32_768, 8, 2),
    _gated("Qwen3-30B-A3B (2025)", 151_936, 2048, 48, 32, 4, 128, 768, 32_768, 128, 8, qk_norm=True),
    _gated("gpt-oss-20b (2025)", 201_088, 2880, 24, 64, 8, 64, 2880, 32_768, 32, 4, biases=True, short=128),
    _gated("gpt-oss-120b (2025)", 201_088, 2880, 36, 64, 8, 64, 2880, 32_768, 128, 4, biases=True, short=128),
]
# NVIDIA's documents: A100 (2020), RTX Blackwell architecture (2025), H200 (2024); bfloat16 without sparsity.
GPUS = [
    {"name": "A100, 40 GB (2020)", "memory": 40, "bandwidth": 1555, "operations": 312},
    {"name": "GeForce RTX 5090, 32 GB (2025)", "memory": 32, "bandwidth": 1792, "operations": 209.5},
    {"name": "H200, 141 GB (2024)", "memory": 141, "bandwidth": 4800, "operations": 989.5},
]


def _time(seconds: float) -> str:
    return f"{1e6 * seconds:.1f} µs" if seconds < 1e-4 else f"{1000 * seconds:.2f} ms"


class DoesItFit(Figure):
    """One model, its bits, and a batch: what memory it takes and how long a step lasts at least.

    model, gpu: index into models and gpus.  bits: of a weight, one of 32, 16, 8, 4.  texts, tokens: as powers of 2,
    tokens those that each text has so far, cut at the model's window.  A GPU has memory in GB, bandwidth in GB/s and
    operations in 10^12 a second.
    """

    module = "fits"
    title = says("Writing waits for memory: for the weights with one text, for the caches with many")
    caption = says(
        "Memory and time of one step of writing, for a model, its bits and a batch of texts on one GPU. Raise the "
        "number of texts. The tokens per second grow, and so does the time for reading. Does computing ever take "
        "longer, with short texts or with long ones? And which is the largest model that fits into 32 GB?"
    )

    models = traitlets.List(traitlets.Dict()).tag(sync=True)
    model = traitlets.Int(0).tag(sync=True, counts="models")
    _model_exists = counts("model", "models")
    bits = traitlets.Enum(BITS, 16).tag(sync=True)
    texts = traitlets.Int(0, min=0, max=TEXTS).tag(sync=True)
    tokens = traitlets.Int(9, min=TOKENS[0], max=TOKENS[1]).tag(sync=True)
    gpus = traitlets.List(traitlets.Dict()).tag(sync=True)
    gpu = traitlets.Int(0).tag(sync=True, counts="gpus")
    _gpu_exists = counts("gpu", "gpus")

    def __init__(self, **state):
        state.setdefault("models", MODELS)
        state.setdefault("gpus", GPUS)
        super().__init__(**state)

    def numbers(self) -> dict:
        """Bytes of weights and cache, what a step reads, seconds of reading and computing, and tokens per second."""
        m, gpu, B = self.models[self.model], self.gpus[self.gpu], 2**self.texts
        T = min(2**self.tokens, m["window"])
        share = 1 - (1 - m["top_k"] / m["experts"]) ** B
        kept = (T + min(T, m["short"])) / 2 if m["short"] else T  # a layer, on average
        cache = round(2 * m["n_layers"] * m["width"] * 2 * kept * B)
        outside = m["parameters"] - m["in_experts"]
        reading = (self.bits / 8 * (outside + share * m["in_experts"]) + cache) / (gpu["bandwidth"] * 1e9)
        used = outside + m["in_experts"] * m["top_k"] / m["experts"]
        computing = 2 * used * B / (gpu["operations"] * 1e12)
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
        now, m, gpu = self.numbers(), self.models[self.model], self.gpus[self.gpu]
        total, room = (now["weights"] + now["cache"]) / 1e9, f"{gpu['memory']} GB of the {gpu['name'].split(',')[0]}"
        self.alt = (
            f"{m['name']} with {self.bits} bits per weight and {now['texts']:,} "
            f"text{'s' if now['texts'] > 1 else ''} of {now['tokens']:,} tokens: weights {now['weights'] / 1e9:.2f} GB "
            f"and cache {now['cache'] / 1e9:.2f} GB, {'which fits' if total <= gpu['memory'] else 'too much'} in {room}"
            f". A step reads for {_time(now['reading'])} and computes for {_time(now['computing'])}: at most "
            f"{now['speed']:,.0f} tokens per second."
        )

    def fallback(self) -> str:
        now = self.numbers()
        rows = [(name, now[name] / 1e9, f"{now[name] / 1e9:.2f} GB") for name in ("weights", "cache")]
        room = self.gpus[self.gpu]["memory"]
        words = html.escape(f"Memory of the weights and of the cache. {self.alt}")
        return f"<p>{words}</p>{bars_svg(rows, alt=self.alt, top=room)}"
