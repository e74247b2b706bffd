"""Code on the site: long lines wrap, what is in columns keeps them, short pieces stay whole."""

import re

import pytest

from lmbook_press.site.features import code


def test_a_table_in_a_listing_keeps_its_columns():
    listing = '<div class="highlight-text notranslate"><div class="highlight"><pre><span></span>{}\n</pre></div></div>'
    row = "question          right  partly   wrong   error missing  manual  mean of"
    assert f'<span class="lm-columns">{row}\n</span>' in code.hang(listing.format(row))
    assert 'class="lm-line"' in code.hang(listing.format("  eve: the file is not a notebook; download it again as one"))


def test_a_long_line_of_code_wraps_and_is_copied_as_it_was():
    line = "    <span>print</span>(&quot;a line that is rather too long for a phone&quot;)"
    start = '<div class="highlight-ipython3 notranslate"><div class="highlight"><pre><span></span>'
    block = f"{start}x = 1\n{line}\n</pre></div>"
    html = code.hang(block)
    assert html.count("lm-line") == 1
    assert "style=--i:4" in html
    text = lambda page: re.sub(r"<[^>]+>", "", page)  # noqa: E731
    assert text(html) == text(block)


def test_the_columns_of_an_output_stay_unless_it_is_too_wide_for_any_screen():
    output = '<div class="output stream highlight-myst-ansi notranslate"><div class="highlight"><pre>{}\n</pre></div>'
    assert code.hang(output.format("a" * 70)) == output.format("a" * 70)
    assert "lm-line" in code.hang(output.format("word " * 30))
    assert "lm-line" in code.hang(output.format("the new loss is much lower than that of the table"))
    for columns in (
        "loss   1.38  1.40  1.52\nperplexity   3.97  4.06  4.57",
        "[[0 0 0 0 0 0 1 1 1 1]\n [0 0 0 0 0 0 0 1 1 1]]",
    ):
        assert code.hang(output.format(columns)) == output.format(columns)


def test_a_short_piece_of_code_stays_on_its_line():
    piece = '<code class="docutils literal notranslate"><span class="pre">{}</span></code>'
    assert "lm-whole" in code.hang(piece.format("-math.inf"))
    assert "lm-whole" in code.hang(piece.format("&quot;&lt;eos&gt;&quot;"))  # 7 characters
    for whole in ("torch.Tensor", "x" * 40, "-" * 15):
        assert "lm-whole" not in code.hang(piece.format(whole))


@pytest.mark.browser
def test_short_code_in_a_sentence_does_not_end_a_line_after_its_quote(visit):
    page = visit("book/homework/01-chain-rule.html", width=360)
    pieces = page.locator("article p > code .lm-whole")
    assert pieces.count() > 5
    lines = "(all) => all.map((piece) => new Set([...piece.getClientRects()].map((box) => Math.round(box.top))).size)"
    assert set(pieces.evaluate_all(lines)) == {1}
