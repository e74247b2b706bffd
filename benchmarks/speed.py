"""Tokens a second, ours beside peers of the same size in the same run.

    python benchmarks/speed.py [--threads 1] [--rounds 15] [CASE ...]

Prints one Markdown table. Both sides start from the same weights and stop the program unless they agree: on the loss of
a batch, or on the text they write. They take turns, and the ratio is the median over the rounds of one turn against the
next, so that what else the machine does falls on both. With one thread times are CPU seconds of the process.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import GPT2Config, GPT2LMHeadModel

from lmbook.attention import MultiHeadAttention
from lmbook.decode import beam, greedy
from lmbook.gpt import GPT
from lmbook.rnn_models import RecurrentLM
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq

CASES: dict[str, Callable] = {}
Sides = dict[str, Callable[[], object]]  # ours first; each does the same work and returns something to compare


def case(make: Callable[[], tuple[str, int, Sides]]) -> Callable:
    """Enters a case: make() gives what is done, the tokens of one turn, and the sides."""
    CASES[make.__name__.replace("_", "-")] = make
    return make


def training(model: nn.Module, logits: Callable[[], Tensor], targets: Tensor) -> Callable[[], float]:
    """A turn of training: one step; returns the loss before it.  logits(): (..., vocab)."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def turn() -> float:
        loss = F.cross_entropy(logits().flatten(0, -2), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return turn


def stacked(attention: MultiHeadAttention, kind: str) -> Tensor:
    """The weights or the biases of queries, keys and values as one tensor, as most others store them."""
    return torch.cat([getattr(W, kind) for W in (attention.W_q, attention.W_k, attention.W_v)])


class CausalSelfAttention(nn.Module):
    """nanoGPT's attention, written anew: one matrix for queries, keys and values, and the fused kernel."""

    def __init__(self, d: int, heads: int, bias: bool):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d, bias=bias), nn.Linear(d, d, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        B, T, d = x.shape
        q, k, v = self.c_attn(x).split(d, dim=2)
        q, k, v = (part.view(B, T, self.heads, d // self.heads).transpose(1, 2) for part in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, d))


class MLP(nn.Module):
    def __init__(self, d: int, bias: bool):
        super().__init__()
        self.c_fc, self.gelu, self.c_proj = nn.Linear(d, 4 * d, bias), nn.GELU(), nn.Linear(4 * d, d, bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.c_proj(self.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self, d: int, heads: int, bias: bool):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(d, bias=bias), CausalSelfAttention(d, heads, bias)
        self.ln_2, self.mlp = nn.LayerNorm(d, bias=bias), MLP(d, bias)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class NanoGPT(nn.Module):
    """Karpathy's nanoGPT (model.py) with the weights of ours."""

    def __init__(self, model: GPT):
        super().__init__()
        d, attention = model.embedding.embedding_dim, model.layers[0].attention
        bias = attention.W_o.bias is not None
        self.wte, self.wpe = nn.Embedding(model.vocab, d), nn.Embedding(model.window, d)
        self.h = nn.ModuleList(Block(d, attention.n_heads, bias) for _ in model.layers)
        self.ln_f, self.lm_head = nn.LayerNorm(d, bias=bias), nn.Linear(d, model.vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        self.wte.load_state_dict(model.embedding.state_dict())
        self.wpe.load_state_dict(model.position.table.state_dict())
        for mine, theirs in zip(model.layers, self.h, strict=True):
            kinds = ("weight", "bias") if bias else ("weight",)
            theirs.attn.c_attn.load_state_dict({kind: stacked(mine.attention, kind) for kind in kinds})
            theirs.attn.c_proj.load_state_dict(mine.attention.W_o.state_dict())
            theirs.mlp.c_fc.load_state_dict(mine.ffn.W_1.state_dict())
            theirs.mlp.c_proj.load_state_dict(mine.ffn.W_2.state_dict())

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def gpt2(model: GPT) -> GPT2LMHeadModel:
    """transformers' GPT-2 with the weights of ours (its linear maps are stored transposed)."""
    attention, d = model.layers[0].attention, model.embedding.embedding_dim
    config = GPT2Config(
        vocab_size=model.vocab, n_positions=model.window, n_embd=d, n_layer=len(model.layers),
        n_head=attention.n_heads, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0, attn_implementation="sdpa",
        activation_function="gelu", bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    peer = GPT2LMHeadModel(config)
    with torch.no_grad():
        peer.transformer.wte.weight.copy_(model.embedding.weight)
        peer.transformer.wpe.weight.copy_(model.position.table.weight)
        for mine, theirs in zip(model.layers, peer.transformer.h, strict=True):
            theirs.attn.c_attn.weight.copy_(stacked(mine.attention, "weight").T)
            theirs.attn.c_proj.weight.copy_(mine.attention.W_o.weight.T)
            theirs.mlp.c_fc.weight.copy_(mine.ffn.W_1.weight.T)
            theirs.mlp.c_proj.weight.copy_(mine.ffn.W_2.weight.T)
    return peer


class TorchGPT(nn.Module):
    """The same model from torch's own layers."""

    def __init__(self, model: GPT):
        super().__init__()
        d, heads = model.embedding.embedding_dim, model.layers[0].attention.n_heads
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, F.gelu, batch_first=True, norm_first=True)
        self.embed, self.position = nn.Embedding(model.vocab, d), nn.Embedding(model.window, d)
        self.layers = nn.TransformerEncoder(layer, len(model.layers), nn.LayerNorm(d), enable_nested_tensor=False)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(model.window))
        self.embed.load_state_dict(model.embedding.state_dict())
        self.position.load_state_dict(model.position.table.state_dict())
        with torch.no_grad():
            for mine, theirs in zip(model.layers, self.layers.layers, strict=True):
                theirs.self_attn.in_proj_weight.copy_(stacked(mine.attention, "weight"))
                theirs.self_attn.in_proj_bias.zero_()
                theirs.self_attn.out_proj.load_state_dict(mine.attention.W_o.state_dict())
                theirs.linear1.load_state_dict(mine.ffn.W_1.state_dict())
                theirs.linear2.load_state_dict(mine.ffn.W_2.state_dict())

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[1]
        x = self.embed(tokens) + self.position.weight[:T]
        return self.layers(x, self.mask[:T, :T], is_causal=True) @ self.embed.weight.T


def gpt_training(
    B: int, T: int, d: int, heads: int, layers: int, vocab: int, bias: bool = True
) -> tuple[str, int, Sides]:
    model = GPT(vocab, T, d, heads, layers, bias=bias)
    peers = {"nanoGPT": NanoGPT(model)}
    if bias:
        peers["nn.TransformerEncoder"] = TorchGPT(model)
    tokens, targets = torch.randint(vocab, (2, B, T))
    sides = {"GPT": training(model, lambda: model(tokens), targets)}
    sides |= {name: training(peer, lambda peer=peer: peer(tokens), targets) for name, peer in peers.items()}
    if bias:
        theirs = gpt2(model)
        sides["transformers GPT-2"] = training(theirs, lambda: theirs(tokens, use_cache=False).logits, targets)
    without = "" if bias else ", no biases"
    return f"GPT, training: {layers} layers of {d}{without}, {B} x {T} tokens, {vocab} types", B * T, sides


@case
def gpt_small():
    return gpt_training(12, 64, 128, 4, 4, 65)


@case
def gpt_unbiased():
    return gpt_training(12, 64, 128, 4, 4, 65, bias=False)


@case
def gpt_wide():
    return gpt_training(16, 128, 256, 8, 4, 2000)


class TorchLM(nn.Module):
    """nn.LSTM or nn.GRU between an embedding and a linear layer."""

    def __init__(self, model: RecurrentLM):
        super().__init__()
        self.embed = nn.Embedding.from_pretrained(model.embedding.weight.detach().clone(), freeze=False)
        self.recurrent = model.recurrent.to_torch()
        self.output = nn.Linear(*reversed(model.output.weight.shape))
        self.output.load_state_dict(model.output.state_dict())

    def forward(self, tokens: Tensor) -> Tensor:
        return self.output(self.recurrent(self.embed(tokens))[0])


def recurrent_training(cell: str) -> tuple[str, int, Sides]:
    B, T, d, vocab = 32, 32, 256, 1000
    model = RecurrentLM(vocab, d, d, 1, cell)
    peer = TorchLM(model)
    tokens, targets = torch.randint(vocab, (2, B, T))
    sides = {
        "RecurrentLM": training(model, lambda: model(tokens), targets),
        f"nn.{cell.upper()}": training(peer, lambda: peer(tokens), targets),
    }
    return f"{cell.upper()} language model, training: {d} units, {B} x {T} tokens, {vocab} types", B * T, sides


@case
def lstm():
    return recurrent_training("lstm")


@case
def gru():
    return recurrent_training("gru")


def translator(kind: type[nn.Module], **options: str) -> nn.Module:
    torch.manual_seed(0)
    return kind(RecurrentEncoder(4000, 128, 256, bidirectional=True), 4000, 128, 256, **options)


def step_by_step(model: nn.Module, source: Tensor, tokens: Tensor) -> Tensor:
    """The loop of most tutorials: a call of the decoder for each target token, which returns its logits."""
    state, logits = model.start(source), []
    for t in range(tokens.shape[1]):
        step, state = model.step(tokens[:, t], state)
        logits.append(step)
    return torch.stack(logits, dim=1)


def translator_training(what: str, kind: type[nn.Module], **options: str) -> tuple[str, int, Sides]:
    B, N, T = 64, 16, 16
    source, tokens, targets = torch.randint(5, 4000, (3, B, N))
    whole, stepped = (translator(kind, **options) for _ in range(2))
    sides = {
        kind.__name__: training(whole, lambda: whole(source, tokens), targets),
        "a step at a time": training(stepped, lambda: step_by_step(stepped, source, tokens), targets),
    }
    return f"translator with {what}, training: 256 units, {B} pairs of {N} and {T} tokens, 4,000 types", B * T, sides


@case
def translator_bottleneck():
    return translator_training("no attention", Seq2Seq)


@case
def translator_bahdanau():
    return translator_training("additive attention before the step", AttentionSeq2Seq)


@case
def translator_luong():
    return translator_training(
        "multiplicative attention after the step", AttentionSeq2Seq, attention="luong", score="multiplicative"
    )


@torch.no_grad()
def uncached(model: GPT, prompt: Tensor, n: int) -> list[list[int]]:
    """Greedy, with a pass over the whole text for each token."""
    for _ in range(n):
        prompt = torch.cat([prompt, model(prompt)[:, -1].argmax(-1, keepdim=True)], dim=1)
    return prompt[:, -n:].tolist()


@case
def generation():
    model, n = GPT(65, 256, 128, 4, 4).eval(), 200
    peer, prompt = gpt2(model).eval(), torch.randint(65, (1, 16))
    options = {"max_new_tokens": n, "do_sample": False, "use_cache": True, "pad_token_id": 0}

    def theirs() -> list[list[int]]:
        return peer.generate(prompt, attention_mask=torch.ones_like(prompt), **options)[:, -n:].tolist()

    sides = {
        "GPT.step, cached": lambda: greedy(model, 1, n, prompt=prompt, eos=None)[0],
        "the same without cache": lambda: uncached(model, prompt, n),
        "transformers generate, cached": theirs,
    }
    return f"GPT, writing {n} tokens after 16, greedy: 4 layers of 128", n, sides


@case
def beam_search():
    model = translator(AttentionSeq2Seq).eval()
    with torch.no_grad():
        model.output.weight.mul_(10)  # not all types alike, as after training
    source, n = torch.randint(5, 4000, (32, 16)), 20

    def single() -> list[list[int]]:
        return [beam(model, row.unsqueeze(0), n, width=5)[0][0] for row in source]

    sides = {
        "beam of 5, all 32 sentences at once": lambda: beam(model, source, n, width=5)[0],
        "one sentence at a time": single,
    }
    return f"Bahdanau's translator, writing {n} tokens with a beam of 5", 32 * n, sides


def measure(sides: Sides, rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Seconds of every turn. Stops where the sides do not agree on their first turn."""
    (first, expected), *others = [(name, turn()) for name, turn in sides.items()]
    for name, found in others:
        agree = abs(found - expected) < 1e-3 if isinstance(found, float) else found == expected
        if not agree:
            raise SystemExit(f"{name} and {first} disagree: {found} and {expected}.")
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, turn in sides.items():
            began = clock()
            turn()
            seconds[name].append(clock() - began)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}; all by default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    clock = time.process_time if chosen.threads == 1 else time.perf_counter
    print("| what | side | tokens a second | ours against it |\n| --- | --- | ---: | ---: |")
    for name in chosen.cases:
        torch.manual_seed(0)
        what, tokens, sides = CASES[name]()
        seconds = measure(sides, chosen.rounds, clock)
        ours = next(iter(seconds.values()))
        for side, theirs in seconds.items():
            ratio = statistics.median(them / us for us, them in zip(ours, theirs, strict=True))
            shown = "" if theirs is ours else f"{ratio:.2f}"
            print(f"| {what} | {side} | {tokens / statistics.median(theirs):,.0f} | {shown} |", flush=True)
            what = ""


if __name__ == "__main__":
    main()
