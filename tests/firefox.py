"""Firefox without a window, by the protocol that browsers share (WebDriver BiDi): Playwright wants one of its own."""

import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from websocket import create_connection

PROGRAMS = ("firefox-esr", "firefox")
LISTENING = re.compile(r"WebDriver BiDi listening on (ws://\S+)")


class Firefox:
    """One tab of a running Firefox."""

    def __init__(self, address: str):
        self._socket = create_connection(f"{address}/session", timeout=60, suppress_origin=True)
        self._number = count(1)
        self.call("session.new", capabilities={})
        (self._tab,) = [one["context"] for one in self.call("browsingContext.getTree")["contexts"]]

    def call(self, method: str, **parameters) -> dict:
        """One command; its result.  Raises AssertionError with what Firefox says of a command that failed."""
        number = next(self._number)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != number:
            pass
        assert answer["type"] == "success", f"{method}: {answer.get('message')}"
        return answer["result"]

    def open(self, address: str) -> None:
        self.call("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def width(self, pixels: int) -> None:
        size = {"width": pixels, "height": 900}
        self.call("browsingContext.setViewport", context=self._tab, viewport=size, devicePixelRatio=1)

    def evaluate(self, function: str, framed: bool = False):
        """What a function without arguments returns in the page, or in the frame that it has; by way of JSON."""
        context = self._tab
        if framed:
            tree = self.call("browsingContext.getTree", root=self._tab)["contexts"]
            (context,) = [one["context"] for one in tree[0]["children"]]
        answer = self.call(
            "script.callFunction",
            functionDeclaration=f"async () => JSON.stringify((await ({function})()) ?? null)",
            target={"context": context},
            awaitPromise=True,
        )
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return json.loads(answer["result"]["value"])


@contextmanager
def firefox(profile: Path, **settings):
    """A Firefox with these settings of about:config (dots as two underscores) and a profile of its own."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("NO PAGE WAS LOOKED AT IN FIREFOX: it is not on the path (Debian: apt install firefox-esr)")
    lines = [f'user_pref("{name.replace("__", ".")}", {json.dumps(value)});' for name, value in settings.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="utf8")
    command = [program, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with subprocess.Popen([*command, "about:blank"], stderr=subprocess.PIPE, text=True) as running:
        try:
            address = next(filter(None, map(LISTENING.search, running.stderr)))[1]
            yield Firefox(address)
        finally:
            running.terminate()
