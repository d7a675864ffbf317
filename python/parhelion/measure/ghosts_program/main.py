"""The protocol of phl-bench, which asks what it needs to know and calls the exchanges."""

import ctypes
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ... import _core
from .case import Skipped


class Program(NamedTuple):
    """What is measured: cases by `read(options of the case, communicator)`, contenders, and the names of those that need no naming."""

    read: Callable[[dict[str, Any], Any], Any]
    contenders: Callable[[], list[Any]]
    usual: set[str]


ANSWER = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
EXCHANGE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int64)


class Measured(ctypes.Structure):
    """`phl_measured` of bench/callback.hpp."""

    _fields_ = (("answer", ANSWER), ("exchange", EXCHANGE))


def main(imports: dict[str, float], program: Program) -> int:
    """Collective over MPI.COMM_WORLD. Returns the exit status."""
    library = ctypes.PyDLL(str(Path(str(_core.__file__)).with_name("libphl_measure.so")))
    answers = Answers(imports, program)
    measured = Measured(ANSWER(answers.answer), EXCHANGE(answers.exchange))
    words = [word.encode() for word in sys.argv[1:]]
    return int(library.phl_measure(len(words), (ctypes.c_char_p * len(words))(*words), ctypes.byref(measured)))


class Answers:
    """One method for each question."""

    def __init__(self, imports: dict[str, float], program: Program) -> None:
        from mpi4py import MPI

        self.comm, self.seconds, self.program = MPI.COMM_WORLD.Dup(), imports, program
        self.known = {each.name: each for each in program.contenders()}
        self.made: list[Any] = []
        self.here: Any = None
        self.text: Any = None
        self.error = ""

    def answer(self, question: bytes) -> int:
        """The address of the answer, which stays until the next one."""
        asked = json.loads(question)
        variant, what = asked.pop("variant", None), asked.pop("what")
        try:
            told = {"told": getattr(self, what)(**asked) if variant is None else self.of_variant(self.made[variant], what, asked["round"])}
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
        """Mean and maximum over ranks."""
        every = self.comm.allgather(self.seconds)
        return {name: {"mean": sum(each[name] for each in every) / len(every), "max": max(each[name] for each in every)} for name in self.seconds}

    def variants(self) -> list[dict[str, Any]]:
        return [{"name": each.name, "role": each.role, "only_by_name": each.name not in self.program.usual} for each in self.known.values()]

    def check(self, case: dict[str, Any]) -> None:
        self.program.read(case, self.comm)

    def case(self, case: dict[str, Any]) -> dict[str, Any]:
        """Parameters of the case that is measured now."""
        self.here, self.made = self.program.read(case, self.comm), []
        return dict(self.here.params())

    def make(self, name: str) -> dict[str, Any]:
        made = self.known[name].make(self.here)
        self.made.append(made)
        told = {"variant": len(self.made) - 1, "held": getattr(made, "held", False)}
        return told | ({"setup_s": made.setup_s()} if hasattr(made, "setup_s") else {})  # of a whole application its exchange alone

    def of_variant(self, made: Any, what: str, turn: int) -> Any:
        match what:
            case "refresh":
                made.rows.refresh(turn)
            case "count_wrong":
                return made.rows.count_wrong(turn)
            case "failure":
                raise RuntimeError(self.error)
            case "free":
                self.made[self.made.index(made)] = None
                made.free()
            case "step_held" | "exchange_lines":
                return getattr(made, what)() if hasattr(made, what) else 0 if what == "exchange_lines" else None
            case _:
                return getattr(made, what)()
        return None
