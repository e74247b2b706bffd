"""How every trained model and every recorded score of the book was made: a file for each question.

`translation` has what all recipes for translation share, `tasks` the same for classifying and for writing. Not here: a
model or a loss of general use.
"""

from lmbook.lab.recipes import (  # noqa: F401  (importing a module enters its recipes)
    ablation,
    agreement,
    assistant,
    attention_scores,
    bert_byte_pairs,
    bert_finetuning,
    bert_pretraining,
    caption_ladder,
    caption_lm,
    counting,
    digits,
    distilled,
    drawers,
    encoder_parts,
    facts_seen_once,
    fixed_vector_recall,
    flops_and_time,
    given_names,
    harbourish_translation,
    hybrid_encoder,
    keyboard,
    keyboard_network,
    leaked_test,
    looking_back,
    modern_block,
    multi30k,
    position_codes,
    published_decoder,
    published_encoder,
    recall_across_gap,
    reward_models,
    rewarded,
    scaling,
    selection,
    seq2seq_tasks,
    shakespeare,
    shakespeare_beside,
    sums_aloud,
    tagging,
    tagging_directions,
    tagging_letters,
    text_classification,
    translation_by_length,
    truncation,
    vowels,
    wikitext,
    window_or_state,
    word_vectors,
)
from lmbook.lab.run import RECIPES, RECORDED, TRAINED, Recipe, RecipeError, Run, recipe, records, rescore, train

__all__ = ["RECIPES", "RECORDED", "TRAINED", "Recipe", "RecipeError", "Run", "recipe", "records", "rescore", "train"]
