"""Errors carried forward: a mistake in one answer costs its points once, since the master stands in for it in others.

An answer may call what an earlier answer defines. Where that one fails, a check of the later answer may fail because of
it. Such a check is asked once more, in a new process in which the master's functions replace those of the failed
answers. These substitutes run in the grader: the student's process can call them, as it can call any function that
a check passes to it, and sees no line of them. They return plain data, without gradients: a training through a wrong
function fails with it.
"""

import ast
import re
from collections.abc import Callable, Container

from lmbook_grader.grading.hidden_tests import bounded, execute
from lmbook_press.assignments.questions import Homework, Question, bound_and_read, defined, marks

WORD = re.compile(r"[^\W\d]\w*")


def needed(question: Question, homework: Homework, failed: Container[str], sources: dict[str, str]) -> list[str]:
    """The questions among `failed` whose functions the answer to this one or its checks call, or what they call calls.

    sources: the student's code by question, under "" what is in no answer.
    """
    texts = [sources.get(question.name, ""), sources.get("", ""), *(check.source for check in question.checks)]
    words = set(WORD.findall("\n".join(texts)))
    given = [bound_and_read(cell.source) for cell in _code(homework) if not marks(cell).get("solution")]
    waiting, found = [other for other in homework.questions if other is not question and not other.written], []
    while True:
        called = [other for other in waiting if other.functions & words]
        used = [pair for pair in given if pair[0] & words]
        if not called and not used:
            return found
        waiting = [other for other in waiting if other not in called]
        given = [pair for pair in given if pair not in used]
        words = words.union(
            *(WORD.findall(sources.get(other.name, "")) for other in called), *(reads for _, reads in used)
        )
        found += [other.name for other in called if other.name in failed]


def read_by(texts: list[str], given: list[str]) -> set[str]:
    """The given cells that bind what these texts name, or what other such cells read."""
    words, kept = set(WORD.findall("\n".join(texts))), set()
    known = {source: bound_and_read(source) for source in given}
    while more := {source for source, (binds, _) in known.items() if source not in kept and binds & words}:
        kept |= more
        words = words.union(*(known[source][1] for source in more))
    return kept


def substitutes(homework: Homework, names: list[str], seconds: float) -> dict[str, dict[str, Callable]]:
    """The master's functions for these questions: {question: {name: function}}.

    Of the master's cells those are run that these functions need, here in the grader.
    """
    cells = _code(homework)
    answers = {marks(cell)["grade_id"]: cell.source for cell in cells if marks(cell).get("solution")}
    wanted = set().union(*(defined(answers[name])[0] for name in names))
    kept: list = []
    while more := [cell for cell in cells if cell not in kept and bound_and_read(cell.source)[0] & wanted]:
        kept += more
        wanted = wanted.union(*(bound_and_read(cell.source)[1] for cell in more))
    space: dict = {"__name__": "homework"}
    for cell in cells:
        if cell in kept:
            execute(compile(cell.source, "<master>", "exec"), space, seconds)
    return {name: {one: bounded(space[one], seconds) for one in _functions(answers[name])} for name in names}


def _code(homework: Homework) -> list:
    """The code cells of the master, without its checks."""
    cells = [cell for cell in homework.grading.cells if cell.cell_type == "code"]
    return [cell for cell in cells if marks(cell).get("solution") or not marks(cell).get("grade")]


def _functions(source: str) -> list[str]:
    """Functions, without classes: what a class makes is not plain data."""
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
