"""Which questions a paper asks: the same for everybody, with other numbers in each version.

Chapters come evenly.  Half of the questions are calculations; of the rest, derivations, mistakes to find, questions in
words, shapes and "what if" come as evenly as the chapters allow.  Everything follows from the seed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

import numpy as np

from lmbook_exams.bank import by_name, of_chapter
from lmbook_exams.question import KINDS, Asked, Question

RULES = (
    "Give the way to each result, not only the number. Fractions, roots and logarithms may stay as they are. Letters "
    "are those of the book: logarithms are natural unless a base is written, losses are in nats, a mask is true where "
    "a query may look."
)
ROOM, LARGER = 7, 1.4  # millimetres of room for a minute of work, and how many times that for who writes large
TRIES = 200  # draws before the minutes count as impossible
CALCULATION = KINDS[0]


@dataclass(frozen=True)
class Paper:
    """One version: its questions in the order of the chapters, and what is asked in each."""

    version: str
    questions: tuple[Question, ...]
    asked: tuple[Asked, ...]

    @property
    def points(self) -> int:
        return sum(one.points for one in self.questions)

    @property
    def minutes(self) -> int:
        return sum(one.minutes for one in self.questions)


@dataclass(frozen=True)
class Sheet:
    """How papers look.

    time: the minutes that students have, else those of the questions; extra_time: percent; compact: no room for
    answers; latex, qti: other files beside the pages.
    """

    title: str = "Exam"
    course: str = ""
    date: str = ""
    aids: str = "None."
    time: int | None = None
    extra_time: int = 0
    large: bool = False
    compact: bool = False
    latex: bool = False
    qti: bool = False

    def allowed(self, paper: Paper) -> int:
        """The minutes that students have; half a minute more is a minute."""
        return -(-(self.time or paper.minutes) * (100 + self.extra_time) // 100)

    def room(self, minutes: int) -> int:
        """Millimetres for the answer to a question that takes so long."""
        return 0 if self.compact else round(ROOM * minutes * (LARGER if self.large else 1))

    def about(self, paper: Paper) -> str:
        """The line below the title."""
        more = f" (with {self.extra_time}\u00a0% more\u00a0time)" if self.extra_time else ""
        time = f"{self.allowed(paper)} minutes{more}"
        return f"Version {paper.version} · {len(paper.questions)} questions · {paper.points} points · {time}"


def choose(
    pool: Sequence[Question],
    seed: int,
    count: int | None = None,
    minutes: int | None = None,
    named: tuple[str, ...] = (),
) -> list[Question]:
    """`count` questions of the pool, or as many as take exactly these minutes, or both; those named are among them.

    Raises ValueError where there are not enough questions, or none that take that long.
    """
    if count is not None and count > len(pool):
        raise ValueError(f"{count} questions are asked for; there are {len(pool)} of these chapters, kinds and levels.")
    wanted = [by_name(name) for name in dict.fromkeys(named)]
    if strange := [one for one in wanted if one not in pool]:
        about = f"a question of level {strange[0].level} ({strange[0].kind}) to chapter {strange[0].chapter}"
        raise ValueError(f"{strange[0].name} is {about}, which is not asked for.")
    if count is not None and len(wanted) > count:
        raise ValueError(f"{len(wanted)} questions are named, and {count} asked for.")
    rng = np.random.default_rng(seed)
    if minutes is None:
        return _drawn(pool, count or min(10, len(pool)), wanted, rng)
    counts = [count] if count is not None else _likely(pool, minutes)
    nearest: list[Question] = []
    for turn in range(TRIES):
        for number in counts:
            alike = turn < TRIES * 3 // 4  # then rather the time than the kinds
            found = _to_time(_drawn(pool, number, wanted, rng), pool, wanted, minutes, alike)
            if _time(found) == minutes:
                return found
            if not nearest or abs(_time(found) - minutes) < abs(_time(nearest) - minutes):
                nearest = found
        if len(nearest) == len(pool):
            break
    said = f"{count} questions" if count is not None else "questions"
    raise ValueError(
        f"No {said} of these chapters, kinds and levels take {minutes} minutes; {len(nearest)} take {_time(nearest)}. "
        "Ask for other minutes, or leave the number of questions open."
    )


def _time(questions: Sequence[Question]) -> int:
    return sum(one.minutes for one in questions)


def _likely(pool: Sequence[Question], minutes: int) -> list[int]:
    """Numbers of questions that may take so long, the likeliest first."""
    middle = round(minutes * len(pool) / _time(pool))
    around = sorted(range(middle - 2, middle + 3), key=lambda number: abs(number - middle))
    return [number for number in around if 1 <= number <= len(pool)] or [min(max(middle, 1), len(pool))]


def quotas(pool: Sequence[Question], count: int, rng: np.random.Generator) -> Counter:
    """How many of each kind: half calculations, the rest evenly; chance says which kinds have one more."""
    others = [kind for kind in KINDS if kind != CALCULATION and any(one.kind == kind for one in pool)]
    left = count // 2 if count < 8 else max(count // 2, len(others))  # a paper of an hour has one of each
    if not (others and any(one.kind == CALCULATION for one in pool)):
        left = count if others else 0
    found = Counter({CALCULATION: count - left})
    mixed = [others[at] for at in rng.permutation(len(others))]
    found.update(mixed[at % len(mixed)] for at in range(left))
    return found


def _drawn(pool: Sequence[Question], count: int, wanted: list[Question], rng: np.random.Generator) -> list[Question]:
    """So many questions, evenly by chapter, and by kind as near to the quotas as these chapters allow."""
    mixed = [pool[at] for at in rng.permutation(len(pool))]
    order = list(dict.fromkeys(one.chapter for one in mixed))
    chosen, due = list(wanted), quotas(pool, count, rng)
    for kind in +due:  # where only some chapters are asked about, one that has this kind is among them
        if not any(one.kind == kind and one.chapter in order[:count] for one in pool):
            order.sort(
                key=lambda chapter, kind=kind: not any((one.chapter, one.kind) == (chapter, kind) for one in pool)
            )
    due.subtract(one.kind for one in wanted)
    taken = Counter(one.chapter for one in wanted)
    while len(chosen) < count:
        left = [one for one in mixed if one not in chosen]
        chapter = min({one.chapter for one in left}, key=lambda one: (taken[one], order.index(one)))
        # How many chapters can still supply a kind: a kind that few have must be taken where it is met.
        supply = Counter(kind for kind, _ in {(one.kind, one.chapter) for one in left})
        here = [one for one in left if one.chapter == chapter]
        best = max(here, key=lambda one: due[one.kind] / supply[one.kind])  # of equals the first, as they were mixed
        chosen.append(best)
        due[best.kind] -= 1
        taken[chapter] += 1
    return in_order(chosen)


def _to_time(
    chosen: list[Question], pool: Sequence[Question], wanted: list[Question], minutes: int, alike: bool
) -> list[Question]:
    """Exchanges a question for another of its chapter (and kind) as long as that comes nearer to the minutes."""
    chosen = list(chosen)
    while (off := minutes - _time(chosen)) != 0:
        swaps = [
            (abs(off - (new.minutes - old.minutes)), old, new)
            for old in chosen
            if old not in wanted
            for new in pool
            if new not in chosen and new.chapter == old.chapter and (not alike or new.kind == old.kind)
        ]
        best = min(swaps, key=lambda swap: swap[0], default=None)
        if best is None or best[0] >= abs(off):
            break
        chosen[chosen.index(best[1])] = best[2]
    return in_order(chosen)


def in_order(questions: list[Question]) -> list[Question]:
    """In the order of the chapters, and within one in that of its file."""
    return sorted(questions, key=lambda one: (one.chapter, of_chapter(one.chapter).index(one)))


def papers(questions: list[Question], seed: int, versions: list[str]) -> list[Paper]:
    """The versions: the same questions, and for no question with numbers the same text twice."""
    made, texts = [], {one.name: set() for one in questions}
    for number, version in enumerate(versions):
        asked = []
        for one in questions:
            for turn in range(100):
                rng = np.random.default_rng([seed, number, turn, crc32(one.name.encode())])
                if (drawn := one.ask(rng)).text not in texts[one.name] or not one.drawn:
                    break
            texts[one.name].add(drawn.text)
            asked.append(drawn)
        made.append(Paper(version, tuple(questions), tuple(asked)))
    return made


def seed_of(secret: str) -> int:
    """The number that stands for a secret: whoever has seen a paper cannot find it by trying small numbers."""
    return int.from_bytes(sha256(secret.encode()).digest(), "big")


def versions_of(text: str) -> list[str]:
    """The versions in "A,B".  Raises ValueError for a name that makes no file's name, or that stands there twice."""
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) < len(names) or not all(name.isalnum() and name.isascii() for name in names):
        raise ValueError(f"--versions {text}: write different letters or numbers with commas, like A,B.")
    return names
