"""pydata-sphinx-theme 0.16.1: what folds a part of the sidebar has no name. sphinx-book-theme 1.2.0: the picture of a
closed menu is loaded with the page.

It can go with versions that name the first, and load the second when the menu opens.
"""

TOGGLE, PICTURE = '<summary><span class="toctree-toggle"', '<img alt="Colab logo"'


def page(html: str) -> str:
    named = html.replace(TOGGLE, TOGGLE.replace("<summary", '<summary aria-label="Show or hide its pages"'))
    return named.replace(PICTURE, PICTURE.replace("<img", '<img loading="lazy"'))
