"""Tables that people open in a spreadsheet and save again: no cell becomes a formula, and each comes back as it was."""

import csv
import io
import re
from collections.abc import Container
from pathlib import Path

from lmbook import write
from lmbook_press.book import BookError

# A sign that makes a spreadsheet compute, below any number of guards; so a guard is taken off as it was put on.
COMPUTED, GUARDED = re.compile(r"'*[=+\-@\t\r]"), re.compile(r"'+[=+\-@\t\r]")
NUMBER, PLAIN = re.compile(r"[+-]?\d+([.,]\d+)?"), re.compile(r"[\w@.+ -]*")
MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"", "utf-8-sig"))


def guarded(text: object, ids: Container[str] = ()) -> str:
    """A cell that no spreadsheet takes for a formula.  ids: what a program wants to have back as it is."""
    text = str(text)
    harmless = NUMBER.fullmatch(text) or (text in ids and PLAIN.fullmatch(text))
    return text if harmless or not COMPUTED.match(text) else f"'{text}"


def unguarded(text: str) -> str:
    return text[1:] if GUARDED.match(text) else text


def decoded(path: Path) -> str:
    """The text of a CSV file.  Raises BookError, with the remedy, for one that is neither UTF-8 nor UTF-16."""
    try:
        data = path.read_bytes()
        encoding = next(encoding for mark, encoding in MARKS if data.startswith(mark))
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BookError(f"{path} is not UTF-8 text (byte {error.start}): save it as 'CSV UTF-8'.") from error
    except OSError as error:
        raise BookError(f"{path} cannot be read: {error}") from error


def write_csv(rows: list[dict], columns: list[str], path: Path, mark: bool = True, ids: Container[str] = ()) -> None:
    """Writes a CSV, whole or not at all.  mark: begin with UTF-8's mark, without which Excel breaks accents."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows({key: guarded(value, ids) for key, value in row.items()} for row in rows)
    write(path, ("\ufeff" if mark else "") + out.getvalue())
