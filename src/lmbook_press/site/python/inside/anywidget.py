"""anywidget in a page: the state of a widget. The page draws the figure from its HTML (kit/mount.mjs)."""

import traitlets


class AnyWidget(traitlets.HasTraits):
    """A widget that has no front end to talk to."""

    def on_msg(self, callback: object) -> None:
        """Nobody sends a message."""

    def send(self, content: object, buffers: object = None) -> None:
        """Nobody receives one."""

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        return {"text/plain": repr(self)}, {}
