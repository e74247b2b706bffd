"""The whole book as an edition needs to know it: addresses, numbers of equations, labels, terms, references.

Everything is read from the book's own sources: `_config.yml`, `pyproject.toml`, `notebooks/` and `book/`.
Needs PyYAML, pybtex and myst-parser, which the extra `book` brings; the chapters never import this module.
"""

import re
import subprocess
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


class BookError(Exception):
    """A fault in the book's sources, said in one line that names the place and the remedy."""


def anchor(label: str) -> str:
    """The id docutils gives to a section label."""
    plain = unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower()
    return re.sub(r"^[-0-9]+|-+$", "", re.sub(r"[^a-z0-9]+", "-", " ".join(plain.split())))


def term_anchor(term: str) -> str:
    """The id Sphinx gives to a glossary term (it keeps the case)."""
    plain = unicodedata.normalize("NFKD", term).encode("ascii", "ignore").decode()
    return re.sub(r"-+$", "", re.sub(r"[^a-zA-Z0-9._]+", "-", f"term-{plain}"))


def markdown_of(path: Path) -> str:
    """The prose of a page: a Markdown file as it is, a notebook's Markdown cells one after the other."""
    if path.suffix == ".md":
        return path.read_text(encoding="utf-8")
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@dataclass(frozen=True)
class Book:
    """The book in folder `root`.  `ref` is the commit the editions install; None means the one checked out."""

    root: Path
    source: str | None = None
    ref: str | None = None

    @classmethod
    def find(cls, start: Path | None = None, **options) -> "Book":
        """The book that `start` (the current folder) lies in.  Raises BookError where there is none."""
        start = Path(start or Path.cwd()).resolve()
        for folder in (start, *start.parents):
            if (folder / "_config.yml").is_file() and (folder / "notebooks").is_dir():
                return cls(folder, **options)
        raise BookError(f"{start} lies in no copy of the book: go into its folder, or name it with --book.")

    @cached_property
    def config(self) -> dict:
        import yaml

        return yaml.safe_load((self.root / "_config.yml").read_text(encoding="utf-8"))

    @property
    def site(self) -> str:
        """The site's address, with a slash at its end (`html: baseurl:` of _config.yml)."""
        return self._setting("html", "baseurl").rstrip("/") + "/"

    @property
    def repository(self) -> str:
        """The repository's address (`repository: url:` of _config.yml)."""
        return self._setting("repository", "url").rstrip("/")

    def _setting(self, *keys: str) -> str:
        value = self.config
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if not value:
            raise BookError(f"_config.yml does not set {': '.join(keys)}: add it, everything else reads it from there.")
        return value

    @cached_property
    def version(self) -> str:
        """The package's version in pyproject.toml."""
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    @cached_property
    def requirements(self) -> list[str]:
        """The dependencies of the package, from pyproject.toml."""
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]

    @property
    def install_source(self) -> str:
        """The address pip installs the package from, without the commit."""
        return self.source or f"git+{self.repository}"

    @cached_property
    def install_ref(self) -> str:
        """The commit pip installs.  Raises BookError where there is neither `ref` nor a git checkout."""
        if self.ref:
            return self.ref
        try:
            command = ["git", "-C", str(self.root), "rev-parse", "HEAD"]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError) as error:
            raise BookError(f"{self.root} is not a git checkout: say which commit to install with --ref.") from error

    def chapters(self) -> list[Path]:
        return sorted((self.root / "notebooks").glob("[0-9]*.ipynb"))

    def masters(self) -> list[Path]:
        return sorted((self.root / "notebooks" / "homework").glob("[0-9]*.ipynb"))

    def place(self, path: Path) -> Path:
        """Where the site has a source file: a homework's page is its student version, made into book/homework/."""
        if path.parent == self.root / "notebooks" / "homework":
            return self.root / "book" / "homework" / path.name
        return path

    def source_of(self, path: Path) -> Path:
        """The other way round: the master that a student version is made from."""
        if path.parent == self.root / "book" / "homework":
            return self.root / "notebooks" / "homework" / path.name
        return path

    def address(self, path: Path) -> str:
        """The address of the site's page made from a source file."""
        return self.site + self.place(path).relative_to(self.root).with_suffix(".html").as_posix()

    @cached_property
    def _pages(self) -> dict[Path, list]:
        """The tokens of every page."""
        from lmbook_press.myst import tokens_of_page

        paths = [*self.chapters(), *self.masters(), *sorted((self.root / "book").glob("*.md"))]
        return {path: tokens_of_page(markdown_of(path)) for path in paths}

    @cached_property
    def _headings(self) -> dict[Path, list[tuple[str, str, str]]]:
        """The headings of every page: (tag, text, label of the section or nothing)."""
        found: dict[Path, list] = {}
        for path, tokens in self._pages.items():
            three = zip([None, *tokens], tokens, tokens[1:], strict=False)
            found[path] = [
                (opening.tag, text.content, before.content if before and before.type == "myst_target" else "")
                for before, opening, text in three
                if opening.type == "heading_open"
            ]
        return found

    def title(self, path: Path) -> str:
        """The first heading of a page.  Raises BookError for a page that the book does not have, or without one."""
        for tag, text, _ in self._headings.get(path, ()):
            if tag == "h1":
                return text
        raise BookError(f"{path} is not a page of the book, or has no title.")

    @cached_property
    def equations(self) -> dict[str, tuple[Path, str]]:
        """Label of every numbered equation -> its page and its number, as the site numbers it: 1.3 in chapter 1."""
        found = {}
        for path, tokens in self._pages.items():
            chapter = self.chapter_number(path)
            labels = (token.info for token in tokens if token.type == "math_block_label")
            for count, label in enumerate(labels, start=1):
                if label in found:
                    raise BookError(f"{path.name}: the equation label {label} is used twice; give each its own.")
                found[label] = (path, f"{chapter}.{count}" if chapter else str(count))
        return found

    def chapter_number(self, path: Path) -> int:
        """1 for notebooks/01-….ipynb; 0 for the warm-up and for pages outside the chapters, which have no number."""
        number = re.match(r"\d+", path.name) if path.parent == self.root / "notebooks" else None
        return int(number.group()) if number else 0

    @cached_property
    def labels(self) -> dict[str, tuple[Path, str]]:
        """Label of every section -> its page and its heading."""
        return {label: (path, text) for path in self._pages for _, text, label in self._headings[path] if label}

    def section(self, path: Path, fragment: str) -> tuple[str, str]:
        """Anchor and heading of the section that `path#fragment` means: a label, or a heading in GitHub's spelling."""
        if fragment in self.labels and self.labels[fragment][0] == path:
            return f"#{anchor(fragment)}", self.labels[fragment][1]
        for _, heading, _ in self._headings.get(path, ()):
            if re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower())) == fragment:
                return f"#{anchor(heading)}", heading
        raise BookError(f"{path.name} has no section {fragment}")

    @cached_property
    def terms(self) -> dict[str, str]:
        """Glossary term in lower case -> its address on the site."""
        found = {}
        path = self.root / "book" / "glossary.md"
        for token in self._pages.get(path, ()):
            for line in token.content.splitlines() if token.info.startswith("{glossary}") else ():
                if line.strip() and not line[0].isspace() and not line.startswith((":", "%")):
                    term = line.split(" : ")[0].strip()
                    found[term.lower()] = f"{self.address(path)}#{term_anchor(term)}"
        return found

    @cached_property
    def bibliography(self) -> dict:
        """The entries of book/references.bib, as pybtex reads them."""
        path = self.root / "book" / "references.bib"
        if not path.is_file():
            return {}
        from pybtex.database import parse_file

        return dict(parse_file(str(path)).entries)

    @cached_property
    def bibliography_address(self) -> str:
        for path, tokens in self._pages.items():
            if any(token.info.startswith("{bibliography}") for token in tokens):
                return self.address(path)
        raise BookError("No page of book/ has the {bibliography} directive: the citations have nothing to link to.")

    def citation(self, key: str) -> tuple[str, str]:
        """Names and year of a reference: ("Bengio et al.", "2003").  Raises KeyError for an unknown key."""
        from pybtex.richtext import Text

        entry = self.bibliography[key]
        people = entry.persons.get("author") or entry.persons.get("editor") or []
        names = [str(Text.from_latex(" ".join(person.prelast_names + person.last_names))) for person in people]
        if not names:
            names = [str(Text.from_latex(entry.fields.get("organization") or entry.fields["title"]))]
        shown = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
        return shown, entry.fields.get("year", "n.d.")
