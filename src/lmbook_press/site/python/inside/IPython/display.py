"""IPython.display in a page."""

from rich_output import clear, display

__all__ = ["HTML", "SVG", "Image", "Latex", "Markdown", "Math", "clear_output", "display"]


def clear_output(wait: bool = False) -> None:
    """Takes away what the cell has shown."""
    clear()


class _Shown:
    """Something with its media type."""

    kind = "text/plain"

    def __init__(self, data: object = None):
        self.data = data

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        return {self.kind: self.data, "text/plain": repr(self)}

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


class HTML(_Shown):
    kind = "text/html"


class Markdown(_Shown):
    kind = "text/markdown"


class Latex(_Shown):
    kind = "text/latex"


class Math(_Shown):
    kind = "text/latex"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        return {self.kind: f"$\\displaystyle {str(self.data).strip('$')}$", "text/plain": repr(self)}


class SVG(_Shown):
    kind = "image/svg+xml"


class Image(_Shown):
    kind = "image/png"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict:
        from rich_output import encoded

        return {self.kind: encoded(self.data), "text/plain": repr(self)}
