"""The text of the built pages, without what needs a screen: whole pages as trees, in the order of the book.

What belongs together on paper is put together: solutions and the answers to questions leave their places and are handed
back apart, figures keep the still that a page shows without scripts, and a link to where they are alive. Links between
the pages become links inside the book; ids are made unique by the name of their page.
"""

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import quote, unquote, urlsplit

import yaml
from lxml import etree, html
from markupsafe import Markup

LEFT_OUT = ("book/homework/", "book/status", "book/today", "book/record")  # notebooks, and what needs the site
DROPPED = (
    "//script|//form|//button|//noscript|//style|//comment()",
    "//a[contains(@class, 'headerlink')]",
    "//*[contains(concat(' ', @class, ' '), ' hide ')]",  # code that only draws what is shown
    "//details[contains(@class, 'lm-table')]|//figure[contains(@class, 'lm-figure')]//details",
    "//*[contains(@class, 'lm-about') or contains(@class, 'lm-cite') or contains(@class, 'lm-version')]",
    "//*[contains(@class, 'toctree-wrapper') or contains(@class, 'lm-begin') or @id='lm-kept']",
    "//*[contains(@class, 'sd-card-footer')]",
)
MATHML, DRAWN = "//*[contains(@class, 'katex-mathml')]", "//*[contains(@class, 'katex-html')]"


@dataclass
class Page:
    """One page: its name, its title with the number, the part that begins with it ('' for none), and its trees."""

    name: str
    title: str
    part: str
    body: html.HtmlElement
    end: list[html.HtmlElement] = field(default_factory=list)  # answers and solutions
    sections: list[tuple[str, str]] = field(default_factory=list)  # (id, title)

    @property
    def slug(self) -> str:
        return slug(self.name)

    @property
    def text(self) -> Markup:
        return written(self.body)

    @property
    def answers(self) -> Markup:
        return Markup().join(map(written, self.end))


def slug(name: str) -> str:
    """The name of a page in ids and file names."""
    return name.replace("/", "-")


def order(root: Path) -> list[tuple[str, str]]:
    """(page, caption of the part that begins with it) as in _toc.yml, without what is left out."""
    contents = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    found = [(contents["root"], "")]
    for part in contents["parts"]:
        names = [chapter["file"] for chapter in part["chapters"]]
        kept = [name for name in names if not name.startswith(LEFT_OUT)]
        found += [(name, part["caption"] if name == kept[0] else "") for name in kept]
    return found


def _drop(element) -> None:
    """Removes an element and keeps the text behind it."""
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail:
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _element(text: str):
    return html.fragment_fromstring(text)


def _questions(body) -> list:
    """Takes the explanations out of the self-check questions, which stay, numbered; returns them in their order."""
    found = []
    for number, check in enumerate(body.xpath("//div[contains(@class, 'lm-check')]"), start=1):
        kicker = check.xpath(".//span[@class='lm-kicker']")[0]
        kicker.text = f"Check yourself {number}."
        answer = _element(f"<div class='lm-print-answer'><h2>Check yourself {number}</h2></div>")
        for option in check.xpath(".//div[contains(@class, 'lm-option')]"):
            _drop(option.find("input"))
            why = option.xpath(".//div[contains(@class, 'lm-why')]")[0]
            letter = option.xpath(".//span[@class='lm-letter']")[0].text
            _drop(why)
            why.attrib.clear()
            why.insert(0, _element(f"<strong>{letter}. </strong>"))
            answer.append(why)
        for label in check.xpath(".//label"):
            label.tag, label.attrib["class"] = "div", "lm-answer-option"
            label.attrib.pop("for", None)
        for old, new in (("fieldset", "div"), ("legend", "p")):
            for box in check.iter(old):
                box.tag = new
        found.append(answer)
    return found


def _refer(body, solution) -> None:
    """Links an exercise and its solution, which stand far apart."""
    place = solution.get("id") or ""
    for exercise in body.xpath(".//div[@id=$name]", name=place.removeprefix("solution-")):
        for here, there, word in ((exercise, place, "Solution"), (solution, exercise.get("id"), "Exercise")):
            title = here.find_class("admonition-title")[0]
            title.append(_element(f"<a class='lm-there' href='#{there}'>{word}</a>"))


def heading(section) -> str:
    """The words of a section's heading."""
    return " ".join(section.xpath("string(./*[starts-with(name(), 'h')])").split())


def _open(details) -> None:
    """Unfolds a box, whose summary becomes its title."""
    details.tag = "div"
    for summary in details.findall("summary"):
        summary.tag = "p"


# Letters of a line that a page holds in a table: in its usual letters, and in small ones.
USUAL, SMALL = 84, 112
RANGE = re.compile(r"\([^()]*\)")
JOINT = re.compile(
    r"(?<=[a-z])(?=[A-Z][a-z])|(?<=[a-z][a-z]_)(?=[a-z])"
)  # where a name of code may go on on a new line


def _fit(table) -> None:
    """Makes a table no wider than a page, if it can be: names may break between their words, a table with more columns
    than rows is turned. A line may break before the range of a number, not in it.

    A table that is too wide all the same is marked: lm-many for smaller letters, lm-crowded where words may break too.
    """
    for cell in table.xpath(".//*[contains(@class, 'lm-number')]"):
        for part in cell.iter():
            part.text = RANGE.sub(lambda found: found[0].replace(" ", "\u00a0"), part.text or "")
    if _letters(table) > USUAL:
        _loosen(table)
    letters = _letters(table)
    if letters > SMALL and _letters(table, turned=True) < letters:
        _turn(table)
        letters = _letters(table)
    marks = ["lm-many"] * (letters > USUAL) + ["lm-crowded"] * (letters > SMALL)
    if marks:
        table.set("class", " ".join([*(table.get("class") or "").split(), *marks]))


def _letters(table, turned: bool = False) -> int:
    """The letters of the narrowest line that a table can have, two for each gap; of the turned table if so asked."""
    rows = [[_longest(cell) for cell in row] for row in table.iter("tr")]
    lines = rows if turned else zip_longest(*rows, fillvalue=0)
    return sum(max(line, default=0) + 2 for line in lines)


def _longest(cell) -> int:
    """The letters of the longest part of a cell that cannot break."""
    texts = cell.xpath(".//text()[not(ancestor::annotation)]")
    text = "".join(" " * (one.is_tail and one.getparent().tag == "wbr") + one for one in texts)
    return max(map(len, re.split(r"[ \n]+", text)))


def _loosen(table) -> None:
    """Lets names of code break between their words: Attention|Seq2Seq, vocab_|source."""
    for part in [part for part in table.iter() if isinstance(part.tag, str)]:
        if part.getparent() is not None and part is not table:
            after = JOINT.split(part.tail or "")
            part.tail = after[0]
            for words in reversed(after[1:]):
                part.addnext(_break(words))
        if part.tag in ("math", "svg") or any(up.tag in ("math", "svg") for up in part.iterancestors()):
            continue
        words = JOINT.split(part.text or "")
        part.text = words[0]
        for place, more in enumerate(words[1:]):
            part.insert(place, _break(more))


def _break(words: str):
    """A place where a line may end, and the words after it."""
    element = etree.Element("wbr")
    element.tail = words
    return element


def _turn(table) -> None:
    """Makes the head of a table its first column; a column with numbers and words begins them all on the left."""
    rows = [list(row) for row in table.iter("tr")]
    if len({len(row) for row in rows}) > 1 or any(c.get("colspan") or c.get("rowspan") for row in rows for c in row):
        return
    for part in list(table):
        if part.tag in ("thead", "tbody", "colgroup"):
            table.remove(part)
    head, body = (html.fragment_fromstring(f"<{tag}></{tag}>") for tag in ("thead", "tbody"))
    for number, column in enumerate(zip(*rows, strict=True)):
        row = etree.SubElement(body if number else head, "tr")
        for place, cell in enumerate(column):
            cell.tag = "td" if number and place else "th"
            for name in ("class", "style"):
                cell.attrib.pop(name, None)
            row.append(cell)
    table.extend([head, body])


def _stills(body, address: str) -> None:
    for number, figure in enumerate(body.xpath("//figure[contains(@class, 'lm-figure')]"), start=1):
        for name in ("style", "data-at"):  # the address is a link here
            figure.attrib.pop(name, None)
        live = _element(f"<span class='lm-live'><a href='{address}'>Alive at {address}</a></span>")
        caption = figure.find("figcaption")
        (figure if caption is None else caption).append(live)  # in XHTML nothing comes after the caption
        figure.set("id", figure.get("id") or f"figure-{number}")


def _rename(tree, page: str, pages: set[str], base: str, inside) -> None:
    """Makes ids unique and turns links to `inside(page, fragment)`, or to the site for what is not in the book."""
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        for name in ("id", "aria-labelledby", "aria-describedby"):
            if element.get(name):
                element.set(name, f"{slug(page)}--{element.get(name)}")
        for name in ("href", "src"):
            link = element.get(name)
            if not link or element.tag == "use" or urlsplit(link).scheme or link.startswith("//"):
                continue
            parts = urlsplit(link)
            path = normpath(join(page, "..", unquote(parts.path))) if parts.path else f"{page}.html"
            target = path.removesuffix(".html")
            living = parts.fragment.startswith("figure=")  # a state of a figure, which lives on the site alone
            if name == "href" and target in pages and not living:
                element.set(
                    name, inside(target, f"{slug(target)}--{unquote(parts.fragment)}" if parts.fragment else "")
                )
            elif name == "href":
                state = quote(parts.fragment, safe="=&%")  # of a figure, with the spaces of its text
                element.set(name, f"{base}{path}" + f"#{state}" * bool(state))
            else:
                element.set(name, path)


def _own_references(tree, page: str) -> None:
    """Inside a drawing: url(#id) and <use href="#id">."""
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        for name, value in element.attrib.items():
            if "url(#" in value:
                element.set(name, value.replace("url(#", f"url(#{slug(page)}--"))
            elif element.tag == "use" and value.startswith("#"):
                element.set(name, f"#{slug(page)}--{value[1:]}")


def read(root: Path, site: Path, base: str, mathematics: str, inside) -> list[Page]:
    """All pages of the book from the built site; `mathematics` is "drawn" (KaTeX's boxes) or "mathml".

    inside(page, id) gives the link to an id of a page, or to the page itself where the id is "". Raises OSError where
    the site lacks a page, ValueError where a page has no article.
    """
    found = []
    names = order(root)
    pages = {name for name, _ in names}
    for name, part in names:
        text = (site / f"{name}.html").read_text("utf-8")
        article = re.search(r"<article class=\"bd-article\">(.*?)</article>", text, re.DOTALL)
        if not article:
            raise ValueError(f"{name}.html has no article: build the site again with make site.")
        text = article[1].replace("<wbr/>", "")  # `_fit` says anew where a name may break; lxml would read on within it
        body = html.document_fromstring(f"<div>{text}</div>").find("body/div")
        address = f"{base}{name}.html"
        for path in (*DROPPED, MATHML if mathematics == "drawn" else DRAWN):
            for element in body.xpath(path):
                _drop(element)
        _stills(body, address)
        end = _questions(body)
        for solution in body.xpath("//details[contains(@class, 'solution')]"):
            _refer(body, solution)
            _drop(solution)
            end.append(solution)
        for tree in (body, *end):
            for details in [tree, *tree.iter("details")]:
                if details.tag == "details":
                    _open(details)
            for table in tree.iter("table"):
                _fit(table)
            _rename(tree, name, pages, base, inside)
            _own_references(tree, name)
        body.set("id", slug(name))
        title = " ".join(body.xpath("string(.//h1)").split())
        sections = [(one.get("id"), heading(one)) for one in body.xpath("./section/section[@id]")]
        found.append(Page(name, title, part, body, end, sections))
    return found


def written(tree, xml: bool = False) -> Markup:
    """A tree as HTML, or as XHTML."""
    text = etree.tostring(tree, method="xml" if xml else "html", encoding="unicode", with_tail=False)
    return Markup(text.replace("</wbr>", ""))  # of which lxml does not know that it has no end
