"""Parts of speech on UD English EWT by a tagger that also reads the letters of each word (Plank et al. 2016).

    x_t = [E[w_t] + E[class(w_t)]; l(w_t)]      l(w): the last states of a GRU over the letters of w, from both sides

All else is as in the recipe `ewt-lstm`: the sizes of the LSTM, the number of epochs, the rate, and the words that are
now and then read as their class.
"""

from collections import Counter

import torch
from torch import Tensor, nn

from lmbook import data
from lmbook.lab.recipes.tagging import SumEmbedding, hide, hiding, predict, prepare, score_tags
from lmbook.lab.recipes.tasks import fit_labels
from lmbook.lab.run import Run, recipe
from lmbook.lab.word_shapes import WordForms
from lmbook.rnn import Recurrent
from lmbook.rnn_models import Tagger
from lmbook.text import PAD_ID, Vocabulary

D_LETTER, LETTERS = 24, 32  # widths of a letter's embedding and of the GRU in each direction


class SpelledEmbedding(nn.Module):
    """(B, T) ids of spellings to (B, T, width + 2 * LETTERS).

    spellings: every word that can be asked for, its letters known, whether training has it or not.
    """

    def __init__(self, spellings: Vocabulary, forms: WordForms, words: Counter, width: int):
        super().__init__()
        alphabet = Vocabulary(sorted({letter for word in words for letter in word}))
        tokens = spellings.tokens
        self.num_embeddings = len(tokens)
        own, chance = hiding(forms, words)
        self.word = SumEmbedding(width, own)
        self.letter = nn.Embedding(len(alphabet), D_LETTER)
        self.reader = Recurrent(D_LETTER, LETTERS, cell="gru", bidirectional=True)
        for name, table in {
            "chance": chance, "form": torch.from_numpy(forms.encode(tokens)),
            "spelled": data.pad([alphabet.encode(list(token)).tolist() for token in tokens]),
        }.items():  # fmt: skip
            self.register_buffer(name, table, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        form = self.form[tokens]
        if self.training:
            form = hide(form, self.word.own, self.chance)
        types, place = tokens.unique(return_inverse=True)
        letters = self.spelled[types]
        _, final = self.reader(self.letter(letters), None, letters != PAD_ID)
        return torch.cat([self.word(form), final[-1][0][place]], dim=-1)


@recipe(
    "ewt-letters",
    about="parts of speech: LSTM in two directions, one layer, that also reads the letters of each word",
    minutes=4,
    corpora=("ud_english_ewt",),
    seeds=(0,),
    score="accuracy",
)
def letters(run: Run) -> tuple[dict, nn.Module]:
    """One LSTM in each direction, scored on the test set as the other taggers are."""
    parts, words, tags = prepare(run, "ud_english_ewt")
    forms = WordForms.build(words.elements(), min_count=2, min_class=10)
    spellings = Vocabulary(sorted({word for part in parts.values() for text, _ in part for word in text}))
    number = {tag: i for i, tag in enumerate(tags)}
    ids = {part: [spellings.encode(text) for text, _ in parts[part]] for part in parts}
    labels = {part: [[number[tag] for tag in row] for _, row in parts[part]] for part in parts}
    model = Tagger(len(spellings), len(tags), d_embed=64 + 2 * LETTERS, hidden=96, dropout=0.3)
    model.embedding = SpelledEmbedding(spellings, forms, words, 64)
    adam = torch.optim.Adam(model.to(run.device).parameters(), lr=3e-3)
    fit_labels(run, model, ids, labels, adam, 6, warmup=100)
    return score_tags(predict(model, ids["test"], tags), parts["test"], words, tags) | {"tags": tags}, model
