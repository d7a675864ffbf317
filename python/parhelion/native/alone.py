"""Check that launcher and MPI agree; src/core/launched.cpp does so for other languages."""

import os
import shlex
import sys
from types import ModuleType

from ..errors import MpiMismatchError
from ..launch.jobs import Rank, by_srun, inside_launcher
from ..launch.kinds import kind_of
from ..launch.mpi import Mpi, file_of, name_of, symbol_address

LONGEST = 400  # most characters of a command in a message


def refuse_to_be_alone(MPI: ModuleType) -> None:
    """Raise MpiMismatchError if the launcher started several ranks but MPI sees one: each would compute the whole problem.

    PARHELION_ALONE=1 disables the check.
    """
    here = _one_of_several()
    if here is None or not MPI.Is_initialized() or MPI.COMM_WORLD.size > 1:
        return
    version = MPI.Get_library_version()
    raise MpiMismatchError(
        f"this process was started as rank {here.rank} of {here.size}, but {name_of(version)} sees 1 rank, so each process would compute the whole "
        f"problem: start them with  {_right_start(here, MPI)}  (or bind mpi4py to the launcher's MPI with MPI4PY_LIBMPI; PARHELION_ALONE=1 where each "
        "is meant to work alone)"
    )


def import_mpi() -> ModuleType:
    """Import mpi4py.MPI and start MPI. MpiMismatchError beforehand if it cannot start under this launcher."""
    import mpi4py

    here = _one_of_several()
    only_pmix = "PMIX_RANK" in os.environ and "PMI_RANK" not in os.environ
    if here is None or not (only_pmix or by_srun(here)) or not mpi4py.rc.initialize or "mpi4py.MPI" in sys.modules:
        from mpi4py import MPI

        return MPI
    finalize = mpi4py.rc.finalize
    mpi4py.rc(initialize=False, finalize=True if finalize is None else finalize)
    try:
        from mpi4py import MPI
    finally:
        mpi4py.rc(initialize=True, finalize=finalize)
    if why := _why_not(here, MPI):
        raise MpiMismatchError(why)
    if not MPI.Is_initialized():
        _start(MPI, mpi4py.rc)
    return MPI


def _start(MPI: ModuleType, rc: object) -> None:
    levels = {"single": MPI.THREAD_SINGLE, "funneled": MPI.THREAD_FUNNELED, "serialized": MPI.THREAD_SERIALIZED}
    threads = getattr(rc, "threads", True)
    MPI.Init_thread(levels.get(getattr(rc, "thread_level", "multiple"), MPI.THREAD_MULTIPLE) if threads else MPI.THREAD_SINGLE)


def _why_not(here: Rank, MPI: ModuleType) -> str | None:
    version = MPI.Get_library_version()
    pmix, pmi = "PMIX_RANK" in os.environ, "PMI_RANK" in os.environ or "PMI_FD" in os.environ
    if version.startswith("MPICH") and pmix and not pmi and not _has_pmix_of_its_own():
        return f"{name_of(version)} does not support PMIx, the only interface of this launcher: start the ranks with  {_right_start(here, MPI)}"
    if version.startswith("Open MPI") and by_srun(here) and not pmix:
        return f"{name_of(version)} needs PMIx, which this srun does not offer: start the ranks with  {_right_start(here, MPI)}"
    return None


def _right_start(here: Rank, MPI: ModuleType) -> str:
    version = MPI.Get_library_version()
    typed = shlex.join(sys.orig_argv)
    program = typed if 0 < len(typed) <= LONGEST else "PROGRAM"
    if by_srun(here) and not version.startswith("Intel"):
        return f"srun --mpi={'pmix' if version.startswith('Open MPI') else 'pmi2'} -n {here.size} {program}"
    return f"{_mpiexec(MPI, version)} -n {here.size} {program}"


def _mpiexec(MPI: ModuleType, version: str) -> str:
    address = symbol_address(str(MPI.__file__))
    launcher = Mpi(file_of(address), "", version, kind_of(version)).mpiexec if address else None
    return str(launcher or f"the mpiexec of {name_of(version)}")


def _one_of_several() -> Rank | None:
    here = inside_launcher()
    meant = os.environ.get("PARHELION_ALONE") == "1"
    return here if here is not None and here.size is not None and here.size > 1 and not meant else None


def _has_pmix_of_its_own() -> bool:
    with open("/proc/self/maps", errors="surrogateescape") as maps:
        return any("libpmix" in line for line in maps)
