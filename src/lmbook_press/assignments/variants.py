"""What a homework's numbers are drawn from, since the solutions of a public book are public: a secret, and a student.

*For a course.*  `NAME = 1  # drawn` in a hidden check takes any whole number below 2^32: a seed for its inputs.  It
follows the course's secret, and the notebook for students stays as it is.

*For each student.*  A master declares in one code cell, which begins with `### DRAWN`, what may differ: plain Python,
in which `NAME = literal  # drawn: a, b, c` or `# drawn: 3 to 40` is drawn by HMAC-SHA256 from the secret, the homework
and the student's id, and other names follow from it.  In all other cells the declared names are replaced: `NAME` in
code by the value as Python writes it, `{{NAME}}` anywhere by the value as text, and a comment `#: NAME` by its lines,
of which there may be none.  The cell itself is in no version that is handed out.  Without a student every name has the
value that stands in the master, and that is never drawn.
"""

import ast
import hashlib
import hmac
import json
import re
import secrets
from functools import cache
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from lmbook_press.assignments.folding import folded

SEED = re.compile(r"^([ \t]*)(\w+) = (.+?)[ \t]+# drawn[ \t]*$", re.MULTILINE)
DECLARED = "### DRAWN"
CHOICE = re.compile(r"^(\w+) = (.+?)[ \t]+# drawn: (.+?)[ \t]*$", re.MULTILINE)
RANGE = re.compile(r"(-?\d+) to (-?\d+)")


def drawn(master: NotebookNode, homework: str, secret: str | None, student: str | None = None) -> NotebookNode:
    """The master with everything drawn, and no mark of it left: for all students, or for one of them."""
    return own(seeded(master, homework, secret), key(secret, homework) if secret else "", student)


def key(secret: str, homework: str) -> str:
    """What the editions of a homework are drawn from and sealed with: the secret does not follow from it."""
    return _mac(secret, "editions", homework).hex()


def seeded(master: NotebookNode, homework: str, secret: str | None) -> NotebookNode:
    """The master with its seeds drawn for the course, and what is drawn for each student still open."""

    def number(found: re.Match) -> str:
        space, name, value = found.groups()
        if secret is not None:
            message = f"{homework}\n{name}\n".encode()
            value = int.from_bytes(hmac.new(secret.encode(), message, hashlib.sha256).digest()[:4], "big")
        return f"{space}{name} = {value}"

    made = nbformat.from_dict(master)
    for cell in made.cells:
        if cell.cell_type == "code":
            cell.source = SEED.sub(number, cell.source)
    return made


def own(master: NotebookNode, key: str, student: str | None = None) -> NotebookNode:
    """The master with the student's values in it, or those that stand in it, and without the cell of declarations."""
    made, found = nbformat.from_dict(master), values(master, key, student)
    made.cells = [cell for cell in made.cells if not declares(cell)]
    for cell in made.cells:
        cell.source = filled_in(cell.source, found, cell.cell_type == "code")
    return made


def declares(cell: NotebookNode) -> bool:
    return cell.cell_type == "code" and cell.source.startswith(DECLARED)


def values(master: NotebookNode, key: str, student: str | None = None) -> dict[str, object]:
    """What a student's edition has for each declared name; without a student the master's own values."""
    return _values("\n".join(cell.source for cell in master.cells if declares(cell)), key, student)


@cache
def _values(source: str, key: str, student: str | None) -> dict[str, object]:
    def choice(found: re.Match) -> str:
        name, value, choices = found.groups()
        return f"{name} = {value if student is None else _chosen(value, choices, key, student, name)}"

    space: dict[str, object] = {}
    exec(CHOICE.sub(choice, source), space)  # the course's own code
    return {name: value for name, value in space.items() if name.isupper()}


def _chosen(value: str, choices: str, key: str, student: str, name: str) -> str:
    if found := RANGE.fullmatch(choices):
        listed = [str(number) for number in range(int(found[1]), int(found[2]) + 1)]
    else:
        listed = [choice.strip() for choice in choices.split(",")]
    listed = [choice for choice in listed if choice != value]  # the public solution is nobody's
    return listed[int.from_bytes(_mac(key, student, name)[:8], "big") % len(listed)]


def faults(master: NotebookNode) -> list[str]:
    """What is wrong with the declarations: an error in them, or names that another cell binds too."""
    try:
        names = values(master, "")
    except Exception as error:
        return [f"its cell of declarations stops with {type(error).__name__}: {error}"]
    others = [cell.source for cell in master.cells if cell.cell_type == "code" and not declares(cell)]
    nodes = [node for source in others for node in ast.walk(ast.parse(source))]
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return [f"{name} is declared as drawn, and another cell binds it too" for name in sorted(bound & set(names))]


def in_answers(master: NotebookNode, values: dict[str, object]) -> dict[str, dict[str, float]]:
    """grade_id -> the numbers among these values on which the right answer depends; they stand in its question."""
    found = {}
    for cell in master.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and marks.get("solution"):
            numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
            used = {name: value for name, value in numbers.items() if re.search(rf"\b{name}\b", cell.source)}
            if used:
                found[marks["grade_id"]] = used
    return found


def filled_in(source: str, values: dict[str, object], code: bool = True) -> str:
    """A cell's source with these values in place of their names."""
    names = "|".join(map(re.escape, values))
    if not values or not re.search(rf"\b({names})\b", source):
        return source
    source = re.sub(
        rf"^([ \t]*)#: ({names})\n", lambda found: _lines(found[1], str(values[found[2]])), source, flags=re.M
    )
    source = re.sub(rf"\{{\{{({names})\}}\}}", lambda found: str(values[found[1]]), source)
    if not code:
        return source
    return re.sub(rf"\b({names})\b", lambda found: repr(values[found[1]]), folded(source, values))


def _lines(space: str, text: str) -> str:
    return "".join(f"{space}{line}\n" for line in text.splitlines())


def seal(key: str, homework: str, student: str, edition: str) -> dict[str, str]:
    """What a student's notebook carries in its metadata, `lmbook.made_for`: whose it is, and a proof of it."""
    proof = _mac(key, "seal", homework, student, edition).hex()
    return {"student": student, "edition": edition, "seal": proof}


def edition(master: NotebookNode) -> str:
    """A name for the text of a homework: another one for a master that was changed."""
    text = json.dumps([[cell.cell_type, cell.source] for cell in master.cells])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


IGNORED = ("secret.txt", "/*/grading/", "/*/students/")


def course_secret(folder: Path, ignored: tuple[str, ...] = IGNORED) -> tuple[str, Path]:
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


def _mac(key: str, *parts: str) -> bytes:
    """HMAC-SHA256 of the parts, joined so that no two lists of parts are the same message."""
    message = json.dumps(parts, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hmac.new(key.encode(), message, hashlib.sha256).digest()
