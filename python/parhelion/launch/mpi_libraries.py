"""Which MPI libraries this process has loaded, as the dynamic linker sees them."""

import ctypes
import os
from pathlib import Path

# Profiling tools put their own MPI_Init in front of the library's; nobody replaces PMPI_Init.
SYMBOL = "PMPI_Init"


class _Place(ctypes.Structure):
    _fields_ = [
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("symbol", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    ]


def symbol_address(library: str | os.PathLike[str]) -> int | None:
    """Where MPI is, seen from a loaded `library` (a path or a soname); None when it is not loaded or has no MPI."""
    try:
        handle = ctypes.CDLL(os.fspath(library), mode=os.RTLD_NOLOAD | os.RTLD_LAZY)
        return ctypes.cast(getattr(handle, SYMBOL), ctypes.c_void_p).value
    except (OSError, AttributeError):
        return None


def file_of(address: int) -> Path:
    """The file that holds `address`."""
    place = _Place()
    lookup = ctypes.CDLL(None).dladdr
    lookup.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Place)]
    found = lookup(address, ctypes.byref(place)) and place.file
    return Path(os.fsdecode(found)) if found else Path("unknown")


def loaded_mpi_libraries() -> list[Path]:
    """Every MPI in this process; more than one means that they are mixed."""
    addresses = {symbol_address(path) for path in _mapped_files() if path.name.startswith(("libmpi", "libpmpi"))}
    return sorted(file_of(address) for address in addresses if address is not None)


def _mapped_files() -> set[Path]:
    with open("/proc/self/maps", errors="surrogateescape") as maps:
        columns = (line.rstrip("\n").split(maxsplit=5) for line in maps)
        return {Path(column[5]) for column in columns if len(column) == 6 and column[5].startswith("/")}
