"""What chapters and homework use of IPython, in a page: its display functions, and its own printer (lib/pretty.py)."""


def get_ipython() -> None:
    """There is no IPython shell in a page."""
    return None
