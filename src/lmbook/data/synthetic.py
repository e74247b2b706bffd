"""Generated tasks: pairs made by a rule, of any number and length, that need no download and hold no surprise.

Each function takes how many pairs and a seed, and returns that many pairs with different sources, the same ones on
every machine. Since they differ, any cut of the list separates training from test (see `held_out`). Captions, a
translation task, are in harbourish.py.
"""

import bisect
import datetime
import random
from collections.abc import Callable


def unique(n: int, draw: Callable[[], tuple], what: str, key: Callable = lambda pair: pair[0]) -> list[tuple]:
    """n results of `draw` whose keys all differ. Raises ValueError when new ones become too rare to find."""
    if n < 0:
        raise ValueError(f"n is {n}; it must be 0 or more.")
    found: dict = {}
    misses = 0
    while len(found) < n:
        pair = draw()
        if key(pair) in found:
            misses += 1
            if misses > 2000 + 20 * n:
                raise ValueError(f"{what}: only {len(found):,} of {n:,} different pairs were found; allow longer ones.")
            continue
        found[key(pair)] = pair
    return list(found.values())


def held_out(pairs: list, valid: int, test: int) -> dict[str, list]:
    """Cuts a list into {"train", "valid", "test"}: the last `test` pairs, the `valid` before them, and the rest."""
    train = len(pairs) - valid - test
    if min(train, valid, test) < 0:
        raise ValueError(f"{len(pairs)} pairs cannot give {valid} for validation and {test} for test.")
    return {"train": pairs[:train], "valid": pairs[train : train + valid], "test": pairs[train + valid :]}


def _range(low: int, high: int, name: str) -> None:
    if not 1 <= low <= high:
        raise ValueError(f"{name}: {low} to {high} is no range; start at 1 or above, the smaller number first.")


def addition(n: int, seed: int = 0, digits: int = 3, even: bool = True) -> list[tuple[str, str]]:
    """Sums of two numbers of at most `digits` digits: ("27+105", "132").

    even: the number of digits is drawn first, evenly; else all numbers are equally likely, and nine in ten are long.
    """
    _range(1, digits, "addition() with digits")
    rng = random.Random(seed)

    def draw() -> tuple[str, str]:
        a, b = (rng.randrange(10 ** (rng.randint(1, digits) if even else digits)) for _ in range(2))
        return f"{a}+{b}", str(a + b)

    return unique(n, draw, "addition()")


def reversal(
    n: int, seed: int = 0, min_length: int = 1, max_length: int = 10, symbols: str = "abcdefghijklmnopqrstuvwxyz"
) -> list[tuple[str, str]]:
    """Sequences of symbols and the same backwards, blanks between: ("d a c", "c a d"). Lengths are drawn evenly."""
    _range(min_length, max_length, "reversal() with lengths")
    rng = random.Random(seed)

    def draw() -> tuple[str, str]:
        sequence = [rng.choice(symbols) for _ in range(rng.randint(min_length, max_length))]
        return " ".join(sequence), " ".join(reversed(sequence))

    return unique(n, draw, "reversal()")


def joined(
    pairs: list[tuple[str, str]], n: int, seed: int = 0, min_words: int = 1, max_words: int = 60
) -> list[tuple[str, str]]:
    """n different texts of several pairs each, sources joined by blanks, and their targets in the same order.

    A length is drawn evenly from min_words..max_words (words: what blanks separate in the source), then pairs are drawn
    until none fits in what is left of it; texts that come out shorter than min_words are drawn again.
    Raises ValueError where no pair is short enough, or the pairs are too few for n different texts.
    """
    _range(min_words, max_words, "joined() with words")
    rng = random.Random(seed)
    by_length = sorted(pairs, key=lambda pair: len(pair[0].split()))
    lengths = [len(source.split()) for source, _ in by_length]
    if not lengths or lengths[0] > max_words:
        raise ValueError(f"joined(): no pair has a source of at most {max_words} words; allow longer texts.")

    def draw() -> tuple[str, str]:
        for _ in range(1000):
            left, text = rng.randint(min_words, max_words), []
            goal = left
            while fitting := bisect.bisect_right(lengths, left):
                text.append(rng.randrange(fitting))
                left -= lengths[text[-1]]
            if goal - left >= min_words:
                return tuple(" ".join(by_length[i][side] for i in text) for side in (0, 1))
        raise ValueError(
            f"joined(): these pairs hardly make texts of {min_words} to {max_words} words; widen the range."
        )

    return unique(n, draw, "joined()")


MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


def _ordinal(day: int) -> str:
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


DATE_FORMATS: tuple[Callable[[datetime.date], str], ...] = (
    lambda d: f"{d.day} {MONTHS[d.month - 1]} {d.year}",
    lambda d: f"{MONTHS[d.month - 1]} {d.day}, {d.year}",
    lambda d: f"{d.day} {MONTHS[d.month - 1][:3]} {d.year}",
    lambda d: f"{_ordinal(d.day)} of {MONTHS[d.month - 1]}, {d.year}",
    lambda d: f"{DAYS[d.weekday()]}, {d.day} {MONTHS[d.month - 1]} {d.year}",
    lambda d: f"{DAYS[d.weekday()][:3]} {MONTHS[d.month - 1][:3]} {d.day} {d.year}",
    lambda d: f"{MONTHS[d.month - 1].lower()} {_ordinal(d.day)} {d.year}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d.year}/{d.month}/{d.day}",
    lambda d: f"{d.year}{d.month:02}{d.day:02}",
)


def dates(n: int, seed: int = 0, first_year: int = 1900, last_year: int = 2099) -> list[tuple[str, str]]:
    """Dates as people write them, and in the form of ISO 8601: ("3rd of March, 2021", "2021-03-03").

    Ten ways of writing, drawn evenly; each day occurs once, so no test date was seen in training in another form.
    """
    _range(first_year, last_year, "dates() with years")
    rng = random.Random(seed)
    start = datetime.date(first_year, 1, 1).toordinal()
    days = datetime.date(last_year, 12, 31).toordinal() - start + 1

    def draw() -> tuple[str, str]:
        day = datetime.date.fromordinal(start + rng.randrange(days))
        return rng.choice(DATE_FORMATS)(day), day.isoformat()

    return unique(n, draw, "dates()", key=lambda pair: pair[1])


def balanced(text: str) -> bool:
    """Whether every bracket is closed by one of its own kind, in the right order."""
    open_brackets: list[str] = []
    for bracket in text:
        if bracket in "([{":
            open_brackets.append(")]}"["([{".index(bracket)])
        elif not open_brackets or open_brackets.pop() != bracket:
            return False
    return not open_brackets


def brackets(n: int, seed: int = 0, max_pairs: int = 10) -> list[tuple[str, str]]:
    """Strings of brackets, each "balanced" or "unbalanced", about half and half: ("([]{})", "balanced").

    The unbalanced ones are balanced ones with one bracket changed or two exchanged, so that counting alone does not do.
    """
    _range(1, max_pairs, "brackets() with max_pairs")
    rng = random.Random(seed)

    def nest(pairs: int) -> str:
        if pairs == 0:
            return ""
        inside = rng.randrange(pairs)
        opening, closing = rng.choice(("()", "[]", "{}"))
        return opening + nest(inside) + closing + nest(pairs - 1 - inside)

    def draw() -> tuple[str, str]:
        text = list(nest(rng.randint(1, max_pairs)))
        if rng.random() < 0.5:
            return "".join(text), "balanced"
        while balanced("".join(text)):
            i, j = rng.randrange(len(text)), rng.randrange(len(text))
            if rng.random() < 0.5:
                text[i] = rng.choice("()[]{}")
            else:
                text[i], text[j] = text[j], text[i]
        return "".join(text), "unbalanced"

    return unique(n, draw, "brackets()")
