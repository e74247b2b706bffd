"""Questions that come again: cards from the whole book, for the page "Today" and for Anki.

cards   the one source of both
deck    the Anki deck
page    what the site has of them, as an extension of Sphinx: `lmbook_exams.recall.page` in _config.yml

Not here: when a question is due. That is counted in the reader's browser (book/_static/today.mjs), or by Anki.
"""
