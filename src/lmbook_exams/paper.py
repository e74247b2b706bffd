"""Which questions a paper asks: the same for everybody, with other numbers in each version.

Chapters come evenly, and of each chapter's questions every second one, from the first on, has numbers that are drawn:
neighbours with different versions cannot copy those.  Everything follows from the seed.
"""

from dataclasses import dataclass
from zlib import crc32

import numpy as np

from lmbook_exams.bank import by_name, of_chapter
from lmbook_exams.question import Asked, Question

TRIES = 60  # draws before the minutes count as impossible


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


def choose(
    chapters: list[int], seed: int, count: int | None = None, minutes: int | None = None, named: tuple[str, ...] = ()
) -> list[Question]:
    """`count` questions, or as many as take exactly these minutes, or both; those named are among them.

    Raises ValueError where there are not enough questions, or none that take that long.
    """
    there = sum(len(of_chapter(number)) for number in chapters)
    if count is not None and count > there:
        raise ValueError(f"{count} questions are asked for; these chapters have {there}.")
    wanted = [by_name(name) for name in dict.fromkeys(named)]
    if strange := [one for one in wanted if one.chapter not in chapters]:
        raise ValueError(f"{strange[0].name} is a question to chapter {strange[0].chapter}, which is not asked for.")
    if count is not None and len(wanted) > count:
        raise ValueError(f"{len(wanted)} questions are named, and {count} asked for.")
    rng = np.random.default_rng(seed)
    if minutes is None:
        return _drawn(chapters, count or 10, wanted, rng)
    counts = [count] if count is not None else _likely(chapters, minutes, there)
    nearest: list[Question] = []
    for _ in range(TRIES):
        for number in counts:
            found = _to_time(_drawn(chapters, number, wanted, rng), wanted, minutes)
            if _time(found) == minutes:
                return found
            if not nearest or abs(_time(found) - minutes) < abs(_time(nearest) - minutes):
                nearest = found
        if len(nearest) == there:
            break
    said = f"{count} questions" if count is not None else "questions"
    raise ValueError(
        f"No {said} of these chapters take {minutes} minutes; {len(nearest)} take {_time(nearest)}. "
        "Ask for other minutes, or leave the number of questions open."
    )


def _time(questions: list[Question]) -> int:
    return sum(one.minutes for one in questions)


def _likely(chapters: list[int], minutes: int, there: int) -> list[int]:
    """Numbers of questions that may take so long, the likeliest first."""
    every = [one.minutes for number in chapters for one in of_chapter(number)]
    middle = round(minutes * len(every) / sum(every))
    around = sorted(range(middle - 2, middle + 3), key=lambda number: abs(number - middle))
    return [number for number in around if 1 <= number <= there] or [min(max(middle, 1), there)]


def _drawn(chapters: list[int], count: int, wanted: list[Question], rng: np.random.Generator) -> list[Question]:
    """So many questions, evenly by chapter; chance says which chapters have one more."""
    order = [chapters[at] for at in rng.permutation(len(chapters))]
    stacks: dict[int, list[Question]] = {}
    for number in chapters:
        mixed = [of_chapter(number)[at] for at in rng.permutation(len(of_chapter(number)))]
        with_numbers, without = ([one for one in mixed if one.drawn is kind] for kind in (True, False))
        turns = []
        while with_numbers or without:
            turns += [stack.pop() for stack in (with_numbers, without) if stack]
        stacks[number] = [one for one in turns if one not in wanted]
    chosen = list(wanted)
    taken = {number: sum(one.chapter == number for one in wanted) for number in chapters}
    while len(chosen) < count:
        number = min((one for one in order if stacks[one]), key=lambda one: (taken[one], order.index(one)))
        chosen.append(stacks[number].pop(0))
        taken[number] += 1
    return in_order(chosen)


def _to_time(chosen: list[Question], wanted: list[Question], minutes: int) -> list[Question]:
    """Exchanges a question for another of its chapter and kind as long as that comes nearer to the minutes."""
    chosen = list(chosen)
    while (off := minutes - _time(chosen)) != 0:
        swaps = [
            (abs(off - (new.minutes - old.minutes)), old, new)
            for old in chosen
            if old not in wanted
            for new in of_chapter(old.chapter)
            if new not in chosen and new.drawn == old.drawn
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


def versions_of(text: str) -> list[str]:
    """The versions in "A,B".  Raises ValueError for a name that makes no file's name, or that stands there twice."""
    names = [name.strip() for name in text.split(",")]
    if len(set(names)) < len(names) or not all(name.isalnum() and name.isascii() for name in names):
        raise ValueError(f"--versions {text}: write different letters or numbers with commas, like A,B.")
    return names
