"""A language model of captions, and how it is tuned to answer.

`captions-base` reads captions in English and in Harbourish, and continues them. `captions-chat` shows it dialogues:

    <user> tell me something <assistant> an old dog sings . <eos>

Whether an answer is right is decided by a rule: a caption of the English grammar, which ends. What a tuning forgets is
measured on Harbourish, of which no dialogue has a word.
"""

import copy
import functools
import json
import random
from collections.abc import Callable, Iterator

import torch
from torch import nn

import lmbook
from lmbook.answers import Turns, answer_nll, say, turns
from lmbook.data.harbourish import captions, grammatical
from lmbook.lab import checkpoints
from lmbook.lab.recipes.shakespeare import adamw
from lmbook.lab.run import RecipeError, Run, recipe
from lmbook.lab.schedules import warmup_cosine
from lmbook.lab.train import evaluate
from lmbook.lora import add_lora, merge
from lmbook.modern import ModernGPT
from lmbook.networks import n_parameters
from lmbook.text import Vocabulary

Ids = tuple[list[int], list[int]]  # prompt, answer
USER, ASSISTANT, END = "<user>", "<assistant>", "<eos>"
KINDS = ("short", "long", "singular", "plural")
D, HEADS, LAYERS, WINDOW, ROWS = 64, 4, 2, 64, 32
BASE_STEPS, STEPS, TRIED = 500, 60, 30
CAPTIONS, HELD, DIALOGUES, MOST = 6_000, 200, 1000, 20


@functools.cache
def vocabulary() -> Vocabulary:
    """All words of both languages, those of the template, and four with which to ask for a kind of caption."""
    words = [w for pair in captions(4000, seed=0) for text in pair for w in text.split()]
    return Vocabulary.build([USER, ASSISTANT, "tell", "me", "something", *KINDS, *words])


def read(texts: list[str]) -> list[Ids]:
    """Texts as what a base model learns: <sos> is given, all that follows is to be predicted."""
    encode = vocabulary().encode
    return [(encode(["<sos>"]).tolist(), encode([*text.split(), END]).tolist()) for text in texts]


def prompt() -> list[int]:
    """The template up to where the answer begins."""
    return vocabulary().encode([USER, "tell", "me", "something", ASSISTANT]).tolist()


def dialogues(n: int, seed: int) -> list[Ids]:
    """n dialogues in the template; other seeds have other captions."""
    return [(prompt(), vocabulary().encode([*text.split(), END]).tolist()) for text, _ in captions(n, 1000 + seed)]


def draw(pairs: list[Ids], rows: int, seed: int) -> Callable[[int], Iterator[Turns]]:
    """A function of the epoch: batches of pairs drawn evenly."""

    def batches(epoch: int) -> Iterator[Turns]:
        rng = random.Random(f"{seed} {epoch}")
        for _ in range(200):
            yield turns([rng.choice(pairs) for _ in range(rows)])

    return batches


def held(pairs: list[Ids]) -> Callable[[nn.Module], float]:
    """A validation: nats per token of the answers."""
    return lambda model: evaluate(model, [turns(pairs)], answer_nll)


def told(batch: Turns) -> list[list[str]]:
    """The words of the answers, without their ends."""
    tokens, said = batch
    rows = [vocabulary().decode(row[own].tolist()) for row, own in zip(tokens, said, strict=True)]
    return [words[: words.index(END)] if END in words else words for words in rows]


def right(model: nn.Module, n: int, seed: int = 0) -> float:
    """The share of n sampled answers that are captions."""
    prompts = torch.tensor([prompt()] * n)
    answers = told(say(model, prompts, MOST, generator=torch.Generator().manual_seed(seed)))
    return sum(map(grammatical, answers)) / n


def new_model() -> ModernGPT:
    return ModernGPT(len(vocabulary()), WINDOW, D, HEADS, LAYERS)


@recipe(
    "captions-base",
    about="a small model of today's form that continues captions in English and in Harbourish",
    minutes=1,
    ships=True,
    score="English",
    rescored=("English", "Harbourish"),
)
def captions_base(run: Run) -> tuple[dict, nn.Module]:
    """Nats per word of held-out captions in both languages."""
    run.text = vocabulary()
    made, few = captions(200 if run.quick else CAPTIONS, seed=0), 10 if run.quick else HELD
    model, learned = new_model().to(run.device), read([text for pair in made[:-few] for text in pair])
    english, harbourish = (held(read([pair[side] for pair in made[-few:]])) for side in (0, 1))
    run.fit_cosine(
        model, draw(learned, ROWS, run.seed), answer_nll, adamw(model, 8e-3), warmup=50, total=BASE_STEPS,
        validate=english, evaluate_every=100,
    )  # fmt: skip
    return {"English": english(model), "Harbourish": harbourish(model)}, model


# every tuning: the rank of its LoRA or None, whether the table of embeddings learns, and the rates tried
TUNINGS: dict[str, tuple[int | None, bool, tuple[float, ...]]] = {
    "all weights": (None, True, (2.5e-4, 5e-4, 1e-3, 2e-3)),
    "all but the table": (None, False, (2.5e-4, 5e-4, 1e-3, 2e-3)),
    "LoRA, rank 1": (1, False, (1e-2, 2e-2, 4e-2, 8e-2)),
    "LoRA, rank 1, and the table": (1, True, (1e-2, 2e-2, 4e-2, 8e-2)),
}


# the same without the table, at three rates each, so that rank and rate can be told apart
RANKS: dict[str, tuple[int | None, tuple[float, ...]]] = {
    "all but the table": (None, (1e-3, 2e-3, 4e-3)),
    "LoRA, rank 1": (1, (1e-2, 2e-2, 4e-2)),
    "LoRA, rank 2": (2, (1e-2, 2e-2, 4e-2)),
    "LoRA, rank 8": (8, (5e-3, 1e-2, 2e-2)),
    "LoRA, rank 32": (32, (2.5e-3, 5e-3, 1e-2)),
}


class Chat:
    """What both recipes tune with and measure."""

    def __init__(self, run: Run):
        self.run, (self.base, _, _) = run, checkpoints.load("captions-base")
        few, self.n = (10, 4) if run.quick else (HELD, 320)
        kept = captions(CAPTIONS, seed=0)[-few:]
        self.languages = {
            name: held(read([pair[side] for pair in kept])) for side, name in enumerate(("English", "Harbourish"))
        }
        self.pairs, self.answers = dialogues(few if run.quick else DIALOGUES, 0), held(dialogues(few, 1))

    def build(self, r: int | None, table: bool) -> nn.Module:
        """The base model, of which a LoRA of rank r learns, or all of it, the table of embeddings only if `table`."""
        model = copy.deepcopy(self.base).requires_grad_(True)
        if r is not None:
            add_lora(model, r)
        model.embedding.requires_grad_(table)
        return model.to(self.run.device)

    def measured(self, model: nn.Module) -> dict[str, float]:
        """Right answers, and nats of held-out answers and of both languages."""
        nats = {name: language(model) for name, language in self.languages.items()}
        return {"right": right(model, self.n, self.run.seed), "answers": self.answers(model)} | nats

    def tune(self, model: nn.Module, rate: float, part: str) -> list[list[float]]:
        """STEPS updates.  Returns nats of answers and of Harbourish every 5, to compare forgetting at equal loss.

        The log has the first of each pair. A file has both, so that a resumed run knows what the one before measured;
        what the other did behind its last checkpoint is in the file but not in the log.
        """
        place = self.run.folder / f"{part}, curve.jsonl"

        def validate(model: nn.Module) -> float:
            answers, harbourish = self.answers(model), self.languages["Harbourish"](model)
            self.run.folder.mkdir(parents=True, exist_ok=True)
            with place.open("a", encoding="utf-8") as file:
                file.write(f"{json.dumps([answers, harbourish])}\n")
            return answers

        log = self.run.fit_cosine(
            model, draw(self.pairs, ROWS, self.run.seed), answer_nll, tuned(model, rate), warmup=10, total=STEPS,
            part=part, validate=validate, evaluate_every=5, note="captions-base",
        )  # fmt: skip
        lines = place.read_text("utf-8").splitlines() if place.is_file() else []
        found, due = dict(map(json.loads, lines)), [entry["validation"] for entry in log if "validation" in entry]
        if missing := [answers for answers in due if answers not in found]:
            raise RecipeError(
                f"{place} lacks {len(missing)} of {len(due)} points; delete {self.run.folder / part} and resume, "
                "which trains this part anew."
            )
        return [[answers, found[answers]] for answers in due]


@recipe(
    "captions-chat",
    about="the captions' model tuned to answer, all weights or LoRA, with the table or without: what is forgotten",
    minutes=3,
    score="right before",
)
def captions_chat(run: Run) -> tuple[dict, None]:
    """Before and after each tuning, at its own rate; curve: see Chat.tune."""
    chat = Chat(run)
    scores: dict = {"before": chat.measured(chat.base)}
    for name, (r, table, rates) in TUNINGS.items():
        build = functools.partial(chat.build, r, table)
        if (chosen := run.picked(name)) is not None:
            rate = chosen["rate"]
        else:
            schedule = functools.partial(warmup_cosine, warmup=10, total=TRIED)
            trial = {"steps": TRIED, "schedule": schedule, "clip": 1.0, "validate": chat.answers}
            batches = draw(chat.pairs, ROWS, run.seed)
            rate = run.tune(build, batches, answer_nll, tuned, name, rates, evaluate_every=TRIED, **trial)
        model = build()
        curve, learned = chat.tune(model, rate, name), n_parameters(model)
        scores[name] = {"rate": rate, "learned": learned, "curve": curve} | chat.measured(merge(model))
    return scores | {"right before": scores["before"]["right"]}, None


@recipe(
    "captions-ranks",
    about="the captions' model tuned to answer by LoRA of rank 1 to 32 and in full, at three rates: what is forgotten",
    minutes=3,
    score="right before",
)
def captions_ranks(run: Run) -> tuple[dict, None]:
    """By tuning and rate; curve: see Chat.tune."""
    chat = Chat(run)
    scores: dict = {"before": chat.measured(chat.base)}
    for name, (r, rates) in RANKS.items():
        scores[name] = {}
        for rate in rates:
            lmbook.seed(run.seed)
            model = chat.build(r, table=False)
            curve = chat.tune(model, rate, f"{name}, rate {rate:g}")
            scores[name][f"{rate:g}"] = {"curve": curve} | chat.measured(merge(model))
    return scores | {"right before": scores["before"]["right"]}, None


def tuned(model: nn.Module, rate: float) -> torch.optim.AdamW:
    """AdamW on what may learn, without decay, which would pull towards 0 and not towards where the tuning began.

    A table that learns beside a LoRA does so at a fortieth of its rate.
    """
    fast = [w for name, w in model.named_parameters() if w.requires_grad and name.endswith((".A", ".B"))]
    slow = [w for name, w in model.named_parameters() if w.requires_grad and not name.endswith((".A", ".B"))]
    groups = [{"params": fast, "lr": rate}] if fast else []
    groups += [{"params": slow, "lr": rate / 40 if fast else rate}] if slow else []
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.99), weight_decay=0.0)
