"""What is to be measured, and the options that ask the ranks for it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..launch import Flavor

REPETITIONS, QUICK_REPETITIONS = 30, 10
LAUNCHES, QUICK_LAUNCHES = 3, 1
MIN_SAMPLE_S, QUICK_MIN_SAMPLE_S = 0.0005, 0.0002
TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Combination:
    """`flavor` is None where that MPI is not built; `reason` says why nothing can be started."""

    mpi: str
    network: str
    flavor: Flavor | None = None
    variables: dict[str, str] = field(default_factory=dict, hash=False, compare=False)
    reason: str | None = None

    @property
    def params(self) -> dict[str, str]:
        """What tells its cases from those of other combinations."""
        return {"mpi": self.mpi, "network": self.network}

    def __str__(self) -> str:
        return f"{self.mpi} over {self.network}"


@dataclass(frozen=True)
class Group:
    """Cases that run in one launch, because they need the same number of them."""

    ranks: int
    cases: list[dict[str, Any]]
    combination: Combination | None = None
    module: str | None = None  # a Python program that measures these cases; None: the measurement's
    contenders: tuple[str, ...] | None = None  # of these cases; None: the measurement's

    def params(self) -> dict[str, str]:
        """What the combination adds to the parameters of every case."""
        return self.combination.params if self.combination else {}


@dataclass(frozen=True)
class Measurement:
    """A whole run: each group is started `launches` times."""

    benchmark: str
    groups: list[Group]
    repetitions: int = REPETITIONS
    launches: int = LAUNCHES
    precision: float = 0.0
    most_repetitions: int = 1000
    min_sample_s: float = MIN_SAMPLE_S
    contenders: tuple[str, ...] = ()
    seed: int = 1
    bind: bool = True
    per_node: bool = False  # count messages by the level of the machine that they stay within
    flavor: str | None = None
    out: Path | None = None
    timeout: float = TIMEOUT_S
    labels: dict[str, str] = field(default_factory=dict)
    module: str | None = None  # a Python program that measures; None: phl-bench
    program_options: tuple[str, ...] = ()
    paired: bool = False  # launches take turns with those of another build
    companions: tuple[Any, ...] = ()  # contenders with programs of their own, run after the first launch of each group

    @property
    def starts(self) -> list[tuple[int, Group]]:
        """Every launch with its number; groups take turns, so that a drift meets all of them.

        Combinations of a matrix take their turns in an order drawn anew for each round.
        """
        return list(enumerate(group for launch in range(self.launches) for group in self._round(launch)))

    def _round(self, launch: int) -> list[Group]:
        groups = list(self.groups)
        if any(group.combination for group in groups):
            random.Random(f"{self.seed}/order/{launch}").shuffle(groups)
        return groups

    def module_of(self, group: Group) -> str | None:
        return group.module or self.module

    def contenders_of(self, group: Group) -> tuple[str, ...]:
        return self.contenders if group.contenders is None else group.contenders

    def arguments(self, launch: int, group: Group) -> list[str]:
        """Benchmark and options of the measuring program for one launch, in which it draws the order of the cases anew."""
        told = {"ranks": group.ranks, "launch": launch, "seed": self.seed, "repetitions": self.repetitions,
                "min_sample_s": self.min_sample_s}  # fmt: skip
        if self.precision:
            told |= {"precision": self.precision, "most_repetitions": self.most_repetitions}
        if self.paired:
            told["pair"] = launch
        words = [self.benchmark, *self.program_options, *_words(told)]
        words += ["--no-bind"] * (not self.bind) + ["--per-node"] * self.per_node
        words += [f"--param={key}={value}" for key, value in group.params().items()]
        if self.contenders_of(group):
            words.append("--contenders=" + ",".join(self.contenders_of(group)))
        return words + list(_cases(group.cases))


def _cases(cases: list[dict[str, Any]]) -> Iterator[str]:
    """What all cases have in common, then each case's own options."""
    common = {key: value for key, value in cases[0].items() if all(case.get(key) == value for case in cases)}
    yield from _words(common)
    for case in cases if len(cases) > 1 else []:
        yield "--case"
        yield from _words({key: value for key, value in case.items() if key not in common})


def _words(options: dict[str, Any]) -> Iterator[str]:
    for key, value in options.items():
        name = "overlap" if key == "work_us" else key.replace("_", "-")
        parts = value if isinstance(value, (list, tuple)) else [value]
        texts = ["no" if part is False else "yes" if part is True else str(part) for part in parts]
        yield f"--{name}={','.join(texts)}"
