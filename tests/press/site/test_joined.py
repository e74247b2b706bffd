"""What the build makes light: one file of stylesheets, one of scripts, no idle rules, short paths."""

import base64
import re

import numpy as np
import pytest
from fontTools.pens.recordingPen import RecordingPen
from fontTools.svgLib.path import parse_path

from lmbook_press.site.features import assets, joined


def test_rules_for_classes_nobody_uses_go():
    css = '@charset "UTF-8";:root{--a:1}.a,.b.c{x:y}.b>.a:not(.z){x:"{"}@media print{.c{x:y}.a{x:y}}@media all{.c{x:y}}'
    css += ".bs-tooltip-auto{x:y}@font-face{src:url(a.woff2)}/* .a{ */[class*=z]{x:y}"
    trimmed = '@charset "UTF-8";:root{--a:1}.a{x:y}.b>.a:not(.z){x:"{"}@media print{.a{x:y}}'
    trimmed += ".bs-tooltip-auto{x:y}@font-face{src:url(a.woff2)}[class*=z]{x:y}"
    assert joined.trim_rules(css, {"a", "b"}) == trimmed
    assert (
        "".join(f"{head}{{{body}}}" for head, body in joined.rules("a{b:c}@media x{d{e:f}}"))
        == "a{b:c}@media x{d{e:f}}"
    )


def test_custom_properties_that_nobody_reads_go():
    css = "a{--one:1;--two:var(--one);--three:url('x;--y:1');x:y}b{--four:2}"
    css += ".c--d:hover{x:var(--six, 1);--five:var( --two)}"
    trimmed = "a{--one:1;--two:var(--one);x:y}b{}.c--d:hover{x:var(--six, 1);--five:var( --two)}"
    assert joined.trim_properties(css, {"--five"}) == trimmed
    assert joined.trim_properties(css, set()) == "a{x:y}b{}.c--d:hover{x:var(--six, 1);}", "nor what they alone read"
    assert "--three:url('x;--y:1');" in joined.trim_properties(css, {"--three"})


def test_paths_drawn_step_by_step_are_the_same_paths():
    numbers = np.random.default_rng(0).uniform(-900, 900, (200, 2)).round(2)
    middle = "".join(f"L {x:g} {y:g} " for x, y in numbers)
    box = "M 1.5 2 L 9 2 L 9 -0.25 L 1.5 -0.25 z "
    for path in (f"M 0 0 {middle}", f"{box}{box}M 3 4 {middle}z M 7 7.01 L 7 8 ", "M 0.1 0.2 L 0.3 0.2 L 0.3 0.2 "):
        (short,) = re.findall('^ d="(.*)"$', assets.POINTS.sub(assets.short_path, f' d="{path}"'))
        drawn = []
        for text in (path, short):
            parse_path(text, pen := RecordingPen())
            drawn.append(pen.value)
        assert len(short) < len(path)
        assert [step for step, _ in drawn[0]] == [step for step, _ in drawn[1]]
        points = [[point for _, points in one for point in points] for one in drawn]
        np.testing.assert_allclose(points[1], points[0], atol=1e-6)
    curve = ' d="M 1 2 C 1 2 3 4 5 6 "'
    assert assets.POINTS.sub(assets.short_path, curve) == curve


def test_a_page_has_one_stylesheet_which_pages_share(tmp_path):
    static = tmp_path / "_static"
    sheets = {
        "styles/theme.css": '@import "../basic.css";',
        "basic.css": ".a{x:y}.gone{x:y}",
        "lmbook.css": ".late{x:y}",
    }
    sheets["maths/m.css"] = ".b{src:url(fonts/f.woff2)}.c{src:url('data:x')}.d{src:url(../up.png)}"
    for name, css in sheets.items():
        (static / name).parent.mkdir(parents=True, exist_ok=True)
        (static / name).write_text(css)
    link = '<link rel="stylesheet" type="text/css" href="{0}_static/{1}?v=1" />\n'
    first = '<link href="{0}_static/styles/theme.css" rel="stylesheet" />\n'
    pages = {"a.html": ("", ["lmbook.css"]), "deep/b.html": ("../", ["maths/m.css", "lmbook.css"]), "c.html": ("", [])}
    for name, (up, names) in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        links = first.format(up) + "".join(link.format(up, one) for one in names) if names else ""
        (tmp_path / name).write_text(f"<head>\n{links}<title>x</title></head>")
    for _ in range(2):  # a second build finds pages that it need not write anew
        joined.one_sheet(tmp_path, {"a", "b", "c", "d"})
        found = {name: joined.SHEET.findall((tmp_path / name).read_text()) for name in pages}
        assert [len(found[name]) for name in pages] == [1, 1, 0]
        (base, one), (below, other) = found["a.html"][0], found["deep/b.html"][0]
        assert (base, below, one) == ("_static/", "../_static/", other)
        css = (static / one).read_text().split()
        assert css[0] == ".a{x:y}", "imported, and without what no page uses"
        assert css[1] == ".b{src:url(maths/fonts/f.woff2)}.c{src:url('data:x')}.d{src:url(up.png)}"
        assert css[2] == ".late{x:y}", "ours is as it was, in its place"
    (static / "lmbook.css").write_text(".late{x:z}")
    before = (tmp_path / "a.html").read_text()
    joined.one_sheet(tmp_path, {"a"})
    assert (tmp_path / "a.html").read_text() != before, "a new address for a new sheet"


def test_a_stylesheet_is_asked_for_before_fonts_and_holds_those_of_icons(tmp_path):
    icons = "vendor/fontawesome/webfonts/fa-solid-900.woff2"
    (tmp_path / "_static" / icons).parent.mkdir(parents=True)
    (tmp_path / "_static" / icons).write_bytes(b"icons")
    (tmp_path / "_static/lmbook.css").write_text(f"@font-face{{src:url({icons})}}.a{{src:url(x.woff2)}}")
    font = '<link rel="preload" href="_static/x.woff2" as="font">\n'
    page = tmp_path / "a.html"
    page.write_text(f'{font}{font}<script>1</script><link rel="stylesheet" href="_static/lmbook.css"><title>x</title>')
    for _ in range(2):
        joined.one_sheet(tmp_path, set())
        parts = re.findall(r"rel=\"(\w+)|<(script|title)", page.read_text())
        assert [a or b for a, b in parts] == ["script", "stylesheet", "preload", "preload", "title"]
    (css,) = (tmp_path / "_static").glob("book-*.css")
    data = base64.b64encode(b"icons").decode()
    assert css.read_text().strip() == f"@font-face{{src:url(data:font/woff2;base64,{data})}}.a{{src:url(x.woff2)}}"


def test_scripts_that_follow_each_other_are_one_file_in_their_order(tmp_path):
    static = tmp_path / "_static"
    (static / "scripts").mkdir(parents=True)
    for name in ("a.js", "b.js", "scripts/c.js"):
        (static / name).write_text(f"(() => 'script {name}')()")
    tag = '<script defer src="../_static/{}"></script>\n'
    module = '<script type="module" src="../_static/m.mjs"></script>\n'
    index = '<script defer src="../searchindex.js"></script>\n'
    page = tmp_path / "deep" / "a.html"
    page.parent.mkdir()
    several = tag.format("a.js?v=1") + tag.format("scripts/c.js") + module + tag.format("b.js") + index
    page.write_text(f"{several}<p>")
    for change in ("", "// changed"):  # a second build, which has not written the page anew
        (static / "a.js").write_text(f"(() => 'script a.js')(){change}")
        joined.one_script(tmp_path)
        addresses = re.findall(r'src="\.\./([^"?]*)', page.read_text())
        assert addresses[1:] == ["_static/m.mjs", "_static/b.js", "searchindex.js"]
        both = f"(() => 'script a.js')(){change}", "(() => 'script scripts/c.js')()"
        assert (tmp_path / addresses[0]).read_text() == "".join(map(joined.alone, both))
    lost = page.read_text()
    (static / "a.js").unlink()
    joined.one_script(tmp_path)
    assert page.read_text() == lost


@pytest.mark.browser
def test_a_script_that_fails_ends_alone_and_is_told(page):
    told = []
    page.on("pageerror", lambda error: told.append(str(error)))
    scripts = (
        "const A = 1;\nthrow new Error('told')",
        "'use strict';\nlet b = () => A + c();\nfunction c() { return 1 }\n// end",
    )
    page.set_content(
        f"<script>{''.join(map(joined.alone, scripts))}</script><script>window.all = [A, b(), c()]</script>"
    )
    assert page.evaluate("window.all") == [1, 2, 1], "what they declare is there for scripts that follow"
    assert told == ["told"]
