"""platformdirs in a page, whose files are gone when it is closed."""


def user_cache_dir(name: str, appauthor: object = None) -> str:
    """The folder in which a page keeps what it has loaded."""
    return f"/cache/{name}"
