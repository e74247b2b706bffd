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

from lmbook import word2vec
from lmbook.decode import beam, greedy
from lmbook.gpt import GPT, gelu_tanh
from lmbook.rnn_models import RecurrentLM
from lmbook.seq2seq import AttentionSeq2Seq, RecurrentEncoder, Seq2Seq
from lmbook.word2vec import SkipGram

CASES: dict[str, Callable] = {}
Sides = dict[str, Callable[[], object]]  # ours first; each does the same work and returns something to compare


def case(make: Callable[[], tuple[str, int, Sides]]) -> Callable:
    """Enters a case: make() gives what is done, the tokens of one turn, and the sides."""
    CASES[make.__name__.replace("_", "-")] = make
    return make


def training(model: nn.Module, logits: Callable[[], Tensor], targets: Tensor) -> Callable[[], float]:
    """A turn of training: one step; returns the loss before it.  logits(): (..., vocab)."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def turn() -> float:
        loss = F.cross_entropy(logits().flatten(0, -2), targets.flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        return loss.item()

    return turn


def gpt2(model: GPT) -> GPT2LMHeadModel:
    """transformers' GPT-2 with the weights of ours (its linear maps are stored transposed)."""
    layer, d = model.decoder.layers[0], model.embed.embedding_dim
    config = GPT2Config(
        vocab_size=model.vocab, n_positions=model.window, n_embd=d, n_layer=len(model.decoder.layers),
        n_head=layer.attention.n_heads, attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0, attn_implementation="sdpa",
        bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    peer = GPT2LMHeadModel(config)
    with torch.no_grad():
        peer.transformer.wte.weight.copy_(model.embed.weight)
        peer.transformer.wpe.weight.copy_(model.position.table.weight)
        for mine, theirs in zip(model.decoder.layers, peer.transformer.h, strict=True):
            attention, ffn = mine.attention, mine.feed_forward
            theirs.attn.c_attn.weight.copy_(
                torch.cat([attention.W_q.weight, attention.W_k.weight, attention.W_v.weight]).T
            )
            theirs.attn.c_proj.weight.copy_(attention.W_o.weight.T)
            theirs.mlp.c_fc.weight.copy_(ffn.W_1.weight.T)
            theirs.mlp.c_proj.weight.copy_(ffn.W_2.weight.T)
    return peer


class TorchGPT(nn.Module):
    """The same model from torch's own layers."""

    def __init__(self, model: GPT):
        super().__init__()
        d, heads = model.embed.embedding_dim, model.decoder.layers[0].attention.n_heads
        layer = nn.TransformerEncoderLayer(d, heads, 4 * d, 0.0, gelu_tanh, batch_first=True, norm_first=True)
        self.embed, self.position = nn.Embedding(model.vocab, d), nn.Embedding(model.window, d)
        self.layers = nn.TransformerEncoder(
            layer, len(model.decoder.layers), nn.LayerNorm(d), enable_nested_tensor=False
        )
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(model.window))
        with torch.no_grad():
            self.embed.weight.copy_(model.embed.weight)
            self.position.weight.copy_(model.position.table.weight)
            for mine, theirs in zip(model.decoder.layers, self.layers.layers, strict=True):
                attention, ffn = mine.attention, mine.feed_forward
                weights = torch.cat([attention.W_q.weight, attention.W_k.weight, attention.W_v.weight])
                theirs.self_attn.in_proj_weight.copy_(weights)
                theirs.self_attn.in_proj_bias.zero_()
                for own, weight in (
                    (theirs.self_attn.out_proj, attention.W_o),
                    (theirs.linear1, ffn.W_1),
                    (theirs.linear2, ffn.W_2),
                ):
                    own.weight.copy_(weight.weight)
                    own.bias.copy_(weight.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        T = tokens.shape[1]
        x = self.embed(tokens) + self.position.weight[:T]
        return self.layers(x, self.mask[:T, :T], is_causal=True) @ self.embed.weight.T


def gpt_training(B: int, T: int, d: int, heads: int, layers: int, vocab: int) -> tuple[str, int, Sides]:
    model = GPT(vocab, T, d, heads, layers, fast=True)
    theirs, torchs = gpt2(model), TorchGPT(model)
    tokens, targets = torch.randint(vocab, (2, B, T))
    sides = {
        "GPT(fast=True)": training(model, lambda: model(tokens), targets),
        "transformers GPT-2": training(theirs, lambda: theirs(tokens, use_cache=False).logits, targets),
        "nn.TransformerEncoder": training(torchs, lambda: torchs(tokens), targets),
    }
    return f"GPT, training: {layers} layers of {d}, {B} x {T} tokens, {vocab} types", B * T, sides


@case
def gpt_small():
    return gpt_training(12, 64, 128, 4, 4, 65)


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
        step, state = model.step(state, tokens[:, t])
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
    model, n = GPT(65, 256, 128, 4, 4, fast=True).eval(), 200
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


@case
def skip_gram():
    vocab, B = 33_278, 1024
    ids = (torch.rand(200_000) ** 4 * vocab).long().numpy()  # frequent and rare types
    steps = {sparse: word2vec.train(SkipGram(vocab, 100, sparse), ids, 10**6, batch=B) for sparse in (True, False)}
    sides = {
        "SkipGram(sparse=True)": lambda: next(steps[True]),
        "SkipGram(), Adam on all rows": lambda: next(steps[False]),
    }
    return f"skip-gram, training: {vocab:,} types of 100 numbers, {B:,} pairs a step (pairs a second)", B, sides


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
