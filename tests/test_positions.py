"""Positions: against explicit loops, and the properties for which each code was chosen."""

import math

import pytest
import torch

from lmbook.attention import attend
from lmbook.positions import Learned, binary, integer, place, rotary, shift_matrix, sinusoidal, slopes

pytestmark = pytest.mark.usefixtures("float64")


def test_integer():
    assert integer(4).tolist() == [[0], [1], [2], [3]]
    assert integer(2, start=5).tolist() == [[5], [6]]


def test_binary_is_the_reversed_binary_numeral():
    code = binary(16)
    for t in range(16):
        assert code[t].tolist() == [float(bit) for bit in reversed(f"{t:04b}")]
    assert binary(16).unique(dim=0).shape == (16, 4)
    assert torch.equal(binary(3, 4, start=9), code[9:12])
    assert torch.equal(binary(2), torch.tensor([[0.0], [1.0]]))  # two positions need one bit


def test_bit_j_has_period_2_to_the_j_plus_1():
    code = binary(64)
    for j in range(6):
        period = 2 ** (j + 1)
        assert torch.equal(code[period:, j], code[:-period, j])
        assert not torch.equal(code[period // 2 :, j], code[: -(period // 2), j])


@pytest.mark.parametrize("code", [binary, lambda T, start: sinusoidal(T, 4, start=start)])
def test_a_place_before_the_first_is_refused(code):
    with pytest.raises(ValueError, match="start is -1; positions begin at 0"):
        code(3, start=-1)


def test_too_few_bits_are_refused():
    assert binary(8, 3).shape == (8, 3)
    with pytest.raises(ValueError, match="Position 8 needs 4 bits"):
        binary(9, 3)


@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_sinusoids_by_a_loop(base):
    code = sinusoidal(20, 8, base)
    for t in range(20):
        for j in range(4):
            assert code[t, 2 * j].item() == pytest.approx(math.sin(t / base ** (2 * j / 8)), abs=1e-12)
            assert code[t, 2 * j + 1].item() == pytest.approx(math.cos(t / base ** (2 * j / 8)), abs=1e-12)
    torch.testing.assert_close(sinusoidal(5, 8, base, start=15), code[15:])


def test_every_position_has_its_wave_where_the_kept_table_ends():
    for t in (0, 1, 62, 63, 64, 65, 127, 128, 255, 256):
        torch.testing.assert_close(sinusoidal(1, 2, start=t), torch.tensor([[math.sin(t), math.cos(t)]]))
        assert sinusoidal(t, 2).shape == (t, 2)


@pytest.mark.parametrize("offset", [-3, 0, 1, 7])
def test_an_offset_is_one_rotation_for_every_position(offset):
    code, R = sinusoidal(40, 10), shift_matrix(offset, 10)
    torch.testing.assert_close(code[5:30] @ R.T, code[5 + offset : 30 + offset])
    torch.testing.assert_close(R @ R.T, torch.eye(10))
    assert torch.linalg.det(R).item() == pytest.approx(1)


def test_rotations_add_up():
    torch.testing.assert_close(shift_matrix(2, 6) @ shift_matrix(3, 6), shift_matrix(5, 6))


def test_the_dot_product_of_sinusoids_depends_on_the_offset_alone():
    code = sinusoidal(50, 16)
    products = code @ code.T
    for offset in range(50):
        expected = sum(math.cos(offset * 10000 ** (-2 * j / 16)) for j in range(8))
        torch.testing.assert_close(products.diagonal(offset), torch.full((50 - offset,), expected))


def test_far_positions_are_exact_in_single_precision():
    """Angles are computed in double precision; in single precision the sines here would be off by about 1e-4."""
    torch.set_default_dtype(torch.float32)
    row = sinusoidal(1, 4, base=7.0, start=9_999)[0]
    angle = 9_999 * 7.0 ** (-2 / 4)
    expected = [math.sin(9_999), math.cos(9_999), math.sin(angle), math.cos(angle)]
    torch.testing.assert_close(row, torch.tensor(expected), atol=1e-6, rtol=0)


def test_odd_widths_are_refused():
    assert sinusoidal(0, 4).shape == (0, 4)
    for wrong in (lambda: sinusoidal(3, 5), lambda: shift_matrix(1, 5), lambda: rotary(torch.randn(3, 5))):
        with pytest.raises(ValueError, match="width of 5"):
            wrong()


# Adding to the words


@pytest.mark.parametrize("code", [integer(5), binary(5), sinusoidal(5, 6), Learned(9, 6)(5).detach()])
def test_a_code_varies_along_time_and_not_along_the_batch(code):
    x = torch.zeros(3, 5, 4)
    placed = place(x, code, "concatenate")[..., 4:]
    assert torch.equal(placed[0], placed[1])
    assert torch.equal(placed[0], placed[2])
    assert placed[0].unique(dim=0).shape[0] == 5


def test_add_and_concatenate():
    x, code = torch.randn(2, 5, 6), sinusoidal(5, 6)
    torch.testing.assert_close(place(x, code)[1, 3], x[1, 3] + code[3])
    beside = place(x, code, "concatenate")
    assert beside.shape == (2, 5, 12)
    assert torch.equal(beside[1, 3], torch.cat([x[1, 3], code[3]]))
    with pytest.raises(ValueError, match="6 and 4"):
        place(x, sinusoidal(5, 4))
    with pytest.raises(ValueError, match="T = 4"):
        place(x, sinusoidal(4, 6))
    with pytest.raises(ValueError, match="'add' or 'concatenate'"):
        place(x, code, "multiply")


def test_a_batch_in_the_place_of_time_is_refused():
    """With time first, as in a published course, a code would differ from row to row and not from step to step."""
    with pytest.raises(ValueError, match="d_model"):
        place(torch.randn(7, 2, 6), sinusoidal(7, 6))


def test_without_positions_attention_does_not_see_order_and_with_them_it_does():
    x, order = torch.randn(1, 5, 6), torch.tensor([3, 0, 4, 1, 2])
    query = torch.randn(1, 1, 6)
    torch.testing.assert_close(attend(query, x[:, order], x[:, order])[0], attend(query, x, x)[0])
    first, second = place(x, sinusoidal(5, 6)), place(x[:, order], sinusoidal(5, 6))
    assert not torch.allclose(attend(query, first, first)[0], attend(query, second, second)[0])


# Learned


def test_learned_is_a_table():
    learned = Learned(10, 4)
    assert torch.equal(learned(3, start=7), learned.table.weight[7:])
    learned(3).sum().backward()
    assert learned.table.weight.grad.sum(-1).tolist() == [4.0] * 3 + [0.0] * 7


@pytest.mark.parametrize(("T", "start"), [(11, 0), (1, 10), (3, 8)])
def test_past_the_table_is_a_clear_error(T, start):
    with pytest.raises(ValueError, match=r"learned for 0 to 9.*max_length"):
        Learned(10, 4)(T, start)


# Rotary


def test_rotary_as_complex_numbers():
    """A pair is a complex number, and position t multiplies it by exp(i t w_j)."""
    X = torch.randn(2, 3, 9, 8)
    w = torch.tensor([10000 ** (-2 * j / 8) for j in range(4)])
    turns = torch.exp(1j * torch.arange(4, 13).unsqueeze(1) * w)
    expected = torch.view_as_real(torch.view_as_complex(X.unflatten(-1, (4, 2))) * turns).flatten(-2)
    torch.testing.assert_close(rotary(X, start=4), expected)


def test_rotary_scores_depend_on_the_relative_position_only():
    query, key = torch.randn(1, 8), torch.randn(1, 8)
    for distance in (0, 1, 5):
        scores = [(rotary(query, t + distance) @ rotary(key, t).T).item() for t in (0, 3, 100)]
        assert scores == pytest.approx([scores[0]] * 3)
    assert (rotary(query, 2) @ rotary(key, 0).T).item() != pytest.approx((rotary(query, 0) @ rotary(key, 0).T).item())


def test_rotary_keeps_lengths_and_leaves_position_0_alone():
    X = torch.randn(5, 8)
    torch.testing.assert_close(rotary(X).norm(dim=-1), X.norm(dim=-1))
    assert torch.equal(rotary(X)[0], X[0])


def test_tables_made_without_gradients_serve_training_later():
    with torch.inference_mode():
        rotary(torch.randn(3, 12))
        sinusoidal(3, 12)
    X = torch.randn(3, 12, requires_grad=True)
    (rotary(X) * sinusoidal(3, 12)).sum().backward()
    assert X.grad.isfinite().all()


# Linear bias


def test_slopes_are_those_of_the_paper():
    """Press et al. 2022, section 3: for 8 heads 1/2, 1/4, ..., 1/256; for 16 heads they start at 2^-0.5."""
    assert slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert slopes(16)[0].item() == pytest.approx(2**-0.5)
