"""PETSc's star forest and mapping as petsc4py has them: there and back, and PETSc's own broadcast brings what an exchange brings."""

import numpy as np
from conversion import COMM, example, filled, same
from mpi4py import MPI
from petsc4py import PETSc

import parhelion as ph

domain = example()
forest = ph.to_star_forest(domain, PETSc.SF().create(COMM))
x = np.full(domain.size, -1.0)
x[: domain.owned] = domain.global_of(np.arange(domain.owned))
forest.bcastBegin(MPI.DOUBLE, x, x, MPI.REPLACE)
forest.bcastEnd(MPI.DOUBLE, x, x, MPI.REPLACE)
assert np.array_equal(x[domain.owned :], domain.ghost_ids)
again, leaves = ph.from_star_forest(forest)
same(domain, again)
assert np.array_equal(leaves, np.arange(domain.owned, domain.size))

mapping = ph.to_local_to_global(domain, PETSc.LGMap())
assert np.array_equal(mapping.apply(np.arange(domain.size, dtype=PETSc.IntType)), domain.global_of(np.arange(domain.size)))
same(domain, ph.from_local_to_global(mapping, domain.owned))
filled(ph.from_local_to_global(mapping, domain.owned))
if COMM.rank == 0:
    print("petsc4py agrees")
