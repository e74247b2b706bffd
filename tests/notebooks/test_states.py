"""Links in the text that set a living figure: the figure is on the page, and it has such a state."""

import inspect
import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import nbformat
import pytest

from lmbook import figures

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(#(figure=[^)\s]*)\)")
FIGURE = re.compile(r'data-module="([\w-]+)".*?<script type="application/json">(.*?)</script>', re.DOTALL)
KEPT = {"keys": "key_rows", "values": "value_rows"}  # arguments that the state has under another name
NAMES = {module: name for name, module in figures.FIGURES.items()}


def linked(notebook) -> list[str]:
    return [link for cell in notebook.cells if cell.cell_type == "markdown" for link in LINK.findall(cell.source)]


def states(notebook) -> dict[str, dict]:
    """The state of the first figure of each module, as the page finds it."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pages = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    found = {}
    for module, state in (pair for page in pages for pair in FIGURE.findall(page)):
        found.setdefault(module, json.loads(state))
    return found


def check(link: str, there: dict[str, dict]) -> None:
    """Raises where mount.mjs would not take the link, or the figure's class refuses what it says."""
    asked = dict(parse_qsl(link, keep_blank_values=True, strict_parsing=True))
    module = asked.pop("figure")
    state = there[module]
    wanted = {name: text if isinstance(state[name], str) else json.loads(text) for name, text in asked.items()}
    assert asked
    for name, value in wanted.items():
        number = isinstance(value, int | float) and isinstance(state[name], int | float)
        assert number or type(value) is type(state[name])
    own = {"model": state["about"]["name"]} if module == "opened" else {}
    made = getattr(figures, NAMES[module])
    needed = [p.name for p in inspect.signature(made.__init__).parameters.values() if p.default is p.empty]
    made(**{name: state[KEPT.get(name, name)] for name in needed if KEPT.get(name, name) in state} | own | wanted)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("[0-9]*.ipynb")), ids=lambda path: path.stem)
def test_every_link_to_a_state_leads_to_one(path):
    notebook = nbformat.read(path, 4)
    links = linked(notebook)
    there = states(notebook) if links else {}
    for link in links:
        check(link, there)


@pytest.mark.parametrize(
    "link",
    [
        "figure=translator&head=1",  # not on this page
        "figure=opened&layer=2",  # no such trait
        "figure=opened&part=decoder.9",  # leads nowhere
        "figure=opened&read=two",
        "figure=opened&read=[2]",
        "figure=opened",
    ],
)
def test_a_link_that_leads_nowhere_is_seen(link):
    there = {"opened": {"about": {"name": "multi30k-transformer"}, "part": "", "read": 5}}
    check("figure=opened&part=decoder.3&read=2", there)
    with pytest.raises((AssertionError, KeyError, ValueError)):
        check(link, there)
