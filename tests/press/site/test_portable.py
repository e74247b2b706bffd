"""The book to carry away: scripts in place of modules, one document for paper, an EPUB whose parts belong together."""

import re
import zipfile
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from lxml import etree, html

from lmbook.figures import bundle
from lmbook_press.editions import articles, epub, index, offline, pdf

ROOT = Path(__file__).parents[3]
BASE = "https://example.org/book/"
ORDER = articles.order  # which some_pages replaces
SOME = [
    ("book/index", ""),
    ("notebooks/07-long-memory", "Part II"),
    ("notebooks/08-rnn-tasks", ""),
    ("book/glossary", "R"),
    ("book/results", ""),
]


@pytest.fixture(scope="module")
def some_pages():
    """Five pages stand for all; reading the whole book takes several seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(articles, "order", lambda root: SOME)
        yield


def test_the_book_is_what_the_contents_say_but_for_the_homework():
    found = ORDER(ROOT)
    names = [name for name, _ in found]
    assert [name for name in names if name.startswith("notebooks/")] == sorted(
        f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")
    )
    assert not any("homework/" in name for name in names)
    assert sum(bool(part) for _, part in found) == 8


# --- the disk ------------------------------------------------------------------------------------------------------


def test_no_script_for_the_disk_asks_for_a_module_or_a_server():
    page, reading, today = ((ROOT / f"book/_static/{name}.mjs").read_text() for name in ("page", "reading", "today"))
    scripts = offline.figures() | {"page.js": offline.plain(page), "reading.js": offline.reading(reading)}
    scripts["today.js"] = offline.today(today)
    assert {f"{name}.js" for name in bundle.served() if name.endswith("tensors")} < set(scripts)
    for name, text in scripts.items():
        if name.endswith(".safetensors.js"):  # weights, as letters
            continue
        assert not re.search(r"^\s*(import|export)\b|import\(|import\.meta|\bfetch\(", text, re.MULTILINE), name
    assert '"./writer.' in scripts["mount.js"]


def test_what_has_changed_its_form_is_noticed():
    with pytest.raises(ValueError, match="offline"):
        offline.mount(bundle.source("mount").replace("import(", "bring("))
    with pytest.raises(ValueError, match="offline"):
        offline.reading("const load = (url) => get(url);")
    with pytest.raises(ValueError, match="offline"):
        offline.today("const load = (url) => get(url);")


@pytest.mark.browser
def test_the_books_own_fonts_are_seen_from_a_disk(new_context, site, tmp_path):
    (tmp_path / "lmbook.css").write_text(offline.stylesheet(site / "_static/lmbook.css"))
    words = "<link rel='stylesheet' href='lmbook.css'><body class='bd-article'><p>Words of the book</p>"
    (tmp_path / "page.html").write_text(f"<!DOCTYPE html><html data-theme='light'>{words}")
    page = new_context().new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
    tools = page.context.new_cdp_session(page)
    tools.send("DOM.enable")
    tools.send("CSS.enable")
    root = tools.send("DOM.getDocument")["root"]["nodeId"]
    words = tools.send("DOM.querySelector", {"nodeId": root, "selector": "p"})["nodeId"]
    used = tools.send("CSS.getPlatformFontsForNode", {"nodeId": words})["fonts"]
    assert [font["familyName"] for font in used] == ["Book Serif"]


# --- paper ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paper(site, some_pages):
    return pdf.document(ROOT, site, "Title", "Author", BASE, {"answers": 7})


def test_paper_has_all_links_inside_answers_at_the_end_and_no_scripts(site, paper):
    text = paper
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    inside = set(map(unquote, re.findall(r'href="#([^"]+)"', text)))
    assert inside - set(ids) == set()
    assert len(inside) > 50
    chapters, answers = text.split('id="answers"')
    assert "<script" not in text
    assert "katex-mathml" not in text
    assert "Solution to" not in chapters
    pages = [(site / f"{name}.html").read_text() for name, _ in SOME]
    assert answers.count("Solution to Exercise") == sum(page.count('id="solution-ex-') for page in pages) > 5
    assert f"{BASE}notebooks/07-long-memory.html" in text  # where the figures are alive
    levels = [int(level) for level in re.findall(r"<h([1-6])", text)]
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_exercise_and_solution_lead_to_each_other_with_the_page(site, some_pages):
    places = {"notebooks-07-long-memory--ex-7-1": 139, "notebooks-07-long-memory--solution-ex-7-1": 549}
    tree = html.fromstring(pdf.document(ROOT, site, "Title", "Author", BASE, places))
    for place, words in zip(places, ("Solution, page 549", "Exercise, page 139"), strict=True):
        (link,) = tree.get_element_by_id(place).find_class("lm-there")
        assert link.text == words
        assert link.get("href")[1:] in set(places) - {place}
    exercises = [one for one in tree.xpath("//div[contains(@class, 'exercise')]") if "--ex-" in (one.get("id") or "")]
    assert len(exercises) > 10
    assert all(len(one.find_class("lm-there")) == 1 for one in exercises)


def test_the_contents_have_the_sections_of_chapters(site, paper):
    chapter = html.fromstring((site / "notebooks/07-long-memory.html").read_text())
    titles = [" ".join(one.text_content().split()).rstrip("#") for one in chapter.xpath("//article//section/h2")]
    listed = {one.text_content().strip() for one in html.fromstring(paper).find_class("lm-contents-section")}
    assert len(set(titles) - pdf.EVERY) > 5
    assert set(titles) - pdf.EVERY <= listed
    assert not listed & pdf.EVERY


def test_the_index_has_terms_names_and_headings_at_places_that_exist(site, some_pages):
    pages = articles.read(ROOT, site, BASE, "drawn", lambda page, place: f"#{place or articles.slug(page)}")[1:]
    found = index.entries(pages, {})
    by_words = {entry["words"]: entry for entry in found}
    ids = {one.get("id") for page in pages for one in page.body.iter() if one.get("id")}
    assert {place for entry in found for place, _ in entry["places"]} <= ids
    assert [one["words"].casefold() for one in found] == sorted(one["words"].casefold() for one in found)
    assert len(by_words) > 150, "the whole book, of which five pages are read here, has more than 400"
    assert len(by_words["Spectral radius"]["places"]) >= 2
    assert by_words["LSTMCell"]["code"]
    twice = ("torch.nn.", "nn.functional.")  # nn.X and torch.nn.X are one thing
    assert not [words for words in by_words if words.startswith(twice)]
    assert [one["words"][0].casefold() for one in found if one["first"]] == sorted(
        {one["words"][0].casefold() for one in found}
    )
    dotted = next(one for one in found if one["words"].startswith("nn."))
    assert dotted["parts"][0] == "nn."
    assert "".join(dotted["parts"]) == dotted["words"]
    numbers = dict.fromkeys(ids, 5)
    assert all(len(entry["places"]) == 1 for entry in index.entries(pages, numbers)), "a page is named once"


def test_the_whole_index_has_over_400_entries(site, monkeypatch):
    monkeypatch.setattr(articles, "order", ORDER)
    pages = articles.read(ROOT, site, BASE, "drawn", lambda page, place: f"#{place or articles.slug(page)}")[1:]
    found = index.entries(pages, {})
    assert len(found) >= 400
    assert sum(entry["code"] for entry in found) < 0.5 * len(found)
    assert max(len(entry["places"]) for entry in found) <= len(list((ROOT / "notebooks").glob("??-*.ipynb")))


@pytest.mark.browser
def test_a_printed_file_says_whose_it_is(browser, tmp_path):
    from pypdf import PdfReader

    page = tmp_path / "page.html"
    page.write_text("<h1 id='here'>Part</h1><a href='#here'>a</a><h1>1. 1. Part onePart one</h1><h1>Perplexity</h1>")
    pdf.print_to(tmp_path / "out.pdf", page.as_uri())
    pdf._describe(tmp_path / "out.pdf", "The title", "An author")
    read = PdfReader(tmp_path / "out.pdf")
    assert (read.metadata.title, read.metadata.author, read.metadata.subject) == ("The title", "An author", pdf.SUBJECT)
    assert [mark.title for mark in read.outline] == ["Part", "1. Part one", "Perplexity"]
    assert "/StructTreeRoot" in read.root_object


def test_the_cover_has_the_picture_of_every_chapter(paper):
    cover = html.fromstring(paper).xpath("//section[contains(@class, 'lm-cover')]")[0]
    chapters = list((ROOT / "notebooks").glob("??-*.ipynb"))
    assert len(cover.xpath(".//*[contains(@class, 'lm-picture')]/svg")) == len(chapters) == 24
    assert not cover.xpath(".//li|.//*[contains(@class, 'lm-question')]")  # the pictures alone


def _table(columns, rows, cell=str):
    cells = "".join(f"<th>h{i}</th>" for i in range(columns))
    lines = "".join("<tr>" + f"<td>{cell(j)}</td>" * columns + "</tr>" for j in range(rows))
    return html.fromstring(f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>")


def test_a_table_wider_than_a_page_is_turned():
    wide = _table(14, 2, "number{}".format)
    articles._fit(wide)
    found = [[(cell.tag, cell.text) for cell in row] for row in wide.iter("tr")]
    assert found[0] == [("th", "h0"), ("th", "number0"), ("th", "number1")]
    assert found[13] == [("th", "h13"), ("td", "number0"), ("td", "number1")]
    assert [part.tag for part in wide] == ["thead", "tbody"]
    assert not wide.get("class")
    for kept in (_table(12, 2), _table(14, 20, "number{}".format)):
        before = [cell.text for cell in kept.iter("th")]
        articles._fit(kept)
        assert [cell.text for cell in kept.iter("th")] == before


def test_names_of_code_in_a_wide_table_break_between_their_words_only():
    wide = _table(6, 6, lambda row: "<code>AttentionSeq2Seq</code> and vocab_source, d_a 0.01")
    articles._fit(wide)
    assert articles.written(wide.find(".//td")) == (
        "<td><code>Attention<wbr>Seq2Seq</code> and vocab_<wbr>source, d_a 0.01</td>"
    )
    assert wide.find(".//td").text_content() == "AttentionSeq2Seq and vocab_source, d_a 0.01"
    narrow = _table(2, 2, lambda row: "AttentionSeq2Seq")
    articles._fit(narrow)
    assert narrow.find(".//wbr") is None


@pytest.mark.parametrize(
    ("cell", "marks"), [("1.5 (1.2 to 1.8)", None), ("10.5 (90.2 to 110.8)", "lm-many"), ("x" * 24, "lm-crowded")]
)
def test_a_table_has_letters_that_a_page_holds_and_keeps_ranges_whole(cell, marks):
    row = f"<td class='lm-number'>{cell}</td>" * 6
    fitted = html.fromstring(f"<table><tbody>{f'<tr>{row}</tr>' * 6}</tbody></table>")
    articles._fit(fitted)
    assert (fitted.get("class") or "").split()[-1:] == ([marks] if marks else [])
    first = fitted.find(".//td").text
    assert first.replace("\u00a0", " ") == cell
    assert len(first.split(" ")) == 1 + ("(" in cell)  # it breaks before the range


def test_the_tex_behind_a_formula_does_not_make_a_table_wide():
    formula = "<math><semantics><mi>x</mi><annotation>\\operatorname{something}</annotation></semantics></math>"
    assert articles._letters(_table(3, 1, lambda row: formula)) == 3 * (len("h0") + 2)


def test_only_long_code_may_go_on_on_the_next_page(paper):
    blocks = html.fromstring(paper).findall(".//pre")
    long = ["lm-long" in (block.get("class") or "") for block in blocks]
    assert long == [len(block.text_content().splitlines()) > pdf.LONG for block in blocks]
    assert 0 < sum(long) < len(long)


@pytest.mark.browser
def test_chromium_prints_with_bookmarks_and_knows_the_page_of_each_place(browser, tmp_path):
    page = tmp_path / "page.html"
    links = "<a href='#here'>a</a> <a href='#there'>b</a> <a href='#nowhere'>c</a>"
    page.write_text(f"<h1 id='here'>Part</h1>{links}<h2 id='there' style='break-before: page'>Chapter</h2>")
    pdf.print_to(tmp_path / "out.pdf", page.as_uri())
    data = (tmp_path / "out.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", data)) == 2
    assert b"/Outlines" in data
    assert pdf.leaves(tmp_path / "out.pdf") == {"here": 1, "there": 2}


@pytest.mark.browser
def test_a_chapter_that_ends_with_a_nearly_empty_page_is_found(browser, tmp_path):
    """Pages of 40 lines: the first chapter has 3 lines on its last page, the second 30, the third one page alone."""
    look = "@page { size: 400px 800px; margin: 0 } p { margin: 0; line-height: 20px } div { break-before: page }"
    counts = {"first": 43, "second": 70, "third": 3}
    texts = [f"<div id='{name}'>{'<p>line</p>' * count}</div>" for name, count in counts.items()]
    links = "".join(f"<a href='#{name}'>a</a>" for name in counts)
    (tmp_path / "page.html").write_text(f"<style>{look}</style>{links}{''.join(texts)}")
    pdf.print_to(tmp_path / "out.pdf", (tmp_path / "page.html").as_uri(), draft=True)
    assert pdf.leaves(tmp_path / "out.pdf") == {"first": 2, "second": 4, "third": 6}
    assert pdf.short_ends(tmp_path / "out.pdf", [*counts, "elsewhere"]) == {"first"}


@pytest.mark.browser
@pytest.mark.parametrize("first", ["a = 1", "<span class='lm-line'>a = 1</span>"])
def test_no_strip_of_a_box_is_left_where_its_code_begins_on_the_next_page(new_context, site, first):
    """The box begins where its first line does: nothing of its own stands above that line, where a page could end."""
    code = f"<pre class='lm-long'><span></span>{first}{'<br>b = 2' * 20}</pre>"
    box = f"<div class='cell'><div class='cell_input'><div class='highlight-x'><div class='highlight'>{code}"
    styles = "".join(f'<link rel="stylesheet" href="_static/{name}">' for name in pdf.STYLES)
    (site / pdf.NAME).write_text(f"{styles}<body class='lm-book'><article class='bd-article'>{box}")
    page = new_context(viewport={"width": 627, "height": 900}).new_page()
    page.emulate_media(media="print")
    try:
        page.goto((site / pdf.NAME).as_uri())
    finally:
        (site / pdf.NAME).unlink()
    above = """() => {
      const found = [];
      for (let box = document.querySelector(".lm-line") ?? document.querySelector("pre");
           !box.matches("article"); box = box.parentElement) {
        const style = getComputedStyle(box);
        const whole = box.matches(".lm-line") && style.breakInside === "avoid";
        if (!whole && (parseFloat(style.paddingTop) || parseFloat(style.borderTopWidth))) found.push(box.className);
        if (style.display === "flex") found.push("flex");
      }
      return found.concat([...document.querySelectorAll("pre > span:empty")].filter((one) => one.getClientRects()[0]));
    }"""
    assert page.evaluate(above) == []


@pytest.mark.browser
def test_no_page_begins_or_ends_with_a_few_lines_of_long_code(new_context, site, tmp_path):
    from pypdf import PdfReader

    lines = "".join(f"<span class='lm-line'>line {at}\n</span>" for at in range(20))
    code = f"<div class='highlight'><pre class='lm-long'><span></span>{lines}</pre></div>"
    box = f"<div class='cell'><div class='cell_input'>{code}</div></div>"
    above = [f"<div style='break-before: page; height: {high}px'></div>" for high in range(400, 980, 40)]
    styles = "".join(f'<link rel="stylesheet" href="_static/{name}">' for name in pdf.STYLES)
    (site / pdf.NAME).write_text(f"{styles}<body class='lm-book'><article class='bd-article'>{box.join([*above, ''])}")
    page = new_context().new_page()
    try:
        page.goto((site / pdf.NAME).as_uri())
        page.pdf(path=tmp_path / "out.pdf", prefer_css_page_size=True)
    finally:
        (site / pdf.NAME).unlink()
    shown = [len(re.findall(r"line \d+", one.extract_text())) for one in PdfReader(tmp_path / "out.pdf").pages]
    assert sum(shown) == 20 * len(above)
    assert len([count for count in shown if 0 < count < 20]) > 6, "some are parted"
    assert min(filter(None, shown)) >= 5


@pytest.mark.browser
def test_nothing_is_wider_than_paper(new_context, site, paper):
    """One thing that is too wide would have Chromium print the whole book in smaller letters."""
    (site / pdf.NAME).write_text(paper)
    page = new_context(viewport={"width": 627, "height": 900}).new_page()  # 166 mm
    page.set_default_timeout(120_000)
    page.emulate_media(media="print")
    try:
        page.goto((site / pdf.NAME).as_uri())
    finally:
        (site / pdf.NAME).unlink()
    page.add_style_tag(content=".lm-page { overflow: visible !important }")
    wide = """() => [...document.querySelectorAll("article :is(table, pre, figure, .lm-scroll, p)")]
      .filter((box) => box.getBoundingClientRect().right > innerWidth + 2).map((box) => box.outerHTML.slice(0, 150))"""
    assert page.evaluate(wide) == []
    assert page.locator(".lm-number").count() > 50
    assert page.locator(".lm-contents .lm-leaf").inner_text() == "7"


# --- EPUB ----------------------------------------------------------------------------------------------------------

OPF = {"o": "http://www.idpf.org/2007/opf", "h": "http://www.w3.org/1999/xhtml"}


@pytest.fixture(scope="module")
def unpacked(site, some_pages, tmp_path_factory):
    book = tmp_path_factory.mktemp("epub") / "book.epub"
    archive = zipfile.ZipFile(epub.write_epub(book, ROOT, site, "Title", "Author", BASE))
    return archive, {name: archive.read(name) for name in archive.namelist()}


def test_an_epub_is_put_together_as_readers_expect(unpacked):
    archive, files = unpacked
    first = archive.infolist()[0]
    assert (first.filename, first.compress_type, files["mimetype"]) == ("mimetype", 0, b"application/epub+zip")
    package = etree.fromstring(files["book/book.opf"])
    listed = {item.get("href"): item for item in package.iterfind(".//o:item", OPF)}
    assert {f"book/{name}" for name in listed} == files.keys() - {"mimetype", "META-INF/container.xml", "book/book.opf"}
    ids = [item.get("id") for item in listed.values()]
    assert len(set(ids)) == len(ids)
    assert {item.get("idref") for item in package.iterfind(".//o:itemref", OPF)} < set(ids)
    for name, item in listed.items():
        text = files[f"book/{name}"]
        marks = (item.get("properties") or "").split()
        if name.endswith(".xhtml"):
            assert ("mathml" in marks, "svg" in marks) == (b"<math" in text, b"<svg" in text), name


def test_links_pictures_and_ids_of_an_epub_are_there(unpacked):
    _, files = unpacked
    trees = {name[5:]: etree.fromstring(data) for name, data in files.items() if name.endswith(".xhtml")}
    ids = {name: [node.get("id") for node in tree.iter() if node.get("id")] for name, tree in trees.items()}
    links = 0
    for name, tree in trees.items():
        assert len(set(ids[name])) == len(ids[name]), name
        assert tree.find(".//h:script", OPF) is None
        for node in tree.iter():
            assert not any(key.startswith("on") for key in node.attrib)
            for link in (node.get("href"), node.get("src")):
                assert not link or " " not in link
                if link and not re.match(r"https?:|mailto:|data:", link):
                    page, _, place = link.partition("#")
                    links += 1
                    assert f"book/{page or name}" in files, (name, link)
                    assert not place or unquote(place) in ids[page or name], (name, link)
            if node.tag.endswith("}img"):
                assert node.get("alt")
            if node.tag.endswith("}figcaption"):
                assert node.getnext() is None  # or it is not XHTML
    assert links > 100
    assert b"viewBox" in files["book/notebooks-07-long-memory.xhtml"]
    assert b'<math xmlns="http://www.w3.org/1998/Math/MathML"' in files["book/notebooks-07-long-memory.xhtml"]
    assert not re.search(
        rb":(?:is|where|has)\(", files["book/book.css"]
    )  # older checkers and readers know none of these


def test_drawings_of_an_epub_keep_the_names_that_svg_has(site, unpacked):
    """XHTML tells patternUnits from patternunits; with the latter, bars are drawn where there are none."""
    camel = re.compile(r"\s([a-z]+[A-Z]\w*)=")
    drawings = re.findall(r"<svg.*?</svg>", (site / "notebooks/07-long-memory.html").read_text(), re.DOTALL)
    known = {name for drawing in drawings for tag in re.findall(r"<[^>]*>", drawing) for name in camel.findall(tag)}
    assert {"viewBox"} <= known <= set(epub.SVG_NAMES.values())
    made = html.fragment_fromstring('<svg><pattern patternUnits="u" patternTransform="t"/><linearGradient/></svg>')
    page = articles.Page("a/b", "T", "", html.fragment_fromstring("<div></div>"))
    page.body.append(made)
    text = epub._xhtml(page)
    assert 'patternUnits="u"' in text
    assert "patternTransform" in text
    assert "<linearGradient" in text


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 420])
def test_plots_and_tables_of_an_epub_fit_a_phone(new_context, unpacked, tmp_path, width):
    for name, data in unpacked[1].items():
        (tmp_path / name.split("/")[-1]).write_bytes(data)
    page = new_context(viewport={"width": width, "height": 800}).new_page()
    for name in ("notebooks-07-long-memory", "notebooks-08-rnn-tasks"):
        page.goto((tmp_path / f"{name}.xhtml").as_uri())
        boxes = page.locator("svg, img, table").evaluate_all(
            "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML)"
        )
        assert [box[:120] for box in boxes] == []
        assert page.locator("figure svg").count() > 3
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "no address either"


@pytest.mark.parametrize(("signs", "stacked"), [(8, False), (30, True)])
def test_a_table_of_wide_formulae_has_its_cells_below_one_another_on_a_phone(signs, stacked):
    cell = f"<td><math><mi>{'x' * signs}</mi><annotation>{'y' * 99}</annotation></math></td>"
    heads = "<thead><tr><th>layer</th><th>path</th><th>memory</th></tr></thead>"
    table = html.fromstring(f"<table>{heads}<tbody><tr><th>GRU</th>{cell}{cell}</tr></tbody></table>")
    epub._stack(table)
    assert (table.get("class") == "lm-stacked") == stacked
    assert table.xpath("//td/@data-head") == (["path: ", "memory: "] if stacked else [])


@pytest.mark.parametrize(("columns", "kind", "stacked"), [(7, "lm-many", True), (6, "lm-many", False), (7, "", False)])
def test_a_table_of_many_columns_that_say_much_is_stacked_too(columns, kind, stacked):
    heads, cells = ("".join(f"<{tag}>{at}</{tag}>" for at in range(columns)) for tag in ("th", "td"))
    body = f"<thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody>"
    table = html.fromstring(f"<table class='{kind}'>{body}</table>")
    epub._stack(table)
    assert ("lm-stacked" in table.get("class")) == stacked


def test_formulae_of_an_epub_are_mathml_as_its_standard_has_it(unpacked):
    _, files = unpacked
    tree = etree.fromstring(files["book/notebooks-07-long-memory.xhtml"])
    counted = {"msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3, "mfrac": 2, "mroot": 2}
    seen = set()
    for cell in tree.xpath("//*[@class='lm-cell' or @class='lm-piece']"):  # side by side, so none is a block
        assert not cell.xpath(".//*[local-name()='math' and @display]")
    for node in tree.iter("{http://www.w3.org/1998/Math/MathML}*"):
        assert node.get("mathvariant") not in ("double-struck", "script")
        name = etree.QName(node).localname
        seen.add(name)
        if name in ("mi", "mo", "mn", "mtext"):
            assert len(node) == 0, etree.tostring(node)
        if name in counted:
            assert len(node) == counted[name], etree.tostring(node)
    assert seen > {"mi", "msub", "mfrac"}


def test_a_long_formula_in_a_line_may_go_on_in_the_next():
    signs = "<mi>f</mi><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><msup><mo>)</mo><mn>2</mn></msup><mo>=</mo><mo>−</mo>"
    signs += "<mi>c</mi><mo>+</mo><mi>d</mi>"
    math = f"<math><semantics><mrow>{signs}%s</mrow><annotation>f(a+b)2=-c+d</annotation></semantics></math>"
    page = articles.Page(
        "a/b", "T", "", html.fragment_fromstring(f"<p>Now {math % ''}; {math % ('<mi>e</mi>' * 14)}.</p>")
    )
    tree = etree.fromstring(epub._xhtml(page).encode())
    cut = [["".join(one.itertext()) for one in tree.iter("{*}math")], "".join(tree.find(".//{*}p").itertext())]
    whole = "f(a+b)2=−c+d"
    assert cut == [[f"{whole}f(a+b)2=-c+d", "f(a+b)2=", "−c+", "d" + 14 * "e"],
                   f"Now {whole}f(a+b)2=-c+d; {whole}{14 * 'e'}."]  # fmt: skip
    assert [sign.get("form") for sign in tree.iter("{*}mo") if sign.get("form")] == ["infix", "infix"]
    joined = tree.iterfind(".//{*}span[@class='lm-joined']")
    assert ["".join(one.itertext())[-2:] for one in joined] == ["d;", "e."], "no line begins with a full stop"


def test_formulae_of_an_epub_need_nothing_but_mathml_core():
    signs = (
        "<mi mathvariant='double-struck'>E</mi><mi mathvariant='double-struck'>R</mi><mi mathvariant='script'>D</mi>"
    )
    names = "<mi>x</mi><mi>ln</mi><mo>\u2061</mo><mi>y</mi><mo>+</mo><mi>ln</mi><mo>\u2061</mo><mo>(</mo>"
    size = "<mo stretchy='false'>∣</mo><mi>V</mi><mo stretchy='false'>∣</mo><mo>∣</mo>"
    page = f"<div><span class='lm-cell'><math display='block'><mrow>{signs}{names}{size}</mrow></math></span></div>"
    formula = html.fromstring(page).find(".//math")
    epub._readable(formula)
    assert [sign.text for sign in formula.iter("mi")][:3] == ["𝔼", "ℝ", "𝒟"]
    assert (
        " ".join(sign.tag for sign in formula.find("mrow")[3:]) == "mi mspace mi mo mspace mi mo mi mo mo mo mi mo mo"
    )
    assert [(sign.text, sign.get("lspace")) for sign in formula.find("mrow")[-3:]] == [
        ("V", None),
        ("|", "0"),
        ("∣", None),
    ]
    assert dict(formula.attrib) == {"displaystyle": "true"}


@pytest.mark.browser
@pytest.mark.parametrize("width", [800, 360])
def test_the_rows_of_a_formula_stand_below_one_another_and_their_parts_side_by_side(
    new_context, unpacked, tmp_path, width
):
    _, files = unpacked
    for name in ("notebooks-07-long-memory.xhtml", "book.css"):
        (tmp_path / name).write_bytes(files[f"book/{name}"])
    page = new_context(viewport={"width": width, "height": 800}).new_page()
    page.goto((tmp_path / "notebooks-07-long-memory.xhtml").as_uri())
    rows = page.locator("[id$=equation-eq-lm-lstm] .lm-row").evaluate_all(
        "(rows) => rows.map((row) => [...row.querySelectorAll('math')].map((m) => m.getBoundingClientRect().toJSON()))"
    )
    assert len(rows) == 6
    for row in rows:
        assert row[0]["right"] <= row[1]["left"]
        assert row[0]["top"] < row[1]["bottom"]
        assert row[1]["top"] < row[0]["bottom"]
        assert all(part["right"] <= width for part in row)
    for above, below in pairwise(rows):
        assert max(part["bottom"] for part in above) <= min(part["top"] for part in below) + 3


def test_an_epub_says_how_it_can_be_read_and_where_it_begins(unpacked):
    _, files = unpacked
    package = etree.fromstring(files["book/book.opf"])
    said = [(meta.get("property"), meta.text) for meta in package.iterfind(".//o:meta", OPF)]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", dict(said)["dcterms:modified"])
    assert {"schema:accessMode", "schema:accessibilityFeature", "schema:accessibilityHazard"} <= dict(said).keys()
    assert ("schema:accessModeSufficient", "textual") in said
    nav = etree.fromstring(files["book/nav.xhtml"])
    kind = "{http://www.idpf.org/2007/ops}type"
    marks = {link.get(kind): link.get("href") for link in nav.iterfind(".//h:nav[@id='landmarks']//h:a", OPF)}
    assert marks == {"toc": "#toc", "bodymatter": "book-index.xhtml"}


def test_without_a_built_site_the_command_says_what_to_do(tmp_path):
    from click.testing import CliRunner

    from lmbook_cli import main

    done = CliRunner().invoke(main, ["portable", "zip", "--site", str(tmp_path)])
    assert done.exit_code == 1
    assert "run make site first" in done.output
