"""Description of a measurement: translates a command's options to the measuring program's."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPETITIONS, QUICK_REPETITIONS = 30, 10
LAUNCHES, QUICK_LAUNCHES = 3, 1
MIN_SAMPLE_S, QUICK_MIN_SAMPLE_S = 0.0005, 0.0002
TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Group:
    """Cases that share a launch because they have the same number of ranks."""

    ranks: int
    cases: list[dict[str, Any]]
    module: str | None = None  # a Python program; None: phl-bench
    variants: tuple[str, ...] | None = None  # of these cases; None: the measurement's


@dataclass(frozen=True)
class Measurement:
    """A run: `launches` launches of each group on each side (see `sides`)."""

    benchmark: str
    groups: list[Group]
    repetitions: int = REPETITIONS
    launches: int = LAUNCHES
    precision: float | None = None
    most_repetitions: int = 1000
    min_sample_s: float = MIN_SAMPLE_S
    variants: tuple[str, ...] = ()
    seed: int = 1
    bind: bool = True
    per_node: bool = False  # count messages by the machine level that they stay within
    build: str | None = None
    against: str | None = None  # interleaved A/B: another build, checkout or software image
    live: bool = False  # with `against`: run both sides at once, alternating samples
    builds: tuple[str, ...] = ()  # each under each of the networks
    networks: tuple[str, ...] = ()
    out: Path | None = None
    timeout: float = TIMEOUT_S
    labels: dict[str, str] = field(default_factory=dict)
    program_options: tuple[str, ...] = ()
    coarrays: Any = None  # `coarrays.Coarrays`, run after the first launch of each group

    @property
    def combined(self) -> bool:
        """Whether the run covers combinations of builds and networks."""
        return bool(self.builds or self.networks)

    def variants_of(self, group: Group) -> tuple[str, ...]:
        return self.variants if group.variants is None else group.variants

    def arguments(self, launch: int, group: Group, params: dict[str, str]) -> list[str]:
        """Return the measuring program's arguments for one launch; `params` are added to every case."""
        told: dict[str, Any] = {"ranks": group.ranks, "launch": launch, "seed": self.seed, "repetitions": self.repetitions,
                                "min_sample_s": self.min_sample_s}
        if self.precision:
            told |= {"precision": self.precision, "most_repetitions": self.most_repetitions}
        if self.against:
            told["pair"] = launch
        if variants := self.variants_of(group):
            told["variants"] = variants
        words = [self.benchmark, *self.program_options, *_words(told)]
        words += ["--no-bind"] * (not self.bind) + ["--per-node"] * self.per_node
        words += [f"--param={key}={value}" for key, value in params.items()]
        return words + list(_cases(group.cases))


def _cases(cases: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the options that all cases share, then those of each case."""
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
