"""The C++ library, reached through its C functions; loading it does not start MPI."""

import ctypes
import functools
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import SupportsInt

from ..errors import InputError, build_for
from ..launch import find_flavor
from ..launch.flavor import WheelFlavor


@functools.cache
def library() -> ctypes.CDLL:
    """The loaded library.

    It is that of the flavor whose MPI mpi4py has loaded, else of the flavor built last; the environment variable
    PARHELION_LIBRARY names another file. Two MPIs in one process are refused.
    """
    path = os.environ.get("PARHELION_LIBRARY") or _own_library()
    if not Path(path).exists():
        raise PlacementError(f"{path} does not exist: {build_for('mpich')}")
    loaded = ctypes.CDLL(path)
    if not hasattr(loaded, "phl_place_graph"):
        raise PlacementError(f"{path} was built before placement was part of it: {build_for('mpich', again=True)}")
    loaded.phl_last_error.restype = ctypes.c_char_p
    return loaded


def check(status: bool | int) -> None:
    """Raise what the library complained about."""
    if status:
        raise PlacementError(library().phl_last_error().decode())


def text(function: str, *arguments: object) -> str:
    """Call a function that returns a C string."""
    call = getattr(library(), function)
    call.restype = ctypes.c_char_p
    return call(*arguments).decode()


def integers(values: Iterable[SupportsInt]) -> ctypes.Array:
    """A C array of int."""
    return (ctypes.c_int * max(1, len(numbers := _within(31, values))))(*numbers)


def long_integers(values: Iterable[SupportsInt]) -> ctypes.Array:
    """A C array of int64_t."""
    return (ctypes.c_int64 * max(1, len(numbers := _within(63, values))))(*numbers)


def _within(bits: int, values: Iterable[SupportsInt]) -> list[int]:
    """Whole numbers that fit: ctypes takes any and keeps its lowest bits."""
    numbers = [int(value) for value in values]
    for number in numbers:
        if not -(2**bits) <= number < 2**bits:
            raise PlacementError(f"{number} does not fit into {bits + 1} bits: give a smaller number")
    return numbers


def _own_library() -> str:
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None:
        from ..native.loader import choose_flavor

        return str(choose_flavor(mpi).library)
    flavor = find_flavor()
    if isinstance(flavor, WheelFlavor):  # its library knows no folder of an MPI, but takes the one that is loaded
        ctypes.CDLL(str(flavor.mpi_library))
    return str(flavor.library)


class PlacementError(InputError):
    """A machine, grid, stencil or block that cannot be used; says what, where, and the remedy."""
