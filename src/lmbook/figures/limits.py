"""What an address may set of a figure, as its class says it."""

import math

import anywidget
from traitlets import Enum, Int, TraitType


def limits(figure: type[anywidget.AnyWidget]) -> dict[str, dict]:
    """What `figure` says of its own traits, {trait: limit}; traits without a limit are left out.

    A limit is {"of": values}, {"counts": the list whose places it counts} or {"from": [least, most]}, all with
    {"whole": true} where no fraction will do.
    """
    traits = sorted(figure.class_own_traits(sync=True).items())
    found = {name: _limit(trait) for name, trait in traits if hasattr(trait, "values") or hasattr(trait, "min")}
    return {name: limit for name, limit in found.items() if limit}


def _limit(trait: TraitType) -> dict:
    if isinstance(trait, Enum):
        return {"of": list(trait.values)}
    whole = {"whole": True} if isinstance(trait, Int) else {}
    if counts := trait.metadata.get("counts"):
        return whole | {"counts": counts}
    ends = [end if end is None or abs(end) < math.inf else None for end in (trait.min, trait.max)]
    return whole | ({"from": ends} if ends != [None, None] else {})
