"""Access to the C++ library through its C interface; loading it does not start MPI."""

import ctypes
import functools
import os
import sys
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, SupportsInt

import numpy as np

from ..errors import InputError, build_for
from ..launch import find_build
from ..launch.builds import WheelBuild


@functools.cache
def library() -> ctypes.CDLL:
    """Load the library: of the build for mpi4py's MPI, if loaded, else of the newest build.

    PARHELION_LIBRARY names another file. Two MPIs in one process are an error.
    """
    path = os.environ.get("PARHELION_LIBRARY") or _own_library()
    if not Path(path).exists():
        raise PlacementError(f"{path} does not exist: {build_for('mpich')}")
    loaded = ctypes.CDLL(path)
    if not hasattr(loaded, "phl_machine_describe"):
        raise PlacementError(f"{path} was built before this version: {build_for('mpich', again=True)}")
    loaded.phl_last_error.restype = ctypes.c_char_p
    return loaded


def call(function: str, *arguments: object) -> None:
    """Call a C function; PlacementError if its status is an error."""
    if getattr(library(), function)(*map(_as_c_takes_it, arguments)):
        raise PlacementError(library().phl_last_error().decode())


def described(structure: Any, function: str, *arguments: object) -> Any:
    """Call a C function that fills a structure, its last argument. Raises PlacementError."""
    facts = structure()
    call(function, *arguments, ctypes.byref(facts))
    return facts


def received(count: int, function: str, *arguments: object, kind: Any = ctypes.c_int) -> tuple:
    """Call a C function that fills `count` numbers, its last argument. Raises PlacementError."""
    numbers = (kind * max(1, count))()
    call(function, *arguments, numbers)
    return tuple(numbers[:count])


def pointer_to(numbers: np.ndarray) -> Any:
    return numbers.ctypes.data_as(ctypes.POINTER(ctypes.c_int))


def made(owner: object, kind: str, function: str, *arguments: object) -> ctypes.c_void_p:
    """Create a handle that `owner` frees. Raises PlacementError."""
    handle = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(handle))
    weakref.finalize(owner, getattr(library(), f"phl_{kind}_free"), handle)
    return handle


def integers(values: Iterable[SupportsInt], bits: int = 31) -> ctypes.Array:
    """C array of int, or of int64_t with 63 bits; ctypes would truncate larger numbers."""
    numbers = [int(value) for value in values]
    for each in numbers:
        if not -(2**bits) <= each < 2**bits:
            raise PlacementError(f"{each} does not fit into {bits + 1} bits: give a smaller number")
    return ((ctypes.c_int if bits == 31 else ctypes.c_int64) * max(1, len(numbers)))(*numbers)


class CGrid(ctypes.Structure):
    """phl_process_grid."""

    _fields_ = (("dimensions", ctypes.c_int), ("extents", ctypes.c_void_p), ("periodic", ctypes.c_void_p))


def c_grid(extents: Sequence[int] | None, periodic: Sequence[bool] = (), dimensions: int = 0) -> Any:
    """C structure of a process grid."""
    arrays = [integers(each) if each else None for each in (extents, periodic)]
    grid = CGrid(len(extents) if extents else dimensions, *(array and ctypes.addressof(array) for array in arrays))
    grid.arrays = arrays  # keeps them alive
    return ctypes.byref(grid)


def long_integers(values: Iterable[SupportsInt]) -> ctypes.Array:
    return integers(values, 63)


def _as_c_takes_it(argument: object) -> object:
    if isinstance(argument, str):
        return argument.encode()
    return integers([argument])[0] if isinstance(argument, int | np.integer) else getattr(argument, "_handle", argument)


def _own_library() -> str:
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None:
        from ..native.loader import choose_build

        return str(choose_build(mpi).library)
    build = find_build()
    if isinstance(build, WheelBuild):  # its library uses the MPI that is loaded
        ctypes.CDLL(str(build.mpi_library))
    return str(build.library)


class PlacementError(InputError):
    """A machine, grid, stencil or block is unusable; the message names the fault and the remedy."""
