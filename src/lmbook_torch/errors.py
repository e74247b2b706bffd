"""What is not covered says so."""

COLAB = "Open this notebook in Colab, or run it on your computer, where PyTorch is whole."


class NotCovered(NotImplementedError, AttributeError):
    """A part of PyTorch that the page's PyTorch does not have. hasattr() answers False for it."""

    def __init__(self, what: str):
        super().__init__(f"{what} is not in this page's PyTorch, which has the part that the book uses. {COLAB}")


def missing(module: str):
    """__getattr__ of a module: names that are not covered, but no names of Python itself."""

    def __getattr__(name: str):
        if name.startswith("__"):
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        raise NotCovered(f"{module}.{name}")

    return __getattr__
