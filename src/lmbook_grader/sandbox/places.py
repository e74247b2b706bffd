"""Where libraries lie: run here, and as a plain script by a container's Python, which says where they lie there."""

import json
import os
import sys


def places(names: list[str], path: list[str]) -> list[str]:
    """The folders and files from which `import NAME` would read these top-level modules, at every entry of a path."""
    found, wanted = [], set(names)
    for folder in dict.fromkeys(entry for entry in path if os.path.isdir(entry)):
        found += [os.path.join(folder, one) for one in sorted(os.listdir(folder)) if _module(folder, one) in wanted]
    return found


def _module(folder: str, entry: str) -> str:
    """The module that an entry of a folder is, "" for none: torch/, six.py, _cffi.cpython-311-x86_64-linux-gnu.so."""
    name, dot, ending = entry.partition(".")
    if not dot:
        return name if os.path.isdir(os.path.join(folder, entry)) else ""
    return name if ending.rpartition(".")[2] in ("py", "pyc", "so") else ""


if __name__ == "__main__":
    print(json.dumps(places(sys.argv[1:], sys.path[1:])))
