"""SwapTheBlock: its counts are those of real blocks, and the page shows the numbers of Python."""

import itertools

import pytest
import torch
from seen import says, table

from lmbook.figures import SwapTheBlock
from lmbook.figures.block import HEADS, LAYERS, D, numbers
from lmbook.lab.settings import Products
from lmbook.layers import FeedForward, LayerNorm
from lmbook.modern import Block, GroupedAttention, RMSNorm, SwiGLU
from lmbook.networks import n_parameters
from lmbook.scan import MinGRU


def block(norm, ffn, kept, reach, span=None):
    """The block that the figure means, on torch's device without memory. A gate's bias is not counted there."""
    with torch.device("meta"):
        mix = MinGRU(D) if reach == "recurrence" else GroupedAttention(D, HEADS, 2**kept, span=span)
        network = SwiGLU(D, round(8 * D / 3)) if ffn == "SwiGLU" else FeedForward(D, 4 * D, bias=False)
        norms = [RMSNorm(D) if norm == "RMSNorm" else LayerNorm(D) for _ in range(2)]
        return Block(mix, network, *norms)


@pytest.mark.parametrize("reach", ["all", "recurrence"])
def test_a_model_has_the_parameters_of_its_blocks(reach):
    for norm, ffn, kept in itertools.product(("LayerNorm", "RMSNorm"), ("gelu", "SwiGLU"), (0, 3, 5)):
        real = n_parameters(block(norm, ffn, kept, reach)) - D * (reach == "recurrence")
        assert numbers(norm, ffn, kept, reach, 12)["parameters"] == LAYERS * real


@pytest.mark.parametrize(("kept", "reach", "span"), [(5, "all", None), (1, "all", None), (3, "window", 4096)])
def test_the_state_is_that_of_a_running_layer(kept, reach, span):
    """After T tokens a window has kept all but the one that the next query no longer sees."""
    layer = block("RMSNorm", "SwiGLU", kept, reach, span).mix
    T = 2**9
    _, cache = layer(torch.empty(1, T, D, device="meta"), layer.start(1))
    assert numbers("RMSNorm", "SwiGLU", kept, reach, 9)["state"] == LAYERS * 2 * sum(X.numel() for X in cache)
    assert numbers("RMSNorm", "SwiGLU", kept, "window", 20)["state"] == LAYERS * 2 * 2 * 2**kept * 128 * 4096


def test_operations_of_the_matrices_are_those_that_torch_counts():
    with Products() as products:
        block("RMSNorm", "SwiGLU", 3, "recurrence")(
            torch.empty(1, 1, D, device="meta"), torch.empty(1, D, device="meta")
        )
    assert numbers("RMSNorm", "SwiGLU", 3, "recurrence", 9)["operations"] == LAYERS * products.flops


def test_the_page_shows_the_numbers_of_python(show):
    page = show(SwapTheBlock())
    page.get_by_role("group", name="Norm").get_by_text("RMSNorm", exact=True).click()
    page.get_by_role("group", name="Network").get_by_text("SwiGLU", exact=True).click()
    for reach, name, kept, tokens in (
        ("all", "attention to all", 3, 15),
        ("window", "attention, window", 0, 20),
        ("recurrence", "recurrence", 5, 10),
    ):
        page.get_by_role("group", name="Mixing").get_by_text(name, exact=True).click()
        page.get_by_role("slider", name="Heads of keys").fill(str(kept))
        page.get_by_role("slider", name="Tokens read").fill(str(tokens))
        now = numbers("RMSNorm", "SwiGLU", kept, reach, tokens)
        old = numbers("LayerNorm", "gelu", 5, "all", tokens)

        def said(n):
            return f"{n / 1e6:,.2f} MB" if n < 1e9 else f"{n / 1e9:.2f} GB"

        keys = "parameters", "operations", "state"
        shown = [said(now[key]) if key == "state" else f"{now[key] / 1e9:.2f} billion" for key in keys]
        assert [row[1] for row in table(page)] == shown
        assert all(one in page.locator(".lm-chart").text_content() for one in shown)
        assert shares(page, ".lmbk-yours") == pytest.approx([now[key] / old[key] for key in keys], rel=1e-3)
        assert shown[2] in says(page)


def shares(page, kind):
    """What these dots stand for on the scale, from its ticks."""
    ticks = page.locator(".lm-tick").evaluate_all("(all) => all.map((one) => Number(one.getAttribute('x')))")
    full, least = ticks[0], ticks[-1]  # 1 and 10^-6
    dots = page.locator(kind).evaluate_all("(all) => all.map((one) => one.cx.baseVal.value)")
    return [10 ** (-6 * (full - x) / (full - least)) for x in dots]


def test_the_bet_is_settled_by_the_numbers_and_stays_in_the_drawing(show):
    page = show(SwapTheBlock(), bets=True)
    assert page.locator(".lmbk-other").count() == 0
    page.get_by_role("button", name="a window").click()
    said = page.locator(".lm-wager").inner_text()
    left = [
        numbers(norm, ffn, kept, reach, 15)["state"]
        for norm, ffn, kept, reach in (
            ("LayerNorm", "SwiGLU", 5, "all"),
            ("LayerNorm", "gelu", 0, "all"),
            ("LayerNorm", "gelu", 5, "window"),
            ("LayerNorm", "gelu", 5, "recurrence"),
        )
    ]
    full = numbers("LayerNorm", "gelu", 5, "all", 15)["state"]
    assert shares(page, ".lmbk-other") == pytest.approx(sorted(one / full for one in left), rel=1e-3)
    assert shares(page, ".lmbk-bet") == pytest.approx([left[2] / full], rel=1e-3)
    assert min(left) == left[3]
    assert f"The recurrence keeps least: {left[3] / 1e6:.2f} MB of {full / 1e9:.2f} GB" in said
    assert f"you said a window: {left[2] / 1e9:.2f} GB" in said
