"""The questions that come again: one source, and the deck that Anki opens."""

import json
import re
import sqlite3
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner
from hidden import secrets

from lmbook_cli import main
from lmbook_exams.bank import CHAPTERS, of_chapter
from lmbook_exams.recall import cards as recall
from lmbook_press.book import Book, markdown_of
from lmbook_press.prose import mathjax, prose

BOOK = Book.find(Path(__file__).parent)


@pytest.fixture(scope="module")
def cards():
    return recall.cards(BOOK)


def test_every_question_of_the_book_is_there_and_has_one_id(cards):
    source = "\n".join(map(markdown_of, BOOK.chapters()))
    kinds = Counter(card.kind for card in cards)
    assert set(kinds) == set(recall.KINDS)
    assert kinds["self-check"] == source.count("{self-check}")
    assert kinds["exercise"] == len(re.findall(r"\{exercise\} \d+\.\d+ (?!explore)", source))
    assert kinds["glossary"] == 2 * len(BOOK.terms)
    assert kinds["exam question"] == sum(len(of_chapter(number)) for number in CHAPTERS)
    assert len({card.id for card in cards}) == len(cards) >= 600
    assert all(card.front.strip() and card.back.strip() for card in cards)


def test_cards_are_the_same_each_time_and_keep_their_ids_when_others_come(cards):
    again = {card.id: card for card in recall.cards_of_exams(BOOK)}
    assert again == {card.id: card for card in cards if card.kind == "exam question"}
    text = "```{glossary}\nA\n  One.\n\nB\n  Two\n  lines.\n```\n"
    assert recall.entries(text) == [("A", "One."), ("B", "Two\nlines.")]
    assert all(re.fullmatch(r"(?:ex|check|term|name-term|exam)-[\w.-]+", card.id) for card in cards)


def test_the_name_of_a_term_does_not_stand_in_the_question_for_it(cards):
    asked = {card.id: card for card in cards}
    for term in ("Perplexity", "Beam search", "LSTM", "Back-propagation through time"):
        anchor = f"name-term-{term.replace(' ', '-')}"
        assert term.lower() not in asked[anchor].front.lower()
        assert term in asked[anchor].back


def test_a_term_belongs_to_the_chapter_that_links_it_first(cards):
    homes = recall.homes(BOOK)
    assert set(homes) == set(BOOK.terms)
    linked = {}
    for path in reversed(BOOK.chapters()):
        for shown, target in recall.LINKED.findall(markdown_of(path)):
            linked[(target or shown).lower()] = BOOK.chapter_number(path)
    assert len(linked) > 50
    assert {term: homes[term] for term in linked} == linked


def test_no_card_holds_a_solution_or_a_hidden_check_of_a_homework(cards):
    for card in cards:
        assert [line for line in secrets() if line in card.front + card.back] == [], card.id


def test_no_open_exercise_and_no_markup_is_left(cards):
    for card in cards:
        html = re.sub(
            r"<(pre|code)\b.*?</\1>", "", prose(card.front + "\n\n" + card.back, draw=mathjax), flags=re.DOTALL
        )
        words = re.sub(r"\\\(.*?\\\)|\\\[.*?\\\]", "", html, flags=re.DOTALL)
        assert not re.search(r"\$|\{(?:term|eq|cite|glue|ref)|:::|\*\*|```|\]\(", words), (card.id, words)


# --- the deck --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def deck(tmp_path_factory):
    """The deck as Anki unpacks it: (its notes: guid, tags, fields; its decks' numbers; names of media)."""
    folder = tmp_path_factory.mktemp("deck")
    done = CliRunner().invoke(main, ["deck", "--out", str(folder / "lmbook.apkg")])
    assert done.exit_code == 0, done.output
    with zipfile.ZipFile(folder / "lmbook.apkg") as archive:
        archive.extractall(folder)
        media = set(json.loads(archive.read("media")).values())
    base = sqlite3.connect(folder / "collection.anki2")
    notes = base.execute("select guid, tags, flds from notes").fetchall()
    decks = {number for (number,) in base.execute("select distinct did from cards")}
    count = base.execute("select count(*) from cards").fetchone()[0]
    base.close()
    assert f"{count} cards" in done.output
    return [(guid, tags.split(), fields.split("\x1f")) for guid, tags, fields in notes], decks, media, count


def test_the_deck_has_every_card_once_in_a_deck_for_its_chapter(deck, cards):
    notes, decks, _, count = deck
    assert count == len(notes) == len(cards) >= 600
    assert len({guid for guid, *_ in notes}) == count
    assert len(decks) == len(BOOK.chapters())
    assert Counter(tag for _, tags, _ in notes for tag in tags if tag.startswith("chapter-")) == Counter(
        f"chapter-{card.chapter:02d}" for card in cards
    )


def test_formulae_are_ankis_and_every_picture_is_in_the_deck(deck):
    notes, _, media, _ = deck
    formulae = 0
    named = set()
    for _, _, (front, back, chapter, address) in notes:
        html = re.sub(r"<(pre|code)\b.*?</\1>", "", front + back, flags=re.DOTALL)
        formulae += html.count(r"\(") + html.count(r"\[")
        assert html.count(r"\(") == html.count(r"\)")
        assert "$" not in html
        named |= set(re.findall(r'<img src="([^"]+)"|\[sound:([^\]]+)\]', html))
        assert re.match(r"\d\d \S", chapter)
        assert address.startswith(BOOK.site)
    assert formulae > 600
    assert named == media == set()  # all is text today; a card with a picture must bring it


def test_ids_of_notes_and_decks_do_not_change(deck):
    import genanki

    notes, decks, _, _ = deck
    assert genanki.guid_for("lmbook", "term-Attention") in {guid for guid, *_ in notes}
    assert min(decks) == 1_729_350_100  # another number is another deck, and the reader's answers stay with the old one
