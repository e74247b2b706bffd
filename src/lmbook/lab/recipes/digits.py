"""Digits of 8 x 8 pixels: a GPT that writes them pixel by pixel, and classifiers that read them in patches.

The sha256 of an image's pixels decides its part: of its remainder by ten, 0 and 1 are test, 2 is validation, the rest
training. Equal images are thus in one part. Bits a pixel: -log2 P(pixel | class, pixels before it), 17 greys, no loss.
"""

import hashlib
import math
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from lmbook import decode
from lmbook.data.digits import ORDERS, PixelCodec, digits, to_levels
from lmbook.gpt import GPT, decay_groups, gelu_tanh
from lmbook.lab.configuration import configured
from lmbook.lab.recipes.tasks import Pair, confusion, label_nll, log_probs, next_token_nll, wider
from lmbook.lab.run import Run, recipe
from lmbook.lab.train import device_of, evaluate
from lmbook.networks import evaluating
from lmbook.vit import PatchClassifier

LEVELS, CLASSES = 17, 10
Part = tuple[Tensor, Tensor]  # images (B, 8, 8), labels (B,)


def parts(run: Run | None = None) -> dict[str, Part]:
    """The digits in "train", "valid" and "test": all of them, or what a run takes."""
    images, labels = digits()
    rest = [int(hashlib.sha256(image.to(torch.uint8).numpy().tobytes()).hexdigest(), 16) % 10 for image in images]
    names = {0: "test", 1: "test", 2: "valid"}
    rows = {
        part: [i for i, r in enumerate(rest) if names.get(r, "train") == part] for part in ("train", "valid", "test")
    }
    if run is not None:
        rows = {part: run.cut(chosen) for part, chosen in rows.items()}
    return {part: (images[chosen], labels[chosen]) for part, chosen in rows.items()}


def shuffled(part: Part, B: int, seed: list[int], shift: int = 0) -> Iterator[Part]:
    """Batches of images in random order, each moved by up to `shift` pixels down and across; what is empty is 0."""
    images, labels = part
    rng = np.random.default_rng(seed)
    order = torch.from_numpy(rng.permutation(len(images)))
    for rows in order.split(B):
        yield shifted(images[rows], rng.integers(-shift, shift + 1, size=(len(rows), 2))), labels[rows]


def shifted(images: Tensor, by: np.ndarray) -> Tensor:
    """Image i moved by[i] = (down, across) pixels, 0 where it was.  images: (B, height, width).  by: (B, 2)."""
    most = int(np.abs(by).max(initial=0))
    if not most:
        return images
    height, width = images.shape[1:]
    wide = nn.functional.pad(images, (most, most, most, most))
    moved = [
        image[most - down : most - down + height, most - across : most - across + width]
        for image, (down, across) in zip(wide, by.tolist(), strict=True)
    ]
    return torch.stack(moved)


# Pixels


def pixel_nll(model: nn.Module, ids: Tensor) -> Tensor:
    """-ln P of each pixel given those before it: (B, 64) for ids (B, 65)."""
    with evaluating(model):
        log_p = [log_probs(model, rows[:, :-1]) for rows in ids.split(256)]
    return -torch.cat(log_p).gather(2, ids[:, 1:, None]).squeeze(2)


def histogram_bits(train: Part, test: Part, by_class: bool, k: float = 0.1) -> float:
    """Bits a pixel of the simplest model: each place has its own frequencies (k added to each of 17 greys).

    by_class: frequencies for each class apart. No pixel tells anything about another.
    """
    (counted, of), (asked, labels) = ((to_levels(images, LEVELS).flatten(1), y) for images, y in (train, test))
    nll = 0.0
    for c in range(CLASSES) if by_class else (None,):
        rows, wanted = (counted, asked) if c is None else (counted[of == c], asked[labels == c])
        counts = nn.functional.one_hot(rows, LEVELS).sum(0) + k  # (64, 17)
        log_p = (counts / counts.sum(1, keepdim=True)).log()
        nll -= float(log_p.T.gather(0, wanted).sum())
    return nll / asked.numel() / math.log(2)


def pixel_bits(model: nn.Module, ids: Tensor) -> float:
    """Mean bits a pixel."""
    return float(pixel_nll(model, ids).mean()) / math.log(2)


def pixel_gpt(
    run: Run, order: str, part: str = "model", width: int = 64, n_layers: int = 3, steps: int = 1200
) -> tuple[GPT, PixelCodec, dict[str, Tensor]]:
    """A trained GPT over the pixels in this order, its codec, and the ids of each part."""
    codec = run.text = PixelCodec(levels=LEVELS, order=order)
    ids = {name: codec.encode(*images) for name, images in parts(run).items()}
    gpt = GPT(codec.vocab, codec.window, width, n_heads=4, n_layers=n_layers, dropout=0.25, activation=gelu_tanh)
    model = wider(gpt).to(run.device)

    def next_pixels(ids: Tensor, B: int) -> Iterator[Pair]:
        return ((rows[:, :-1], rows[:, 1:]) for rows in ids.split(B))  # the class is only read

    def batches(epoch: int) -> Iterator[Pair]:
        order = np.random.default_rng([run.seed, epoch]).permutation(len(ids["train"]))
        return next_pixels(ids["train"][torch.from_numpy(order)], 32)

    run.fit_cosine(
        model,
        batches,
        next_token_nll,
        torch.optim.AdamW(decay_groups(model, 0.1), lr=2e-3, betas=(0.9, 0.99)),
        warmup=steps // 12,
        total=steps,
        valid=lambda: next_pixels(ids["valid"], 256),
        evaluate_every=steps // 12,
        patience=12,
        part=part,
    )
    return model, codec, ids


def bayes(model: GPT, codec: PixelCodec, ids: Tensor) -> tuple[float, list[list[int]]]:
    """argmax_c P(image | c), a classifier from the model that writes: accuracy, and the table [true][found]."""
    asked = ids.repeat_interleave(CLASSES, 0)
    asked[:, 0] = codec.class_tokens(torch.arange(CLASSES)).repeat(len(ids))
    found = pixel_nll(model, asked).sum(1).view(-1, CLASSES).argmin(1)
    return table(ids[:, 0] - codec.first_class, found)


def table(labels: Tensor, found: Tensor) -> tuple[float, list[list[int]]]:
    """Accuracy, and how often class i was taken for class j."""
    return float((labels == found).float().mean()), confusion(labels, found, CLASSES).tolist()


@recipe(
    "digits-pixels",
    about="8 x 8 digits pixel by pixel: GPT of 3 layers of width 64, row by row after the class",
    minutes=3,
    ships=True,
    score="bits a pixel",
)
def pixels(run: Run) -> tuple[dict, nn.Module]:
    """Beside it two histograms, and the classifier that the model is by Bayes' rule."""
    model, codec, ids = pixel_gpt(run, "raster")
    bits = pixel_nll(model, ids["test"]).double() / math.log(2)
    scores = {"bits a pixel": float(bits.mean())}
    if run.rescoring:
        return scores, model
    split = parts(run)
    scores |= {
        "histogram bits": histogram_bits(split["train"], split["test"], False),
        "histogram by class bits": histogram_bits(split["train"], split["test"], True),
        "uniform bits": math.log2(LEVELS),
        "train bits": pixel_bits(model, ids["train"]),
        "bits by pixel": [round(x, 3) for x in bits.mean(0).tolist()],
        "images": {name: len(part[0]) for name, part in split.items()},
    }
    scores["bayes accuracy"], scores["bayes table"] = bayes(model, codec, ids["test"])
    labels = torch.arange(CLASSES).repeat_interleave(2)
    prompt = codec.class_tokens(labels)[:, None].to(run.device)
    written, _ = decode.sample(
        model, len(labels), codec.window, prompt=prompt, eos=None, forbid=codec.forbid,
        generator=torch.Generator().manual_seed(run.seed),
    )  # fmt: skip
    images, _ = codec.decode(torch.cat([prompt.cpu(), torch.tensor(written)], dim=1))
    scores["samples"] = [
        {"class": c, "pixels": image.flatten().int().tolist()} for c, image in zip(labels.tolist(), images, strict=True)
    ]
    return scores, model


@recipe(
    "digits-page",
    about="8 x 8 digits pixel by pixel: GPT of 2 layers of width 48, small enough to complete digits in the page",
    minutes=2,
    ships=True,
    score="bits a pixel",
)
def page_pixels(run: Run) -> tuple[dict, nn.Module]:
    """As digits-pixels, with fewer weights."""
    model, codec, ids = pixel_gpt(run, "raster", width=48, n_layers=2)
    scores = {"bits a pixel": pixel_bits(model, ids["test"])}
    if not run.rescoring:
        scores["train bits"] = pixel_bits(model, ids["train"])
        scores["bayes accuracy"], scores["bayes table"] = bayes(model, codec, ids["test"])
    return scores, model


def orders(run: Run, steps: int) -> tuple[dict, None]:
    """The same GPT each time; by the chain rule of probability each order could reach the same bits.

    "by image": bits a pixel of every test image, in the same order of images, so that two orders can be compared on
    the same image.
    """
    scores: dict = {"by image": {}}
    for order in ORDERS:
        model, _, ids = pixel_gpt(run, order, part=order, steps=steps)
        bits = pixel_nll(model, ids["test"]).double().mean(1) / math.log(2)
        scores[order], scores["by image"][order] = float(bits.mean()), [round(x, 4) for x in bits.tolist()]
    return scores, None


for name, steps in {"digits-orders": 1200, "digits-orders-long": 2400}.items():
    recipe(
        name,
        about=f"8 x 8 digits pixel by pixel in four orders, rows, columns, serpentine, spiral: {steps:,} steps",
        minutes=steps / 120,
        score="raster",
    )(partial(orders, steps=steps))


# Patches


@configured
class SmallCNN(nn.Module):
    """Two convolutions of 3 x 3, each halved by max-pooling, and a linear map: logits (B, 10) for images (B, 8, 8)."""

    def __init__(self, channels: int = 32, dropout: float = 0.25):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(dropout), nn.Linear(2 * channels * 4, CLASSES),
        )  # fmt: skip

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images.unsqueeze(1) / 16)


def classify(model: nn.Module, images: Tensor) -> Tensor:
    """The likeliest class of each image."""
    with evaluating(model):
        return model(images.to(device_of(model))).argmax(-1).cpu()


def logistic_regression(train: Part, test: Part) -> float:
    """Test accuracy of scikit-learn's logistic regression on the 64 greys."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=2000).fit(train[0].flatten(1).numpy() / 16, train[1].numpy())
    return float(model.score(test[0].flatten(1).numpy() / 16, test[1].numpy()))


@recipe(
    "digits-patches",
    about="8 x 8 digits by a vision Transformer over 2 x 2 patches, beside a small CNN and logistic regression",
    minutes=7,
    ships=True,
    score="accuracy",
)
def patches(run: Run) -> tuple[dict, nn.Module]:
    """Each network is trained on the images as they are, and moved by up to one pixel at every look ("shifted").

    Of the two Transformers the one with the lower NLL on the validation images is shipped.
    """
    split = parts(run)
    images, labels = split["test"]

    def vit() -> nn.Module:
        return wider(PatchClassifier(8, 8, 2, CLASSES, 64, n_heads=4, n_layers=3, d_ff=128, dropout=0.1))

    scores, shipped = {"patches": 16}, None
    for name, build, steps in (("vit", vit, 5000), ("cnn", SmallCNN, 2500)):
        for shift in (1, 0):
            if run.rescoring and (name, shift) != ("vit", 1):
                continue
            model = build().to(run.device)
            part = name + (" shifted" if shift else "")
            run.fit_cosine(
                model,
                lambda epoch, shift=shift: shuffled(split["train"], 64, [run.seed, epoch], shift),
                label_nll,
                torch.optim.AdamW(decay_groups(model, 0.05), lr=2e-3),
                warmup=100,
                total=steps,
                valid=lambda: [split["valid"]],
                evaluate_every=250,
                part=part,
            )
            scores[f"{part} accuracy"], scores[f"{part} table"] = table(labels, classify(model, images))
            scores[f"{part} nll"] = evaluate(model, [split["test"]], label_nll)
            scores[f"{part} validation nll"] = found = evaluate(model, [split["valid"]], label_nll)
            if name == "vit" and (shipped is None or found < scores[f"{scores['shipped']} validation nll"]):
                shipped, scores["shipped"], scores["accuracy"] = model, part, scores[f"{part} accuracy"]
    if not run.rescoring:
        scores["logistic regression accuracy"] = logistic_regression(split["train"], split["test"])
        scores["images"] = {name: len(part[0]) for name, part in split.items()}
    return scores, shipped
