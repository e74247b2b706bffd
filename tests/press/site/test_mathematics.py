"""Where a formula may be cut, and what stays together in it."""

import re

from lmbook_press.site.features import mathematics


def test_a_formula_is_cut_between_its_groups_only():
    assert mathematics.cut(r"a \quad {b \quad c} \qquad d", "quad") == ["a", r"{b \quad c}", "d"]
    assert mathematics.cut(r"a &= \begin{matrix} 1 & 2 \end{matrix} \\ b", "row")[1] == "b"
    assert mathematics.cut(r"\left( x \\ y \right) \leftarrow z", "row") == [r"\left( x \\ y \right) \leftarrow z"]


def test_rows_and_statements_of_a_formula_can_stand_alone():
    html = mathematics.pieces(r"\begin{aligned} a &= b \\ &= c, \qquad d \end{aligned}")
    assert (html.count('class="lm-row"'), html.count('class="lm-cell"'), html.count('class="lm-piece"')) == (2, 4, 2)
    assert html.count("<math ") == 4  # a, = b, {} = c and d; the empty cell has none
    assert mathematics.pieces("a = b") == mathematics.render("a = b", display=True)


def test_a_condition_stays_with_its_bar():
    html = mathematics.render(r"P(y \mid x) = 1")
    assert html.count('class="base"') == 2  # it may break behind "=" alone
    assert "<mi>y</mi><mo>∣</mo><mi>x</mi>" in html  # and is read as it was


def test_a_short_bracket_stays_on_one_line():
    kept = re.compile(r'<span class="lm-kept">(.*?)(?=<span class="lm-kept">|$)')
    html = mathematics.pieces(
        r"h = m f(x) + (1 - m) h, \qquad y = (a + b + c + d + e + f + g + h + i + j + k + l + m + n)"
    )
    assert html.count('class="lm-kept"') == 1
    assert re.sub(r"<[^>]+>", "", kept.search(html)[1]).replace("\u200b", "").startswith("(1−m)h")
    assert html.count("<span") == html.count("</span>")
    assert html.count('class="base"') == 19  # nothing is lost
