"""The look-up of embeddings: which ids are taken, and how a table starts."""

import pytest
import torch
from torch import nn

from lmbook.embeddings import check_ids, embed, initialise_vocabulary


def test_ids_may_be_none_at_all_and_the_first_and_the_last_of_the_vocabulary():
    for ids in ([[]], [[0, 4]]):
        check_ids(torch.tensor(ids, dtype=torch.int64), 5)
    for wrong in (-1, 5):
        with pytest.raises(ValueError, match="ids of this model run from 0 to 4"):
            check_ids(torch.tensor([[3, wrong]]), 5)


def test_an_embedding_is_a_row_of_the_table_and_no_other_id_or_shape_has_one():
    table = nn.Embedding(5, 3)
    rows = torch.stack([table.weight[4], table.weight[0]])
    assert torch.equal(embed(table, torch.tensor([[4, 0]])), rows[None])
    assert torch.equal(embed(table, torch.tensor([4, 0]), dims=1), rows)
    for ids, dims in (([[4, 0]], 1), ([4, 0], 2), ([[4.0]], 2)):
        with pytest.raises(ValueError, match="must be integer ids"):
            embed(table, torch.tensor(ids), dims)
    with pytest.raises(ValueError, match="tokens run from 5 to 5"):
        embed(table, torch.tensor([[5]]))


@pytest.mark.parametrize("tied", [True, False])
def test_a_vocabulary_starts_within_a_tenth_of_0(tied):
    embedding, output = nn.Embedding(50, 8), nn.Linear(8, 50)
    initialise_vocabulary(embedding, output, tied)
    assert (output.weight is embedding.weight) == tied
    assert 0.09 < embedding.weight.abs().max() <= 0.1
    assert 0.09 < output.weight.abs().max() <= 0.1
    assert not output.bias.any()
    with pytest.raises(ValueError, match="must be hidden"):
        initialise_vocabulary(nn.Embedding(50, 7), output, tied=True)
