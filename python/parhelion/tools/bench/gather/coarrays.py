"""The gather on coarrays: programs that `make peers` built, and the ways in which each can do it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ....launch import Flavor, Launch, flavor
from ....launch.threads import single_threaded

PROGRAM = "phl-coarray-gather"


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
