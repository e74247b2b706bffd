"""Broken models: slips that were shipped elsewhere or might be, and the check that is to catch each."""

from functools import partial

from lmbook import attention, autograd, backprop, counts, decode, layers, losses, metrics, networks, ngram, positions
from lmbook.attention import MultiHeadAttention
from lmbook.bert import BERT
from lmbook.cells import GRUCell, LSTMCell, RNNCell
from lmbook.data import batching
from lmbook.gpt import GPT
from lmbook.lab import checkpoints, train
from lmbook.layers import LayerNorm
from lmbook.rnn import run_cell
from lmbook.rnn_models import Classifier, RecurrentLM, Tagger
from lmbook.seq2seq import AttentionSeq2Seq
from lmbook.transformer import Embedding, Transformer, TransformerEncoder
from lmbook.vit import PatchClassifier

from . import test_models
from .slips import (
    Fault,
    Scaled,
    buffer_comes_back,
    causal,
    comes_back,
    empty,
    evaluated,
    exhaustive,
    final,
    gru,
    heads,
    learned,
    lstm,
    norm,
    ordered,
    padded,
    repeated,
    rnn,
    rows_apart,
    seeded,
    shifted,
    stepped,
    summed,
    uniform,
    written,
)

heads_causal = partial(heads, causal=True)
NUMBERED: dict[int, list[Fault]] = {  # by the number of the check
    1: [  # causality and targets
        Fault("mask off by one", attention.causal_mask, "tril(N - T)", "tril(N - T + 1)", heads_causal),
        Fault(
            "causal mask missing",
            MultiHeadAttention._mix,
            "if causal and T > 1 and",
            "if False and",
            heads_causal,
        ),
        Fault(
            "causal mask missing, fused",
            MultiHeadAttention._mix,
            "is_causal=causal and T > 1",
            "is_causal=False",
            causal("gpt"),
        ),
        Fault(
            "causal mask without its diagonal",
            attention.causal_mask,
            "tril(N - T)",
            "tril(N - T - 1)",
            heads_causal,
        ),
        Fault(
            "heads cut out of time",
            MultiHeadAttention._heads,
            "X.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)",
            "X.reshape(len(X), self.n_heads, X.shape[1], -1)",
            causal("gpt"),
        ),
        Fault(
            "reads its target",
            RecurrentLM.features,
            "embed(self.embedding, tokens)",
            "embed(self.embedding, tokens.roll(-1, 1))",
            causal("lstm"),
        ),
        Fault("target not shifted", batching.stream_batches, "ids[1 : B * steps + 1]", "ids[: B * steps]", shifted),
        Fault(
            "target shifted twice",
            batching.stream_batches,
            "ids[1 : B * steps + 1]",
            "ids.roll(-2)[: B * steps]",
            shifted,
        ),
        Fault(
            "decoder reads its targets", batching.batches, "[SOS_ID, *pairs[i][1]]", "[*pairs[i][1], EOS_ID]", shifted
        ),
    ],
    2: [  # padding
        Fault(
            "padding mask dropped", attention.real_tokens, "source != PAD_ID", "source >= 0", padded("transformer, pre")
        ),
        Fault(
            "only padding attended to",
            attention.real_tokens,
            "source != PAD_ID",
            "source == PAD_ID",
            padded("transformer, post"),
        ),
        Fault("mask given, not used", BERT.forward, "mask.unsqueeze(1)", "None", padded("bert")),
        Fault(
            "mask given, not handed on",
            Classifier.forward,
            "self.recurrent(x, None, mask)",
            "self.recurrent(x, None, tokens != PAD_ID)",
            padded("classifier, last"),
        ),
        Fault(
            "attention looks at padding",
            AttentionSeq2Seq.attend,
            'state["mask"].unsqueeze(1)',
            "None",
            padded("seq2seq, additive"),
        ),
        Fault(
            "backward cell starts in the padding",
            Tagger.forward,
            "self.recurrent(x, None, mask)",
            "self.recurrent(x)",
            padded("tagger"),
        ),
        Fault(
            "state runs on through padding",
            run_cell,
            "torch.where(token, now, before)",
            "now",
            final("gru, reset before"),  # no kernel: cell by cell
        ),
        Fault(
            "mean over padding too",
            Classifier.forward,
            "mask.sum(dim=1, keepdim=True).clamp(min=1)",
            "tokens.shape[1]",
            padded("classifier, mean"),
        ),
        Fault(
            "summary of the hybrid counts padding",
            TransformerEncoder.forward,
            "(H * real).sum(1)",
            "H.sum(1)",
            final("hybrid"),
        ),
    ],
    3: [  # a row that may attend to nothing
        Fault(
            "empty row uniform",
            attention.masked_softmax,
            "return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)",
            "return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)",
            empty("attend"),
        ),
        Fault(
            "empty row NaN",
            attention.masked_softmax,
            "return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)",
            "return weights",
            empty("heads"),
        ),
        Fault(
            "empty row NaN, fused",
            MultiHeadAttention._mix,
            ".masked_fill(~some, 0.0)",
            ".masked_fill(~some, float('nan'))",
            empty("heads, fused"),
        ),
        Fault(
            "softmax over the queries",
            attention.masked_softmax,
            "-math.inf), dim=-1)",
            "-math.inf), dim=-2)",
            empty("masked softmax"),
        ),
        Fault(
            "masked after the softmax",
            attention.masked_softmax,
            "scores.masked_fill(~mask, -math.inf), dim=-1)",
            "scores, dim=-1) * mask",
            empty("attend"),
        ),
        Fault("masked with 0", attention.masked_softmax, "-math.inf", "0.0", empty("attend")),
    ],
    4: [  # token by token
        Fault(
            "cache off by one position",
            GPT.run,
            'self._embedded(tokens, state["tokens"].shape[1])',
            'self._embedded(tokens, max(state["tokens"].shape[1] - 1, 0))',
            stepped("gpt"),
        ),
        Fault(
            "cached keys not turned on",
            MultiHeadAttention.step,
            "self.project(x, x, N)",
            "self.project(x, x, 0)",
            stepped("gpt, rotary"),
        ),
        Fault(
            "cached step a position ahead",
            Transformer.step,
            'state["past"][0][0].shape[2], []',
            'state["past"][0][0].shape[2] + 1, []',
            stepped("transformer, pre"),
        ),
        Fault(
            "learned positions start anew",
            positions.Learned.forward,
            "[start : start + T]",
            "[:T]",
            stepped("transformer, learned"),
        ),
        Fault(
            "state overwritten",
            LSTMCell.forward,
            "c = f * c + i * g",
            "c = c.mul_(f).add_(i * g)",
            stepped("seq2seq, scaled"),
        ),
        Fault(
            "attention of the step before",
            AttentionSeq2Seq._update,
            "self.attend(s_t.unsqueeze(1), state)",
            'self.attend(state["s"][-1][0].unsqueeze(1), state)',
            stepped("seq2seq, dot"),
        ),
    ],
    5: [  # first loss, last loss
        Fault(
            "starts too large", layers.initialise, "std=0.02", "std=0.8", partial(test_models.test_first_loss, "gpt")
        ),
        Fault(
            "state not used",
            RecurrentLM.features,
            "h, state = self.recurrent(x, state, mask)",
            "h, state = self.recurrent(x, state, mask); h = 0 * h",
            learned("gru"),
        ),
        Fault(
            "sees the next token while it learns",
            MultiHeadAttention._mix,
            "is_causal=causal and T > 1",
            "is_causal=False",
            learned("gpt"),
        ),
    ],
    6: [  # n-grams
        Fault(
            "nothing after an unseen history",
            ngram.MaximumLikelihood._orders,
            "c / total, p)",
            "c / total, 0.0)",
            summed("maximum likelihood 2"),
        ),
        Fault(
            "k for types that cannot occur",
            ngram.AddK._p,
            "c + kV * at.word(self.uniform)",
            "c + self.k",
            summed("add k 2"),
        ),
        Fault("discount taken, not given", ngram.KneserNey._p, " + freed / total * p", "", summed("Kneser-Ney 2")),
        Fault(
            "discount lost after an unseen history",
            ngram.KneserNey._p,
            "total * p, p)",
            "total * p, 0.0)",
            summed("Kneser-Ney 3"),
        ),
        Fault(
            "history one token late",
            counts.shift,
            "[[-1], numbers[:-1]]",
            "[[-1, -1], numbers[:-2]]",
            summed("add k 3"),
        ),
        Fault(
            "V counts special tokens",
            ngram._Model.__init__,
            "allowed / self.V",
            "np.ones(len(allowed)) / len(allowed)",
            test_models.test_uniform_ngram,
        ),
        Fault(
            "perplexity over tokens that cannot occur",
            metrics.nll,
            "log_probs.mean()",
            "log_probs.sum() / (log_probs.size + 5)",
            uniform,
        ),
    ],
    7: [  # evaluation
        Fault(
            "mean of means",
            train.evaluate,
            "nll + float(more), tokens + int(n)",
            "nll + float(more) / n, tokens + 1",
            evaluated("gru"),
        ),
        Fault(
            "padding counted",
            losses.token_nll,
            "ignore_index=ignore",
            "ignore_index=-100",
            evaluated("seq2seq, first"),
        ),
    ],
    8: [  # gradients
        Fault(
            "gradient without its minus sign",
            backprop.nll_gradient,
            "-y /",
            "y /",
            test_models.test_gradient_of_the_loss,
        ),
        Fault(
            "gradient without the target",
            backprop.gradient_collapsed,
            "softmax(W @ x) - y",
            "softmax(W @ x)",
            test_models.test_gradient_of_the_loss,
        ),
        Fault(
            "Jacobian without its second term",
            backprop.softmax_jacobian,
            " - y_hat[..., :, None] * y_hat[..., None, :]",
            "",
            test_models.test_gradient_of_the_loss,
        ),
        Fault(
            "outer product transposed",
            backprop.network_gradients,
            "np.outer(da, e)",
            "np.outer(e, da).reshape(W.shape)",
            test_models.test_gradient_of_the_network,
        ),
        Fault(
            "derivative of sigma without h",
            backprop.network_gradients,
            "dh * h * (1 - h)",
            "dh * (1 - h)",
            test_models.test_gradient_of_the_network,
        ),
        Fault(
            "repeated token counted once",
            backprop.network_gradients,
            "dE[:, token] += part",
            "dE[:, token] = part",
            test_models.test_gradient_of_the_network,
        ),
        Fault(
            "engine without a transpose",
            autograd.Node.__matmul__,
            "@ B.swapaxes(-1, -2)",
            "@ B",
            test_models.test_gradient_of_the_engine,
        ),
        Fault(
            "engine forgets a second use",
            autograd.Node.__getitem__,
            "np.add.at(whole, index, g)",
            "whole[index] = g",
            test_models.test_gradient_of_the_engine,
        ),
    ],
    9: [  # cells
        Fault("GRU gate swapped", GRUCell.forward, "z * h + (1 - z) * n", "(1 - z) * h + z * n", gru),
        Fault(
            "GRU resets too early",
            GRUCell.gates,
            "r * (h @ self.W_hn.T + self.b_hn)",
            "(r * h) @ self.W_hn.T + self.b_hn",
            gru,
        ),
        Fault(
            "GRU of Cho resets too late",
            GRUCell.gates,
            "(r * h) @ self.W_hn.T",
            "r * (h @ self.W_hn.T)",
            test_models.test_cell_of_cho,
        ),
        Fault("LSTM forget and input gate swapped", LSTMCell.forward, "f * c + i * g", "i * c + f * g", lstm),
        Fault("LSTM output without tanh", LSTMCell.forward, "o * torch.tanh(c)", "o * c", lstm),
        Fault("RNN matrix transposed", RNNCell.forward, "h @ self.W_hh.T", "h @ self.W_hh", rnn),
    ],
    10: [  # attention, LayerNorm, sinusoids
        Fault("unscaled scores", attention.attend, " / math.sqrt(key.shape[-1])", "", heads),
        Fault(
            "scaled by the width, not its root", attention.attend, "math.sqrt(key.shape[-1])", "key.shape[-1]", heads
        ),
        Fault(
            "fused attention with the mask inverted",
            MultiHeadAttention._mix,
            "mask | ~some",
            "~mask | ~some",
            heads,
        ),
        Fault(
            "queries and keys of one product exchanged",
            MultiHeadAttention.forward,
            "Q, K, V = map(",
            "K, V, Q = map(",
            heads,
        ),
        Fault(
            "LayerNorm without its bias",
            LayerNorm.forward,
            "self.bias, self.eps",
            "None, self.eps",
            norm,
        ),
        Fault(
            "LayerNorm with the root of eps",
            LayerNorm.forward,
            "self.eps)",
            "self.eps**0.5)",
            norm,
        ),
        Fault("sine and cosine swapped", positions.sinusoidal, "[sin, cos]", "[cos, sin]", test_models.test_sinusoids),
        Fault(
            "sines first, cosines after",
            positions.sinusoidal,
            "torch.stack([sin, cos], dim=-1).flatten(1)",
            "torch.cat([sin, cos], dim=-1)",
            test_models.test_sinusoids,
        ),
    ],
    11: [  # BLEU
        Fault(
            "BLEU with swapped arguments",
            metrics.bleu,
            "tokenize(ours), tokenize(theirs)",
            "tokenize(theirs), tokenize(ours)",
            test_models.test_bleu,
        ),
        Fault(
            "BLEU without clipping",
            metrics.bleu_counts,
            "(ours & theirs).total()",
            "sum(ours[gram] for gram in ours if gram in theirs)",
            test_models.test_bleu,
        ),
        Fault(
            "BLEU without brevity penalty",
            metrics.bleu_from_counts,
            "math.exp(1 - r / c)",
            "1.0",
            test_models.test_bleu,
        ),
    ],
    12: [  # evaluation leaves no trace
        Fault(
            "dropout at evaluation",
            RecurrentLM.features,
            "self.dropout, self.training",
            "self.dropout, True",
            repeated("lstm"),
        ),
        Fault(
            "attention drops at evaluation",
            MultiHeadAttention._mix,
            "self.dropout if self.training else 0.0",
            "self.dropout",
            repeated("gpt"),
        ),
        Fault(
            "state leaks into the next batch",
            RecurrentLM.forward,
            "return self.run(tokens, None, mask)[0]",
            "z, self.s = self.run(tokens, getattr(self, 's', None), mask); return z",
            repeated("gru"),
        ),
        Fault(
            "writing leaves the model in evaluation mode",
            networks.evaluating,
            "module.training = training",
            "pass",
            written("gru"),
        ),
        Fault(
            "writing leaves it in training mode",
            networks.evaluating,
            "module.training = training",
            "module.training = True",
            written("gpt"),
        ),
        Fault(
            "writing thaws a frozen part",
            networks.evaluating,
            "module.training = training",
            "module.training = modes[0][1]",
            written("seq2seq, dot"),
        ),
        Fault("writes with dropout", networks.evaluating, "model.eval()", "pass", written("transformer, pre", "beam")),
        Fault(
            "evaluates with dropout",
            train.fixed_seed,
            "with evaluating(model):",
            "with torch.no_grad():",
            partial(test_models.test_mode_restored_by_evaluation, "gru"),
        ),
    ],
    13: [  # saving and seeds
        Fault("save that forgets a buffer", Scaled.remember, "persistent=True", "persistent=False", buffer_comes_back),
        Fault(
            "biases not loaded",
            checkpoints.load_weights,
            "model.load_state_dict(tensors)",
            "model.load_state_dict({n: w for n, w in tensors.items() if w.ndim > 1}, strict=False)",
            comes_back,
        ),
        Fault("seed not used", batching.batches, "default_rng(seed)", "default_rng()", seeded),
        Fault("every seed the same", batching.batches, "default_rng(seed)", "default_rng(0)", seeded),
    ],
    14: [  # beams
        Fault(
            "beam without length normalisation",
            decode.beam_hypotheses,
            "log_prob / length**alpha",
            "log_prob",
            exhaustive("gru"),
        ),
        Fault(
            "beam forgets what ended early",
            decode.beam_hypotheses,
            "(ended | (length == max_length)) & ~before",
            "(length == max_length) & ~before",
            exhaustive("seq2seq, additive"),
        ),
        Fault(
            "beam with the states of other beginnings",
            decode.beam_hypotheses,
            "parent[still]",
            "torch.arange(K)",
            exhaustive("lstm"),
        ),
        Fault(
            "beam without the history's probability",
            decode.beam_hypotheses,
            "total.unsqueeze(2) + log_p",
            "total.unsqueeze(2).clamp(min=-1e30).sign() * 0 + log_p",
            exhaustive("gpt"),
        ),
        Fault(
            "greedy takes the second best",
            decode.greedy,
            "log_p.argmax(-1)",
            "log_p.topk(2).indices[:, 1]",
            partial(test_models.test_beam_is_greedy, "gru"),
        ),
    ],
    15: [  # positions
        Fault(
            "positions along the batch",
            positions.place,
            "return x + code",
            "return x + code.unsqueeze(1)",
            partial(test_models.test_positions_in_time, "sinusoidal"),
        ),
        Fault(
            "embedding counts along the batch",
            Embedding.forward,
            "sinusoidal(*x.shape[1:], start=start, device=x.device).to(x)",
            "sinusoidal(len(x), x.shape[2]).to(x).unsqueeze(1)",
            rows_apart("transformer, pre"),
        ),
        Fault(
            "positions missing",
            Embedding.forward,
            'elif self.positions == "sinusoidal":',
            "elif False:",
            ordered("transformer, pre"),
        ),
        Fault(
            "patches without positions", PatchClassifier.forward, "x + self.position.weight", "x", ordered("patches")
        ),
        Fault(
            "normalised along the batch",
            LayerNorm.forward,
            "F.layer_norm(x,",
            "F.layer_norm(x - x.mean(dim=0, keepdim=True),",
            rows_apart("gpt"),
        ),
    ],
}
FAULTS = [fault for faults in NUMBERED.values() for fault in faults]
