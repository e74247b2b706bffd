"""The bets on the recorded trainings: on a loss at the end, on a step, on a share of right answers."""

from lmbook.figures.trainer.recorded import stored


def crossing(points: list[list], level: float) -> int:
    """The step from which on the drawn line of the held-out loss stays below a level, in tens."""
    k = max(k for k, (_, _, loss) in enumerate(points) if loss > level)
    (a, _, high), (b, _, low) = points[k : k + 2]
    return 10 * round((a + (b - a) * (high - level) / (high - low)) / 10)


def bet(lesson: str) -> dict:
    """What is bet on the recorded training of a lesson's first data, and what stays covered until then.

    on: "nats" at the end, a "step" from which on a curve is below `level`, or a "share" of right answers in `row`.
    hides: curves, as [run, 1 in training or 2 held out].  told: how the answer begins, which `truth` ends.  whole: the
    drawing has all of the fall that is asked of.
    """
    record = stored()[lesson][0]
    run, *_ = record["runs"]
    runs = [run["points"] for run in record["runs"]]
    (_, _, first), (steps, train, last) = runs[0][0], runs[0][-1]

    def step(run: int, level: float, words: str, asks: str, told: str, others: tuple = ()) -> dict:
        pin = {"min": 0, "max": steps, "step": steps // 60, "value": steps // 2}
        truth = max(crossing(points, level) for points in (runs[run], *others))
        about = {"on": "step", "truth": truth, "level": level, "words": words}
        return {**about, "asks": asks, "told": f"{told} from about step", "hides": [[run, 1], [run, 2]], "pin": pin}

    def others(run: int) -> tuple:
        """The held-out losses of the four other seeds, as points."""
        places = [point[0] for point in runs[run]]
        return tuple(
            [[step, None, loss] for step, loss in zip(places, seed, strict=True)] for seed in record["seeds"][run]
        )

    def share(row: object, place: int, asks: str, told: str) -> dict:
        truth = next(right[place] for right in run["right"] if right[0] == row)
        pin = {"min": 0, "max": 1, "step": 0.01, "value": 0.5}
        return {"on": "share", "truth": truth, "row": row, "asks": asks, "told": told, "hides": [], "pin": pin}

    match lesson:
        case "names":
            asks = f"In training the loss ends at {train:.2f} nats. Where does it end on held-out names?"
            pin = {"min": 2, "max": 2.6, "step": 0.02, "value": 2.5}
            about = {"on": "nats", "truth": last, "hides": [[0, 2]], "pin": pin}
            return {**about, "asks": asks, "told": "On held-out names it ends at"}
        case "text":
            (level, _), *_ = record["marks"]
            asks = "From when on is its loss below that of a table of 3-grams?"
            return step(0, level, "", asks, "The loss stays below")
        case "gap":
            asks = "Five LSTMs learn it, each with a seed of its own. From when on is the last of them below 0.1 nats?"
            return step(1, 0.1, "0.1 nats", asks, "The last LSTM stays below", others(1))
        case "race":
            asks = f"After {steps:,} steps one vector is at {last:.2f} nats. From when on was attention lower?"
            return step(1, last, "", asks, "Attention has been lower")
        case "translation":
            short = min(dict(map(lambda row: row[:2], right))[5] for right in (run["right"], *record["rights"]))
            asks = f"Five runs translate at least {100 * short:.0f} % of the held-out captions with 5 tokens."
            asks += " What share of those with 8 does the recorded one?"
            return share(8, 1, asks, "Of those with 8 tokens it translates")
        case "blanks":
            asks = "For a hidden adjective it always names an adjective. How often the right one?"
            return share("adjectives", 2, asks, "BERT names the right one in")
    level = first - 0.9 * (first - last)
    asks = f"The recorded run falls from {first:.2f} to {last:.2f} nats. From which step on are all five, it and four "
    asks += f"other seeds, below {level:.2f}, nine tenths of that fall?"
    told = f"All five runs stay below {level:.2f} nats"
    return step(0, level, "nine tenths", asks, told, others(0)) | {"whole": True}
