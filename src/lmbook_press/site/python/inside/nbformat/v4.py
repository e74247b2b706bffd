"""nbformat.v4 in a page."""


class NotebookNode(dict):
    """A dict whose keys are attributes too."""

    def __getattr__(self, name: str):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


def from_dict(value):
    """A copy with every dict in it as a node."""
    if isinstance(value, dict):
        return NotebookNode({name: from_dict(part) for name, part in value.items()})
    if isinstance(value, list | tuple):
        return [from_dict(part) for part in value]
    return value


def new_code_cell(source: str = "", **given: object) -> NotebookNode:
    """A code cell without outputs."""
    made = {"cell_type": "code", "metadata": {}, "execution_count": None, "source": source, "outputs": []}
    return from_dict(made | given)
