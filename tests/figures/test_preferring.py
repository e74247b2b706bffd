"""YourPreferences: its numbers are those of DPO by autograd over all 27 sentences, and the page shows Python's."""

import pytest
import torch

from lmbook.figures import YourPreferences
from lmbook.figures.preferring import REF, SENTENCES, WORDS, numbers, pair, text
from lmbook.preferences import dpo_loss, optimum

CLICKS = "lrrlrllrlr"


def by_autograd(clicks, updates, beta):
    """ln pi of all sentences after as many steps of gradient descent on the mean of DPO's loss."""
    features = torch.zeros(27, 9, dtype=torch.double)
    for i, one in enumerate(SENTENCES):
        features[i, [3 * place + k for place, k in enumerate(one)]] = 1
    ref = torch.tensor(REF, dtype=torch.double).flatten().log()
    log_ref = features @ ref
    pairs = torch.tensor([pair(k) if click == "l" else pair(k)[::-1] for k, click in enumerate(clicks)])
    theta = torch.zeros(9, dtype=torch.double, requires_grad=True)
    for _ in range(updates):
        log_pi = torch.log_softmax(log_ref + features @ theta, 0)
        w, o = pairs.T
        loss = dpo_loss(log_pi[w], log_pi[o], log_ref[w], log_ref[o], beta).mean()
        (slope,) = torch.autograd.grad(loss, theta)
        theta = (theta - slope / beta**2).detach().requires_grad_()  # a step of 1 in the rewards beta theta
    return torch.log_softmax(log_ref + features @ theta, 0), log_ref, beta * features @ theta


@pytest.mark.parametrize(("updates", "beta"), [(1, 1.0), (60, 1.0), (40, 0.3)])
def test_the_model_is_that_of_dpo(updates, beta):
    now = numbers(CLICKS, updates, beta)
    log_pi, log_ref, r = by_autograd(CLICKS, updates, beta)
    assert now["sentences"] == pytest.approx(log_pi.exp().tolist(), abs=1e-9)
    assert now["sentences"] == pytest.approx(optimum(log_ref.exp(), r, beta).tolist(), abs=1e-9)
    assert now["kl"] == pytest.approx((log_pi.exp() * (log_pi - log_ref)).sum().item(), abs=1e-9)


def test_before_the_first_click_it_is_the_reference():
    now = numbers("", 400, 0.1)
    assert now["words"] == [pytest.approx(row) for row in REF]
    assert (now["kl"], now["agreed"]) == (pytest.approx(0, abs=1e-12), 0)


def test_pairs_differ_and_every_word_is_asked_about():
    pairs = [pair(k) for k in range(60)]
    assert all(a != b for a, b in pairs)
    assert {word for a, b in pairs for i in (a, b) for word in text(i).split()} == {
        *("the", "red", "old", "quiet", "dog", "boat", "tree", "sleeps", "waits", "sings")
    }


def test_the_page_shows_the_numbers_of_python(show):
    page = show(YourPreferences())
    group = page.get_by_role("group", name="Which is better?")
    clicks = "rlr"
    for k, click in enumerate(clicks):
        buttons = group.get_by_role("button")
        assert buttons.all_inner_texts() == [text(i) for i in pair(k)]
        buttons.nth("lr".index(click)).click()
    page.get_by_role("slider", name="β").fill("4")
    for updates in (37, 400):
        page.get_by_role("slider", name="Updates of the rewards").fill(str(updates))
        now = numbers(clicks, updates, 0.4)
        expected = [
            "< 0.01" if p < 0.005 else "> 0.99" if p > 0.995 else f"{p:.2f}" for row in now["words"] for p in row
        ]
        assert page.locator(".lm-bar-text").all_inner_texts() == expected
        says = page.locator(".lm-says").inner_text()
        assert f"{now['kl']:.2f} nats" in says
        assert page.get_by_text(f"agree with {now['agreed']} of 3 clicks").is_visible()
    page.get_by_role("button", name="Take back").click()
    page.get_by_role("button", name="Ten clicks for red").click()
    assert page.get_by_text("Pair 13: which is better?").is_visible()
    red = float(page.locator(".lm-bar-text").first.inner_text().strip("<> "))
    assert red > 0.5, "who clicks for red gets red"


def test_the_bet_is_the_word_that_ten_clicks_for_red_move_most(show):
    page = show(YourPreferences(clicks="rrllrl"), bets=True)
    page.get_by_role("button", name="Skip").click()
    said = page.locator(".lm-wager").inner_text()
    words = [word for row in WORDS[1:] for word in row]
    before = [p for row in numbers("rrllrl", 100, 1.0)["words"][1:] for p in row]
    after = [float(p.strip("<> ")) for p in page.locator(".lm-bar-text").all_inner_texts()[3:]]
    most = max(range(6), key=lambda k: abs(after[k] - before[k]))
    assert f"“{words[most]}” most: from {before[most]:.2f} to {after[most]:.2f}" in said


def test_the_bet_is_taken_in_the_picture(show):
    page = show(YourPreferences(clicks="rrllrl"), bets=True)
    page.get_by_label("Your bet").get_by_role("button", name="boat").click()
    now = numbers("rrllrl" + "".join("lr"[text(b).startswith("the red") and not text(a).startswith("the red")]
                                     for a, b in map(pair, range(6, 16))), 100, 1.0)  # fmt: skip
    assert page.locator(".lm-bar-text").first.inner_text() == f"{now['words'][0][0]:.2f}"
    rows = {row.inner_text().split()[0].rstrip(":"): row.inner_text() for row in page.locator(".lm-bar").all()}
    assert {word for word, row in rows.items() if "your bet" in row} == {"boat"}
    assert {word for word, row in rows.items() if "most" in row.split()} == {"sings"}
    page.get_by_role("button", name="Take back").click()
    assert page.get_by_text("your bet").count() == 0
