"""A Slurm of one's own on this machine: Debian's daemons with two nodes, in a folder, without root or systemd."""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

NODES = ("n1", "n2")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
# Without cgroups, and without a data base of jobs.  A node is down when it has not answered for five seconds, and what
# ran on it may start elsewhere ten seconds later (cred_expire).
SETTINGS = """ClusterName=lmbook
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=10
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
ReturnToService=0
SlurmdTimeout=5
SlurmctldTimeout=5
KillWait=1
SchedulerParameters=sched_interval=1,batch_sched_delay=1
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=2 RealMemory={memory}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=2 RealMemory={memory}
PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """The sentence that says what this machine lacks, or ""."""
    lacks = [name for name in PROGRAMS if not _program(name)]
    return f"NO CLUSTER WAS USED: {', '.join(lacks)} is missing (Debian: apt install slurmd slurmctld munge)" * bool(
        lacks
    )


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


class Cluster:
    """Started by `with`; at the end all its processes are gone."""

    def __init__(self, folder: Path, memory: int):
        """memory: MB of a node, as many as it says it has."""
        self.folder, self.daemons = folder, {}
        for name in ("state", "spool-n1", "spool-n2"):
            (folder / name).mkdir(parents=True)
        folder.chmod(0o755)
        self.settings = folder / "slurm.conf"
        self.settings.write_text(
            SETTINGS.format(
                host=socket.gethostname().split(".")[0], folder=folder, ports=_free_ports(3), memory=memory,
                user=pwd.getpwuid(os.getuid()).pw_name,
            )
        )  # fmt: skip
        self.environment = os.environ | {"SLURM_CONF": str(self.settings)}

    def __enter__(self) -> "Cluster":
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        names = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log"}
        names["seed-file"] = "munge.seed"
        options = [f"--{name}={self.folder / file}" for name, file in names.items()]
        try:
            self._start("munged", "--force", "--foreground", *options)
            until(lambda: (self.folder / "munge.socket").exists(), "munged has no socket", 60)
            self._start("slurmctld", "-D", "-c")
            for node in NODES:
                self._start("slurmd", "-D", "-N", node, name=node)
            until(lambda: self.states() == dict.fromkeys(NODES, "idle"), "the nodes do not come up", 120)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self.run("scancel", "--full", "--user", str(os.getuid()), check=False)
        for name in reversed([*self.daemons]):
            self.end(name)

    def _start(self, program: str, *options: str, name: str = "") -> None:
        name = name or program
        with (self.folder / f"{name}.said").open("wb") as said:
            self.daemons[name] = subprocess.Popen(
                [_program(program), *options], env=self.environment, stdout=said, stderr=said, start_new_session=True
            )

    def run(self, *words: str, check: bool = True, **options) -> str:
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True, **options)
        assert not check or done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
        return done.stdout

    def states(self) -> dict[str, str]:
        """Of each node."""
        said = self.run("sinfo", "--noheader", "--Node", "--format=%N %T", check=False)
        return dict(line.split() for line in said.splitlines())

    def jobs(self) -> list[dict[str, str]]:
        """What Slurm knows of each task of the arrays: JobState, Restarts, NodeList, ..."""
        said = self.run("scontrol", "--oneliner", "show", "job")
        fields = (dict(part.split("=", 1) for part in line.split() if "=" in part) for line in said.splitlines())
        return [job for job in fields if "JobState" in job]

    def end(self, name: str) -> None:
        """Kills a daemon at once, and with a node all that runs there: the power is off."""
        daemon = self.daemons.pop(name)
        gone = [daemon.pid, *(self._steps(name) if name in NODES else [])]
        for pid in gone:  # it grows
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGSTOP)  # nothing reports, or starts anything, while the others are found
                gone += [child for child in _children(pid) if child not in gone]
        for pid in gone:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        daemon.wait()

    def _steps(self, node: str) -> list[int]:
        """The processes on a node that started its jobs; they are children of init."""
        wanted = {f"SLURMD_NODENAME={node}", f"SLURM_CONF={self.settings}"}
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if wanted <= set((path / "environ").read_bytes().decode("utf-8", "replace").split("\0")):
                    parent = (path / "stat").read_text().rpartition(")")[2].split()[1]
                    if Path(f"/proc/{parent}/comm").read_text().startswith("slurmstepd"):
                        found.append(int(parent))
        return found


def until(true, complaint: str, seconds: float = 300) -> None:
    """Waits until true() is true; an AssertionError with the complaint after that long."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, complaint() if callable(complaint) else complaint
        time.sleep(0.2)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
