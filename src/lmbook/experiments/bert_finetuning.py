"""The pre-trained BERT as a reader of whole texts: opinions on films, fine-tuned and from scratch.

The words are those of its pre-training; a text is <sos> w_1 .. w_T <eos>, and its label comes from the state of <sos>.
Tagging with it is `bert_pretraining.bert_tagging`; the LSTM and the linear baseline are in `text_classification`.
"""

import torch

from lmbook.bert import BERTClassifier
from lmbook.experiments.bert_pretraining import WINDOW, encoder, framed
from lmbook.experiments.run import Run, recipe
from lmbook.experiments.tasks import fit_labels
from lmbook.experiments.text_classification import labelled_texts, probabilities, score_labels
from lmbook.gpt import decay_groups
from lmbook.text import words


@recipe(
    "bert-opinions",
    about="opinions on films, sentence by sentence: the pre-trained BERT fine-tuned, and one from scratch",
    minutes=6,
    corpora=("sentence_polarity",),
    score="fine-tuned, accuracy",
)
def bert_opinions(run: Run) -> tuple[dict, None]:
    """The same texts and parts as film-opinions; what is longer than the window is cut."""
    texts, gold = labelled_texts(run, "sentence_polarity", ("negative", "positive"))
    scores: dict = {}
    for start in ("fine-tuned", "scratch"):
        forms, bert, note = encoder(run, start)
        model = BERTClassifier(bert, 2, dropout=0.1).to(run.device)
        ids = {part: [framed(forms, words(text)[: WINDOW - 2]) for text in rows] for part, rows in texts.items()}
        adam = torch.optim.AdamW(decay_groups(model, 0.01), lr=5e-4)
        fit_labels(run, model, ids, gold, adam, epochs=4, part=start, note=note)
        found = score_labels(probabilities(model, ids["test"]) > 0.5, gold["test"])
        scores[start] = {key: found[key] for key in ("accuracy", "f1", "right")}
        scores[f"{start}, accuracy"] = found["accuracy"]
    return scores, None
