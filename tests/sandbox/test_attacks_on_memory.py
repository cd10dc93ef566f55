"""Ways to hold more of the host's memory than the limit says, each tried as root, as an ordinary user, in bubblewrap.

What counts is the host: its available memory falls by no more than the limit and a tenth.
"""

from __future__ import annotations

import pytest
from host_memory import fell_by

from whet.sandbox.jobs import MIB, Limits, run_command, run_python

LIMIT = 192 * MIB
BOUND = 1.1 * LIMIT

MAP = """
import ctypes, mmap, os, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
SHARED, PRIVATE, ANONYMOUS, NORESERVE = 1, 2, 0x20, 0x4000
FAILED = ctypes.c_void_p(-1).value
def mapped(size, protection, flags, file=-1):
    address = libc.mmap(None, size, protection, flags, file, 0)
    if address == FAILED:
        raise OSError(ctypes.get_errno(), "mmap")
    return address
def fork(many):
    for _ in range(many):
        if os.fork() == 0:
            return
"""

ATTACKS = {
    "shared pages given back with MADV_DONTNEED": """
held = []
for _ in range(24):
    m = mmap.mmap(-1, 64 << 20)
    held.append(m)
    for at in range(0, len(m), 4096): m[at] = 1
    m.madvise(mmap.MADV_DONTNEED)
""",
    "shared pages filled by a child that has ended": """
held = []
for _ in range(24):
    m = mmap.mmap(-1, 64 << 20)
    held.append(m)
    if os.fork() == 0:
        for at in range(0, len(m), 4096): m[at] = 1
        os._exit(0)
    os.wait()
""",
    "shared pages of which one stays mapped": """
for _ in range(24):
    start = mapped(64 << 20, 3, SHARED | ANONYMOUS)
    ctypes.memset(start, 1, 64 << 20)
    libc.munmap(start + 4096, (64 << 20) - 4096, 0)
""",
    "the zero device mapped as shared": """
file = os.open("/dev/zero", os.O_RDWR)
for _ in range(24):
    start = mapped(64 << 20, 3, SHARED, file)
    ctypes.memset(start, 1, 64 << 20)
    libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(64 << 20), 4)
""",
    "the zero device mapped as shared, only read": """
file = os.open("/dev/zero", os.O_RDONLY)
start = mapped(1 << 30, 1, SHARED, file)
for at in range(0, 1 << 30, 4096): ctypes.c_char.from_address(start + at).value
""",
    "page tables of a mapping that is only read": """
start = mapped(1 << 40, 1, PRIVATE | ANONYMOUS | NORESERVE)
for at in range(0, 1 << 39, 2 << 20): ctypes.c_char.from_address(start + at).value
""",
    "page tables within the address space of many processes": """
fork(14)
start = mapped(7 << 30, 1, PRIVATE | ANONYMOUS | NORESERVE)
for at in range(0, 7 << 30, 2 << 20): ctypes.c_char.from_address(start + at).value
time.sleep(1)
""",
    "a burst of several processes": """
fork(14)
held = bytearray(b"x") * (150 << 20)
time.sleep(3)
""",
    "one process after the other, each keeping a little": """
for _ in range(14):
    if os.fork() == 0:
        held = bytearray(b"x") * (24 << 20)
        time.sleep(3)
        os._exit(0)
    time.sleep(0.02)
time.sleep(3)
""",
    "a great many separate mappings": """
fork(7)
start = mapped(30000 * 4096, 3, PRIVATE | ANONYMOUS)
for at in range(0, 30000, 2): libc.mprotect(start + at * 4096, 4096, 1)
time.sleep(1)
""",
    "buffers of socket pairs": """
import socket
fork(14)
held = []
try:
    while True:
        pair = socket.socketpair()
        held += pair
        for end in pair:
            end.setblocking(False)
            try:
                while True: end.send(bytes(1 << 16))
            except BlockingIOError: pass
except OSError: time.sleep(1)
""",
    "files in its own folder": """
for number in range(40):
    with open(f"/box/tmp/{number}", "wb") as file: file.write(bytes(15 << 20))
time.sleep(1)
""",
    "files that have no name any more": """
held = []
for number in range(40):
    file = os.open("/box/tmp", os.O_TMPFILE | os.O_RDWR)
    held.append(file)
    os.write(file, bytes(15 << 20))
time.sleep(1)
""",
    "a growing stack": """
import resource
resource.setrlimit(resource.RLIMIT_STACK, (4 << 30, -1))
alloca = b"x" * (1 << 20)
def deeper(level):
    return deeper(level + 1) if level else 0
import sys, threading
sys.setrecursionlimit(1 << 30)
threading.stack_size(1 << 30)
thread = threading.Thread(target=deeper, args=(1,))
thread.start(); thread.join()
""",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_the_host_loses_no_more_than_the_limit(attack, name: str) -> None:
    limits = Limits(wall=3.0, cpu=3.0, memory=LIMIT, disk=512 * MIB)
    job = run_python(MAP + ATTACKS[name], limits=limits)
    assert fell_by(lambda: attack(job), BOUND) <= BOUND


REFUSED = {
    "a shared anonymous mapping": "import mmap\nmmap.mmap(-1, 4096)",
    "a mapping of huge pages": "import mmap\nmmap.mmap(-1, 2 << 20, flags=mmap.MAP_PRIVATE | 0x40000 | 0x20)",
    "a segment of System V": "raised(libc.shmget(0, 1 << 20, 0o1600))",
    "a file in memory alone": "import os\nos.memfd_create('x')",
    "a secret file in memory": "raised(libc.syscall(447, 0))",
    "a larger pipe": "import fcntl, os\nfcntl.fcntl(os.pipe()[1], 1031, 1 << 20)",
    "pages lent to a pipe": "import os\nraised(libc.vmsplice(os.pipe()[1], None, 0, 0))",
    "a larger socket buffer": "import socket\nsocket.socketpair()[0].setsockopt(1, 7, 1 << 20)",
    "huge pages again": "raised(libc.prctl(41, 0, 0, 0, 0))",
    "memory that is never paged out": "raised(libc.mlockall(3))",
    "a watch on files": "raised(libc.inotify_init1(0))",
    "more address space": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 46, 1 << 46))",
    "pages remapped out of order": "raised(libc.syscall(216, 0, 0, 0, 0, 0))",
}


@pytest.mark.parametrize("what", REFUSED)
def test_memory_that_no_limit_counts_is_refused(attack, what: str) -> None:
    code = (
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "def raised(result):\n    if result < 0: raise OSError(ctypes.get_errno(), 'call')\n"
        f"try:\n    exec({REFUSED[what]!r})\nexcept (OSError, ValueError): print('refused')\nelse: print('OPEN')"
    )
    assert attack(run_python(code)).value["stdout"] == "refused\n"


def test_a_memory_bomb_ends_with_the_error_memory(attack) -> None:
    code = "data = []\nwhile True: data.append(bytearray(8_000_000))"
    assert attack(run_python(code, limits=Limits(memory=96 * MIB))).error == "memory"


def test_memory_spread_over_processes_is_added_up(attack) -> None:
    code = "import os, time\nfor _ in range(4): os.fork()\ndata = bytearray(os.urandom(1) * 40_000_000)\ntime.sleep(5)"
    assert attack(run_python(code, limits=Limits(memory=128 * MIB, processes=32))).error == "memory"


def test_a_command_is_held_to_its_memory_too(attack) -> None:
    code = "data = []\nwhile True: data.append(bytearray(8_000_000))"
    result = attack(run_command(["python", "-c", code], limits=Limits(memory=96 * MIB)))
    assert result.error == "memory"


def test_processes_that_share_what_they_were_born_with_are_not_counted_for_each(attack) -> None:
    """Sixteen processes over one block of 60 MB hold little more than the block."""
    code = "import os, time\nblock = bytearray(b'x') * 60_000_000\n[os.fork() for _ in range(3)]\ntime.sleep(0.6)"
    result = attack(run_python(code, limits=Limits(memory=160 * MIB, processes=32)))
    assert (result.error, result.value["exit_code"]) == ("", 0)


def test_programs_that_share_memory_honestly_still_do(attack) -> None:
    """`multiprocessing` shares through files of the job's own folder, which its disk limit holds."""
    code = (
        "import multiprocessing, os\n"
        "values = multiprocessing.get_context('fork').RawArray('i', 1000)\n"
        "if os.fork() == 0:\n    values[7] = 42\n    os._exit(0)\n"
        "os.wait()\nprint(values[7])"
    )
    result = attack(run_python(code))
    assert result.value["stdout"] == "42\n", result.value["stderr"]


def test_zeros_can_still_be_read(attack) -> None:
    result = attack(run_command(["sh", "-c", "head -c 100000 /dev/zero | wc -c"]))
    assert result.value["stdout"].split() == ["100000"]
