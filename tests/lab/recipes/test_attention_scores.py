"""The recipe on the four scores: nothing of the test is trained on, counterparts are right."""

import torch

from lmbook import data
from lmbook.lab.recipes import attention_scores
from lmbook.lab.recipes.attention_scores import SIZES, SYSTEMS, counterparts
from lmbook.lab.recipes.translation import encoder_decoder


def test_every_word_has_an_id_and_no_source_of_the_test_is_trained_on():
    parts, (reader, writer) = attention_scores.pairs(quick=True), attention_scores.word_ids()
    for source, target in data.captions(2000, 9, 6, 20):
        assert reader.vocabulary.decode(reader.encode(source)) == source.split()
        assert writer.vocabulary.decode(writer.encode(target)) == target.split()
    seen = {source for source, _ in parts["train"]}
    assert not seen & {source for source, _ in parts["test"] + parts["valid"]}


def test_counterparts_of_a_caption():
    source = "the happy boat waits with an old ball beside the horse ."
    target = "la nava luta ta puma verna cun la hira wem galma ."
    words = source.split()
    found = [None if i is None else words[i] for i in counterparts(source, target)]
    assert found == [None, "boat", "happy", None, "ball", "old", "with", None, "horse", "beside", "waits", None]
    twice = counterparts("a dog sees a red dog .", "to bolu to bolu ruvo sunta .")
    assert twice == [None, None, None, None, 4, 2, None]


def test_counterparts_are_those_that_the_generator_knows():
    found = 0
    for english, harbourish, order in data.aligned_captions(500, 4, 6, 20):
        known = counterparts(" ".join(english), " ".join(harbourish))
        wrong = [t for t, i in enumerate(known) if i is not None and i != order[t]]
        assert wrong == [], (english, harbourish)
        found += sum(i is not None for i in known)
    assert found > 2000


def test_every_word_but_articles_and_full_stops_has_a_counterpart():
    for source, target in data.captions(500, 4, 6, 20):
        words = source.split()
        for word, place in zip(target.split(), counterparts(source, target), strict=True):
            found = [w for w in words if w in attention_scores.COUNTERPARTS.get(word, ())]
            assert found or word in (".", "lo", "la", "to", "ta", "dvo", "dva")
            assert place is None or words.count(words[place]) == 1


def test_all_systems_have_one_encoder():
    encoders = []
    for name in SYSTEMS:
        torch.manual_seed(0)
        encoders.append(encoder_decoder((100, 120), **SIZES, **SYSTEMS[name]).encoder.recurrent.state_dict())
    for other in encoders[1:]:
        assert other.keys() == encoders[0].keys()
        assert all(other[key].shape == encoders[0][key].shape for key in other)


def test_an_alignment_that_looks_at_the_counterparts_scores_one():
    test = data.captions(8, 5, 6, 9)
    reader, writer = attention_scores.word_ids()
    coded = [(reader.encode(source), writer.encode(target)) for source, target in test]

    class Perfect(torch.nn.Module):
        shift = 0

        def forward(self, source, target_in, need_weights):
            weights = torch.zeros(*target_in.shape, source.shape[1])
            for row, ids in enumerate(source.tolist()):
                number = next(i for i, (known, _) in enumerate(coded) if known == [x for x in ids if x])
                for t, i in enumerate(counterparts(*test[number])):
                    weights[row, t, (0 if i is None else i + self.shift) % source.shape[1]] = 1
            return None, weights

    model = Perfect()
    assert attention_scores.aligned(model, coded, test) == 1
    model.shift = 1
    assert attention_scores.aligned(model, coded, test) == 0
