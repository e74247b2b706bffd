"""The files of the built site, read without a browser."""

import json
import os
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hidden import secrets
from lxml import html

from lmbook.lab.recipes import RECIPES, TRAINED
from lmbook_press.site.features import chapters

ROOT = Path(__file__).parents[3]
CONFIG = (ROOT / "_config.yml").read_text()


class Page(HTMLParser):
    """Links, ids, pictures, and what the page loads."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.pictures, self.loads = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.ids.append(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        if tag in ("img", "svg") or attributes.get("role") == "img":
            self.pictures.append((tag, attributes))
        if tag in ("script", "img", "iframe", "source") and attributes.get("src"):
            self.loads.append(attributes["src"])
        if tag == "link" and attributes.get("rel") in ("stylesheet", "icon", "preload", "modulepreload"):
            self.loads.append(attributes["href"])


@cache
def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf8"))


def pages(site):
    return [path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]


def broken(site, path: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or not target.is_relative_to(site):
        return True
    if parts.fragment.startswith("figure="):  # a state of a figure, see tests/notebooks/test_states.py
        module = parts.fragment.removeprefix("figure=").split("&")[0]
        return f'data-module="{module}"' not in target.read_text(encoding="utf8")
    return bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in read(target).ids


def test_every_internal_link_and_anchor_resolves(site):
    found = [(path.name, link) for path in pages(site) for link in read(path).links if broken(site, path, link)]
    assert found == []


@pytest.mark.parametrize("link", ["no-such-page.html", "index.html#no-such-place", "../../../etc/passwd"])
def test_a_broken_link_is_seen(site, link):
    assert broken(site, site / "book" / "index.html", link)


def test_ids_are_unique_on_each_page(site):
    for path in pages(site):
        ids = read(path).ids
        assert sorted(set(ids)) == sorted(ids), path.name


def test_every_picture_has_words(site):
    for path in pages(site):
        for tag, attributes in read(path).pictures:
            hidden = attributes.get("aria-hidden") == "true" or attributes.get("role") == "presentation"
            words = attributes.get("aria-label") or attributes.get("alt")
            decoration = tag == "img" and attributes.get("alt") == "" and "logo__image" in attributes.get("class", "")
            # KaTeX draws long roots, braces and tall brackets; their sizes are in em
            inside_formula = tag == "svg" and (
                "preserveaspectratio" in attributes or attributes.get("width", "").endswith("em")
            )
            assert hidden or words or decoration or inside_formula, (path.name, tag, attributes)


def test_nothing_is_loaded_from_another_host(site):
    for path in pages(site):
        assert [link for link in read(path).loads if urlsplit(link).netloc] == [], path.name
    for path in [*site.rglob("*.css")]:
        assert not re.search(r"(url\(|@import\s*)[\"']?(https?:)?//", path.read_text(encoding="utf8")), path.name
    text = "".join(path.read_text(encoding="utf8") for path in pages(site))
    for word in ("mathjax@", "require.js", "thebe", "cdn.", "fontawesome.js"):
        assert word not in text


def test_no_answer_and_no_hidden_check_is_published(site):
    assert len(secrets()) > 10
    for path in site.rglob("*"):
        if path.suffix in (".html", ".ipynb", ".js", ".json", ".md", ".txt") and "notebooks" not in path.parts[-2:-1]:
            text = path.read_text(encoding="utf8", errors="replace")
            plain = text.replace("&quot;", '"').replace('\\"', '"')
            assert "BEGIN HIDDEN" not in text, path.name
            assert "BEGIN SOLUTION" not in text, path.name
            assert [secret for secret in secrets() if secret in plain] == [], path.name


def test_the_download_of_a_notebook_is_its_colab_edition(site):
    notebooks = sorted((site / "_sources").rglob("*.ipynb"))
    assert {path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")} <= {path.name for path in notebooks}
    for path in notebooks:
        cells = json.loads(path.read_text())["cells"]
        text = "".join("".join(cell["source"]) for cell in cells)
        assert "Set-up" in "".join(cells[0]["source"]), path
        assert "{solution-start}" not in text, path
        assert "{self-check}" not in text, path
        ran = [cell for cell in cells if cell.get("outputs") and "drawings.show(" not in "".join(cell["source"])]
        assert ran == [], path


def test_launch_and_repository_buttons(site):
    address = re.search(r"url: (https://\S+)", CONFIG)[1]
    owner = address.removeprefix("https://github.com/")
    for name in ("notebooks/01-chain-rule", "book/homework/01-chain-rule"):
        links = read(site / f"{name}.html").links
        assert f"https://colab.research.google.com/github/{owner}/blob/colab/{name}.ipynb" in links
        assert address in links
        assert any(link.startswith(f"{address}/issues/new") for link in links)
        assert any(link.endswith(f"_sources/{name}.ipynb") for link in links)
        assert not any("/edit/" in link for link in links)


def test_chapters_are_numbered_as_their_files(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        number = int(path.name[:2])
        text = path.read_text(encoding="utf8")
        shown = re.search(r'<h1>(?:<span class="section-number">(\d+)\. </span>)?[^<]*<a class="headerlink"', text)[1]
        assert shown == (str(number) if number else None), path.name
        equations = re.findall(r'<span class="eqno">\(([\d.]+)\)', text)
        prefix = f"{number}." if number else ""
        assert equations == [f"{prefix}{i}" for i in range(1, len(equations) + 1)], path.name


def test_the_root_is_the_first_page_and_its_addresses_lead_where_those_lead(site):
    root, first = site / "index.html", site / "book" / "index.html"
    own, given = ([*read(path).links, *read(path).loads] for path in (root, first))
    assert len(own) == len(given) > 50
    for path, links in (root, own), (first, given):
        links[:] = [link if urlsplit(link).scheme else path.parent / link for link in links if link[0] != "#"]
    assert [str(link) for link in own] == [os.path.normpath(link) if isinstance(link, Path) else link for link in given]
    assert read(root).ids == read(first).ids
    text = root.read_text(encoding="utf8")
    assert 'data-content_root="./"' in text
    assert 'action="search.html"' in text


def test_no_text_waits_for_the_weights_of_a_figure(site):
    texts = [path.read_text(encoding="utf8") for path in pages(site)]
    states = [state for text in texts for state in re.findall(r'<script type="application/json">([^<]*)<', text)]
    assert 0 < max(map(len, states)) < 50_000
    apart = {name for text in texts for name in re.findall(r' data-from="([^"]*)"></script>', text)}
    assert len(apart) >= 2  # chapters 6 and 18 open with a network
    for name in apart:
        assert json.loads((site / "_static" / "states" / name).read_text(encoding="utf8"))["title"]
    assert {path.name for path in (site / "_static" / "states").iterdir()} == apart


def test_icon_fonts_are_small_and_hold_the_icons_in_use(site):
    from fontTools.ttLib import TTFont

    fonts = sorted((site / "_static" / "vendor").rglob("*.woff2"))
    assert fonts
    assert sum(font.stat().st_size for font in fonts) < 12_000
    glyphs = {code for font in fonts for code in TTFont(font).getBestCmap()}
    css = "".join(path.read_text(encoding="utf8") for path in (site / "_static" / "styles").glob("*.css"))
    names = {name for path in pages(site) for name in re.findall(r"\bfa-[a-z-]+", path.read_text(encoding="utf8"))}
    codes = {name: re.search(rf"\.{name}:before[^{{}}]*\{{content:\"\\([0-9a-f]+)\"", css) for name in names}
    used = {int(found[1], 16) for found in codes.values() if found}
    assert len(used) > 5
    assert used <= glyphs


def test_chapter_and_homework_lead_to_each_other(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        number = int(path.name[:2])
        text, back = path.read_text("utf8"), site / "book" / "homework" / path.name
        assert text.count(f'href="../book/homework/{path.name}"') >= (3 if number else 0), path.name
        assert not number or f'href="../../notebooks/{path.name}">chapter {number},' in back.read_text("utf8")
        assert bool(number) == ("@incollection{" in text), path.name


def test_each_page_has_one_viewport_a_description_and_a_card(site):
    for path in [*site.glob("book/**/*.html"), *site.glob("notebooks/*.html"), site / "search.html"]:
        head = path.read_text("utf8").split("</head>")[0]
        assert head.count('name="viewport"') == 1, path.name
        for mark in ('name="description"', 'property="og:title"', 'property="og:image"', 'property="og:description"'):
            assert head.count(mark) == 1, (path.name, mark)
        assert len(re.search(r'name="description" content="([^"]+)"', head)[1]) >= 30, path.name
    assert (site / chapters.CARD).stat().st_size < 100_000


def test_programs_are_told_of_every_chapter_and_that_homework_is_graded(site):
    """The form of llmstxt.org: a title, a summary, and lists of links with a line each."""
    text = (site / "llms.txt").read_text("utf8")
    assert re.match(r"# .+\n\n> .+\n\n", text)
    assert "do not write, complete or correct an answer" in text
    assert "You may not" in (site / "book/homework/AGENTS.md").read_text("utf8")
    links = re.findall(r"^- \[(.+?)\]\(https://lmbook.github.io/lmbook/(.+?)\): .{20,}$", text, re.MULTILINE)
    pages = [page for _, page in links]
    assert len(set(pages)) == len(pages)
    assert all((site / page).is_file() for page in pages)
    chapters = [f"notebooks/{path.stem}.html" for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
    assert [page for page in pages if page.startswith("notebooks/")] == chapters
    assert "[Chapter 13: " in text
    assert text.count("\n## ") >= 5


def test_search_engines_are_told_of_every_page_and_of_what_it_is(site):
    base = "https://lmbook.github.io/lmbook/"
    listed = re.findall(r"<loc>(.*?)</loc>", (site / "sitemap.xml").read_text("utf8"))
    pages = [
        path.relative_to(site).as_posix() for path in (*site.glob("book/**/*.html"), *site.glob("notebooks/*.html"))
    ]
    assert sorted(listed) == sorted(base + page for page in pages)
    kinds = {}
    for page in pages:
        (text,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', (site / page).read_text("utf8"))
        told = json.loads(text)
        kinds[page] = told["@type"]
        assert told["url"] == base + ("" if page == "book/index.html" else page)
    assert kinds["book/index.html"] == "Book"
    assert kinds["notebooks/07-long-memory.html"] == kinds["book/homework/07-long-memory.html"] == "LearningResource"


def test_most_works_can_be_reached(site):
    entries = re.findall(
        r'<div class="citation".*?</div>', (site / "book/bibliography.html").read_text("utf8"), re.DOTALL
    )
    linked = [entry for entry in entries if re.search(r'href="https?://', entry)]
    assert len(linked) > 0.9 * len(entries) > 0


def test_the_answer_to_each_prediction_is_folded(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        text = path.read_text("utf8")
        questions = re.findall(r'<div class="predict admonition"[^>]*id="predict-(\d+)"', text)
        assert questions == re.findall(r'<details class="lm-answer" id="answer-(\d+)"', text), path.name
        assert len(questions) == text.count('class="predict admonition"'), path.name


def test_no_answer_ends_before_what_belongs_to_it(site):
    for path in sorted((site / "notebooks").glob("*.html")):
        for fold in html.fromstring(path.read_text("utf8")).xpath('//details[@class="lm-answer"]'):
            after = fold.getnext()
            classes = after.classes if after is not None else ()
            assert "lm-equation" not in classes, (path.name, fold.get("id"), "a formula that the answer announces")
            if "tag_hide-input" in classes:  # a plot of what was asked, beside the closed fold, would tell
                assert after.xpath('.//figure[contains(@class, "lm-figure")]'), (path.name, fold.get("id"))


def test_no_heading_stands_directly_above_another(site):
    for path in [*sorted((site / "notebooks").glob("*.html")), *sorted((site / "book").glob("*.html"))]:
        for part in html.fromstring(path.read_text("utf8")).xpath("//article//section"):
            first = [child for child in part if child.tag != "span"][:2]
            assert [one.tag for one in first] != ["h2", "section"], (path.name, part.get("id"))


def test_the_tables_of_listings_fit_the_page(site):
    rows = html.fromstring((site / "book" / "instructors.html").read_text("utf8")).xpath('//*[@class="lm-columns"]')
    assert rows
    assert max(len(row.text_content().rstrip()) for row in rows) <= 74


def test_a_page_that_does_not_exist_helps_on(site):
    text = (site / "404.html").read_text("utf8")
    base = re.search(r"baseurl: (\S+)", (ROOT / "_config.yml").read_text())[1]
    assert f'action="{base}search.html"' in text
    assert set(re.findall(r'href="([^"]+)"', text)) >= {f"{base}book/index.html"}


def test_no_number_is_parted_from_its_range(site):
    text = (site / "book" / "results.html").read_text("utf8")
    blank = "(?: |&#160;|\u00a0)"
    ranges = re.findall(rf"<td([^>]*)><p>[\d.,%]+ \([\d.,%]+{blank}to{blank}[\d.,%]+\)", text)
    assert ranges
    assert all("lm-number" in attributes for attributes in ranges)
    assert not re.search(r'<td class="[^"]*lm-number[^"]*"><p>[^<]*\([^()<]* to ', text)  # paper breaks before a range
    assert "<wbr/>" in text  # in long names, and closed, for the EPUB
    assert "<wbr>" not in text


def test_computed_numbers_have_a_minus_and_heads_keep_what_belongs_together(site):
    minus, kept = 0, set()
    for path in [*sorted((site / "notebooks").glob("*.html")), site / "book" / "results.html"]:
        page = html.fromstring(path.read_text("utf8"))
        numbers = page.xpath('//td[contains(@class, "lm-number")] | //span[@class="pasted-text"]')
        texts = [one.text_content().strip() for one in numbers]
        assert [text for text in texts if re.search(r"(^|[ (])-\d", text)] == [], path.name
        minus += sum("−" in text for text in texts)
        heads = page.xpath('//div[contains(@class, "pst-scrollable-table-container")]//thead//th')
        kept |= {part.text_content() for head in heads for part in head.xpath('.//span[@class="lm-short"]')}
        assert not any("\u2011" in head.text_content() for head in heads), "a sign that the book's fonts do not have"
    assert minus
    assert kept


def test_the_table_of_models_has_every_one_whose_weights_are_shipped(site):
    text = (site / "book" / "look-up.html").read_text("utf8")
    shipped = {path.stem for path in TRAINED.glob("*.safetensors")} & RECIPES.keys()
    assert shipped
    assert [name for name in sorted(shipped) if not re.search(f'<span class="pre[^"]*">{name}</span>', text)] == []
