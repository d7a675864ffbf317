"""PETSc's star forest, where petsc4py is there."""

import numpy as np
from mpi4py import MPI

from .case import Case
from .values import Exchange, Skipped, private_rows


class StarForest(Exchange):
    """PetscSFBcast of rows as one contiguous datatype each."""

    def __init__(self, case: Case) -> None:
        try:
            from petsc4py import PETSc
        except ImportError as error:
            raise Skipped(f"petsc4py is not here ({error}): pip install petsc4py, built for the same MPI") from None
        self.rows = private_rows(case)
        self.sf = PETSc.SF().create(case.comm)
        remote = np.stack([case.wanted // case.rows, case.wanted % case.rows], axis=1).astype(PETSc.IntType)
        local = np.arange(case.rows, case.rows + len(case.wanted), dtype=PETSc.IntType)
        self.sf.setGraph(case.rows, local, remote.ravel())
        self.sf.setUp()
        self.unit = MPI.BYTE.Create_contiguous(case.row_bytes).Commit()
        self.bytes, self.messages = len(case.wanted) * case.row_bytes, len(case.received)

    def run(self, times: int) -> None:
        array = self.rows.array
        for _ in range(times):
            self.sf.bcastBegin(self.unit, array, array, MPI.REPLACE)
            self.sf.bcastEnd(self.unit, array, array, MPI.REPLACE)
