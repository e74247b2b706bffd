"""A student's own machine, as narrow as the grader's: what is not there is not found here either.

For `lmbook homework check`, which has no walls: files of the machine, /content of Colab among them, are absent, no
socket opens, and libraries that the grader need not have are not imported.  This keeps a promise, and nobody out: code
that means to can pass it.  Like `worker` this is the source of a process that has no lmbook.
"""

import errno
import importlib.machinery
import os
import sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LOOKS = ("os.listdir", "os.scandir", "os.chdir")
CHANGES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod")
SCRATCH = ("/tmp", "/dev", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders")


class Alike:
    """The rules; `stand` makes them hold for the rest of the process.

    own: folders that may be read and written.  needed: that may be read, wherever they lie.  absent: that are not
    there, though a folder around them is.  system: all else that may be read.  libraries: modules that are not there.
    """

    def __init__(self, own: list[str], needed: list[str], absent: list[str], system: list[str], libraries: list[str]):
        self.own, self.needed, self.absent, self.system = own, needed, absent, system
        self.libraries = set(libraries)

    def stand(self) -> None:
        sys.meta_path.insert(0, self)
        sys.addaudithook(self.heard)

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.libraries and name not in sys.modules:
            return importlib.machinery.ModuleSpec(name, self)
        return None

    def create_module(self, spec):
        raise ModuleNotFoundError(f"No module named {spec.name!r} among the libraries of the grader", name=spec.name)

    def exec_module(self, module):
        raise NotImplementedError  # never reached; Python asks for it

    def heard(self, event: str, said: tuple) -> None:
        """Raises, as the grader's system would, before what Python is about to do."""
        if event == "socket.__new__":
            raise PermissionError(errno.EPERM, "Operation not permitted")
        if event == "open" and isinstance(said[0], str | bytes):
            self._look(said[0], bool(said[2] & WRITES))
        elif event in LOOKS:
            self._look("." if not said or said[0] is None else said[0], False)
        elif event in CHANGES:
            self._look(said[0], True)

    def _look(self, path, write: bool) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return
        name = os.path.abspath(os.fsdecode(path))
        names = {name, os.path.join(os.path.realpath(os.path.dirname(name)), os.path.basename(name))}

        def within(folders) -> bool:
            return any(one == folder or one.startswith(folder.rstrip("/") + "/") for one in names for folder in folders)

        if within(self.own) or (not write and within(self.needed)):
            return
        if within(self.absent) or not within((*SCRATCH, *self.system)):
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", os.fsdecode(path))
        if write and not within(SCRATCH):
            raise OSError(errno.EROFS, "Read-only file system", os.fsdecode(path))
