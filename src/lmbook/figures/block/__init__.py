"""SwapTheBlock: a block whose parts one exchanges, and what each exchange costs or saves in numbers.

layer     attention 2 d^2 + 2 d n_kv d_k, or a recurrence of d units 3 d^2; feed-forward 8 d^2, in two matrices or three
          two norms, of d gains each, and with LayerNorm as many biases
state     2 n_kv d_k min(T, span) numbers, keys and values; of a recurrence d
products  2 (numbers in matrices), and with attention 4 d min(T, span) for scores and weighted sums

All for the 32 layers of a model of width 4,096 without its tables; T tokens have been read; 2 bytes for a number.
"""

import html

import traitlets

from lmbook.figures import Figure, bars_svg, says

D, LAYERS, HEADS, HEAD, SPAN = 4096, 32, 32, 128, 4096
D_FF = {"gelu": 4 * D, "SwiGLU": round(8 * D / 3)}
NORMS, NETWORKS, REACHES = ("LayerNorm", "RMSNorm"), tuple(D_FF), ("all", "window", "recurrence")
TOKENS = (7, 20)


def numbers(norm: str, ffn: str, kept: int, reach: str, tokens: int) -> dict[str, int]:
    """Parameters, bytes of the state, and operations for the next token after 2^tokens; 2^kept heads of keys."""
    T = 2**tokens
    seen = 0 if reach == "recurrence" else min(T, SPAN) if reach == "window" else T
    mix = 3 * D * D if reach == "recurrence" else 2 * D * D + 2 * D * 2**kept * HEAD
    matrices = LAYERS * (mix + (2 if ffn == "gelu" else 3) * D * D_FF[ffn])
    norms = LAYERS * 2 * D * (2 if norm == "LayerNorm" else 1)
    state = LAYERS * (D if reach == "recurrence" else 2 * 2**kept * HEAD * seen)
    return {"parameters": matrices + norms, "state": 2 * state, "operations": 2 * matrices + LAYERS * 4 * D * seen}


class SwapTheBlock(Figure):
    """One block and GPT-2's: parameters, state and operations.

    norm: LayerNorm or RMSNorm.  ffn: gelu or SwiGLU.  kept: heads of keys and values, as a power of 2, for 32 heads of
    queries.  reach: all, window (the last 4,096 tokens) or recurrence.  tokens: how many were read, as a power of 2.
    """

    module = "block"
    title = says("What one swaps in a block changes its state far more than its size")
    caption = says(
        "A model of 32 blocks of width 4,096, as GPT-2 would build them and with the parts that you choose. Which "
        "exchange shrinks what must be kept of 32,768 tokens below a tenth? Which ones change the operations for "
        "the next token, and from how long a text on?"
    )

    norm = traitlets.Enum(NORMS, "LayerNorm").tag(sync=True)
    ffn = traitlets.Enum(NETWORKS, "gelu").tag(sync=True)
    kept = traitlets.Int(5, min=0, max=5).tag(sync=True)
    reach = traitlets.Enum(REACHES, "all").tag(sync=True)
    tokens = traitlets.Int(15, min=TOKENS[0], max=TOKENS[1]).tag(sync=True)

    def numbers(self) -> dict[str, int]:
        """Those of the chosen block; `numbers` has the formulae."""
        return numbers(self.norm, self.ffn, self.kept, self.reach, self.tokens)

    def _describe(self, change=None):
        now, old = self.numbers(), numbers("LayerNorm", "gelu", 5, "all", self.tokens)
        mix = {
            "all": f"{2**self.kept} heads of keys for 32 of queries over all tokens",
            "window": f"{2**self.kept} heads of keys for 32 of queries over the last {SPAN:,} tokens",
            "recurrence": "a linear recurrence",
        }[self.reach]
        self.alt = (
            f"A block with {self.norm}, {self.ffn} and {mix}, after {2**self.tokens:,} tokens: "
            f"{now['parameters'] / 1e9:.2f} billion parameters, {now['state'] / 1e9:.4f} GB of state and "
            f"{now['operations'] / 1e9:.1f} billion operations for the next token. GPT-2's block: "
            f"{old['parameters'] / 1e9:.2f} billion, {old['state'] / 1e9:.4f} GB and "
            f"{old['operations'] / 1e9:.1f} billion."
        )

    def fallback(self) -> str:
        now, old = self.numbers(), numbers("LayerNorm", "gelu", 5, "all", self.tokens)
        rows = [
            (name, each["state"] / 1e9, f"{each['state'] / 1e9:.4f} GB")
            for name, each in (("GPT-2", old), ("yours", now))
        ]
        return f"<p>{html.escape(f'State. {self.alt}')}</p>{bars_svg(rows, alt=self.alt)}"
