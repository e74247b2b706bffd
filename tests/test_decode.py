"""Decoding, on models that are a table of logits: exact probabilities, every sequence of a small tree enumerated."""

import math
from collections import Counter, namedtuple

import pytest
import torch
from torch import nn

from lmbook.decode import beam, beam_hypotheses, distribution, greedy, reorder, sample
from lmbook.gpt import GPT
from lmbook.networks import evaluating
from lmbook.text import SPECIALS
from lmbook.transformer import Transformer

SOS, EOS = SPECIALS.index("<sos>"), SPECIALS.index("<eos>")
VOCAB = 6
SOURCES = torch.tensor([[0, 1], [3, 3], [1, 0], [5, 2], [4, 4]])


class Table(nn.Module):
    """P(y_t | y_<t, x) = softmax(logits[x_1, y_t-2, y_t-1]); with dropout, which shows the mode."""

    def __init__(self, logits: torch.Tensor, fails_at: int | None = None):
        super().__init__()
        self.logits = nn.Parameter(logits)
        self.dropout = nn.Dropout(0.5)
        self.fails_at, self.steps = fails_at, 0

    def start(self, source, source_mask=None):
        first = torch.zeros(source, dtype=torch.long) if isinstance(source, int) else source[:, 0]
        if source_mask is not None:
            first = torch.where(source_mask[:, 0], first, 0)
        self.steps = 0
        return {"source": first, "tokens": (torch.full_like(first, SOS), [torch.full_like(first, SOS)])}

    def step(self, token, state):
        self.steps += 1
        if self.steps == self.fails_at:
            raise RuntimeError("this model fails")
        before = state["tokens"][1][0]
        logits = self.dropout(self.logits[state["source"], before, token])
        return logits, {"source": state["source"], "tokens": (before, [token])}


@pytest.fixture
def model():
    return Table(2 * torch.randn(VOCAB, VOCAB, VOCAB, VOCAB, generator=torch.Generator().manual_seed(0)))


def log_prob_of(model, source, tokens, forbid=()):
    """log P(y | x), token by token."""
    history, total = [SOS, SOS, *tokens], 0.0
    for t, token in enumerate(tokens):
        logits = model.logits[source[0], history[t], history[t + 1]].detach().double()
        logits[list(forbid)] = -math.inf
        total += torch.log_softmax(logits, -1)[token].item()
    return total


# ---- state and mode


def test_reorder_reaches_every_tensor():
    Pair = namedtuple("Pair", "key value")
    index = torch.tensor([2, 0, 0, 1])
    a, b, c, d = torch.arange(3), torch.rand(3, 2), torch.rand(3, 1, 4), torch.rand(3, 2, 2, 2)
    state = ({"a": a, "rest": [b, (c,)]}, Pair(d, None), 7)
    ordered = reorder(state, index)
    assert torch.equal(ordered[0]["a"], torch.tensor([2, 0, 0, 1]))
    assert torch.equal(ordered[0]["rest"][0], torch.stack([b[2], b[0], b[0], b[1]]))
    assert torch.equal(ordered[0]["rest"][1][0], torch.stack([c[2], c[0], c[0], c[1]]))
    assert isinstance(ordered[1], Pair)
    assert torch.equal(ordered[1].key, torch.stack([d[2], d[0], d[0], d[1]]))
    assert ordered[1].value is None
    assert ordered[2] == 7
    assert torch.equal(state[0]["a"], torch.arange(3))  # the given state is as it was


def test_reorder_names_what_is_no_state():
    with pytest.raises(TypeError, match="str"):
        reorder({"a": "text"}, torch.tensor([0]))


DECODERS = {
    "greedy": lambda model, source, **options: greedy(model, source, 5, **options),
    "sample": lambda model, source, **options: sample(
        model, source, 5, generator=torch.Generator().manual_seed(3), **options
    ),
    "beam": lambda model, source, **options: beam(model, source, 5, width=3, **options),
}


@pytest.fixture(params=DECODERS, ids=str)
def decode(request):
    return DECODERS[request.param]


@pytest.mark.parametrize("fails_at", [1, 3])
def test_the_mode_is_restored_after_an_error(decode, fails_at):
    broken = Table(torch.zeros(VOCAB, VOCAB, VOCAB, VOCAB), fails_at).train()
    with pytest.raises(RuntimeError, match="this model fails"):
        decode(broken, SOURCES, eos=None)
    assert broken.training
    assert broken.dropout.training
    assert torch.is_grad_enabled()


def test_no_gradients_while_evaluating(model):
    with evaluating(model):
        assert not model.step(torch.tensor([SOS, SOS]), model.start(2))[0].requires_grad


def test_rows_of_a_batch_do_not_influence_one_another(model, decode):
    tokens, scores = decode(model, SOURCES)
    for changed in range(len(SOURCES)):
        others = SOURCES.clone()
        others[changed, 0] = (others[changed, 0] + 1) % VOCAB
        new_tokens, new_scores = decode(model, others)
        for row in set(range(len(SOURCES))) - {changed}:
            assert new_tokens[row] == tokens[row]
            assert new_scores[row] == pytest.approx(scores[row])


@pytest.mark.parametrize("name", ["greedy", "beam"])
def test_a_batch_gives_what_each_row_gives_alone(model, name):
    tokens, scores = DECODERS[name](model, SOURCES)
    alone = [DECODERS[name](model, SOURCES[i : i + 1]) for i in range(len(SOURCES))]
    assert tokens == [row[0][0] for row in alone]
    assert scores == pytest.approx([row[1][0] for row in alone])


def test_the_source_mask_reaches_the_model(model, decode):
    mask = torch.tensor([[False, True]]).expand(5, 2)
    assert decode(model, SOURCES, source_mask=mask) == decode(model, torch.zeros_like(SOURCES))


class Language(Table):
    """The same without a source: as if x_1 were 0."""

    def run(self, tokens, state):
        raise NotImplementedError  # decoding goes by single steps


def test_a_language_model_starts_from_a_batch_size_and_reads_a_prompt(model, decode):
    language = Language(model.logits.detach())
    assert decode(language, 5) == decode(model, torch.zeros_like(SOURCES))
    prompt = torch.tensor([[SOS, 1, 4]]).expand(5, 3)
    tokens, _ = greedy(language, 5, 1, prompt=prompt)
    assert tokens == [[int(model.logits[0, 1, 4].argmax())]] * 5


def test_what_ends_a_sequence(model, decode):
    for options in [{}, {"eos": 4}, {"eos": None}, {"forbid": [EOS, 0]}]:
        eos = options.get("eos", EOS)
        for row in decode(model, SOURCES, **options)[0]:
            assert eos not in row[:-1]
            assert len(row) == 5 or row[-1] == eos
            assert not set(row) & set(options.get("forbid", []))


# ---- greedy


def test_greedy_follows_the_largest_logit_and_adds_its_log(model):
    tokens, log_probs = greedy(model, SOURCES, 5)
    for source, row, log_prob in zip(SOURCES, tokens, log_probs, strict=True):
        history = [SOS, SOS]
        for token in row:
            assert token == int(model.logits[source[0], history[-2], history[-1]].argmax())
            history.append(token)
        assert log_prob == pytest.approx(log_prob_of(model, source, row), abs=1e-5)
    assert {len(row) for row in tokens} > {5}  # sequences of several lengths, or the test says little


# ---- sampling

P = torch.tensor([0.25, 0.125, 0.5, 0.0625, 0.0625])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, P),
        ({"top_k": 2}, torch.tensor([1, 0, 2, 0, 0]) / 3),
        ({"top_k": 1}, torch.tensor([0, 0, 1.0, 0, 0])),
        ({"top_k": 4}, torch.tensor([4, 2, 8, 1, 0]) / 15),  # a tie: the smaller id stays
        ({"top_k": 99}, P),
        ({"top_p": 0.01}, torch.tensor([0, 0, 1.0, 0, 0])),
        ({"top_p": 0.5}, torch.tensor([0, 0, 1.0, 0, 0])),
        ({"top_p": 0.51}, torch.tensor([1, 0, 2, 0, 0]) / 3),
        ({"top_p": 0.75}, torch.tensor([1, 0, 2, 0, 0]) / 3),
        ({"top_p": 0.9}, torch.tensor([4, 2, 8, 1, 0]) / 15),
        ({"top_p": 1.0}, P),
        ({"top_k": 2, "top_p": 0.6}, torch.tensor([0, 0, 1.0, 0, 0])),  # 2/3 of the two that top-k left
        ({"temperature": 0.5}, P**2 / (P**2).sum()),
        ({"temperature": 2}, P**0.5 / (P**0.5).sum()),
        ({"temperature": 0}, torch.tensor([0, 0, 1.0, 0, 0])),
        ({"temperature": 1e-300}, torch.tensor([0, 0, 1.0, 0, 0])),
        ({"temperature": 1e30}, torch.full((5,), 0.2)),
        ({"temperature": 0.5, "top_p": 0.7}, torch.tensor([0, 0, 1.0, 0, 0])),  # the temperature comes first
    ],
)
def test_distribution(options, expected):
    logits = torch.stack([P.log(), P.log() + 50])[:, None]  # (2, 1, 5); softmax ignores what is added to all
    assert torch.allclose(distribution(logits, **options), expected.double().expand(2, 1, 5), atol=1e-6)


def test_equal_logits_at_temperature_0_give_the_smallest_id():
    assert distribution(torch.tensor([1.0, 3, 3, 3]), temperature=0).tolist() == [0, 1, 0, 0]
    assert distribution(torch.tensor([1.0, 3, 3, 3]), top_k=1).tolist() == [0, 1, 0, 0]
    assert distribution(torch.zeros(4), top_p=0.5).tolist() == [0.5, 0.5, 0, 0]


def test_a_forbidden_token_keeps_probability_0():
    p = distribution(torch.tensor([0.0, -math.inf, 0.0]), temperature=5, top_k=3, top_p=0.999)
    assert p.tolist() == [0.5, 0, 0.5]


@pytest.mark.parametrize("options", [{}, {"temperature": 0.7, "top_k": 4}, {"top_p": 0.8}, {"forbid": [1, SOS]}])
def test_sampled_frequencies_are_the_probabilities(model, options):
    """Pearson's chi-square over whole sequences of two tokens, the second given the first."""
    draws = 20_000
    generator = torch.Generator().manual_seed(1)
    tokens, _ = sample(model, SOURCES[:1].expand(draws, 2), 2, generator=generator, **options)
    counts = Counter(map(tuple, tokens))

    cut = {name: value for name, value in options.items() if name != "forbid"}
    logits = model.logits[0, SOS, SOS].detach().clone(), model.logits[0, SOS].detach().clone()
    for part in logits:
        part[..., options.get("forbid", [])] = -math.inf
    first, second = distribution(logits[0], **cut), distribution(logits[1], **cut)
    expected = {(a, b): (first[a] * second[a, b]).item() for a in range(VOCAB) if a != EOS for b in range(VOCAB)}
    expected |= {(EOS,): first[EOS].item()}
    assert sum(expected.values()) == pytest.approx(1)
    assert all(expected[row] > 0 for row in counts)
    common = {row: draws * p for row, p in expected.items() if draws * p >= 5}
    chi_square = sum((counts[row] - n) ** 2 / n for row, n in common.items())
    assert chi_square < len(common) + 4 * math.sqrt(2 * len(common))  # four standard deviations above the mean


@pytest.mark.parametrize("options", [{"temperature": 0}, {"top_k": 1}, {"top_p": 1e-9}, {"temperature": 1e-9}])
def test_sampling_that_leaves_one_token_is_greedy(model, options):
    assert sample(model, SOURCES, 5, **options) == greedy(model, SOURCES, 5)


def test_the_same_generator_state_gives_the_same_sample(model):
    draws = [sample(model, SOURCES, 5, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]


def test_a_sample_is_scored_by_the_model_itself(model):
    tokens, log_probs = sample(model, SOURCES, 4, temperature=3, top_k=4, generator=torch.Generator().manual_seed(0))
    for source, row, log_prob in zip(SOURCES, tokens, log_probs, strict=True):
        assert log_prob == pytest.approx(log_prob_of(model, source, row), abs=1e-5)


# ---- beam search


def slow_beam(model, source, max_length, width, alpha):
    """Beam search for one source, with Python lists and no batch."""
    held, complete = [((), 0.0)], {}
    for length in range(1, max_length + 1):
        extended = [item for item in held if item[0] in complete]
        for tokens, log_p in held:
            if tokens not in complete:
                history = [SOS, SOS, *tokens]
                step = torch.log_softmax(model.logits[source[0], history[-2], history[-1]].detach(), -1).tolist()
                extended += [((*tokens, token), log_p + step[token]) for token in range(VOCAB)]
        held = sorted(extended, key=lambda item: -item[1])[:width]
        complete |= {tokens: log_p for tokens, log_p in held if tokens[-1] == EOS or length == max_length}
    return sorted(complete.items(), key=lambda item: -item[1] / len(item[0]) ** alpha)[:width]


@pytest.mark.parametrize("width", [2, 3, 7])
@pytest.mark.parametrize("alpha", [0, 1])
def test_batched_beam_search_is_the_slow_one(width, alpha):
    for seed in range(5):
        model = Table(2 * torch.randn(VOCAB, VOCAB, VOCAB, VOCAB, generator=torch.Generator().manual_seed(seed)))
        found = beam_hypotheses(model, SOURCES, 6, width, alpha)
        for source, hypotheses in zip(SOURCES, found, strict=True):
            expected = slow_beam(model, source, 6, width, alpha)
            assert [tuple(hypothesis.tokens) for hypothesis in hypotheses] == [tokens for tokens, _ in expected]


def chain(*steps):
    """A table in which token a is followed by b with probability p, for each (a, b, p), and by others hardly ever."""
    logits = torch.full((VOCAB, VOCAB, VOCAB, VOCAB), 1e-9).log()
    for a, b, p in steps:
        logits[:, :, a, b] = math.log(p)
    return Table(logits)


def test_a_finished_hypothesis_is_kept_while_others_go_on():
    # <eos> at once has 0.4; the other way has 0.6 * 0.55 at best.
    model = chain((SOS, EOS, 0.4), (SOS, 0, 0.6), (0, 1, 0.55), (0, 4, 0.45), (1, EOS, 1), (4, EOS, 1))
    found = beam_hypotheses(model, SOURCES[:1], 6, width=2, alpha=0)[0]
    assert [hypothesis.tokens for hypothesis in found] == [[EOS], [0, 1, EOS]]
    assert [math.exp(hypothesis.log_prob) for hypothesis in found] == pytest.approx([0.4, 0.33], abs=1e-4)
    assert greedy(model, SOURCES[:1], 6)[0] == [[0, 1, EOS]]


def test_improbable_short_sequences_do_not_end_the_search():
    """<eos> is the second choice at every step, hardly probable; the sequence with P = 0.94 is found all the same."""
    model = chain(*((a, b, p) for a, b in [(SOS, 0), (0, 1), (1, 4), (4, 5)] for b, p in [(b, 0.98), (EOS, 0.01)]))
    model.logits.data[:, :, 5, EOS] = 0
    assert beam(model, SOURCES[:1], 9, width=3)[0] == [[0, 1, 4, 5, EOS]]


def test_length_normalisation_lets_a_longer_sequence_win():
    model = chain((SOS, EOS, 0.4), (SOS, 0, 0.6), (0, 1, 0.6), (0, 4, 0.4), (1, EOS, 1), (4, EOS, 1))
    assert beam(model, SOURCES[:1], 6, width=2, alpha=0)[0] == [[EOS]]
    tokens, scores = beam(model, SOURCES[:1], 6, width=2, alpha=1)
    assert tokens == [[0, 1, EOS]]
    assert scores == pytest.approx([math.log(0.6 * 0.6) / 3], abs=1e-4)


# ---- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: greedy(m, SOURCES, 0), "max_length is 0"),
        (lambda m: greedy(m, SOURCES[:0], 3), "no rows"),
        (lambda m: greedy(Transformer(9, 9, 8, 2, 8, 1), 2, 3), "source is 2; this model translates"),
        (lambda m: greedy(GPT(9, 8, 8, 2, 1), SOURCES, 3), "a language model starts from a number of rows"),
        (lambda m: greedy(m, SOURCES, 3, forbid=[99]), r"forbid is \[99\]"),
        (lambda m: greedy(m, SOURCES, 3, prompt=torch.zeros(2, 1, dtype=torch.long)), r"\(5, P\)"),
        (lambda m: sample(m, SOURCES, 3, temperature=-1), "temperature is -1"),
        (lambda m: sample(m, SOURCES, 3, top_k=0), "top_k is 0"),
        (lambda m: sample(m, SOURCES, 3, top_p=0), "top_p is 0"),
        (lambda m: sample(m, SOURCES, 3, top_p=1.5), "top_p is 1.5"),
        (lambda m: beam(m, SOURCES, 3, width=0), "width is 0"),
        (lambda m: beam(m, SOURCES, 3, alpha=-1), "alpha -1"),
        (lambda m: greedy(m, SOURCES, 3, forbid=range(VOCAB)), "NaN"),
    ],
)
def test_errors_name_the_input(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)


def test_nan_logits_are_reported(decode):
    with pytest.raises(ValueError, match="NaN"):
        decode(Table(torch.full((VOCAB, VOCAB, VOCAB, VOCAB), math.nan)), SOURCES)
