"""For whom a notebook was made, as it says itself: a seal in its metadata that no other name of the file changes.

The seal is an HMAC over homework, id and edition with the course's key.  It is believed of somebody in the roster
alone.  It never changes whose points they are where the file's name says whose it is: then it makes a remark.
"""

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lmbook_grader.intake.reading import Unreadable, content_of, read_bytes
from lmbook_press.assignments.questions import Homework
from lmbook_press.assignments.variants import seal

FOREIGN = (
    "Your file is a copy of the notebook that was made for somebody else. It was graded as the one that was made for "
    "you, so the questions whose numbers differ in yours cost points."
)
MISSING = "Your file does not say for whom it was made; it was graded as the notebook that was made for you."
FORGED = "What your file says of whom it was made for is not of this course; it was graded as the one made for you."
OLDER = "Your file was made before this homework was changed; it was graded as the notebook that is made for you now."


@dataclass(frozen=True)
class Seal:
    """student: for whom the file was made, "" where that cannot be believed.  note: what is wrong with it."""

    student: str = ""
    note: str = ""


def seal_of(path: Path, homework: Homework) -> Seal:
    """What the seal in this file says; the file may hold anything."""
    try:
        content = content_of(read_bytes(path))
    except (Unreadable, ValueError, RecursionError, MemoryError):
        return Seal()
    for name in ("metadata", "lmbook", "made_for"):
        content = content.get(name) if isinstance(content, dict) else None
    if content is None:
        return Seal(note=MISSING)
    parts = [content.get(name) for name in ("student", "edition", "seal")] if isinstance(content, dict) else []
    if not parts or not all(isinstance(part, str) for part in parts):
        return Seal(note=FORGED)
    student, edition, proof = parts
    key = homework.sealed.get("key", "")
    wanted = seal(key, homework.name, student, edition)["seal"]
    if not hmac.compare_digest(wanted.encode(), proof.encode("utf-8", "replace")):
        return Seal(note=FORGED)
    return Seal(student, "" if edition == homework.sealed["edition"] else OLDER)


def made_for(homework: Homework) -> Callable[[Path], str] | None:
    """What tells for whom a file was made; None where the homework is the same for all."""
    return (lambda path: seal_of(path, homework).student) if homework.sealed else None
