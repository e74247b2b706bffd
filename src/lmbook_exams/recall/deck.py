"""The cards as a deck for Anki: one part for each chapter, formulae for its MathJax.

Anki knows a note by its GUID and a deck by its number.  Both follow from the card and the chapter, so a newer deck
brings new text into an older one and leaves the reader's answers.
"""

import subprocess
import time
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from lmbook_exams.recall.cards import Card, cards
from lmbook_press.book import Book
from lmbook_press.prose import mathjax, prose

MODEL, DECK = 1_729_350_046, 1_729_350_100  # drawn once; the deck of chapter n has the number DECK + n
STYLE = """
.card { font: 18px/1.5 system-ui, sans-serif; max-width: 42em; margin: 0 auto; padding: 0 1em; text-align: left; }
pre { font-size: 14px; line-height: 1.4; padding: .6em; overflow-x: auto; background: #f3f1ec; }
table { border-collapse: collapse; } th, td { padding: .2em .7em; border-bottom: 1px solid #bbb; }
.where { color: #666; font-size: 14px; }
.nightMode pre { background: #2c2c2c; } .nightMode .where { color: #aaa; }
"""
WHERE = '<p class="where">{{Chapter}} · <a href="{{Address}}">in the book</a></p>'


def write_deck(out: Path, book: Book) -> int:
    """Writes the deck; returns the number of its cards."""
    import genanki

    fields = [{"name": name} for name in ("Front", "Back", "Chapter", "Address")]
    sides = {"name": "Card", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}" + WHERE}
    model = genanki.Model(MODEL, "From the Chain Rule to Transformers", fields, [sides], css=STYLE)
    found, decks = cards(book), []
    for chapter, several in groupby(found, key=lambda card: card.chapter):
        [path] = [path for path in book.chapters() if int(path.name[:2]) == chapter]
        title = f"{chapter:02d} {book.title(path)}"
        deck = genanki.Deck(DECK + chapter, f"{book.config['title']}::{title}")
        for card in several:
            deck.add_note(_note(card, title, model, book))
        decks.append(deck)
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder:  # a deck that fails leaves an older one as it is
        made = Path(folder) / out.name
        genanki.Package(decks).write_to_file(made, timestamp=_made(book.root))
        out.write_bytes(made.read_bytes())
    return len(found)


def _made(root: Path) -> float:
    """When the book was last changed, in seconds: Anki takes over a note that is newer than its own."""
    done = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return float(done.stdout) if done.returncode == 0 else time.time()


def _note(card: Card, title: str, model, book: Book):
    import genanki

    sides = (prose(text, draw=mathjax).strip() for text in (card.front, card.back))
    tags = [f"chapter-{card.chapter:02d}", card.kind.replace(" ", "-")]
    return genanki.Note(
        model, [*sides, title, book.site + card.where], tags=tags, guid=genanki.guid_for("lmbook", card.id)
    )
