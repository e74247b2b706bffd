"""Changes in a script that another package wrote; a build warns where the piece to change is not there any more."""

from pathlib import Path

from sphinx.util import logging

logger = logging.getLogger(__name__)


def patch(file: Path, old: str, new: str, why: str) -> None:
    """Puts `new` in the place of the first `old`, once.  why: the module that says what this is for."""
    text = file.read_text(encoding="utf8") if file.exists() else new
    if old not in text.replace(new, ""):
        if new not in text:
            logger.warning("%s has changed: see %s", file.name, why)
        return
    if new not in text:
        file.write_text(text.replace(old, new, 1), encoding="utf8")
