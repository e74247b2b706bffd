"""What `make test` leaves to continuous integration, which runs all of it on every push: `make test LEAVE=weekly`.

Nine minutes on two cores hold a quarter of what the tests compute. Left out are the second browser and, of the longest
tests, all but a share, spread over their cases. A file that is named (`pytest tests/figures/test_writer.py`) is run
whole: who changes a thing names the tests of it.
"""

import math
from collections import defaultdict
from pathlib import Path

TESTS = Path(__file__).parent
# A test, a file, or each file of a folder, and the share that stays; what is named most exactly holds.
KEPT = {
    # JupyterLab, Python in the page, the book to carry away, Colab's versions: programs of which each takes a minute
    "figures/test_with_kernel": 0,
    "press/site/test_portable": 0,
    "press/site/test_python_in_page": 0,
    "press/site/test_python_buttons": 1 / 4,
    "press/site/test_python_needs::test_a_cell_needs_what_is_said_and_nothing_else": 0,
    "press/site/test_solved": 0,
    "press/site/test_robust::test_from_a_disk_by_double_click_the_model_writes": 0,
    "notebooks/test_colab": 0,
    "exams/test_plan::test_each_sheet_is_one_page": 0,
    "exams/test_plan::test_every_meeting_has_a_sheet_whose_minutes_add_up": 0,
    "grader/test_platforms": 0,
    # what is asked of every figure, page, recipe, homework, question, model
    "figures": 1 / 2,
    "figures/test_source": 1,
    "figures/test_framework": 1,
    "figures/test_framework::test_an_executed_notebook_holds_the_page_form": 0,
    "figures/test_fits::test_the_models_have_the_parameters_of_the_libraries": 0,
    "figures/test_kernels": 1 / 3,
    "figures/test_every_figure": 1 / 4,
    "figures/test_for_everybody": 1 / 7,
    "press": 1 / 2,
    "press/site": 1 / 2,
    "press/site/test_files": 1,
    "press/site/test_pages::test_page": 1 / 8,
    "press/test_editions::test_the_books_own_notebooks_convert_without_raw_markup": 1 / 6,
    "lab/test_quick::test_recipe_runs": 1 / 8,
    "lab/recipes": 1 / 2,
    "lab/test_trained::test_scores_come_out_again": 1 / 3,
    "homework": 1 / 2,
    "homework/test_wrong_answers": 1 / 6,
    "homework/test_show": 1 / 4,
    "homework/test_drawn::test_an_edition_holds_its_own_values_as_literals_and_no_others": 1 / 3,
    "exams/test_papers::test_no_draw_makes_a_question_easier_than_another": 1 / 4,
    "grader/test_promise::test_check_and_grade_agree": 1 / 3,
    "grader/test_match_answers::test_the_colab_edition_comes_back_whole_without_any_marks": 1 / 4,
    "grader/test_grade::test_the_master_scores_full_marks": 1 / 3,
    "grader/hostile": 1 / 3,
    "invariants/test_models::test_overfit": 1 / 3,
    "invariants/test_elsewhere": 1 / 2,
    # trained by several processes, or killed and resumed
    "lab/test_distributed": 0,
    "lab/test_resume::test_a_run_killed_again_and_again_ends_as_one_that_was_not": 0,
}


def mark(items: list, named: list[str]) -> None:
    """Puts the mark `push` on what is left out.  named: what pytest was asked for."""
    whole = {Path(name.partition("::")[0]).resolve() for name in named}
    groups = defaultdict(list)
    for item in items:
        if item.path in whole or item.get_closest_marker("weekly") or TESTS not in item.path.parents:
            continue
        file = item.path.relative_to(TESTS).with_suffix("")
        names = (f"{file.as_posix()}::{getattr(item, 'originalname', '')}", file.as_posix(), file.parent.as_posix())
        rule = next((name for name in names if name in KEPT), None)
        if item.get_closest_marker("firefox"):
            item.add_marker("push")
        elif rule:
            groups[rule, file].append(item)
    for (rule, _), group in groups.items():
        for place, item in enumerate(group):
            if math.ceil(KEPT[rule] * (place + 1)) == math.ceil(KEPT[rule] * place):
                item.add_marker("push")
