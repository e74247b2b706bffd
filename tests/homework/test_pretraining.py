"""The weights that homework 16 gives know praise from blame, as its text says of them."""

import math

import torch
from pretraining import fill, space


def test_the_given_weights_know_of_each_blank_whether_it_praises():
    given = space()
    words = given["language"](5)
    w, (rows, _) = given["pretrained"](words), given["opinions"](words, 5, 300)
    for place in (2, 3, 6):  # words of opinion: one of 120 for who knows nothing, one of 60 for who reads the rest
        blank = rows.copy()
        blank[:, place] = 4
        with torch.no_grad():
            loss = torch.nn.functional.cross_entropy(fill(given, w, blank)[:, place], torch.tensor(rows[:, place]))
        assert abs(loss - math.log(60)) < 0.1
