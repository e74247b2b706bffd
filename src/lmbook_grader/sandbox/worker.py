"""The student's process: runs cells and calls functions as the grader asks, inside the sandbox.

It is started as a plain script beside `wire.py`.  Nothing here is secret and nothing it says is believed: a student's
code may change all of it, and can thereby only change the values that its own functions seem to return.

The grader sends {"do": "run" | "call" | "get", ...} and gets {"is": "value" | "raised" | "odd", ...}; a
function that the grader passed as an argument is called back with {"is": "back", ...}.
"""

import __future__

import ast
import builtins
import contextlib
import importlib.machinery
import inspect
import linecache
import os
import re
import sys
import traceback
import types

try:
    import wire
except ImportError:  # in a page, where it is a part of the package
    from lmbook_grader.sandbox import wire

# Lines of IPython that only set up what is not here; all others are run by IPython itself.
SETUP = re.compile(r"\s*(?:!|%(?:matplotlib|pip|conda|config|load_ext|autoreload|cd|xmode)\b)")


def settle(settings: dict) -> None:
    """Becomes an ordinary user within the limits, before any code of the student is read."""
    import resource  # not where there is one process for all, as in a page

    for name, value in settings["limits"].items():
        kind = getattr(resource, name, None)
        if kind is not None:
            hard = resource.getrlimit(kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (value, value))
    if settings["user"]:
        os.setgroups([])
        os.setresgid(*[settings["user"]] * 3)
        os.setresuid(*[settings["user"]] * 3)
    sys.path[:] = [path for path in sys.path if path not in settings["hide"]]
    sys.path += [path for path in settings["path"] if path not in sys.path]
    here = os.getcwd()
    if here != "/":  # a module that a cell writes can be imported, as in Jupyter, but hides none that is installed
        sys.path.append(here)
    sys.meta_path.insert(0, Closed(settings.get("closed", [])))
    if "alike" in settings:
        import alike

        alike.Alike(**settings["alike"]).stand()


class Closed:
    """Libraries that are not imported here.  To ask whether there is one is allowed, as torch's optimizers do."""

    def __init__(self, names: list[str]):
        self.names = set(names)

    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.ModuleSpec(name, self) if name.partition(".")[0] in self.names else None

    def create_module(self, spec):
        raise ImportError(f"{spec.name} {wire.CLOSED}")

    def exec_module(self, module):
        raise NotImplementedError  # never reached; Python asks for it


def closed(*_, **__):
    raise RuntimeError(f"this function {wire.CLOSED}")


class Worker:
    """One notebook's namespace, and the two pipes to the grader."""

    passes: tuple[type[BaseException], ...] = ()  # what is no error of the student's

    def __init__(self, asked, said):
        self.asked, self.said, self.compared = asked, said, []
        module = types.ModuleType("__main__")
        sys.modules["__main__"] = module
        self.space = module.__dict__
        self.space["__builtins__"] = builtins
        builtins.display = lambda *values, **_: print(*values)

    def hear(self, function=None):
        text, data = (self._exactly(size) for size in wire.lengths(self._exactly(wire.HEAD.size)))
        return wire.message(text, data, function)

    def _exactly(self, size: int) -> bytes:
        data = self.asked.read(size)
        if len(data) < size:
            os._exit(0)  # the grader is gone
        return data

    def say(self, **answer) -> None:
        self.said.write(wire.frame(answer))
        self.said.flush()

    def back(self, number: int):
        """A function of the grader, which is asked for its value at every call."""

        def asked(*arguments, **options):
            self.say(**{"is": "back", "number": number, "arguments": list(arguments), "options": options})
            answer = self.hear(self.back)
            if answer["do"] == "value":
                return answer["value"]
            raise getattr(builtins, answer["type"], RuntimeError)(
                "raised by the function that was passed as an argument"
            )

        return asked

    def serve(self) -> None:
        self.say(**{"is": "ready"})
        while True:
            try:
                task = self.hear(self.back)
            except (wire.NotData, ImportError) as error:
                self.say(**{"is": "odd", "type": str(error)})
                continue
            try:
                self.say(**self.answer(task))
            except wire.NotData as error:
                self.say(**{"is": "odd", "type": str(error)})

    def answer(self, task) -> dict:
        """Does what was asked, and says how it went."""
        try:
            value = getattr(self, "do_" + task["do"])(task)
        except self.passes:
            raise
        except BaseException as error:
            answer = self._raised(error, task)
        else:
            answer = {"is": "value", "value": value}
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                continue
        return answer

    def do_run(self, task) -> list[str]:
        """Runs a cell.  Returns the global names in its code."""
        name, source = task["name"], task["source"]
        if "get_ipython" in source:
            self.ipython()
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        tree = self.parsed(source, name)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | futures(tree)
        try:
            self._exec(tree.body, name, flags)
        except Exception as error:
            if task.get("stop"):
                self.compared = self._sides(tree, error, name)
                raise
            self._rest(tree.body, error, name, flags)
            raise
        finally:
            for function in task.get("close", ()):
                if isinstance(self.space.get(function), types.FunctionType):
                    self.space[function] = closed
        return sorted(named(compile(tree, name, "exec", flags)))

    def _sides(self, tree: ast.Module, error: Exception, name: str) -> list[str]:
        """What stood on the two sides of an assertion that failed, as text: evaluated anew, for the student to read."""
        lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == name]
        at = [node for node in tree.body if lines and node.lineno <= lines[0] <= node.end_lineno]
        if not (isinstance(error, AssertionError) and at and isinstance(at[0], ast.Assert)):
            return []
        test = at[0].test
        sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
        sides = test.args[:2] if isinstance(test, ast.Call) else sides
        if len(sides) != 2 or any(isinstance(side, ast.Starred) for side in sides):
            return []
        try:
            return [short(eval(compile(ast.Expression(side), name, "eval"), self.space)) for side in sides]
        except Exception:
            return []

    def _exec(self, body: list, name: str, flags: int) -> None:
        code = compile(ast.Module(body, []), name, "exec", flags)
        if not code.co_flags & inspect.CO_COROUTINE:
            exec(code, self.space)
            return
        waiting = eval(code, self.space)
        with contextlib.suppress(StopIteration):
            while True:
                waiting.send(None)

    def _rest(self, body: list, error: Exception, name: str, flags: int) -> None:
        """Runs what stands below a statement that failed: here is no Drive to mount and nobody to answer `input`."""
        lines = [at.lineno for at in traceback.extract_tb(error.__traceback__) if at.filename == name]
        for node in body:
            if lines and node.lineno > lines[0]:
                with contextlib.suppress(Exception):
                    self._exec([node], name, flags)

    def parsed(self, source: str, name: str) -> ast.Module:
        """A cell as Python; one that is none as IPython reads it (%magic, !command, help?)."""
        try:
            return ast.parse(source, name)
        except SyntaxError:
            lines = source.split("\n")
            plain = "\n".join(re.match(r"\s*", line)[0] + "pass" if SETUP.match(line) else line for line in lines)
            with contextlib.suppress(SyntaxError):
                return ast.parse(plain, name)
            shell = self.ipython()
            return ast.parse(source if shell is None else shell.transform_cell(source), name)

    def ipython(self):
        """IPython over the notebook's names, made when a cell asks for it; None where it is not installed."""
        try:
            from IPython.core.interactiveshell import InteractiveShell
            from traitlets.config import Config
        except ImportError:
            return None
        if not InteractiveShell.initialized():
            hook = sys.displayhook, sys.excepthook
            settings = Config({"HistoryManager": {"enabled": False}})
            InteractiveShell.instance(config=settings, user_module=sys.modules["__main__"], user_ns=self.space)
            sys.displayhook, sys.excepthook = hook
            builtins.get_ipython = InteractiveShell.instance
            sys.modules["__main__"].__builtins__ = builtins
        return InteractiveShell.instance()

    def do_call(self, task):
        return self.space[task["name"]](*task["arguments"], **task["options"])

    def do_lend(self, task) -> None:
        self.space.update({name: self.back(number) for name, number in task["numbers"].items()})

    def do_get(self, task):
        return self.space[task["name"]]

    def _raised(self, error: BaseException, task) -> dict:
        missing = task["do"] in ("call", "get") and task["name"] not in self.space
        places = [(at.filename, at.lineno) for at in traceback.extract_tb(error.__traceback__)]
        if isinstance(error, SyntaxError):
            places.append((error.filename, error.lineno))
        inside = [place for place in places if str(place[0]).startswith("<cell ")]
        if task["do"] == "run":
            lines = traceback.format_exception(error)
            kept = [line for line in lines if __file__ not in line and wire.__file__ not in line]
            print("".join(kept), end="", file=sys.stderr)
        name, line = inside[-1] if inside else (None, None)
        said = {"type": type(error).__name__, "text": str(error)[:500], "cell": name, "line": line, "missing": missing}
        sides, self.compared = self.compared, []
        return {"is": "raised", **said, "sides": sides}


def named(code: types.CodeType) -> set[str]:
    """The global names that a piece of code uses, in its functions too; its attributes are among them."""
    return set(code.co_names).union(*(named(part) for part in code.co_consts if isinstance(part, types.CodeType)))


def short(value) -> str:
    """A value in at most 200 characters, an array with its shape."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return repr(value)[:200]
    with numpy.printoptions(threshold=12, edgeitems=2, precision=6):
        text = re.sub(r", shape=\([\d, ]*\)", "", " ".join(repr(value)[:400].split()))  # NumPy says it from 2.1 on
    shape = f" of shape {value.shape}" if isinstance(value, numpy.ndarray) and value.ndim else ""
    return (text if len(text) <= 200 else text[:197] + "...") + shape


def futures(tree: ast.Module) -> int:
    """The compiler's flags for `from __future__ import ...` of a cell, which holds for all its statements."""
    imported = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    names = [alias.name for node in imported for alias in node.names]
    return sum({getattr(__future__, name).compiler_flag for name in names if hasattr(__future__, name)})


def main() -> None:
    asked, said = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what is printed goes where errors go; the first pipe carries answers only
    worker = Worker(asked, said)
    settle(worker.hear())
    worker.serve()


if __name__ == "__main__":
    main()
