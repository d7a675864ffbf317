"""Handles of mpi4py communicators, without the C++ library."""

from typing import TYPE_CHECKING

from ..errors import CommunicationError

if TYPE_CHECKING:
    from typing import NoReturn

    from mpi4py.MPI import Comm


def not_pickled(self: object) -> "NoReturn":
    """`__reduce__` of objects constructed collectively."""
    raise TypeError(f"{type(self).__name__} cannot be pickled: it belongs to its ranks; pickle arrays and constructor arguments, and construct it again on all ranks")


def handle_of(comm: "Comm") -> int:
    """Fortran handle of a communicator. CommunicationError unless MPI is running: MPIs abort on calls after MPI_Finalize."""
    from mpi4py import MPI

    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise CommunicationError("MPI has ended: use parhelion before MPI_Finalize" if MPI.Is_finalized()
                                 else "MPI is not running: call MPI.Init before using parhelion")
    return comm.py2f()
