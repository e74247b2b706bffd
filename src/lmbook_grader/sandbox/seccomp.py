"""The system calls that a student's process may not make, as a program for the kernel's seccomp filter.

bubblewrap takes such a program from a file descriptor.  It closes what the other walls leave open: sockets of every
kind, new namespaces (more of the kernel to attack), debugging other processes, memory that belongs to no process and
so escapes the limits, and locks and watches on the files of the system, by which two sandboxes could talk.
Numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h of Linux.
"""

import errno
import platform
import struct

NAMES = """socket ptrace shmget semget msgget mq_open memfd_create unshare setns mount umount2 pivot_root add_key
request_key keyctl bpf perf_event_open userfaultfd io_uring_setup process_vm_readv process_vm_writev flock
inotify_add_watch fanotify_init"""
X86 = (
    41,
    101,
    29,
    64,
    68,
    240,
    319,
    272,
    308,
    165,
    166,
    155,
    248,
    249,
    250,
    321,
    298,
    323,
    425,
    310,
    311,
    73,
    254,
    300,
)
ARM = (198, 117, 194, 190, 186, 180, 279, 97, 268, 40, 39, 41, 217, 218, 219, 280, 241, 282, 425, 270, 271, 32, 27, 262)
# machine: (AUDIT_ARCH_..., numbers of NAMES, clone, clone3, fcntl)
MACHINES = {"x86_64": (0xC000003E, X86, 56, 435, 72), "aarch64": (0xC00000B7, ARM, 220, 435, 25)}
# F_GETLK, F_SETLK, F_SETLKW, the same of open file descriptions, F_SETLEASE, F_GETLEASE, F_NOTIFY
LOCKS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026)

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # of linux/bpf_common.h
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24  # places in struct seccomp_data
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS | NEWCGROUP | NEWUTS | NEWIPC | NEWUSER | NEWPID | NEWNET
X32 = 0x40000000  # the x86 calls with 32-bit pointers have numbers of their own: none of them


def program(machine: str | None = None) -> bytes | None:
    """The filter for this kind of machine, or None for a kind we have no numbers for."""
    known = MACHINES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, numbers, clone, clone3, fcntl = known
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    steps += _if(AT_LEAST, X32, REFUSE | errno.ENOSYS)
    for number in numbers:
        steps += _if(EQUAL, number, REFUSE | errno.EPERM)
    steps += _if(EQUAL, clone3, REFUSE | errno.ENOSYS)  # its flags cannot be read here; the C library then uses clone
    locks = [step for command in LOCKS for step in _if(EQUAL, command, REFUSE | errno.EPERM)]
    steps += [(EQUAL, 0, len(locks) + 2, fcntl), (LOAD, 0, 0, SECOND_ARGUMENT), *locks, (RETURN, 0, 0, ALLOW)]
    steps += [(EQUAL, 0, 3, clone), (LOAD, 0, 0, FIRST_ARGUMENT), *_if(ANY_BIT, NEW_NAMESPACES, REFUSE | errno.EPERM)]
    steps += [(RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _if(test: int, value: int, result: int) -> list[tuple[int, int, int, int]]:
    return [(test, 0, 1, value), (RETURN, 0, 0, result)]
