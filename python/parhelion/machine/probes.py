"""What a probe found; and probes of memory that processes share, of waking each other, of reading each other's memory, and of libraries that
are loaded at run time where they are."""

import ctypes
import ctypes.util
import mmap
import os
import platform
import resource
import signal
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .collect import read_text


@dataclass(frozen=True)
class Finding:
    """Whether something works here, why or why not, what could be done, and who needs it."""

    name: str
    works: bool
    detail: str
    remedy: str | None = None
    needed_for: str = ""


def in_child(work: Callable[[], str]) -> str:
    """What `work` returns in a child process; an exception there, or the child's death, comes back as OSError."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _report(writer, work)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status or not answer.startswith("+"):
        raise OSError(answer[1:] or f"the child ended with status {status}")
    return answer[1:]


def _report(writer: int, work: Callable[[], str]) -> None:
    try:
        os.write(writer, f"+{work()}".encode())
    except BaseException as error:  # whatever it is, the parent tells it; the child must not return
        os.write(writer, f"-{error}".encode())
    os._exit(0)


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


PIECE = b"parhelion"


class Vector(ctypes.Structure):
    """`struct iovec`."""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def process_vm_readv() -> Finding:
    """A process reads its sibling's memory, as ranks on a node would."""
    buffer = ctypes.create_string_buffer(len(PIECE))
    holder = _hold(buffer)
    try:
        seen = in_child(lambda: _read(holder, ctypes.addressof(buffer)))
        scope = read_text("/proc/sys/kernel/yama/ptrace_scope")
        return Finding("process_vm_readv", seen == PIECE.decode(), f"a rank can read another rank's memory (yama/ptrace_scope is {scope or 'absent'})")
    except OSError as error:
        scope = read_text("/proc/sys/kernel/yama/ptrace_scope")
        return Finding("process_vm_readv", False, f"{error} (yama/ptrace_scope is {scope or 'absent'})", _remedy(scope))
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)


def _hold(buffer: ctypes.Array) -> int:
    """A child in whose memory alone the buffer holds the piece; returns when it does. It ends with this process at the latest."""
    reader, writer = os.pipe()
    ends, stays = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(stays)
        buffer.raw = PIECE
        os.write(writer, b"+")
        os.read(ends, 1)
        os._exit(0)
    os.close(ends)
    os.read(reader, 1)
    os.close(reader)
    os.close(writer)
    return child


def _read(pid: int, address: int) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    here = ctypes.create_string_buffer(len(PIECE))
    local, remote = Vector(ctypes.addressof(here), len(PIECE)), Vector(address, len(PIECE))
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    count = libc.process_vm_readv(pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    if count != len(PIECE):
        raise OSError(os.strerror(ctypes.get_errno()))
    return here.raw.decode()


def _remedy(scope: str | None) -> str:
    if scope not in (None, "0"):
        return "set kernel.yama.ptrace_scope to 0"
    return "allow process_vm_readv in the container's seccomp profile"


def xpmem() -> Finding:
    """The XPMEM kernel module's device and its library."""
    device = "/dev/xpmem"
    chosen = os.environ.get("PARHELION_XPMEM", "")
    if chosen == "none":
        return Finding("XPMEM", False, "PARHELION_XPMEM is none", "unset PARHELION_XPMEM")
    if not os.path.exists(device):
        return Finding("XPMEM", False, f"there is no {device}", "load the kernel module xpmem, if the administrator offers it")
    if not os.access(device, os.R_OK | os.W_OK):
        return Finding("XPMEM", False, f"{device} may not be opened", f"ask for read and write permission on {device}")
    library = chosen or ctypes.util.find_library("xpmem")
    if not library:
        return Finding("XPMEM", False, f"{device} is there, libxpmem is not installed", "install XPMEM's library")
    return Finding("XPMEM", True, f"{device} and {library}")


def hwloc() -> Finding:
    """The library that knows caches, NUMA domains and sockets."""
    return _library("hwloc", ["libhwloc.so.15", "libhwloc.so.5"], "hwloc_get_api_version",
                    "install libhwloc (Debian: libhwloc15); without it the topology comes from /sys")  # fmt: skip


def ucx() -> Finding:
    """Unified Communication X, for exchanges between hosts."""
    wheels = sorted(Path(sysconfig.get_path("purelib")).glob("libucx/lib/libucp.so*"))
    return _library("UCX", ["libucp.so.0", *map(str, wheels)], None, "install libucx0, or the wheel libucx-cu12")


def libfabric() -> Finding:
    """Open Fabrics Interfaces, which MPIs use for networks."""
    return _library("libfabric", ["libfabric.so.1"], None, "install libfabric1; MPI wheels bundle their own")


def _library(name: str, candidates: Iterable[str], version: str | None, remedy: str) -> Finding:
    reasons = []
    for candidate in candidates:
        try:
            # In a child: what is loaded for a look must not stay in this process.
            return Finding(name, True, in_child(partial(_load, candidate, version)))
        except OSError as error:
            reasons.append(str(error))
    return Finding(name, False, reasons[0], remedy)


def _load(file: str, version: str | None) -> str:
    library = ctypes.CDLL(file)
    if version is None:
        return file
    number = getattr(library, version)()
    return f"{file}, API {number >> 16}.{number >> 8 & 255}"
