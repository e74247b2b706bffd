import itertools

import pytest
import torch

from lmbook.answers import answer_nll, exact, log_probs, say, turns
from lmbook.modern import ModernGPT

PAIRS = [([4, 5], [6, 3]), ([7], [8, 9, 3]), ([5, 5, 6], [3])]


@pytest.fixture
def model():
    torch.manual_seed(0)
    return ModernGPT(10, 12, 16, 2, 2)


def test_the_loss_is_that_of_the_answers_alone(model):
    """Against a loop over pairs, each read by itself and without padding."""
    expected, n = 0.0, 0
    for prompt, answer in PAIRS:
        log_p = torch.log_softmax(model(torch.tensor([prompt + answer])), -1)[0]
        for t, token in enumerate(answer, len(prompt)):
            expected, n = expected - log_p[t - 1, token], n + 1
    nll, counted = answer_nll(model, turns(PAIRS))
    assert nll.item() == pytest.approx(expected.item(), rel=1e-5)
    assert counted == n == 6


def test_what_is_asked_has_no_gradient_of_its_own(model):
    """With another token in a prompt the answer's probabilities change, but the prompt's are in no sum."""
    tokens, said = turns(PAIRS)
    assert (log_probs(model, (tokens, said)) != 0).tolist() == said[:, 1:].tolist()
    everything = tokens != 0
    assert answer_nll(model, (tokens, everything))[0] > answer_nll(model, (tokens, said))[0]


def test_probabilities_of_all_answers_sum_to_one(model):
    """Brute force: every answer of at most 2 tokens over 10 types, of which 3 ends."""
    others = [k for k in range(10) if k != 3]
    answers = [[3], *([a, 3] for a in others), *([a, b] for a, b in itertools.product(others, others))]
    total = log_probs(model, turns([([4, 5], answer) for answer in answers])).sum(1).exp().sum()
    assert total.item() == pytest.approx(1, abs=1e-5)


def test_what_is_said_has_the_probabilities_of_the_model(model):
    """A chi-squared test of the first token against its probabilities, <pad> left out."""
    prompts = torch.tensor([[4, 5]]).repeat(4000, 1)
    tokens, said = say(model, prompts, 3, generator=torch.Generator().manual_seed(1))
    p = torch.softmax(model(prompts[:1])[0, -1, 1:], 0)
    drawn = torch.bincount(tokens[:, 2] - 1, minlength=9)
    assert ((drawn - 4000 * p) ** 2 / (4000 * p)).sum() < 26.1  # 0.999 of chi-squared with 8 degrees of freedom
    assert tokens.shape == said.shape
    ends = (tokens == 3) & said
    assert not (said & (ends.cumsum(1) - ends.int() > 0)).any(), "nothing is said after the end"
    assert (tokens[:, 2:][~said[:, 2:]] == 0).all(), "but padding"
    flat, _ = say(model, prompts, 3, temperature=0.0)
    assert (flat == flat[0]).all(), "at temperature 0 equal prompts have equal answers"


def test_exact_is_greedy_writing(model):
    prompts = torch.tensor([[4, 5], [7, 8]])
    tokens, said = say(model, prompts, 4, temperature=0.0)
    assert exact(model, (tokens, said)).tolist() == [True, True]
    tokens[1, 2] = (tokens[1, 2] + 1) % 10
    assert exact(model, (tokens, said)).tolist() == [True, False]


def test_bad_input_is_named(model):
    with pytest.raises(ValueError, match="begin it with a token"):
        turns([([], [3])])
    with pytest.raises(ValueError, match="temperature -1"):
        say(model, torch.tensor([[4]]), 3, temperature=-1)
