"""Skip-gram: pairs by a double loop, the loss by its formula, the noise by counting, and what training does."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from lmbook.word2vec import SkipGram, keep_probability, nearest, noise_distribution, pairs, principal_components, train

RNG = np.random.default_rng(0)


# ---- pairs


@pytest.mark.parametrize("window", [1, 2, 5, 40])
def test_pairs_are_those_of_a_double_loop(window):
    ids = RNG.integers(5, 12, 30)
    expected = Counter(
        (int(ids[i]), int(ids[j])) for i in range(30) for j in range(30) if i != j and abs(i - j) <= window
    )
    centres, contexts = pairs(ids, window)
    assert Counter(zip(centres.tolist(), contexts.tolist(), strict=True)) == expected


def test_a_drawn_reach_takes_whole_neighbourhoods():
    ids = np.arange(5, 65)  # all different, so that a pair says where it came from
    centres, contexts = pairs(ids, 4, np.random.default_rng(3))
    reaches = []
    for c in range(15, 55):
        distances = sorted((contexts[centres == c] - c).tolist())
        reach = max(distances)
        reaches.append(reach)
        assert distances == [d for d in range(-reach, reach + 1) if d]
    assert set(reaches) == {1, 2, 3, 4}


@pytest.mark.parametrize(("ids", "window"), [([5], 1), ([5, 6], 0), ([5.0, 6.0], 1), ([[5, 6]], 1)])
def test_pairs_refuses_what_has_none(ids, window):
    with pytest.raises(ValueError, match="pairs"):
        pairs(ids, window)


# ---- noise and subsampling


def test_noise_is_the_three_quarter_power_of_the_counts():
    counts = [0, 16, 81, 1]
    total = 8 + 27 + 1
    np.testing.assert_allclose(noise_distribution(counts), [0, 8 / total, 27 / total, 1 / total], rtol=1e-14)


def test_noise_between_frequency_and_uniform():
    counts = np.array([3, 0, 9])
    np.testing.assert_allclose(noise_distribution(counts, power=1), counts / 12)
    np.testing.assert_allclose(noise_distribution(counts, power=0), [0.5, 0, 0.5])


def test_negative_samples_of_the_training_follow_the_noise():
    ids = RNG.choice(6, size=2000, p=[0, 0.5, 0.3, 0.15, 0.04, 0.01])
    drawn = []

    class Spy(SkipGram):
        def forward(self, centre, context, negatives):
            drawn.append(negatives)
            return super().forward(centre, context, negatives)

    list(train(Spy(6, 2), ids, steps=20, K=5, batch=500))
    negatives = torch.cat(drawn)
    assert negatives.shape == (10_000, 5)
    share = torch.bincount(negatives.flatten(), minlength=6) / negatives.numel()
    expected = noise_distribution(np.bincount(ids, minlength=6))
    tolerance = 5 * (expected * (1 - expected) / negatives.numel()).sqrt()
    assert ((share - expected).abs() <= tolerance).all()
    frequency = torch.from_numpy(np.bincount(ids, minlength=6) / len(ids))
    assert ((share - frequency).abs() > tolerance).any()  # the test can tell the power from none


def test_keep_probability_by_hand():
    # f = 0.9, 0.09, 0.01, 0
    np.testing.assert_allclose(
        keep_probability([900, 90, 10, 0], 0.02), [math.sqrt(0.02 / 0.9), math.sqrt(2 / 9), 1, 1]
    )


@pytest.mark.parametrize("counts", [[-1, 2], [0, 0], [[1, 2]], [math.nan]])
@pytest.mark.parametrize("function", [noise_distribution, keep_probability])
def test_bad_counts_are_refused(function, counts):
    with pytest.raises(ValueError, match="bincount"):
        function(counts)


# ---- the loss


def random_model(vocab: int = 9, d_model: int = 4) -> SkipGram:
    torch.manual_seed(0)
    model = SkipGram(vocab, d_model).double()
    with torch.no_grad():
        model.v.weight.normal_()
        model.u.weight.normal_()
    return model


def random_batch(B: int = 6, K: int = 3) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(1)
    return tuple(torch.randint(9, shape, generator=generator) for shape in ((B,), (B,), (B, K)))


def test_the_loss_is_its_formula():
    model, (centre, context, negatives) = random_model(), random_batch()
    v, u = (table.weight.detach().numpy() for table in (model.v, model.u))

    def sigma(a: float) -> float:
        return 1 / (1 + math.exp(-a))

    for b, loss in enumerate(model(centre, context, negatives).tolist()):
        c = v[centre[b]]
        expected = -math.log(sigma(u[context[b]] @ c))
        for n in negatives[b]:
            expected -= math.log(sigma(-u[n] @ c))
        assert loss == pytest.approx(expected, rel=1e-12)


def test_the_gradient_is_the_one_by_hand():
    # dJ/dv_c = (sigma(u_o . v_c) - 1) u_o + sum_k sigma(u_k . v_c) u_k
    model, (centre, context, negatives) = random_model(), random_batch(B=1)
    model(centre, context, negatives).sum().backward()
    v, u = model.v.weight.detach(), model.u.weight.detach()
    c = v[centre[0]]
    expected = (torch.sigmoid(u[context[0]] @ c) - 1) * u[context[0]]
    for n in negatives[0]:
        expected = expected + torch.sigmoid(u[n] @ c) * u[n]
    torch.testing.assert_close(model.v.weight.grad[centre[0]], expected, rtol=1e-12, atol=1e-14)
    assert (model.v.weight.grad.abs().sum(1) > 0).sum() == 1


def test_the_first_loss_is_that_of_tossing_coins():
    model = SkipGram(9, 4)
    torch.testing.assert_close(model(*random_batch(K=3)), torch.full((6,), 4 * math.log(2)))
    assert model.v.weight.abs().max() <= 0.5 / 4
    assert model.v.weight.std() > 0


def test_a_large_product_costs_no_infinity():
    model = random_model()
    with torch.no_grad():
        model.v.weight.fill_(100)
        model.u.weight.fill_(-100)
    loss = model(torch.tensor([0]), torch.tensor([1]), torch.tensor([[2]]))
    assert loss.item() == pytest.approx(40_000)


@pytest.mark.parametrize(
    "shapes", [((6,), (5,), (6, 3)), ((6,), (6,), (6,)), ((6,), (6,), (5, 3)), ((6, 1), (6, 1), (6, 3))]
)
def test_shapes_that_do_not_fit_are_refused(shapes):
    with pytest.raises(ValueError, match=r"\(B, K\)"):
        SkipGram(9, 4)(*(torch.zeros(shape, dtype=torch.int64) for shape in shapes))


# ---- training

ROLES = {"animal": range(5, 11), "verb": range(11, 17), "food": range(17, 23)}


def role_stream(sentences: int = 3000, seed: int = 0) -> np.ndarray:
    """Sentences "23 animal verb 24 food 3", each word drawn evenly from those of its role: only the role matters."""
    rng = np.random.default_rng(seed)
    animal, verb, food = (rng.choice(list(words), sentences) for words in ROLES.values())
    the, some, end = (np.full(sentences, i) for i in (23, 24, 3))
    return np.stack([the, animal, verb, some, food, end], axis=1).reshape(-1)


def closest_of_own_role(vectors: torch.Tensor) -> float:
    """Share, among the five nearest of every word, of words of its own role."""
    hits = [other in words for words in ROLES.values() for word in words for other, _ in nearest(vectors, word, 5)]
    return sum(hits) / len(hits)


def test_words_of_one_role_come_together():
    torch.manual_seed(0)
    model = SkipGram(25, 8)
    before = closest_of_own_role(model.v.weight)
    losses = list(train(model, role_stream(), steps=200, window=1, batch=512, lr=0.02))
    assert len(losses) == 200
    assert losses[0] == pytest.approx(6 * math.log(2), abs=1e-4)
    assert np.mean(losses[-20:]) < 0.8 * losses[0]
    assert before < 0.5
    assert closest_of_own_role(model.v.weight) > 0.95


def test_training_on_shuffled_words_brings_nothing_together():
    torch.manual_seed(0)
    model = SkipGram(25, 8)
    list(train(model, np.random.default_rng(1).permutation(role_stream()), steps=200, window=1, batch=512, lr=0.02))
    assert closest_of_own_role(model.v.weight) < 0.6


def test_training_repeats_itself_with_the_same_seed():
    def run(seed: int) -> list[float]:
        torch.manual_seed(0)
        return list(train(SkipGram(25, 4), role_stream(100), steps=5, batch=64, seed=seed))

    assert run(7) == run(7) != run(8)


def test_a_stream_of_another_vocabulary_is_refused():
    with pytest.raises(ValueError, match="go up to 24"):
        list(train(SkipGram(10, 4), role_stream(10), steps=1))


# ---- looking at vectors


def test_nearest_goes_by_angle_not_by_length():
    vectors = torch.tensor([[1.0, 0.0], [0.1, 0.01], [5.0, 5.0], [-3.0, 0.0], [0.0, 0.0]])
    found = nearest(vectors, 0, n=9)
    assert [i for i, _ in found] == [1, 2, 4, 3]
    assert [cosine for _, cosine in found] == pytest.approx([1 / math.hypot(1, 0.1), math.sqrt(0.5), 0, -1], abs=1e-6)
    with pytest.raises(ValueError, match="0 to 4"):
        nearest(vectors, 5)


def test_projection_has_the_largest_variances_there_are():
    vectors = torch.from_numpy(RNG.normal(size=(40, 6)) * [5, 1, 3, 1, 1, 1] + 10)
    seen = principal_components(vectors)
    variances = torch.linalg.eigvalsh(torch.cov(vectors.T)).flip(0)[:2]
    torch.testing.assert_close(torch.cov(seen.T), torch.diag(variances), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(principal_components(vectors[:, [3, 0, 5, 1, 2, 4]]), seen, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("sizes", [(0, 4), (9, 0)])
def test_sizes_below_one_are_refused(sizes):
    with pytest.raises(ValueError, match="at least 1"):
        SkipGram(*sizes)
