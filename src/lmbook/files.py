"""Files that are written whole or not at all: a process killed while it writes leaves the file of before."""

import os
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Replaces the file, and makes its folder where there is none. Raises OSError; the file of before is then there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")  # one name, so that a kill leaves at most one behind
    try:
        with open(part, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
