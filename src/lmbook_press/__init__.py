"""How the book is made: every edition of a chapter from its one notebook.

Here: the book as a whole (`book`), its markup as myst-parser reads it (`myst`) and as plain Markdown (`myst_blocks`,
`myst_inline`) or as HTML (`prose`), the Colab edition (`colab`), slides (`slides`), the book to carry away
(`portable`), notebooks in normal form (`normalize`) with their drawings (`drawn`), homework from its masters
(`assignments`), the website (`sphinx`), the commands (`cli`).
Not here: anything a chapter imports (that is `lmbook`), or that reads what students hand in (`lmbook_grader`).
"""
