"""DraftAndCheck: its numbers are those of the models, its rule is the book's, the page writes what Python does."""

import pytest
import torch
from test_serving import chi_squared

from lmbook.figures import DraftAndCheck
from lmbook.figures.draft import DRAFTS, LETTERS, PLACE, TARGET, written
from lmbook.lab import checkpoints
from lmbook.serving import accepted_share, tokens_a_round


def test_the_bars_are_the_models_of_the_book():
    for name, shown in (("shakespeare", TARGET), ("shakespeare-gru", DRAFTS["GRU"])):
        model, letters, _ = checkpoints.load(name)
        model.eval()
        with torch.no_grad():
            p = model(torch.tensor([letters.encode(PLACE)]))[0, -1].softmax(-1)
        own = [p[letters.encode(x)[0]].item() for x in LETTERS[:-1]]
        assert shown == pytest.approx([*own, 1 - sum(own)], abs=0.0021)
    for q in (TARGET, *DRAFTS.values()):
        assert sum(q) == pytest.approx(1)


@pytest.mark.parametrize("draft", DRAFTS)
def test_what_is_written_is_the_targets(draft):
    counts, kept = written(draft, 14)
    assert chi_squared(counts, [2**14 * p for p in TARGET]) > 0.01
    p, q = torch.tensor([TARGET, DRAFTS[draft]], dtype=torch.double)
    beta = accepted_share(p, q).item()
    assert DraftAndCheck(draft=draft).beta() == pytest.approx(beta)
    assert kept / 2**14 == pytest.approx(beta, abs=0.02)


def test_the_page_writes_what_python_writes(show):
    page = show(DraftAndCheck())
    for draft, name, letters, gamma in (("even", "all letters alike", 7, 2), ("stubborn", "nearly always h", 12, 8)):
        page.get_by_role("group", name="The draft").get_by_text(name, exact=True).click()
        page.get_by_role("slider", name="Letters written").fill(str(letters))
        page.get_by_role("slider", name="Drafts a round").fill(str(gamma))
        counts, kept = written(draft, letters)
        n = 2**letters
        shown = [float(text.removesuffix(" %")) for text in page.locator(".lm-bar-text").all_inner_texts()[6:12]]
        assert shown == pytest.approx([100 * c / n for c in counts], abs=0.051)
        marks = page.locator(".lm-bar-track > .lm-mark:not(.lm-pin)").evaluate_all(
            "(all) => all.map((one) => parseFloat(one.style.left.slice(5)))"
        )
        assert marks[:12] == pytest.approx([100 * p for p in TARGET] * 2)
        said = page.locator(".lm-says").inner_text()
        tokens = tokens_a_round(DraftAndCheck(draft=draft).beta(), gamma)
        assert f"{100 * kept / n:.1f}" in said
        assert f"{tokens:.2f}" in said


def test_the_bet_is_what_is_written_and_its_bars_are_on_equal_tracks(show):
    page = show(DraftAndCheck(draft="stubborn"), bets=True)
    page.get_by_role("button", name="Bet", exact=True).click()
    counts, _ = written("stubborn", 10)
    share = 100 * counts[4] / 1024
    assert f"{share:.1f} % of the 1,024 letters" in page.locator(".lm-wager").inner_text()
    assert f"50 %, {50 - share:.0f} points away" in page.locator(".lm-wager").inner_text()
    wide = page.locator(".lm-bar-track").evaluate_all("(all) => all.map((one) => one.offsetWidth)")
    assert len(set(wide)) == 1
