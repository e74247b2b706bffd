"""Which tables of results there are: their rows are recipes, their columns scores. `results` fills them in."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column: its head, the score (a key of the record's scores, the first there is of several keys, or a function
    of the record), its format, and for a column that shows one value, not mean and range, which of the seeds' values.
    """

    head: str
    score: str | tuple[str, ...] | Callable[[dict], float]
    form: str = ".2f"
    pick: Callable[[list], float] | None = None

    def value(self, record: dict) -> float | str | None:
        if callable(self.score):
            return self.score(record)
        keys = (self.score,) if isinstance(self.score, str) else self.score
        return next((record["scores"][key] for key in keys if key in record["scores"]), None)


def parameters(record: dict) -> float | None:
    """Parameters of the recipe's model, in millions; None where nothing was trained."""
    return sum(part["parameters"] for part in record["parts"].values()) / 1e6 or None


def minutes(record: dict) -> float | None:
    """Minutes of training, evaluations during it included; None where nothing was trained."""
    return record["seconds"] / 60 or None


# Another machine, or another load, changes the minutes of the same training by a factor of ten: the least say most.
COST = (Column("parameters (M)", parameters, pick=max), Column("minutes", minutes, ".1f", pick=min))
TRANSLATORS = ("fixed vector", "attention")  # of the recipes length-captions and length-joined
SIZES = ("32", "64", "128", "256", "512")  # of the recipe recall


def by_length(first: int) -> Callable[[dict], float | None]:
    """BLEU on the sources of `first` to first + 4 words; None where the record has none."""
    return lambda run: next((row["bleu"] for row in run["scores"]["by words"] if row["from"] == first), None)


LENGTHS = tuple(Column(f"{first} to {first + 4} words", by_length(first), ".1f") for first in (6, 16, 26, 41, 56))


@dataclass(frozen=True)
class Table:
    """title, caption in Markdown, rows (label, recipe) in order, columns.

    "recipe:part" stands for one of several systems of a recipe: its scores are then those under the key `part`, or
    those whose names begin with it, or those under the key `part` of each task.
    """

    title: str
    caption: str
    rows: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]


TABLES: dict[str, Table] = {
    "language": Table(
        "WikiText-2: every kind of language model",
        "Perplexity on the test part, 245,569 tokens in one stream, the same vocabulary of 33,278 types for all "
        "models; lower is better.",
        (
            ("unigram", "wikitext2-ngrams:kneser-ney 1"),
            ("bigram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 2"),
            ("trigram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 3"),
            ("4-gram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 4"),
            ("5-gram, Kneser-Ney", "wikitext2-ngrams:kneser-ney 5"),
            ("5-gram, modified Kneser-Ney", "wikitext2-ngrams:modified kneser-ney 5"),
            ("feed-forward, window of 5", "wikitext2-feedforward"),
            ("RNN", "wikitext2-rnn"),
            ("GRU", "wikitext2-gru"),
            ("LSTM", "wikitext2-lstm"),
            ("GPT", "wikitext2-gpt"),
        ),
        (Column("validation", "valid perplexity", ".1f"), Column("test", "test perplexity", ".1f"), *COST),
    ),
    "windows": Table(
        "WikiText-2: how many words back?",
        "Validation perplexity of Bengio's model with 1 to 8 words in its window; a quarter of the text and three "
        "epochs for each.",
        (("feed-forward", "wikitext2-windows"),),
        tuple(Column(f"window {words}", f"window {words}", ".1f") for words in "12358"),
    ),
    "translation": Table(
        "Multi30k, German to English: the ladder",
        "sacreBLEU, cased, on the 1,000 pairs of test 2016; all models read the same byte pairs.",
        (
            ("one LSTM for both sides", "multi30k-one-rnn"),
            ("encoder-decoder, first state", "multi30k-first"),
            ("encoder-decoder, every step", "multi30k-every"),
            ("encoder-decoder, every step, two layers", "multi30k-two-layers"),
            ("additive attention (RNNsearch)", "multi30k-additive"),
            ("hybrid", "multi30k-hybrid"),
            ("Transformer", "multi30k-transformer"),
        ),
        (
            Column("greedy", "greedy", ".1f"),
            Column("beam of 5", "beam 5", ".1f"),
            Column("lower-cased, beam", "beam 5 lower-cased", ".1f"),
            Column("perplexity", "perplexity"),
            *COST,
        ),
    ),
    "harbourish": Table(
        "Harbourish to English",
        "Generated captions through one vector: sacreBLEU, cased, on 1,000 held-out captions, greedy, and the share "
        "without a mistake.",
        tuple(
            (label, f"harbourish:{part}")
            for label, part in (
                ("one GRU for both sides", "one RNN"),
                ("encoder-decoder, first state", "first state"),
                ("encoder-decoder, every step", "every step"),
                ("encoder-decoder, every step, two layers", "two layers"),
                ("encoder-decoder, every step, stopped after 300 of 1,000 steps", "stopped early"),
            )
        ),
        (Column("BLEU", "bleu", ".1f"), Column("exact", "exact", ".1%"), Column("perplexity", "perplexity", ".3f")),
    ),
    "depth": Table(
        "Harbourish to English: deeper through one vector",
        "BLEU of encoder-decoders of 1 to 4 layers, context into every step, the same 1,000 steps and rate for all.",
        (("encoder-decoder", "harbourish-depth"),),
        tuple(Column(name, name, ".1f") for name in ("1 layer", "2 layers", "3 layers", "4 layers")),
    ),
    "hybrid": Table(
        "Harbourish to English: does the encoder need recurrence?",
        "One recurrent decoder with attention for all, the same captions, batches and steps; sacreBLEU, cased, greedy, "
        "the share without a mistake, and the share that has the right words in any order.",
        (
            ("recurrent encoder, both directions", "caption-hybrid:recurrent encoder"),
            ("self-attention, with positions", "caption-hybrid:with positions"),
            ("self-attention, without positions", "caption-hybrid:without positions"),
        ),
        (
            Column("BLEU", "bleu", ".1f"),
            Column("exact", "exact", ".1%"),
            Column("right words", "right words", ".1%"),
            Column("perplexity", "perplexity", ".3f"),
        ),
    ),
    "caption-ladder": Table(
        "The ladder on captions",
        "Harbourish to English, up to 20 words, the same 600 steps for all: BLEU over words, greedy, on 500 captions, "
        "and on 200 that are longer than any in training.",
        (
            *((name, f"caption-ladder:{name}") for name in ("RNNenc", "RNNsearch", "hybrid", "Transformer")),
            ("Transformer with 4 experts, 2 for each token", "caption-experts"),
        ),
        (
            Column("BLEU", "bleu", ".1f"),
            Column("21 to 30 words", "bleu, longer than trained", ".1f"),
            Column("exact", "exact", ".1%"),
            Column("perplexity", "perplexity", ".3f"),
        ),
    ),
    "norms": Table(
        "Where LayerNorm stands",
        "Held-out loss, nats a token, of a Transformer of 6 + 6 layers after the same few steps on captions, at one "
        "rate.",
        (("Transformer", "norm-curves"),),
        tuple(
            Column(name, name)
            for name in ("pre-norm, no warm-up", "pre-norm, warm-up", "post-norm, no warm-up", "post-norm, warm-up")
        ),
    ),
    "scores": Table(
        "Four scores of attention",
        "Multi30k, German to English, over an encoder of one direction, scored after the update, 1,500 steps each: "
        "fewer than the ladder has, since here the four are compared with each other.",
        tuple((score, f"multi30k-score-{score}") for score in ("dot", "multiplicative", "additive", "scaled")),
        (Column("greedy", "greedy", ".1f"), Column("beam of 5", "beam 5", ".1f"), *COST),
    ),
    "caption-scores": Table(
        "Four scores of attention, and none: generated captions",
        "English to Harbourish, captions of 6 to 20 words, one encoder of one direction, one budget. BLEU on 500 "
        "held-out captions, greedy, and the share without a mistake.",
        tuple(
            (label, f"caption-scores:{part}")
            for label, part in (
                ("fixed vector at every step", "none"),
                ("dot", "dot"),
                ("multiplicative", "multiplicative"),
                ("scaled", "scaled"),
                ("additive", "additive"),
                ("additive, scored before the update (RNNsearch)", "RNNsearch"),
            )
        ),
        (Column("BLEU", "bleu", ".1f"), Column("exact", "exact", ".1%")),
    ),
    "lengths": Table(
        "By length: generated captions",
        "English to Harbourish: BLEU by words of the source, for a fixed vector at every step and for additive "
        "attention, trained on captions of up to 30 and of up to 50 words.",
        tuple((f"{name}, to {n} words", f"length-captions:{name} {n}") for name in TRANSLATORS for n in (30, 50)),
        LENGTHS,
    ),
    "joined": Table(
        "By length: joined captions",
        "Multi30k, German to English, captions joined to up to 60 words; otherwise as above.",
        tuple((f"{name}, to {n} words", f"length-joined:{name} {n}") for name in TRANSLATORS for n in (30, 50)),
        LENGTHS,
    ),
    "recall": Table(
        "Recall through one vector",
        "Share of the symbols of a source of 20, the longest in training, that come back through a state of so many "
        "numbers; a guess is right in 6.2%.",
        (("GRU, written backwards", "recall:backwards"),),
        tuple(Column(m, lambda run, m=m: run["scores"][m]["recall"][19], ".0%") for m in SIZES),
    ),
    "characters": Table(
        "Characters of Tiny Shakespeare",
        "Nats a character on the last tenth of the text. The GPTs are scored by windows that do not overlap, so that a "
        "character sees from none to window - 1 others; the recurrent models carry their state along one stream.",
        (
            ("RNN, 160 units", "shakespeare-rnn"),
            ("GRU, 160 units", "shakespeare-gru"),
            ("LSTM, 160 units", "shakespeare-lstm"),
            ("GPT, nanoGPT's CPU setting", "shakespeare"),
            ("GPT of the page, window of 128", "shakespeare-page"),
            ("GPT, nanoGPT's GPU setting", "shakespeare-gpu"),
        ),
        (Column("nats", "nll", ".3f"), *COST),
    ),
    "vectors": Table(
        "Word vectors: skip-gram on WikiText-2",
        "Nats for a pair of the validation part and its five negative samples; an untrained model has 6 ln 2.",
        (("skip-gram", "skip-gram"),),
        (Column("before training", "before training"), Column("after", "held-out loss"), *COST),
    ),
    "names": Table(
        "Names",
        "Nats a character on a held-out tenth, ends of names counted as characters.",
        (
            ("bigrams, Kneser-Ney", "names-counts:2-gram"),
            ("4-grams, Kneser-Ney", "names-counts:4-gram"),
            ("6-grams, Kneser-Ney", "names-counts:6-gram"),
            ("feed-forward network, 6 characters", "names-mlp"),
            ("Transformer", "names-gpt"),
        ),
        (Column("validation", "valid nll", ".3f"), Column("test", ("nll", "test nll"), ".3f"), *COST),
    ),
    "generated": Table(
        "Tasks made by a rule",
        "Share of held-out targets written without a mistake.",
        (("addition of numbers below 1,000", "addition"), ("dates", "dates")),
        (Column("exact", "exact", ".2%"), *COST),
    ),
    "reversal": Table(
        "Reversal",
        "BLEU on test sequences of up to 30 tokens, five more than in training, and on the longer ones alone.",
        (("fixed vector", "reversal:fixed vector"), ("attention", "reversal:attention")),
        (Column("all", "bleu", ".1f"), Column("longer than trained", "past training", ".1f")),
    ),
    "gap": Table(
        "Recall across a gap",
        "Share of right answers by the gap between a symbol and the question for it, after training on gaps from 1 to "
        "60; a guess is right in 12.5%.",
        (("RNN", "gap:rnn"), ("GRU", "gap:gru"), ("LSTM", "gap:lstm")),
        tuple(Column(gap, gap, ".0%") for gap in ("1", "5", "20", "60", "120")),
    ),
    "copying": Table(
        "Codes of position past the trained length",
        "Share of right symbols. Echo, the symbol three places before, was trained on up to 24 symbols, copy on up to "
        "10; a guess is right in 12.5%.",
        tuple(
            (label, f"copying:{code}")
            for label, code in (
                ("no code", "none"),
                ("learned", "learned"),
                ("sinusoidal", "sinusoidal"),
                ("rotary", "rotary"),
                ("ALiBi", "linear bias"),
            )
        ),
        (
            Column("echo, places 4 to 24", lambda run: sum(run["scores"]["echo"][:21]) / 21, ".0%"),
            Column("echo, 49 to 96", lambda run: sum(run["scores"]["echo"][45:]) / 48, ".0%"),
            Column("copy of 10", lambda run: run["scores"]["copy"]["10"], ".0%"),
            Column("copy of 20", lambda run: run["scores"]["copy"]["20"], ".0%"),
        ),
    ),
    "beside": Table(
        "Echo with the place beside the embedding",
        "Share right within the trained length and past it, up to four times as far; a guess is right in 12.5%.",
        tuple((code, f"copying-beside:{code},") for code in ("integer", "binary")),
        (Column("trained", "trained", ".1%"), Column("past", "past", ".1%")),
    ),
    "tagging": Table(
        "Parts of speech, UD English EWT",
        "Accuracy on the test part: all words, and those that training does not have.",
        (
            ("most frequent tag of the word", "ewt-linear:majority"),
            ("logistic regression", "ewt-linear"),
            ("LSTM, left to right", "ewt-left"),
            ("LSTM, left to right, two layers", "ewt-left-2"),
            ("LSTM, both directions", "ewt-lstm"),
            ("LSTM, both directions, two layers", "ewt-lstm-2"),
        ),
        (Column("all words", "accuracy", ".2%"), Column("unknown words", "accuracy unknown", ".1%"), *COST),
    ),
    "blanks": Table(
        "Blanks in WikiText-2",
        "At 15% of the words of the test part, each hidden from the model or not as BERT's rule has it: share of words "
        "that it ranks first, and among the first five, and its perplexity there. Not to be compared with the "
        "perplexity of a language model, which sees the left side alone.",
        (("BERT, three layers of width 128", "bert-wikitext2"),),
        (
            Column("first", "accuracy", ".1%"),
            Column("among five", "among five", ".1%"),
            Column("perplexity at blanks", "perplexity"),
            *COST,
        ),
    ),
    "labels": Table(
        "Parts of speech with few labels",
        "Accuracy on the test part of UD English EWT after training on a share of the labelled sentences: the BERT of "
        "the blanks fine-tuned, and the same network from random weights. Unknown are the words that the share does "
        "not have.",
        tuple(
            (f"{share} of the labels, {start}", f"bert-tagging:{start} {share}")
            for share in ("1%", "10%", "100%")
            for start in ("scratch", "fine-tuned")
        ),
        (Column("all words", "accuracy", ".2%"), Column("unknown words", "accuracy unknown", ".1%")),
    ),
    "opinions": Table(
        "Opinions on films, with and without pre-training",
        "Accuracy and F1 of the positive sentences, on a held-out tenth.",
        (
            ("TF-IDF, logistic regression", "film-opinions:linear"),
            ("LSTM, both directions", "film-opinions"),
            ("BERT from scratch", "bert-opinions:scratch"),
            ("BERT, pre-trained and fine-tuned", "bert-opinions:fine-tuned"),
        ),
        (Column("accuracy", "accuracy", ".2%"), Column("F1", "f1", ".1%")),
    ),
    "entities": Table(
        "Named entities, WNUT-17",
        "Precision, recall and F1 of whole spans on the test part, whose texts come from other sources than those of "
        "training.",
        (
            ("most frequent tag of the word", "wnut17-linear:majority"),
            ("logistic regression", "wnut17-linear"),
            ("LSTM, left to right", "wnut17-left"),
            ("LSTM, both directions", "wnut17-lstm"),
            ("LSTM, both directions, two layers", "wnut17-lstm-2"),
        ),
        (Column("precision", "precision", ".1%"), Column("recall", "recall", ".1%"), Column("F1", "f1", ".1%"), *COST),
    ),
    "classifying": Table(
        "Whole texts: spam and opinions",
        "Accuracy, and F1 of spam or of the positive sentences, on a held-out tenth.",
        tuple(
            (f"{task}: {system}", f"{recipe}{part}")
            for task, recipe in (("spam", "sms-spam"), ("opinions", "film-opinions"))
            for system, part in (
                ("majority", ":majority"),
                ("TF-IDF, logistic regression", ":linear"),
                ("LSTM, left to right", "-left"),
                ("LSTM, both directions", ""),
                ("LSTM, both directions, two layers", "-2"),
            )
        ),
        (Column("accuracy", "accuracy", ".2%"), Column("F1", "f1", ".1%"), *COST),
    ),
    "digits": Table(
        "Digits of 8 x 8 pixels",
        "Accuracy on the test part.",
        (
            ("logistic regression", "digits-patches:logistic regression"),
            ("small CNN", "digits-patches:cnn"),
            ("small CNN, images shifted in training", "digits-patches:cnn shifted"),
            ("Transformer over patches", "digits-patches:vit"),
            ("Transformer over patches, images shifted in training", "digits-patches:vit shifted"),
            ("pixel GPT, by Bayes' rule", "digits-pixels:bayes"),
            ("pixel GPT of the page, by Bayes' rule", "digits-page:bayes"),
        ),
        (Column("accuracy", "accuracy", ".1%"),),
    ),
    "pixels": Table(
        "Digits, pixel by pixel",
        "Bits a pixel on the test part; the pixels have 17 greys, so a guess costs 4.09.",
        (
            ("histogram of each place", "digits-pixels:histogram"),
            ("histogram of each place and class", "digits-pixels:histogram by class"),
            ("pixel GPT", "digits-pixels"),
            ("pixel GPT of the page", "digits-page"),
        ),
        (Column("bits a pixel", ("bits a pixel", "bits"), ".3f"), *COST),
    ),
    "orders": Table(
        "Digits in four orders",
        "Bits a pixel on the test part, of the same GPT each time.",
        (("pixel GPT", "digits-orders"),),
        tuple(Column(order, order, ".3f") for order in ("raster", "columns", "serpentine", "spiral")),
    ),
}
