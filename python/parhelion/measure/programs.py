"""Measuring programs in Python: `python -m parhelion.measure.programs ghosts|apps OPTIONS`, with phl-bench's options, callbacks
(bench/callback.hpp) and record.

`ghosts` exchanges row arrays like the published benchmark; `apps` runs the ocean model Veros (examples/veros). A program is a module with
`Case` (`read(options, communicator)`, `params()`), `ROLES` (names of variants) and `VARIANTS` (their factories for a case). This module
loads no MPI, for the command line.
"""

import ctypes
import importlib
import json
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import ROOT

BEFORE_S = time.process_time()  # CPU time of the interpreter and the package

# Variants by role.
GHOSTS = {
    "own": ["auto", "auto_from_cpp", "shared", "staged_shared", "mpi"],
    "baseline": ["published_hindexed", "packed_persistent", "mpi4py_isend", "planted_fault"],
    "floor": ["floor_in_process"],
}
VEROS = {"own": ["auto"], "baseline": ["hand_sendrecv", "planted_fault"]}
ONLY_BY_NAME = {"planted_fault"}

VEROS_EXAMPLE = ROOT / "examples" / "veros"
EXTENT = (30, 42, 15)  # columns in x and y, and layers, of Veros's setup acc_basic
OVERLAP = 2  # halo width in columns; a rank owns at least as many


def names(roles: dict[str, list[str]]) -> list[str]:
    return [name for some in roles.values() for name in some]


def process_grid(ranks: int) -> tuple[int, int] | None:
    """Return Veros's ranks in x and y with the most nearly square subdomains; None if no grid divides the columns evenly."""
    fitting = [(x, ranks // x) for x in range(1, ranks + 1) if ranks % x == 0 and _fits(EXTENT[0], x) and _fits(EXTENT[1], ranks // x)]
    return min(fitting, key=lambda grid: abs(EXTENT[0] / grid[0] - EXTENT[1] / grid[1]), default=None)


def _fits(cells: int, ranks: int) -> bool:
    return cells % ranks == 0 and cells // ranks >= OVERLAP


ANSWER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
EXCHANGE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64)


class Measured(ctypes.Structure):
    _fields_ = (("answer", ANSWER), ("exchange", EXCHANGE))


class Skipped(Exception):
    """A variant cannot run here; all ranks raise it with the same reason."""


class Variant:
    """A method to exchange `rows`, which has `refresh(round)` and `count_wrong(round)`. Construction and `free` are collective."""

    rows: Any
    setup_s: float | None = None  # of the exchange alone, for whole applications

    def run(self, times: int) -> None:
        for _ in range(times):
            self.exchange()

    def exchange(self) -> None:
        raise NotImplementedError

    def traffic(self) -> dict[str, Any] | None:
        """Return bytes and messages, if known."""

    def explain(self) -> str | None:
        """Return a description, if there is one."""

    def step_held(self) -> float | None:
        """Whole applications: run one more step with a barrier before each exchange; return the seconds inside exchanges."""

    def exchange_lines(self) -> int:
        """Whole applications: return the lines of code of the exchange."""
        return 0

    def free(self) -> None:
        pass


def main(interpreter_s: float) -> int:
    """Run phl-bench with the program that the first argument names. Collective over MPI.COMM_WORLD; returns its exit status: 1 if a value was
    wrong, 2 for bad input.
    """
    imports = {"interpreter_s": interpreter_s, **timed_imports()}
    from .. import _core

    program = _program(sys.argv[1])
    library = ctypes.PyDLL(str(Path(str(_core.__file__)).with_name("libphl_measure.so")))
    answers = Answers(imports, program)
    measured = Measured(ANSWER(answers.answer), EXCHANGE(answers.exchange))
    words = [word.encode() for word in sys.argv[1:]]
    return int(library.phl_measure(len(words), (ctypes.c_char_p * len(words))(*words), ctypes.byref(measured)))


def _program(benchmark: str) -> ModuleType:
    if benchmark != "apps":
        return importlib.import_module(".ghosts", __package__)
    sys.path.insert(0, str(VEROS_EXAMPLE))
    return importlib.import_module("acc_basic")


def timed_imports() -> dict[str, float]:
    """Return the import times of NumPy, mpi4py (with MPI_Init) and Parhelion: on a cluster, hundreds of ranks import from one file system at once."""
    seconds = {"numpy_s": _seconds("numpy"), "mpi4py_and_mpi_init_s": _seconds("mpi4py.MPI"), "parhelion_s": _seconds("parhelion", "IndexMap")}
    return seconds | {"modules": float(len(sys.modules))}


def _seconds(module: str, *names: str) -> float:
    start = time.perf_counter()
    imported = importlib.import_module(module)
    for name in names:
        getattr(imported, name)  # the package imports names lazily
    return time.perf_counter() - start


class Answers:
    def __init__(self, imports: dict[str, float], program: Any) -> None:
        from mpi4py import MPI

        self.comm, self.seconds, self.program = MPI.COMM_WORLD.Dup(), imports, program
        self.made: list[Any] = []
        self.here: Any = None
        self.text: Any = None
        self.error = ""

    def answer(self, question: bytes) -> int:
        """Return the address of the JSON answer, valid until the next call."""
        asked = json.loads(question)
        variant, what = asked.pop("variant", None), asked.pop("what")
        try:
            told = {"told": getattr(self, what)(**asked) if variant is None else self._of_variant(self.made[variant], what, asked["round"])}
        except Skipped as reason:
            told = {"skipped": str(reason)}
        except ValueError as error:
            told = {"error": str(error)}
        except Exception as error:
            told = {"error": f"{type(error).__name__}: {error}"}
        self.text = ctypes.create_string_buffer(json.dumps(told).encode())
        return ctypes.addressof(self.text)

    def exchange(self, variant: int, times: int) -> int:
        try:
            self.made[variant].run(times)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            return 1
        return 0

    def imports(self) -> dict[str, Any]:
        every = self.comm.allgather(self.seconds)
        return {name: {"mean": sum(each[name] for each in every) / len(every), "max": max(each[name] for each in every)} for name in self.seconds}

    def variants(self) -> list[dict[str, Any]]:
        return [{"name": name, "role": role, "only_by_name": name in ONLY_BY_NAME} for role, names in self.program.ROLES.items() for name in names]

    def check(self, case: dict[str, Any]) -> None:
        self.program.Case.read(case, self.comm)

    def case(self, case: dict[str, Any]) -> dict[str, Any]:
        self.here, self.made = self.program.Case.read(case, self.comm), []
        return dict(self.here.params())

    def make(self, name: str) -> dict[str, Any]:
        made = self.program.VARIANTS[name](self.here)
        self.made.append(made)
        return {"variant": len(self.made) - 1} | ({} if made.setup_s is None else {"setup_s": made.setup_s})

    def _of_variant(self, made: Variant, what: str, turn: int) -> Any:
        match what:
            case "refresh" | "count_wrong":
                return getattr(made.rows, what)(turn)
            case "failure":
                raise RuntimeError(self.error)
            case "free":
                self.made[self.made.index(made)] = None
        return getattr(made, what)()


if __name__ == "__main__":
    # The module's own name, by which programs import it.
    raise SystemExit(importlib.import_module("parhelion.measure.programs").main(BEFORE_S))
