"""Collective errors: all ranks raise, or none."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .. import _core
from ..errors import CLASSES, kind_of
from .handles import handle_of

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Result = TypeVar("Result")


def resolve(comm: "Intracomm | None") -> "tuple[Intracomm, _core.Communicator]":
    """The mpi4py communicator (MPI.COMM_WORLD for None) and the library's duplicate.

    Collective on the first call for a communicator, local afterwards.
    """
    from mpi4py import MPI

    if comm is None:
        comm = MPI.COMM_WORLD
    elif hasattr(comm, "tompi4py"):  # petsc4py communicator
        comm = comm.tompi4py()
    if not isinstance(comm, MPI.Intracomm) and comm != MPI.COMM_NULL:
        raise TypeError(f"comm is a {type(comm).__name__}: pass an intracommunicator of mpi4py, or None for MPI.COMM_WORLD")
    return comm, _core.Communicator(handle_of(comm))


def total(comm: "_core.Communicator", *numbers: int) -> np.ndarray:
    """Sum of each number over all ranks. Collective."""
    return np.array(comm.total(_caller(), 0, numbers), np.int64)


def total_before(comm: "_core.Communicator", *numbers: int) -> np.ndarray:
    """Sum of each number over the lower ranks. Collective."""
    return np.array(comm.total_before(_caller(), 0, numbers), np.int64)


def of_all(comm: "_core.Communicator", number: int) -> np.ndarray:
    """The number of each rank, by rank. Collective."""
    return np.array(comm.of_all(_caller(), 0, [number]), np.int64)


def _caller() -> str:
    """Name of the public function or class on the call stack."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_code.co_name.startswith("_") and not frame.f_code.co_name.startswith("__"):
        frame = frame.f_back
    return frame.f_code.co_qualname.removesuffix(".__init__")


def setup_limit(timeout: Any, check: Any = False) -> float:
    """`timeout_s` of collective set-up; invalid timeouts raise later, on every rank."""
    options = _core.ExchangeOptions()
    options.timeout_s = float(timeout) if isinstance(timeout, (int, float)) and timeout > 0 else 0.0
    options.check = check is True
    return _core.setup_limit(options)


def together(comm: "_core.Communicator", local: Callable[[], Result], timeout_s: float = 0) -> Result:
    """Return the result of `local`, which must not communicate. Collective: one reduction.

    If `local` raises, every rank raises the error of the lowest such rank. Ranks in different calls raise, too. `timeout_s` limits the wait; 0:
    PARHELION_TIMEOUT.
    """
    call = _caller()
    try:
        result = local()
    except Exception as error:
        text = str(error) if isinstance(error, CLASSES) else f"{type(error).__name__}: {error}"
        try:
            comm.agree(call, timeout_s, text or type(error).__name__, kind_of(error))
        except Exception as agreed:
            raise agreed from error
        raise
    comm.agree(call, timeout_s, "", 1)
    return result
