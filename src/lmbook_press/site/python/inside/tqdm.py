"""tqdm in a page: goes through what it is given, and draws no bar."""


class tqdm:
    """tqdm.tqdm without its bar."""

    def __init__(self, iterable: object = (), **options: object):
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)

    def __enter__(self):
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def update(self, n: int = 1) -> None:
        pass

    def set_postfix(self, **values: object) -> None:
        pass

    def set_description(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


def trange(*numbers: int, **options: object) -> tqdm:
    """tqdm over a range."""
    return tqdm(range(*numbers))
