"""One copy between the memories of two processes: `process_vm_readv` and XPMEM."""

import ctypes
import ctypes.util
import os
import signal

from ..collect import read_text
from .finding import Finding, in_child

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
