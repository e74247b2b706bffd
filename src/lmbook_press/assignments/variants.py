"""Variants: a course's own numbers, drawn from a secret, since the solutions of a public book are public.

A secret changes the grading master alone, unless a master draws a number in a question; the book's masters do not.

A master marks what is drawn.  In a code cell, `NAME = literal  # drawn: a, b, c` takes one of the listed values, and
`NAME = 1  # drawn`, which is for hidden checks, any whole number below 2^32: a seed for the inputs.  In a question,
`3<!-- drawn: NAME -->` shows the value drawn for that name.  Without a secret everything stays as the master has it.
"""

import hashlib
import hmac
import re
import secrets
from pathlib import Path

import nbformat
from nbformat import NotebookNode

CODE = re.compile(r"^([ \t]*)(\w+) = (.+?)[ \t]+# drawn(?:: (.+?))?[ \t]*$", re.MULTILINE)
TEXT = re.compile(r"([\w.]+)<!-- drawn: (\w+) -->")


def drawn(master: NotebookNode, homework: str, secret: str | None) -> NotebookNode:
    """The master with its marks applied and removed.  Raises ValueError for a name that no cell draws."""
    made, values = nbformat.from_dict(master), {}

    def in_code(found: re.Match) -> str:
        space, name, value, choices = found.groups()
        if secret is not None:
            value = _value(secret, homework, name, choices)
        if choices and values.setdefault(name, value) != value:
            raise ValueError(f"{homework} draws {name} from different values in different cells")
        return f"{space}{name} = {value}"

    def in_text(found: re.Match) -> str:
        if found[2] not in values:
            raise ValueError(f"{homework} shows {found[2]} in a question, but no cell draws it")
        return values[found[2]]

    for kind, pattern, change in (("code", CODE, in_code), ("markdown", TEXT, in_text)):
        for cell in made.cells:
            if cell.cell_type == kind:
                cell.source = pattern.sub(change, cell.source)
    return made


def course_secret(folder: Path, ignored: tuple[str, ...] = ("secret.txt", "/*/grading/")) -> tuple[str, Path]:
    """The secret of the course in this folder, and its file: made if there is none yet, and ignored by git."""
    path, listed = folder / "secret.txt", folder / ".gitignore"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32) + "\n", encoding="utf-8")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.is_file() else []
    if missing := [line for line in ignored if line not in lines]:
        listed.write_text("\n".join([*lines, *missing]) + "\n", encoding="utf-8")
    secret = path.read_text(encoding="utf-8").strip()
    if not secret:
        raise ValueError(f"{path} is empty: write the course's secret into it, or delete it to have one made.")
    return secret, path


def _value(secret: str, homework: str, name: str, choices: str | None) -> str:
    key = f"{homework}\n{name}\n{choices or ''}".encode()
    number = int.from_bytes(hmac.new(secret.encode(), key, hashlib.sha256).digest()[:4], "big")
    listed = [choice.strip() for choice in choices.split(",")] if choices else []
    return listed[number % len(listed)] if listed else str(number)
