"""What chapters and homework use of IPython, in a page: its display functions, and its own printer (lib/pretty.py)."""

version_info = (9, 0, 0)  # Matplotlib asks for it before it asks whether there is a shell


def get_ipython() -> None:
    """There is no IPython shell in a page."""
    return None
