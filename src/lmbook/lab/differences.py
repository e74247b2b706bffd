"""In which settings the trainings behind the rows of a table differ, as their records have them."""

from lmbook.lab.layout import LACKS, chosen, grid
from lmbook.lab.run import records

COSTS = ("parameters", "steps", "tokens", "FLOPs", "seconds")
# Settings that are alike if they differ by less, as a share: the deviations of a start; and the highest rate, which is
# a little below the one that was set where the schedule falls from the first step on.
NEARLY = {"embeddings at the start": 0.2, "rate": 0.001}
MOST = 7  # settings that stand side by side
# What a setting is called in a table, where the name of an argument or of an entry of the records says too little.
SAID = {
    "FLOPs": "FLOPs in all",
    "model": "class in the code",
    "vocab": "size of the vocabulary",
    "vocab_source": "size of the source vocabulary",
    "vocab_target": "size of the target vocabulary",
    "vocabulary": "rows of each embedding table",
    "d_embed": "width of an embedding",
    "d_model": "width of the model",
    "d_ff": "width of the feed-forward layers",
    "d_a": "width of the comparison",
    "hidden": "units of a state",
    "n_layers": "layers",
    "n_heads": "heads",
    "n_types": "types",
    "max_length": "longest text",
    "cell": "recurrent cell",
    "bidirectional": "reads in both directions",
    "residual": "residual connections",
    "context": "steps that get the fixed vector",
    "tied": "shared embedding tables",
    "scaled": "embeddings scaled",
    "betas": "Adam's betas",
    "eps": "Adam's epsilon",
    "rows": "rows of a batch",
    "budget": "steps at most",
    "ended": "ended by",
}


def settings(part: dict) -> dict[str, object]:
    """The settings of a training, flat: its costs, then the model's class and arguments, then all others."""
    told = part["settings"]
    flat = {key: (part | {"FLOPs": told["flops"]})[key] for key in COSTS}
    flat |= _flat(told["model"], "model") | {"optimizer": told["optimizer"]} | told["optimizer options"]
    flat |= {key: told[key] for key in told if key not in ("model", "optimizer", "optimizer options", "flops", "start")}
    flat |= {
        "embeddings at the start": told["start"]["embeddings"],
        "start": told["start"].get("note", "at random"),
    }
    return flat | {"rates tried": sorted({trial["rate"] for trial in told["rates tried"]})}


def _flat(model: dict, name: str) -> dict:
    """A model's class under this name, and its arguments; those of a model within it stand beside them."""
    flat = {name: model["class"].rpartition(".")[2]}
    for key, value in model.items():
        if isinstance(value, dict) and "class" in value:
            flat |= _flat(value, key)
        elif key != "class":
            flat[key] = value
    return flat


def systems(name: str) -> dict[str, dict[int, list[dict]]]:
    """The trainings behind the rows of a table: for each label and seed the parts of the record, one or several.

    In a table of one row, whose columns are compared, each training is a row.
    """
    found: dict[str, dict[int, list[dict]]] = {}
    rows = chosen(name).rows
    for row in rows:
        for run in records(row.recipe):
            names = [part for part in (run["parts"] if row.trained is None else row.trained) if part in run["parts"]]
            groups = {part: [part] for part in names} if len(rows) == 1 and len(names) > 1 else {row.label: names}
            for label, group in groups.items():
                if group:
                    found.setdefault(label, {})[run["seed"]] = [settings(run["parts"][part]) for part in group]
    return found


def _alike(key: str, one: list, other: list) -> bool:
    if key not in COSTS:  # two trainings with one setting have the setting of a single one
        one, other = (values[:1] if all(v == values[0] for v in values) else values for values in (one, other))
    if key not in NEARLY or LACKS in (*one, *other):
        return one == other
    ones, others = ([v if isinstance(v, list) else [v] for v in values] for values in (one, other))
    pairs = list(zip(ones, others, strict=False))
    if len(ones) != len(others) or any(len(a) != len(b) for a, b in pairs):  # not one to one: all must be alike
        every = [x for part in (*ones, *others) for x in part]
        return max(every) <= (1 + NEARLY[key]) * min(every)
    return all(max(x, y) <= (1 + NEARLY[key]) * min(x, y) for a, b in pairs for x, y in zip(a, b, strict=True))


def varied(name: str) -> dict[str, bool]:
    """Every setting that the trainings of a table record, and whether it differs between them, seed by seed.

    A setting that one model has and another has not differs.
    """
    every = list(systems(name).values())
    keys = dict.fromkeys(key for seeds in every for parts in seeds.values() for part in parts for key in part)
    differ = {}
    for key in keys:
        told = [{seed: [part.get(key, LACKS) for part in parts] for seed, parts in seeds.items()} for seeds in every]
        differ[key] = any(
            not _alike(key, one[seed], other[seed])
            for i, one in enumerate(told)
            for other in told[:i]
            for seed in (one.keys() & other.keys() or ())
        )
    return differ


def spoken(number: float) -> str:
    """A large number with two digits and its unit in words: 5.93e11 is 590 billion."""
    rounded = float(f"{number:.2g}")
    for unit, name in (1e12, " trillion"), (1e9, " billion"), (1e6, " million"):
        if rounded >= unit:
            return f"{rounded / unit:,g}{name}"
    return f"{rounded:,g}"


def _shown(key: str, seeds: dict[int, list[dict]]) -> str:
    """A setting of a row: of several trainings one after the other, of several seeds the lowest to the highest."""

    def text(value) -> str:
        if isinstance(value, list):
            return ", ".join(map(text, value)) or "none"
        if isinstance(value, dict):  # a function; see `configuration`
            return value["function"].rpartition(".")[2]
        if isinstance(value, bool) or value is None or isinstance(value, str):
            return {True: "yes", False: "no", None: "none"}.get(value, value)
        if key == "FLOPs":
            return spoken(value)
        return f"{value:,.0f}" if isinstance(value, int) or key == "seconds" else f"{value:g}"

    parts = []
    for group in zip(*seeds.values(), strict=True):
        told = [part.get(key, LACKS) for part in group]
        told = [value[0] if isinstance(value, list) and len(value) == 1 else value for value in told]
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in told)
        ends = (min(told), max(told)) if numbers else told
        told = list(dict.fromkeys(map(text, ends)))
        units = {value.partition(" ")[2] for value in told}
        if key == "FLOPs" and len(units) == 1:  # 590 to 600 billion
            told[:-1] = [value.partition(" ")[0] for value in told[:-1]]
        parts.append(" to ".join(told))
    if len(set(parts)) == 1:  # one training, or several that are alike
        return f"{parts[0]} each" if len(parts) > 1 and key in COSTS else parts[0]
    return " / ".join(parts)


def differences(name: str) -> str:
    """Which settings differ between the trainings of a table, as Markdown; empty where there are not two to compare.

    A row for each model, or for each setting where those are many: a page is higher than it is wide.
    """
    found, differ = systems(name), varied(name)
    if len(found) < 2:
        return ""
    keys = [key for key in differ if differ[key]]
    rows = [[label, *(_shown(key, seeds) for key in keys)] for label, seeds in found.items()]
    heads = ["model", *(SAID.get(key, key) for key in keys)]
    if len(keys) > max(MOST, len(rows)):
        heads, *rows = map(list, zip(["setting", *heads[1:]], *rows, strict=True))
    cells = {cell for row in rows for cell in row}
    lines = ["According to their records, these training runs differ in the following settings:", grid(heads, rows)]
    first = next(iter(found.values()))
    shared = (key for key in differ if not differ[key] and key in ("steps", "tokens", "rate"))
    same = [f"{key} {_shown(key, first)}" for key in shared]
    notes = [f"All of them share these settings: {', '.join(same)}."] if same else []
    notes += ["A dash means that a model has no such setting."] if LACKS in cells else []
    return "\n\n".join([*lines, *([" ".join(notes)] if notes else [])])
