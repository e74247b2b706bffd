"""A published decoder, SmolLM2-135M-Instruct, in our code (Ben Allal et al. 2025; `lmbook.lab.pretrained`).

    smollm    the greatest difference of its logits from those of transformers on the same weights; how it goes on after
              a beginning, and what it answers; bits per byte, also with its matrices rounded once more

Its file has 4 bits for each weight of a matrix, and a scale and a least value for 32 of them; its tables have 8.
"""

import copy

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook import decode
from lmbook.data.fetch import Unavailable
from lmbook.lab.pretrained import published_smollm
from lmbook.lab.run import RecipeError, Run, recipe
from lmbook.modern import ModernGPT

START = "The lighthouse keeper opened his diary and"
EXAMPLES = "bread : pain\nsea : mer\nfish : poisson\ncheese :"  # a task in the prompt (chapter 17)
QUESTIONS = ("What is the capital of France?", "Who wrote the textbook From the Chain Rule to Transformers?")
LONGEST = 32  # tokens written after a beginning
BITS = (8, 6, 5, 4)


class Letters:
    """A tokenizer for a quick run: each character's code, below 128."""

    eos_token_id = 0

    def encode(self, text: str) -> list[int]:
        return [min(ord(letter), 127) for letter in text]

    def decode(self, ids: list[int]) -> str:
        return "".join(map(chr, ids))


def smollm(run: Run) -> tuple[ModernGPT, object]:
    """The published decoder; in a quick run a small random one that knows letters."""
    if run.quick:
        return ModernGPT(128, 64, 16, 2, 1, n_kv=1, qk_norm=False).eval(), Letters()
    try:
        return published_smollm()
    except Unavailable as error:
        raise RecipeError(str(error)) from None


def asked(question: str) -> str:
    """A question in the form of the dialogues that the model was trained on."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


@torch.no_grad()
def continued(model: ModernGPT, tokenizer, start: str, n: int = LONGEST) -> str:
    """The likeliest continuation, to the end of the answer or to n tokens."""
    prompt, end = torch.tensor([tokenizer.encode(start)]), tokenizer.eos_token_id
    (ids,), _ = decode.greedy(model, 1, n, prompt=prompt, eos=end)
    return tokenizer.decode([i for i in ids if i != end])


@torch.no_grad()
def bits_per_byte(model: nn.Module, ids: list[int], text: str) -> float:
    """Of all tokens but the first, read in one pass.  ids: of the text."""
    nll = F.cross_entropy(model(torch.tensor([ids[:-1]]))[0], torch.tensor(ids[1:]), reduction="sum")
    return nll.item() / np.log(2) / len(text.encode())


def rounded(w: Tensor, bits: int) -> Tensor:
    """Whole numbers with a scale for each row, as in chapter 19."""
    scale = w.abs().amax(1, keepdim=True) / (2 ** (bits - 1) - 1)
    return scale * torch.round(w / scale)


def matrices(model: ModernGPT) -> list[nn.Parameter]:
    return [w for name, w in model.named_parameters() if name.startswith("blocks") and w.dim() == 2]


def in_transformers(model: ModernGPT) -> nn.Module:
    """A LlamaForCausalLM with these weights. There a pair of rotary positions stands half a head apart, so the rows of
    W_q and W_k change places.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    first = model.blocks[0]
    config = LlamaConfig(
        vocab_size=model.vocab, hidden_size=model.embedding.embedding_dim, num_hidden_layers=len(model.blocks),
        intermediate_size=first.ffn.W_1.out_features, num_attention_heads=first.mix.n_heads, rms_norm_eps=1e-5,
        num_key_value_heads=first.mix.n_kv, max_position_embeddings=model.window, tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": first.mix.base},
        bos_token_id=None, eos_token_id=None, pad_token_id=None,
    )  # fmt: skip
    theirs = LlamaForCausalLM(config).eval()

    def apart(W: Tensor) -> Tensor:
        return W.unflatten(0, (-1, first.mix.d_k // 2, 2)).transpose(1, 2).flatten(0, 2)

    weights = {"model.embed_tokens.weight": model.embedding.weight, "model.norm.weight": model.norm.weight}
    for n, block in enumerate(model.blocks):
        mix, ffn = block.mix, block.ffn
        ours = {
            "self_attn.q_proj": apart(mix.W_q.weight), "self_attn.k_proj": apart(mix.W_k.weight),
            "self_attn.v_proj": mix.W_v.weight, "self_attn.o_proj": mix.W_o.weight,
            "mlp.gate_proj": ffn.W_1.weight, "mlp.up_proj": ffn.W_3.weight, "mlp.down_proj": ffn.W_2.weight,
            "input_layernorm": block.norm_1.weight, "post_attention_layernorm": block.norm_2.weight,
        }  # fmt: skip
        weights |= {f"model.layers.{n}.{name}.weight": w for name, w in ours.items()}
    weights["lm_head.weight"] = model.embedding.weight
    theirs.load_state_dict(weights)
    return theirs


@recipe(
    "smollm",
    about="SmolLM2-135M-Instruct as it is, in our code: what it writes, bits per byte, and rounded once more",
    minutes=5,
    corpora=("wikitext2", "tinyshakespeare"),
    seeds=(0,),
    score="bits per byte, WikiText-2",
)
def smollm_as_it_is(run: Run) -> tuple[dict, None]:
    """No network is trained."""
    model, tokenizer = smollm(run)
    texts = {
        "WikiText-2": " ".join(run.corpus("wikitext2")["test"][:600]),
        "Shakespeare": run.corpus("tinyshakespeare")["valid"][:3000],
    }
    ids = {name: tokenizer.encode(text) for name, text in texts.items()}
    scores: dict = {f"bits per byte, {name}": bits_per_byte(model, ids[name], text) for name, text in texts.items()}
    x = torch.tensor([ids["WikiText-2"][:64]])
    with torch.no_grad():
        logits = model(x)
        scores["difference"] = (in_transformers(model)(x).logits - logits).abs().max().item()
        scores["deviation of the logits"] = logits.std().item()
    scores["parameters"] = sum(w.numel() for w in model.parameters())
    starts = [START, EXAMPLES, QUESTIONS[0], *map(asked, QUESTIONS)]
    scores["written"] = {start: continued(model, tokenizer, start) for start in starts}
    scores["rounded"], name = {}, "WikiText-2"
    for bits in BITS:
        new, error = copy.deepcopy(model), 0.0
        with torch.no_grad():
            for w in matrices(new):
                less = rounded(w, bits)
                error += (less - w).square().sum().item()
                w.copy_(less)
        cost = bits_per_byte(new, ids[name], texts[name])
        scores["rounded"][str(bits)] = {"bits per byte": cost, "squared error": error}
    return scores, None
