"""The gather on coarrays: programs that `make peers` built, the ways in which each can do it, and their jobs: Fortran namelists."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ....launch import Flavor, Launch, flavor
from ....launch.threads import single_threaded
from ...documents import CaseResult

PROGRAM = "phl-coarray-gather"
WORD = 4
LONGEST = 2000  # characters of a name there


class Way(NamedTuple):
    """What crosses between images (numbers of the Fortran module), how long coarrays live, whom an image waits for."""

    name: str
    kind: int
    kept: bool
    images: bool


WAYS = (  # those that may take seconds last
    Way("section-all", 3, kept=True, images=False),
    Way("section-images", 3, kept=True, images=True),
    Way("section-fresh", 3, kept=False, images=True),
    Way("put-all", 4, kept=True, images=False),
    Way("put-images", 4, kept=True, images=True),
    Way("put-fresh", 4, kept=False, images=True),
    Way("indexed-images", 2, kept=True, images=True),
    Way("elements-all", 1, kept=True, images=False),
    Way("elements-images", 1, kept=True, images=True),
)


@dataclass(frozen=True)
class CoarrayBuild:
    """One compiler with one coarray library, and a setting of its MPI."""

    toolchain: str
    mpi: str
    directory: Path
    flavor: Flavor | None  # None: the program starts its images itself …
    images_variable: str = ""  # … as many as this variable says
    setting: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.toolchain}-{self.mpi}"

    def contender(self, way: Way) -> str:
        """Toolchain × variant × MPI, as the published table has its columns."""
        return f"{self.toolchain}/{way.name}/{self.mpi}"

    def launch(self, images: int, job: Path, bind: bool) -> Launch:
        program = self.directory / PROGRAM
        if self.flavor:
            return self.flavor.launch(images, program, [job], bind=bind, setting=self.setting)
        added, notes = single_threaded(os.environ)
        return Launch([str(program), str(job)], {**os.environ, **added, self.images_variable: str(images)}, notes)


def coarray_builds() -> list[CoarrayBuild]:
    """All that is built. Under Debian's MPICH, gets and puts within a node bring old values unless it is told to take the
    network there too: both settings are contenders, so that the table shows it."""
    builds = []
    for file in sorted(flavor.flavor_directory().glob("coarray/*/flavor.json")):
        if os.access(file.parent / PROGRAM, os.X_OK):
            builds += _settings(file)
    return builds


def _settings(file: Path) -> list[CoarrayBuild]:
    text = json.loads(file.read_text())
    toolchain, mpi = str(text["toolchain"]), str(text["name"])
    if "images_variable" in text:
        return [CoarrayBuild(toolchain, mpi, file.parent, None, str(text["images_variable"]))]
    told = flavor.load_flavor(file)
    builds = [CoarrayBuild(toolchain, mpi, file.parent, told)]
    if told.kind == "mpich":
        builds.append(CoarrayBuild(toolchain, f"{mpi}-nolocal", file.parent, told, setting={"MPIR_CVAR_NOLOCAL": "1"}))
    return builds


def words_of(case: dict[str, Any]) -> int | None:
    """32-bit words per cell, or None where cells are not made of such."""
    size = np.dtype(case["element"]).itemsize * int(case["components"])
    return size // WORD if size % WORD == 0 else None


def job_text(
    record: Path, launch: int, case: CaseResult, build: CoarrayBuild, ways: Sequence[Way], repetitions: int, least_s: float, budget_s: float
) -> str:
    """One case in several ways."""
    head = {"record": str(record), "launch": launch, "repetitions": repetitions, "least_s": least_s, "budget_s": budget_s,
            "cases": 1, "ways": len(ways)}  # fmt: skip
    params = msgspec.json.encode(case.params).decode()
    groups = [_group("job_", head), _group("case_", {"dataset": case.params["dataset"], "name": case.name, "params": params,
                                                     "words": words_of(case.params)})]  # fmt: skip
    groups += [_group("way_", {"contender": build.contender(way), "kind": way.kind, "kept": way.kept, "images": way.images}) for way in ways]
    return "\n".join(groups) + "\n"


def _group(name: str, values: dict[str, Any]) -> str:
    return f"&{name} {', '.join(f'{key}={_literal(value)}' for key, value in values.items())} /"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "T" if value else "F"
    if not isinstance(value, str):
        return repr(value)
    if len(value) > LONGEST:
        raise ValueError(f"'{value[:40]}…' has more than {LONGEST} characters")
    return "'" + value.replace("'", "''") + "'"
