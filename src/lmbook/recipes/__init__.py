"""How every trained model and every recorded score of the book was made; see `recipes.core`."""

from lmbook.recipes import (  # noqa: F401  (importing a module enters its recipes)
    characters,
    charrnn,
    classifying,
    copying,
    digits,
    fine_tuning,
    gap,
    generated,
    harbourish,
    hybrid,
    ladder,
    length,
    looked_into,
    looking_back,
    masked,
    names,
    rung_costs,
    symbols,
    tagging,
    translation,
    vectors,
    wikitext,
)
from lmbook.recipes.core import RECIPES, RECORDED, TRAINED, Recipe, RecipeError, Run, recipe, records, rescore, train

__all__ = ["RECIPES", "RECORDED", "TRAINED", "Recipe", "RecipeError", "Run", "recipe", "records", "rescore", "train"]
