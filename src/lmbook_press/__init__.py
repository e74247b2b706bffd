"""How the book is made: every edition of a chapter from its one notebook.

    book          what an edition must know of the book as a whole
    myst          its markup as myst-parser reads it, and as plain Markdown (myst_blocks, myst_inline) or HTML (prose)
    normalize     notebooks in normal form, and the drawings in them (drawn)
    assignments   homework from its masters
    editions      Colab, slides, zip, PDF, EPUB
    site          the website, an extension of Sphinx
    rendering     pages from templates
    cli           the commands

Not here: anything a chapter imports (that is `lmbook`), or that reads what students hand in (`lmbook_grader`).
"""
