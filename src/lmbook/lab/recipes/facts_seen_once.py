"""Facts that were seen once: people with popularity 1 / rank, each born in one of CITIES, drawn at random.

Nothing but having read it tells where. Models read N statements (forename, surname, city), drawn by popularity, and are
looked at with the weights of the lowest loss on fresh statements, and after all steps.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from lmbook.evaluation import calibration_error, seen_once
from lmbook.gpt import GPT
from lmbook.lab.recipes.shakespeare import adamw
from lmbook.lab.recipes.tasks import Pair, next_token_nll
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import device_of
from lmbook.networks import evaluating
from lmbook.text import SPECIALS

FIRST = len(SPECIALS)
FORENAMES, SURNAMES, CITIES = 40, 50, 50
CITY = FIRST + 1 + FORENAMES + SURNAMES  # the id of the first city
READ = (500, 2000, 8000)
FACT_STEPS = 600
GROUPS = {"never": (0, 0), "once": (1, 1), "2 to 4 times": (2, 4), "5 times or more": (5, 10**9)}


def world(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each of the FORENAMES * SURNAMES people: how often one hears of them (adds up to 1), and the city."""
    rng = np.random.default_rng([23, seed])
    people = FORENAMES * SURNAMES
    popularity = 1 / np.arange(1, people + 1)
    return rng.permutation(popularity / popularity.sum()), rng.integers(CITIES, size=people)


def statements(people: np.ndarray, cities: np.ndarray) -> Tensor:
    """<start> forename surname city, ids (n, 4)."""
    start, forename = np.full(len(people), FIRST), FIRST + 1 + people // SURNAMES
    surname = FIRST + 1 + FORENAMES + people % SURNAMES
    return torch.from_numpy(np.stack([start, forename, surname, CITY + cities[people]], axis=1))


@torch.no_grad()
def beliefs(model: nn.Module, cities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """P(the model speaks of this person), (people,), and P(city | person), (people, CITIES)."""
    rows = statements(np.arange(len(cities)), cities).to(device_of(model))
    with evaluating(model):
        p = model(rows[:, :-1]).softmax(-1).cpu().double()
    spoken = p[:, :2].gather(-1, rows[:, 1:3, None].cpu()).squeeze(-1).prod(1)
    return spoken.numpy(), p[:, 2, CITY : CITY + CITIES].numpy()


def judged(model: nn.Module, heard: np.ndarray, fresh: np.ndarray, cities: np.ndarray) -> dict:
    """How much of what the model says of its own accord is wrong, and how sure it is of what it is asked."""
    spoken, p = beliefs(model, cities)
    times = np.array([Counter(heard.tolist())[person] for person in range(len(cities))])
    truth = p[np.arange(len(cities)), cities]
    sure, right = p.max(1), p.argmax(1) == cities
    groups = {}
    for name, (least, most) in GROUPS.items():
        who = fresh[(least <= times[fresh]) & (times[fresh] <= most)]
        groups[name] = [len(who), float(sure[who].mean()), float(right[who].mean())] if len(who) else [0, 0.0, 0.0]
    return {
        "wrong": float((spoken * (1 - truth)).sum() / spoken.sum()),
        "right when asked": float(right[fresh].mean()),
        "sure when asked": float(sure[fresh].mean()),
        "calibration error": calibration_error(sure[fresh], right[fresh]),
        "by times heard": groups,
    }


@recipe(
    "facts-seen-once",
    about="birthplaces at random: how much of what a model says is wrong, by the share that was seen once",
    minutes=2,
    score="wrong, 2000 read",
)
def facts_seen_once(run: Run) -> tuple[dict, None]:
    """By statements read: N_1 / N, the share of a fresh draw that was never heard, and the model at two moments."""
    popularity, cities = world(run.seed)
    rng = np.random.default_rng([24, run.seed])
    fresh = rng.choice(len(cities), size=4000, p=popularity)
    scores: dict = {}
    for N in READ:
        heard = rng.choice(len(cities), size=N, p=popularity)
        rows = statements(heard, cities)
        never = np.setdiff1d(np.arange(len(cities)), heard)
        told = scores[str(N)] = {"once": seen_once(heard.tolist()), "never heard": float(popularity[never].sum())}

        def batches(epoch: int, rows: Tensor = rows) -> Iterator[Pair]:
            order = torch.from_numpy(np.random.default_rng([run.seed, epoch]).permutation(len(rows)))
            return ((rows[some, :-1], rows[some, 1:]) for some in order.split(64))

        def held() -> list[Pair]:
            valid = statements(fresh[:1000], cities)
            return [(valid[:, :-1], valid[:, 1:])]

        for moment, patience in (("lowest", 4), ("last", None)):
            torch.manual_seed(run.seed)
            model = GPT(CITY + CITIES, 3, 64, n_heads=4, n_layers=2).to(run.device)
            run.fit_cosine(
                model, batches, next_token_nll, adamw(model, 3e-3), warmup=50, total=FACT_STEPS, part=f"{N}, {moment}",
                valid=held, evaluate_every=50, patience=patience,
            )  # fmt: skip
            told[moment] = judged(model, heard, fresh[1000:], cities)
    scores["wrong, 2000 read"] = scores["2000"]["lowest"]["wrong"]
    return scores, None
