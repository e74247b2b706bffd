"""The files of the built site, read without a browser."""

import json
import os
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

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
    masters = sorted((ROOT / "notebooks" / "homework").glob("*.ipynb"))
    assert masters
    secrets = set()
    for master in masters:
        source = "\n".join("".join(cell["source"]) for cell in json.loads(master.read_text())["cells"])
        pattern = r"### BEGIN (?:HIDDEN TESTS|SOLUTION)\n(.*?)### END"
        shown = re.sub(pattern, "", source, flags=re.DOTALL)
        for block in re.findall(pattern, source, flags=re.DOTALL):
            lines = {line.strip() for line in block.splitlines()}
            secrets |= {line for line in lines if len(line) > 40 and line not in shown}
    assert len(secrets) > 10
    for path in site.rglob("*"):
        if path.suffix in (".html", ".ipynb", ".js", ".json", ".md", ".txt") and "notebooks" not in path.parts[-2:-1]:
            text = path.read_text(encoding="utf8", errors="replace")
            plain = text.replace("&quot;", '"').replace('\\"', '"')
            assert "BEGIN HIDDEN" not in text, path.name
            assert "BEGIN SOLUTION" not in text, path.name
            assert [secret for secret in secrets if secret in plain] == [], path.name


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
