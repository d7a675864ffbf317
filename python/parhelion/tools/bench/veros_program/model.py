"""Veros's setup acc_basic, run over one way to exchange overlaps or another."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from mpi4py import MPI

from .grid import process_grid

Overlap = Callable[[Any, Any, bool], Any]


@cache
def prepare() -> None:
    """Veros, set to run on all ranks; a process can do that once. Collective."""
    from veros import runtime_settings

    comm = MPI.COMM_WORLD.Dup()
    runtime_settings.backend, runtime_settings.loglevel, runtime_settings.diskless_mode = "numpy", "error", True
    runtime_settings.mpi_comm, runtime_settings.num_proc = comm, process_grid(comm.size)


class Model:
    """One run of the model. Collective."""

    def __init__(self, comm: MPI.Intracomm, overlap: Overlap | None = None) -> None:
        prepare()
        from veros import distributed
        from veros.setups.acc_basic import ACCBasicSetup

        self.comm, self.overlap = comm, overlap or distributed.exchange_overlap
        self.setup, self.calls, self.steps = ACCBasicSetup(), 0, 0
        with self._exchanging():
            self.setup.setup()
        self.beginning = self.state()

    def state(self) -> dict[str, Any]:
        """All variables. Veros never writes into an array, so that keeping them is free."""
        return {name: value for name, value in self.setup.state.variables.items() if value is not None}

    def restart(self) -> None:
        """Back to the first step."""
        variables = self.setup.state.variables
        with variables.unlock():
            for name, value in self.beginning.items():
                setattr(variables, name, value)
        self.steps = 0

    def run(self, steps: int) -> None:
        with self._exchanging():
            for _ in range(steps):
                self.setup.step(self.setup.state)
        self.steps += steps

    def step_held(self) -> float:
        """One more step with the ranks brought together before each exchange; seconds inside exchanges."""
        spent = 0.0

        def clocked(arr: Any, var_grid: Any, cyclic: bool) -> Any:
            nonlocal spent
            self.comm.Barrier()
            start = time.perf_counter()
            result = self.overlap(arr, var_grid, cyclic)
            spent += time.perf_counter() - start
            return result

        with self._exchanging(clocked):
            self.setup.step(self.setup.state)
        self.steps += 1
        return spent

    @contextmanager
    def _exchanging(self, overlap: Overlap | None = None) -> Iterator[None]:
        """Veros looks its exchange up at every call, so that another can stand in its place."""
        from veros import distributed

        own, distributed.exchange_overlap = distributed.exchange_overlap, overlap or self.overlap
        try:
            yield
        finally:
            distributed.exchange_overlap = own


class Reference:
    """What the state is after so many steps with Veros untouched; each step is made once."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self.model = Model(comm)
        self.states = [self.model.beginning]

    def after(self, steps: int) -> dict[str, Any]:
        """Collective."""
        while len(self.states) <= steps:
            self.model.run(1)
            self.states.append(self.model.state())
        return self.states[steps]


def differing(mine: dict[str, Any], right: dict[str, Any]) -> int:
    """How many values differ in a bit; a NaN is right where it should be. Local."""
    return sum(_differing(np.asarray(mine[name]), np.asarray(value)) for name, value in right.items())


def _differing(mine: np.ndarray, right: np.ndarray) -> int:
    if mine.shape != right.shape or mine.dtype != right.dtype:
        return max(mine.size, 1)
    return int(np.count_nonzero(_bits(mine) != _bits(right)))


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8).reshape(array.size, -1)
