"""Merge: results that were graded on several machines become one folder, or nothing is changed."""

import json
from pathlib import Path

from lmbook import write
from lmbook_grader.grading.pool import result_path, write_result
from lmbook_grader.report.results import one_homework, read_result, results_folder
from lmbook_press.book import BookError

FREE = ("seconds", "sandbox", "output", "file", "folder")  # what may differ between two gradings of the same file


def merge(folders: list[Path], out: Path) -> tuple[int, list[str]]:
    """Writes the results of all folders to OUT/results; returns how many there are and remarks.

    A student found twice: the same file with the same points counts once; a graded result goes before an ungraded one
    of the same file.  Anything else is a conflict.  Raises BookError with all conflicts, and where a submission that a
    part knew of has no result, before anything is written; a result that is in OUT already takes part like the others.
    """
    found: dict[str, tuple[Path, dict]] = {}
    conflicts, remarks = [], []
    sources = [folder for folder in (out, *folders) if folder != out or (out / "results").is_dir()]
    for folder in sources:
        paths = sorted(path for path in results_folder(folder).glob("*.json"))
        if not paths and folder != out and not (folder / "intake.json").is_file():  # a part may have had nobody
            raise BookError(f"{folder} holds no results.")
        for path in paths:
            result = read_result(path)
            name = result["student"]
            if name not in found:
                found[name] = (path, result)
                continue
            other_path, other = found[name]
            kept, why = _choose(other, result)
            if kept is None:
                conflicts.append(f"{name}: {why} in {other_path} and {path}")
                continue
            found[name] = (path, result) if kept is result else (other_path, other)
            if other_path.resolve() != path.resolve():
                remarks.append(f"{name}: {why}; {found[name][0]} was taken")
    if conflicts:
        raise BookError("Nothing was merged:\n" + "\n".join(conflicts) + "\nDelete the results that do not count.")
    one_homework([result for _, result in found.values()], "What is to be merged")
    intakes = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in (one / "intake.json" for one in sources)
        if path.is_file()
    ]
    if lost := _lost(intakes, found):
        raise BookError(f"Nothing was merged: {lost}")
    for name, (_, result) in sorted(found.items()):
        write_result(result, result_path(out, name))
    _merge_intake(intakes, out)
    return len(found), remarks


def _choose(one: dict, other: dict) -> tuple[dict | None, str]:
    """Which of two results of a student counts, and why; None for a conflict."""
    if one["file_sha256"] != other["file_sha256"]:
        return None, "different files were graded"
    if one["status"] != other["status"]:
        return (one if one["status"] == "graded" else other), "graded in one place only"
    if _content(one) != _content(other):
        return None, "the same file has different results"
    return one, "graded twice, with the same result"


def _content(result: dict) -> dict:
    free = (*FREE, "why") if result["status"] != "graded" else FREE
    return {key: value for key, value in result.items() if key not in free}


def _lost(intakes: list[dict], found: dict) -> str:
    """What is missing: each part has listed the submissions of the class, in the order of their dealing."""
    missing, parts = [], set()
    for intake in intakes:
        of = int((intake.get("part") or "1/1").partition("/")[2])
        for at, student in enumerate(intake.get("submissions", [])):
            if student not in found:
                missing.append(student)
                parts.add(f"{at % of + 1}/{of}")
    missing, which = list(dict.fromkeys(missing)), ", ".join(sorted(parts, key=lambda part: int(part.split("/")[0])))
    if not missing:
        return ""
    some = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    return f"{len(missing)} submissions have no result ({some}). Run part {which} again, with --resume."


def _merge_intake(intakes: list[dict], out: Path) -> None:
    """The files that the intakes could not use, once each, and the submissions that they know of."""
    faults = {(fault["file"], fault["why"]): fault for intake in intakes for fault in intake["faults"]}
    everybody = list(dict.fromkeys(student for intake in intakes for student in intake.get("submissions", [])))
    if faults or everybody:
        content = {"faults": list(faults.values()), "submissions": everybody}
        write(out / "intake.json", json.dumps(content, ensure_ascii=False, indent=1) + "\n")
