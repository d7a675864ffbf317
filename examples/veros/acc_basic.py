"""The ocean model Veros, setup acc_basic, with its own halo exchange and with Parhelion's: `mpiexec -n 2 python acc_basic.py`.

`parhelion bench apps --app veros` measures it.
"""

import inspect
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from mpi4py import MPI
from parhelion.measure.programs import EXTENT, VEROS as ROLES, Skipped, Variant, process_grid

__all__ = ["ROLES", "VARIANTS", "Case"]

Overlap = Callable[[Any, Any, bool], Any]


@cache
def prepare() -> None:
    """Configure Veros for all ranks, once per process. Collective."""
    from veros import runtime_settings

    comm = MPI.COMM_WORLD.Dup()
    runtime_settings.backend, runtime_settings.loglevel, runtime_settings.diskless_mode = "numpy", "error", True
    runtime_settings.mpi_comm, runtime_settings.num_proc = comm, process_grid(comm.size)


@dataclass(frozen=True)
class Case:
    """The setup on these ranks."""

    comm: MPI.Intracomm

    @classmethod
    def read(cls, job: dict[str, Any], comm: MPI.Intracomm) -> "Case":
        if process_grid(comm.size) is None:
            raise ValueError(f"the {EXTENT[0]}×{EXTENT[1]} columns of Veros's setup cannot be divided evenly among {comm.size} ranks")
        return cls(comm)

    def params(self) -> dict[str, Any]:
        return {"app": "veros", "ranks": self.comm.size, "grid": list(process_grid(self.comm.size) or ()), "extent": list(EXTENT)}

    @cached_property
    def untouched(self) -> tuple["Model", list[dict[str, Any]]]:
        """Veros with its own exchange, and its states after each step so far. The first access is collective."""
        model = Model(self, _by_veros)
        return model, [model.beginning]

    def state_after(self, steps: int) -> dict[str, Any]:
        model, states = self.untouched
        while len(states) <= steps:
            model.run(1)
            states.append(model.state())
        return states[steps]


class Model(Variant):
    """Veros with one exchange method; acts as its own `rows`. Round n is compared from step n on."""

    def __init__(self, case: Case, make_overlap: Callable[[], Any]) -> None:
        if find_spec("veros") is None:
            raise Skipped("Veros is not here: make apps")
        prepare()
        from veros.setups.acc_basic import ACCBasicSetup

        self.case, self.rows, self.overlap = case, self, make_overlap()
        self.setup, self.steps = ACCBasicSetup(), 0
        with self._exchanging():
            self.setup.setup()
        self.beginning = self.state()
        self.setup_s = getattr(self.overlap, "setup_s", 0.0)

    def state(self) -> dict[str, Any]:
        """Return all variables; Veros's arrays are immutable, so no copy is needed."""
        return {name: value for name, value in self.setup.state.variables.items() if value is not None}

    def refresh(self, turn: int) -> None:
        variables = self.setup.state.variables
        with variables.unlock():
            for name, value in self.beginning.items():
                setattr(variables, name, value)
        self.steps = 0
        self.run(turn)

    def count_wrong(self, turn: int) -> int:
        """Count the values that differ bitwise, NaN included."""
        right, mine = self.case.state_after(self.steps), self.state()
        return sum(_differing(np.asarray(mine[name]), np.asarray(value)) for name, value in right.items())

    def run(self, times: int) -> None:
        with self._exchanging():
            for _ in range(times):
                self.setup.step(self.setup.state)
        self.steps += times

    def step_held(self) -> float:
        spent = 0.0

        def clocked(arr: Any, var_grid: Any, cyclic: bool) -> Any:
            nonlocal spent
            self.case.comm.Barrier()
            start = time.perf_counter()
            result = self.overlap(arr, var_grid, cyclic)
            spent += time.perf_counter() - start
            return result

        with self._exchanging(clocked):
            self.setup.step(self.setup.state)
        self.steps += 1
        return spent

    def exchange_lines(self) -> int:
        """Count the exchange's lines, without the benchmark's own code."""
        import with_parhelion
        from veros import distributed

        own = [distributed.get_process_neighbors, distributed.send, distributed.recv, distributed.sendrecv, distributed.exchange_overlap]
        parts = [with_parhelion] if isinstance(self.overlap, with_parhelion.WithParhelion) else own
        return sum(not NO_CODE.match(line) for part in parts for line in inspect.getsource(part).splitlines())

    def explain(self) -> Any:
        made = list(getattr(self.overlap, "kinds", {}).values())
        return made[0][1].explain() if made else None

    @contextmanager
    def _exchanging(self, overlap: Overlap | None = None) -> Iterator[None]:
        """Replace Veros's exchange inside the context; Veros looks it up at each call."""
        from veros import distributed

        own, distributed.exchange_overlap = distributed.exchange_overlap, overlap or self.overlap
        try:
            yield
        finally:
            distributed.exchange_overlap = own


def _differing(mine: np.ndarray, right: np.ndarray) -> int:
    if mine.shape != right.shape or mine.dtype != right.dtype:
        return max(mine.size, 1)
    return int(np.count_nonzero(_bits(mine) != _bits(right)))


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1, 1).view(np.uint8).reshape(array.size, -1)


# Blank lines, comments, imports, decorators and one-line docstrings.
NO_CODE = re.compile(r'\s*($|#|import |from |@|""".*"""$)')


def _by_parhelion() -> Any:
    from with_parhelion import WithParhelion

    class Timed(WithParhelion):
        setup_s = 0.0

        def _make(self, shape: tuple[int, ...], dtype: Any, cyclic: bool) -> Any:
            start = time.perf_counter()
            made = super()._make(shape, dtype, cyclic)
            self.setup_s += time.perf_counter() - start
            return made

    return Timed("auto")


def _by_veros() -> Any:
    from veros import distributed

    return distributed.exchange_overlap


def _with_a_fault() -> Any:
    """Set one wrong value on the last rank to test the comparison. Runs only by name."""
    own = _by_veros()

    def overlap(arr: Any, var_grid: Any, cyclic: bool) -> Any:
        made = own(arr, var_grid, cyclic).copy()
        if MPI.COMM_WORLD.rank == MPI.COMM_WORLD.size - 1 and made.ndim == 4:  # tracers such as temperature
            made[0, 2] += 1e-6
        return made

    return overlap


VARIANTS = {name: partial(Model, make_overlap=make) for name, make in
            {"auto": _by_parhelion, "hand_sendrecv": _by_veros, "planted_fault": _with_a_fault}.items()}


if __name__ == "__main__":
    STEPS = 10
    here = Case.read({}, MPI.COMM_WORLD)
    for name in ("hand_sendrecv", "auto"):
        model = VARIANTS[name](here)
        start = time.perf_counter()
        model.run(STEPS)
        seconds = time.perf_counter() - start
        wrong = here.comm.allreduce(model.count_wrong(0))
        if here.comm.rank == 0:
            print(f"{name}: {seconds / STEPS * 1e3:.1f} ms per step, {wrong} values differ from those of Veros's own exchange")
