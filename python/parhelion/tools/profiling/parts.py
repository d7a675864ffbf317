"""Which part of the software a file belongs to: libfabric, UCX, MPI, libc, the kernel, one's own code, …"""

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import PurePath

from .model import KERNEL, UNKNOWN

ASLEEP = "asleep"
WAITING = "waiting for a core"
OWN = "own code"

RULES = (
    ("libfabric", r"libfabric|lib\w+-fi\.so|libpsm|libopx"),
    ("UCX", r"libuc[pstm]\b|libuc[pstm][._]|libucc|libucs_"),
    ("MPI", r"libmpi|libopen-|libmca|mca_|libpmi|libprrte|libevent|libhwloc"),
    ("RDMA", r"libibverbs|librdmacm|libmlx|libefa"),
    ("Parhelion", r"libparhelion|phl-bench|_core\."),
    ("libc", r"libc[.-]|libm[.-]|libpthread|ld-|librt[.-]|\[v(dso|syscall)\]|libmvec"),
    ("Python", r"python|libpython"),
)
_rules = [(part, re.compile(rf"^({pattern})")) for part, pattern in RULES]


def library_name(library: str) -> str:
    """Its name up to `.so`: wherever it is loaded from, whatever its number."""
    return PurePath(library).name.partition(".so")[0]


def part_of(library: str, program: Sequence[str]) -> str:
    """The part that a file belongs to; the program itself is own code, whatever is not known is `other libraries`."""
    return _part_of(library, tuple(program))


@lru_cache(maxsize=10_000)
def _part_of(library: str, program: tuple[str, ...]) -> str:
    if library in (KERNEL, UNKNOWN, ASLEEP, WAITING):
        return library.strip("[]")
    name = PurePath(library).name
    part = next((part for part, pattern in _rules if pattern.match(name)), None)
    if part:
        return part
    return OWN if _is_program(name, program) else "other libraries"


def _is_program(name: str, program: Sequence[str]) -> bool:
    # Whatever is mapped and is no shared library is a program: the one that was named, or one that it started.
    return ".so" not in name or any(name == PurePath(word).name for word in program)
