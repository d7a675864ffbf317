"""Memory that processes of a node share, and how they wake each other."""

import ctypes
import mmap
import os
import platform
import resource
import tempfile
import time

from ..collect import read_text
from .finding import Finding, in_child

WORD = 4
FUTEX = {"x86_64": 202, "aarch64": 98, "ppc64le": 221, "riscv64": 98, "s390x": 238}
FUTEX_WAIT, FUTEX_WAKE = 0, 1
DEV_SHM = "/dev/shm"
ENOUGH = 64 * 2**20


def dev_shm() -> Finding:
    """POSIX shared memory: room in /dev/shm, and a file there that two processes map."""
    try:
        state = os.statvfs(DEV_SHM)
        with tempfile.NamedTemporaryFile(dir=DEV_SHM, prefix="parhelion-probe-") as file:
            file.truncate(mmap.PAGESIZE)
            works = _shared_between_processes(file.fileno())
    except OSError as error:
        return Finding(DEV_SHM, False, str(error), "mount a tmpfs on /dev/shm that you may write to")
    free = state.f_bavail * state.f_frsize
    size = state.f_blocks * state.f_frsize
    detail = f"{free / 2**20:,.0f} of {size / 2**20:,.0f} MiB free"
    remedy = "give the container a larger /dev/shm (--shm-size, or bind the host's)" if free < ENOUGH else None
    return Finding(DEV_SHM, works and free >= mmap.PAGESIZE, detail, remedy)


def memfd() -> Finding:
    """Anonymous shared memory that a sibling opens through /proc."""
    try:
        file = os.memfd_create("parhelion-probe")
        os.ftruncate(file, mmap.PAGESIZE)
        path, owner = f"/proc/{os.getpid()}/fd/{file}", os.getpid()
        in_child(lambda: _write_word(os.open(path, os.O_RDWR)))
        works = _word(file) == 1
        os.close(file)
    except OSError as error:
        return Finding("memfd", False, str(error), "let all ranks of a node share one namespace of processes, with /proc mounted")
    return Finding("memfd", works, f"opened by a child through /proc/{owner}/fd")


def futex() -> Finding:
    """A process sleeps on a word in shared memory and is woken by another."""
    number = FUTEX.get(platform.machine())
    if number is None:
        return Finding("futex", False, f"number of the system call on {platform.machine()} is not known here")
    page = mmap.mmap(-1, mmap.PAGESIZE)
    word = ctypes.c_uint32.from_buffer(page)
    try:
        waited = in_child(lambda: _sleep_and_wake(number, word))
    except OSError as error:
        return Finding("futex", False, str(error), "allow futex in the container's seccomp profile")
    return Finding("futex", True, f"a sleeping process was woken after {waited}")


def locked_memory() -> Finding:
    """How much memory may be locked, as what a network card writes into has to be."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY:
        return Finding("locked memory", True, "no limit")
    cards = os.path.isdir("/sys/class/infiniband") and bool(os.listdir("/sys/class/infiniband"))
    detail = f"at most {soft / 2**20:,.0f} MiB, {'with' if cards else 'without'} a card that needs it"
    remedy = "ask for unlimited locked memory (ulimit -l, memlock in limits.conf or of the container)" if cards else None
    return Finding("locked memory", not cards or soft >= ENOUGH, detail, remedy)


def huge_pages() -> Finding:
    """Whether large pages can back shared memory."""
    shmem = read_text("/sys/kernel/mm/transparent_hugepage/shmem_enabled") or "absent"
    private = read_text("/sys/kernel/mm/transparent_hugepage/enabled") or "absent"
    works = any(f"[{state}]" in shmem for state in ("always", "within_size", "advise", "force"))
    remedy = None if works else "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"
    return Finding("huge pages for shared memory", works, f"shmem_enabled: {shmem}; enabled: {private}", remedy)


def _sleep_and_wake(number: int, word: ctypes.c_uint32) -> str:
    """In a child: a grandchild wakes it while it sleeps."""
    libc = ctypes.CDLL(None, use_errno=True)
    start = time.monotonic()
    if os.fork() == 0:
        time.sleep(0.01)
        word.value = 1
        libc.syscall(number, ctypes.byref(word), FUTEX_WAKE, 1, None, None, 0)
        os._exit(0)
    limit = (ctypes.c_long * 2)(2, 0)
    result = libc.syscall(number, ctypes.byref(word), FUTEX_WAIT, 0, limit, None, 0)
    error = ctypes.get_errno()
    os.wait()
    if result != 0 and word.value != 1:
        raise OSError(os.strerror(error))
    if time.monotonic() - start > 1:
        raise OSError("the sleeper was not woken within a second")
    return f"{(time.monotonic() - start) * 1e3:.0f} ms"


def _shared_between_processes(file: int) -> bool:
    in_child(lambda: _write_word(file))
    return _word(file) == 1


def _write_word(file: int) -> str:
    with mmap.mmap(file, mmap.PAGESIZE) as page:
        page[:WORD] = (1).to_bytes(WORD, "little")
    return "written"


def _word(file: int) -> int:
    with mmap.mmap(file, mmap.PAGESIZE) as page:
        return int.from_bytes(page[:WORD], "little")
