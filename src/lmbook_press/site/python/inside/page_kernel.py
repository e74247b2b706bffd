"""The kernel of a page: runs cells in one namespace and says what they put out, in nbformat's own shape.

It runs in the browser, in a worker (worker.js), and shows what IPython would: the last expression unless a `;` follows,
`_repr_html_` and its kin, figures of Matplotlib that are open when a cell ends. A traceback names the reader's lines
and those of the book, nobody else's. Outputs are sent as they come, each a JSON text of

    {"output_type": "stream" | "display_data" | "execute_result" | "error", ...}
"""

import ast
import builtins
import inspect
import io
import json
import linecache
import sys
import tokenize
import traceback
import types
from collections.abc import Callable
from pathlib import Path

import rich_output

LIMIT = 1_000_000  # letters that a cell may print; an endless loop would fill the page
OWN = "cell "  # begins the file name of a cell
KIND = {
    "ModuleNotFoundError": "This page has Python, NumPy, Matplotlib and lmbook; for other packages use Colab.",
    "MemoryError": "A page has at most 2 GB of memory.",
    "RecursionError": "The function calls itself without an end, or too deeply for a page.",
}


class TooMuch(RuntimeError):
    """A cell prints more than a page can show."""


class Stream(io.TextIOBase):
    """stdout or stderr of a cell: what is written goes out in whole pieces, at a line's end or when the cell ends."""

    def __init__(self, name: str, send: Callable[[dict], None]):
        self.name, self.send, self.parts, self.written = name, send, [], 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.written += len(text)
        if self.written > LIMIT:
            self.parts.append("\n")
            self.written = 0
            raise TooMuch(f"The cell printed more than {LIMIT:,} letters; print less of it.")
        self.parts.append(text)
        if "\n" in text:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self.parts:
            text, self.parts = "".join(self.parts), []
            self.send({"output_type": "stream", "name": self.name, "text": text})


def silenced(code: str) -> bool:
    """Whether the last thing in the code is a `;`, after which nothing is shown."""
    last = ""
    beside = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER, tokenize.DEDENT}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in beside:
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        return False
    return last == ";"


def imported(code: str) -> list[str]:
    """Dotted names of all that code imports, `from a import b` as a.b; nothing where it is no Python."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    return names_imported(ast.walk(tree))


def names_imported(nodes) -> list[str]:
    names: list[str] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


class Kernel:
    """One chapter's or homework's Python. post: takes each output as JSON."""

    def __init__(self, post: Callable[[str], None], packs: str = "{}"):
        self.post, self.packs, self.count = post, json.loads(packs), 0
        self.main = types.ModuleType("__main__")
        self.main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self.main
        self.names = self.main.__dict__
        self.read: dict[str, list[str]] = {}
        builtins.input = no_input

    def needs(self, code: str) -> str:
        """Names of the packs that the code needs and that are not loaded, as JSON: by what it imports."""
        found: set[str] = set()
        waiting, seen = imported(code), set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for pack, about in self.packs.items():
                if any(name == one or name.startswith(one + ".") for one in about["imports"]):
                    found.add(pack)
            waiting += self.behind(name)
        for pack, about in self.packs.items():
            if about.get("named") and any(f"{quote}{about['named']}{quote}" in code for quote in "'\""):
                found.add(pack)
        return json.dumps(sorted(found))

    def behind(self, name: str) -> list[str]:
        """What the book's module of this name, or the one that holds the name, imports at its head; a figure imports
        what its model needs when it is made."""
        if not name.startswith("lmbook"):
            return []
        if name not in self.read:
            parts = name.split(".")
            found: list[str] = []
            for end in range(1, len(parts) + 1):
                place = Path(HOME, *parts[:end])
                file = next((f for f in (place / "__init__.py", place.with_suffix(".py")) if f.is_file()), None)
                if file is None and parts[:2] == ["lmbook", "figures"] and end == 3:
                    found += lazily(parts[2])
                elif file is not None:
                    text = file.read_text(encoding="utf8")
                    tree, runs = ast.parse(text), "bundle.weights(" in text or "checkpoints.load(" in text
                    inner = runs and "figures" in parts and end > 2
                    found += [*names_imported(ast.walk(tree)), "trained"] if inner else names_imported(tree.body)
            if Path(HOME, "lmbook").exists():
                self.read[name] = found
            return found
        return self.read[name]

    async def run(self, code: str, name: str = "") -> str:
        """Runs a cell. Returns "ok" or "error"; what it puts out goes to `post`."""
        self.count += 1
        file = f"{OWN}{name or self.count}"
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        out, err = Stream("stdout", self.send), Stream("stderr", self.send)
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, err
        rich_output.begin(self.shown, self.count)
        try:
            await self.execute(code, file)
            rich_output.open_figures(shown=True)
            return "ok"
        except BaseException as error:
            out.flush()
            rich_output.open_figures(shown=False)
            self.send(told(error, file))
            return "error"
        finally:
            out.flush()
            err.flush()
            sys.stdout, sys.stderr = before

    async def execute(self, code: str, file: str) -> None:
        for line in code.splitlines():
            if line.startswith("%matplotlib"):
                code = code.replace(line, "", 1)
            elif line.startswith(("%", "!")):
                raise SyntaxError(f"{line.split()[0]} is a command of Jupyter, which this page does not have.")
        tree = ast.parse(code, file)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not silenced(code):
            last = ast.Expression(tree.body.pop().value)
        for part, mode in ((tree, "exec"), (last, "eval")):
            if part is None:
                continue
            value = eval(compile(part, file, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), self.names)
            if inspect.iscoroutine(value):
                value = await value
            if mode == "eval" and value is not None:
                rich_output.result(value)
                self.names["_"] = value

    def shown(self, output: dict) -> None:
        """Sends an output after whatever was printed before it."""
        sys.stdout.flush()
        sys.stderr.flush()
        self.send(output)

    def send(self, output: dict) -> None:
        self.post(json.dumps(output, ensure_ascii=False, default=str))


HOME = "/lib/lmbook"  # where the book's own source is unpacked


def lazily(name: str) -> list[str]:
    """The module behind a figure's name, which lmbook.figures loads when it is asked for."""
    if not Path(HOME, "lmbook", "figures").is_dir():
        return []
    source = Path(HOME, "lmbook", "figures", "__init__.py").read_text(encoding="utf8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FIGURES":
            folder = ast.literal_eval(node.value).get(name)
            return [f"lmbook.figures.{folder}"] if folder else []
    return []


def no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot wait for an answer in this page: write the value into the cell.")


def told(error: BaseException, file: str) -> dict:
    """An error as an output: the lines of cells and of the book on the way to it, and what it says."""
    name, said = type(error).__name__, str(error)
    lines = []
    if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(OWN):
        lines = traceback.format_exception_only(type(error), error)
        lines[0] = f"Line {error.lineno}\n"
    else:
        frames = traceback.extract_tb(error.__traceback__)
        for frame in frames:
            if frame.filename.startswith(OWN):
                where = "this cell" if frame.filename == file else "a cell above"
            elif frame.filename.startswith(HOME):
                where = str(Path(frame.filename).relative_to(HOME))
            else:
                continue
            inner = "" if frame.name == "<module>" else f", in {frame.name}"
            lines.append(f"{where}, line {frame.lineno}{inner}\n    {frame.line}\n")
        if len(lines) > 12:
            lines = [*lines[:4], f"    ... {len(lines) - 8} more ...\n", *lines[-4:]]
        lines += traceback.format_exception_only(type(error), error)
    kind = KIND.get(name)
    if name == "ModuleNotFoundError" and str(getattr(error, "name", "")).startswith("torch"):
        kind = "This page has the part of PyTorch that the book uses; for the rest open the notebook in Colab."
    if kind:
        lines.append(f"{kind}\n")
    return {"output_type": "error", "ename": name, "evalue": said, "traceback": "".join(lines).rstrip().split("\n")}
