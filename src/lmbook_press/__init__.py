"""How the book is made: every edition of a chapter from its one notebook.

Here: the book as a whole (`book`), the Colab edition (`colab`), the book's markup (`myst_blocks`, `myst_inline`),
notebooks in normal form (`normalize`), homework from its masters (`assignments`), the website (`sphinx`), the commands
(`cli`).
Not here: anything a chapter imports (that is `lmbook`), or that reads what students hand in (`lmbook_grader`).
"""
