"""Probes of the machine: shared memory, access to another process's memory, run-time libraries, devices.

`CHECKS` lists the probes, `NEEDS` the probe of each transport.
"""

import ctypes
import ctypes.util
import mmap
import os
import resource
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..errors import remedy_of_no_build
from ..launch import usable_builds
from .collect import read_text

DEV_SHM = "/dev/shm"
ENOUGH = 64 * 2**20


@dataclass(frozen=True)
class Finding:
    name: str
    works: bool
    detail: str
    remedy: str | None = None
    needed_for: str = ""


Told = tuple[bool, str, str | None]  # whether it works, details, remedy


def in_child(work: Callable[[], str]) -> str:
    """Return the result of `work` in a child process; an exception or crash there raises OSError here."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writer, f"+{work()}".encode())
        except BaseException as error:  # report anything: the child must not return
            os.write(writer, f"-{error}".encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if status or not answer.startswith("+"):
        raise OSError(answer[1:] or f"the child ended with status {status}")
    return answer[1:]


def dev_shm() -> Told:
    """Probe POSIX shared memory: free space in /dev/shm, and a file that two processes map."""
    state = os.statvfs(DEV_SHM)
    with tempfile.NamedTemporaryFile(dir=DEV_SHM, prefix="parhelion-probe-") as file:
        works = _is_shared(file.fileno(), file.name)
    free, size = state.f_bavail * state.f_frsize, state.f_blocks * state.f_frsize
    remedy = "give the container a larger /dev/shm (--shm-size, or bind the host's)" if free < ENOUGH else None
    return works and free >= mmap.PAGESIZE, f"{free / 2**20:,.0f} of {size / 2**20:,.0f} MiB free", remedy


def memfd() -> Told:
    """Probe anonymous shared memory opened through /proc by a child."""
    with os.fdopen(os.memfd_create("parhelion-probe"), "r+b") as file:
        folder = f"/proc/{os.getpid()}/fd"
        return _is_shared(file.fileno(), f"{folder}/{file.fileno()}"), f"opened by a child through {folder}", None


def _is_shared(file: int, path: str) -> bool:
    """Whether memory that a child opens as `path` and writes is shared with this process."""
    os.ftruncate(file, mmap.PAGESIZE)

    def write() -> str:
        with open(path, "r+b") as other, mmap.mmap(other.fileno(), mmap.PAGESIZE) as page:
            page[0] = 1
        return "written"

    with mmap.mmap(file, mmap.PAGESIZE) as page:
        return in_child(write) == "written" and page[0] == 1


def locked_memory() -> Told:
    """Probe the limit of locked memory, which RDMA network cards need."""
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft == resource.RLIM_INFINITY:
        return True, "no limit", None
    cards = os.path.isdir("/sys/class/infiniband") and bool(os.listdir("/sys/class/infiniband"))
    detail = f"at most {soft / 2**20:,.0f} MiB, {'with' if cards else 'without'} a card that needs it"
    remedy = "ask for unlimited locked memory (ulimit -l, memlock in limits.conf or of the container)" if cards else None
    return not cards or soft >= ENOUGH, detail, remedy


def huge_pages() -> Told:
    shmem = read_text("/sys/kernel/mm/transparent_hugepage/shmem_enabled") or "absent"
    private = read_text("/sys/kernel/mm/transparent_hugepage/enabled") or "absent"
    works = any(f"[{state}]" in shmem for state in ("always", "within_size", "advise", "force"))
    remedy = None if works else "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"
    return works, f"shmem_enabled: {shmem}; enabled: {private}", remedy


def process_vm_readv() -> Told:
    """Probe process_vm_readv: a child reads its parent; ranks, too, read processes that they did not start."""
    scope = read_text("/proc/sys/kernel/yama/ptrace_scope")
    buffer = ctypes.create_string_buffer(b"parhelion")
    try:
        seen = in_child(partial(_read, os.getpid(), ctypes.addressof(buffer), len(buffer.value)))
    except OSError as error:
        remedy = "allow process_vm_readv in the container's seccomp profile" if scope in (None, "0") else "set kernel.yama.ptrace_scope to 0"
        return False, f"{error} (yama/ptrace_scope is {scope or 'absent'})", remedy
    return seen == buffer.value.decode(), f"a rank can read another rank's memory (yama/ptrace_scope is {scope or 'absent'})", None


def _read(pid: int, address: int, size: int) -> str:
    libc = ctypes.CDLL(None, use_errno=True)
    here = ctypes.create_string_buffer(size)
    local, remote = ((ctypes.c_size_t * 2)(place, size) for place in (ctypes.addressof(here), address))  # struct iovec
    libc.process_vm_readv.restype = ctypes.c_ssize_t
    if libc.process_vm_readv(pid, local, 1, remote, 1, 0) != size:
        raise OSError(os.strerror(ctypes.get_errno()))
    return here.raw.decode()


def xpmem() -> Told:
    device = "/dev/xpmem"
    chosen = os.environ.get("PARHELION_XPMEM", "")
    if chosen == "none":
        return False, "PARHELION_XPMEM is none", "unset PARHELION_XPMEM"
    if not os.path.exists(device):
        return False, f"there is no {device}", "load the kernel module xpmem, if the administrator offers it"
    if not os.access(device, os.R_OK | os.W_OK):
        return False, f"{device} may not be opened", f"ask for read and write permission on {device}"
    library = chosen or ctypes.util.find_library("xpmem")
    if not library:
        return False, f"{device} is there, libxpmem is not installed", "install XPMEM's library"
    return True, f"{device} and {library}", None


def ucx() -> Told:
    return _library(["libucp.so.0", *map(str, sorted(Path(sysconfig.get_path("purelib")).glob("libucx/lib/libucp.so*")))])


def libfabric() -> Told:
    return _library(["libfabric.so.1"])


def cuda() -> Told:
    """Probe devices and the library's kernel, in a child so that its contexts are freed."""
    told = in_child(_devices)
    return LOADS in told, told, None if LOADS in told else "use a newer driver: " + NEEDED


LOADS = "the library's kernel loads"
NEEDED = "arrays on a device need a driver of CUDA 11.0 or newer"


def cuda_ipc() -> Told:
    """Probe an IPC handle: one process writes memory of device 0, another opens and reads it."""
    try:
        return True, in_child(_read_memory_of_another), None
    except OSError as error:
        return (False, str(error), IPC_REMEDY) if "cuIpc" in str(error) else (False, f"not tried: {error}", None)


IPC_REMEDY = "start the ranks of a node in one container that shares its namespace of processes"
WRITTEN = b"by another process"
Call = Callable[..., None]


def _read_memory_of_another() -> str:
    told, tell = os.pipe()
    seen, has_seen = os.pipe()
    owner = os.fork()
    if owner == 0:
        os.close(has_seen)
        try:
            os.write(tell, b"+" + _write_memory())
            os.read(seen, 1)
        except BaseException as error:
            os.write(tell, f"-{error}".encode())
        os._exit(0)
    for end in (tell, seen):
        os.close(end)
    try:
        answer = os.read(told, 4096)
        if not answer.startswith(b"+"):
            raise OSError(answer[1:].decode() or "the owner of the memory died")
        call, place, values = _on_first_device(), ctypes.c_ulonglong(), ctypes.create_string_buffer(len(WRITTEN))
        call("cuIpcOpenMemHandle", ctypes.byref(place), Handle.from_buffer_copy(answer[1:]), 1)
        call("cuMemcpyDtoH_v2", values, place, ctypes.c_size_t(len(WRITTEN)))
        call("cuIpcCloseMemHandle", place)
        if values.raw != WRITTEN:
            raise OSError("a handle opened the wrong memory")
    finally:
        os.close(has_seen)
        os.waitpid(owner, 0)
    return "a process read data that another one wrote on device 0"


class Handle(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_char * 64)]


def _write_memory() -> bytes:
    call, place, handle = _on_first_device(), ctypes.c_ulonglong(), Handle()
    call("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(len(WRITTEN)))
    call("cuMemcpyHtoD_v2", place, WRITTEN, ctypes.c_size_t(len(WRITTEN)))
    call("cuIpcGetMemHandle", ctypes.byref(handle), place)
    return bytes(handle)


def _on_first_device() -> Call:
    _, call = _driver()
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxPushCurrent_v2", context)
    return call


def _driver() -> tuple[str, Call]:
    file = os.environ.get("PARHELION_CUDA") or "libcuda.so.1"
    if file == "none":
        raise OSError("PARHELION_CUDA is none")
    driver = ctypes.CDLL(file)

    def call(name: str, *arguments: object) -> None:
        if status := getattr(driver, name)(*arguments):
            told = ctypes.c_char_p()
            driver.cuGetErrorName(status, ctypes.byref(told))
            raise OSError(f"{name} of {file} failed: {(told.value or b'unknown').decode()} ({status})")

    call("cuInit", 0)
    return file, call


def _devices() -> str:
    file, call = _driver()
    number = ctypes.c_int()
    call("cuDriverGetVersion", ctypes.byref(number))
    version = f"{number.value // 1000}.{number.value % 1000 // 10}"
    if number.value < 11000:
        raise OSError(f"{file} is of CUDA {version}: {NEEDED}")
    call("cuDeviceGetCount", ctypes.byref(number))
    return f"{file}, CUDA {version}: " + ("; ".join(_device(call, each) for each in range(number.value)) or "no device")


def _device(call: Call, ordinal: int) -> str:
    device, name, context, module = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_void_p(), ctypes.c_void_p()
    try:
        call("cuDeviceGet", ctypes.byref(device), ordinal)
        call("cuDeviceGetName", name, len(name), device)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        call("cuCtxPushCurrent_v2", context)
        call("cuModuleLoadData", ctypes.byref(module), _kernel())
        return f"{ordinal} {name.value.decode()}, {LOADS}"
    except OSError as error:
        return f"{ordinal} {name.value.decode()}, {error}"


def _kernel() -> bytes:
    """Return the library's PTX from its file, without loading MPI."""
    for build in usable_builds().values():
        for text in build.library.read_bytes().split(b"\0"):
            if b".entry parhelion_copy(" in text:
                return text
    raise OSError(f"no build has a kernel: {remedy_of_no_build()}")


def _library(candidates: Iterable[str]) -> Told:
    """Probe in a child: dlopen must not affect this process."""
    failed: list[OSError] = []
    for candidate in candidates:
        try:
            return True, in_child(partial(_load, candidate)), None
        except OSError as error:
            failed.append(error)
    raise failed[0]


def _load(file: str) -> str:
    ctypes.CDLL(file)
    return file


class Check(NamedTuple):
    """A probe of the machine.

    `needed_for`: features that need it. `remedy`: used if the probe raises OSError. `missed`: priority of the remedy, 1 first, None for none; 7 and
    above are optional for exchanges.
    """

    name: str
    probe: Callable[[], Told]
    needed_for: str
    remedy: str | None = None
    missed: int | None = None

    def finding(self) -> Finding:
        try:
            works, detail, remedy = self.probe()
        except OSError as error:
            works, detail, remedy = False, str(error), self.remedy
        return Finding(self.name, works, detail, remedy, self.needed_for)


CHECKS = (
    Check("process_vm_readv", process_vm_readv, "long messages of many MPIs", missed=3),
    Check("XPMEM", xpmem, "xpmem", missed=8),
    Check(DEV_SHM, dev_shm, "MPI; Parhelion does not need it", "mount a tmpfs on /dev/shm that you may write to", 2),
    Check("memfd", memfd, "shared, staged_shared", "let all ranks of a node share one namespace of processes, with /proc mounted", 1),
    Check("locked memory", locked_memory, "RDMA networks, such as InfiniBand", missed=5),
    Check("huge pages for shared memory", huge_pages, "large arrays", missed=7),
    Check("UCX", ucx, "ucx between nodes", "install libucx0, or the wheel libucx-cu12", 4),
    Check("libfabric", libfabric, "MPIs without their own", "install libfabric1; MPI wheels bundle their own"),
    Check("CUDA", cuda, "arrays on a GPU", "install NVIDIA's driver, or give it to the container (--gpus all)"),
    Check("CUDA IPC", cuda_ipc, "device_ipc"),
)
# Probe of each transport; MPI transports need only a build.
NEEDS = {"shared": "memfd", "staged_shared": "memfd", "xpmem": "XPMEM", "ucx": "UCX", "device_ipc": "CUDA IPC", "device_mpi": "CUDA"}
OVER_MPI = ("mpi", "mpi_neighbor")


def most_missed() -> list[str]:
    return [name for _, name in sorted((check.missed, check.name) for check in CHECKS if check.missed)]


def transports(findings: list[Finding], built: Mapping[str, str]) -> list[Finding]:
    """Combine machine findings with the builds' transports; `built`: name → "" or why no build can use it."""
    found, needed = [Finding(name, True, "needs only MPI") for name in OVER_MPI], {finding.name: finding for finding in findings}
    for name, need in ((name, needed[need]) for name, need in NEEDS.items()):
        detail = f"{need.name} works" if need.works else f"{need.name}: {need.detail}"
        found.append(Finding(name, need.works, detail, None if need.works else need.remedy))
    loopback = Finding("loopback", True, "a rank that is its own neighbor copies within its memory")
    return [loopback, *(_if_built(finding, built) for finding in found)]


def _if_built(finding: Finding, built: Mapping[str, str]) -> Finding:
    why_not = built.get(finding.name)
    if finding.name == "ucx" and why_not == "":  # most MPIs include UCX
        return Finding("ucx", True, "a build finds its library")
    if why_not == "" or not finding.works or (finding.name.startswith("device_") and why_not):  # phl-bench --list does not load the driver
        return finding
    if not built:
        return Finding(finding.name, False, f"no build exists ({finding.detail})", remedy_of_no_build())
    return Finding(finding.name, False, why_not or f"the machine allows it, but no build has it ({finding.detail})")
