"""What is to be measured, and the jobs that ask the ranks for it."""

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...launch import Flavor

JOB_SCHEMA = "parhelion.job/1"
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

    def job(self, launch: int, group: Group) -> dict[str, Any]:
        """The job of one launch; the order of cases is drawn anew for each launch."""
        cases = list(group.cases)
        random.Random(f"{self.seed}/{launch}").shuffle(cases)
        return {
            "schema": JOB_SCHEMA,
            "benchmark": self.benchmark,
            "ranks": group.ranks,
            "launch": launch,
            "seed": self.seed,
            "repetitions": self.repetitions,
            "precision": self.precision,
            "most_repetitions": self.most_repetitions,
            "min_sample_s": self.min_sample_s,
            "bind": self.bind,
            **({"per_node": True} if self.per_node else {}),
            "contenders": list(self.contenders_of(group)),
            "cases": cases,
            "params": group.params(),
            **({"pair": launch} if self.paired else {}),
        }
