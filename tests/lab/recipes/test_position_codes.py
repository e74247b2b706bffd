"""Copying: the tasks are what they say; the linear bias is that of its paper; positions past a table are refused."""

import math

import pytest
import torch
from torch import nn

from lmbook.attention import causal_mask
from lmbook.lab.recipes import position_codes
from lmbook.lab.recipes.position_codes import BACK, CODES, FIRST, NOTHING, SEPARATOR, SOS, LinearBias, Reader
from lmbook.positions import slopes


def rng():
    return torch.Generator().manual_seed(0)


@pytest.mark.parametrize("N", [1, BACK, BACK + 1, 12])
def test_echo_asks_for_the_symbol_three_places_before(N):
    tokens, targets = position_codes.echo(rng(), 50, N)
    assert tokens.shape == targets.shape == (50, N + 1)
    assert (tokens[:, 0] == SOS).all()
    for t in range(N + 1):
        wanted = tokens[:, t - BACK] if t > BACK else torch.full((50,), NOTHING)
        assert torch.equal(targets[:, t], wanted)


@pytest.mark.parametrize("N", [1, 7])
def test_copy_asks_for_what_was_read_after_the_separator(N):
    tokens, targets = position_codes.copy(rng(), 50, N)
    assert tokens.shape == targets.shape == (50, 2 * N + 1)
    read = tokens[:, 1 : N + 1]
    assert (read >= FIRST).all()
    assert (read < SEPARATOR).all()
    assert (tokens[:, N + 1] == SEPARATOR).all()
    assert torch.equal(tokens[:, N + 2 :], read[:, :-1])
    assert torch.equal(targets[:, N + 1 :], read)
    assert (targets[:, : N + 1] == NOTHING).all()


class Oracle(nn.Module):
    """Says at each place the token that stood `back` places before."""

    def __init__(self, back):
        super().__init__()
        self.back, self.nothing = back, nn.Parameter(torch.zeros(1))

    def forward(self, tokens):
        return nn.functional.one_hot(tokens.roll(self.back, dims=1), SEPARATOR + 1).float() + self.nothing


def test_the_share_of_right_answers():
    assert position_codes.right(Oracle(BACK), position_codes.echo, 20).tolist() == [1.0] * (20 - BACK)
    assert position_codes.right(Oracle(7), position_codes.copy, 7).tolist() == [1.0] * 7
    wrong = position_codes.right(Oracle(BACK - 1), position_codes.echo, 20, 2000)
    assert wrong.mean().item() == pytest.approx(1 / position_codes.SYMBOLS, abs=0.02)


def test_the_linear_bias_lowers_a_score_by_the_slope_a_place():
    torch.manual_seed(0)
    layer, x = LinearBias(16, 4), torch.randn(2, 9, 16)
    out, weights = layer(x, x, x, causal=True, need_weights=True)
    torch.testing.assert_close(layer(x, x, x, causal=True)[0], out)
    Q, K, V = (W(x).unflatten(-1, (4, 4)).transpose(1, 2) for W in (layer.W_q, layer.W_k, layer.W_v))
    t = torch.arange(9.0)
    scores = Q @ K.transpose(-2, -1) / math.sqrt(4) - slopes(4).view(-1, 1, 1) * (t[:, None] - t)
    wanted = scores.masked_fill(~causal_mask(9), -math.inf).softmax(-1)
    torch.testing.assert_close(weights, wanted)
    torch.testing.assert_close(out, layer.W_o((wanted @ V).transpose(1, 2).flatten(2)))
    with pytest.raises(ValueError, match="causal"):
        layer(x, x, x)


@pytest.mark.parametrize("code", CODES)
def test_no_reader_sees_the_future(code):
    torch.manual_seed(0)
    model = Reader(code).eval()
    tokens, _ = position_codes.echo(rng(), 2, 12)
    changed = tokens.clone()
    changed[:, 8:] = FIRST
    torch.testing.assert_close(model(tokens)[:, :8], model(changed)[:, :8])
    assert not torch.allclose(model(tokens)[:, 9:], model(changed)[:, 9:])


def test_without_mask_and_positions_order_is_invisible():
    torch.manual_seed(0)
    model = Reader("none", causal=False).eval()
    tokens, _ = position_codes.echo(rng(), 2, 12)
    order = torch.randperm(13, generator=rng())
    torch.testing.assert_close(model(tokens)[:, order], model(tokens[:, order]))
    other = Reader("none").eval()
    assert not torch.allclose(other(tokens)[:, order], other(tokens[:, order]), atol=1e-3)


def test_an_unknown_code_is_refused():
    with pytest.raises(ValueError, match="linear bias"):
        Reader("alibi")


@pytest.mark.parametrize("code", position_codes.BESIDE)
def test_a_code_beside_the_embedding_is_read(code):
    model, (tokens, _) = Reader(code, causal=False), position_codes.echo(rng(), 2, 12)
    same = torch.full_like(tokens, FIRST)
    x = model.embedding(same)
    assert x.shape[-1] + position_codes.BESIDE[code](5).shape[1] == 64
    rows = model(same)[0]
    assert not torch.allclose(rows[0], rows[5], atol=1e-4), "equal symbols at other places"


@pytest.mark.parametrize(("task", "least", "longest"), [(position_codes.echo, 4, 24), (position_codes.copy, 1, 10)])
def test_validation_has_each_trained_length_once_and_no_other(task, least, longest):
    batches = position_codes.validation(task, least, longest, rows=3)
    lengths = [tokens.shape[1] for tokens, _ in batches]
    wanted = [task(rng(), 3, N)[0].shape[1] for N in range(least, longest + 1)]
    assert lengths == wanted
    assert all((targets != NOTHING).any() for _, targets in batches)


def test_rows_of_a_table_are_zero_in_a_copy_alone():
    model = Reader("learned", d_model=8, n_heads=2, n_layers=1, max_length=12)
    rows = model.embedding.learned.table.weight.detach().clone()
    without = position_codes.without_rows(model, 3, 5).embedding.learned.table.weight
    assert (without[3:6] == 0).all()
    kept = [*range(3), *range(6, 12)]
    assert torch.equal(without[kept], rows[kept])
    assert torch.equal(model.embedding.learned.table.weight, rows)
