"""Gather with Fortran coarrays: builds, methods and runs of the programs from `make libraries`, appended to the same record.

Each method has its own launch; if it crashes or hangs, it is stopped, reported and skipped from then on.
"""

import json
import os
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from ..errors import writing
from ..launch import Build, Launch, builds as built
from ..launch.cores import single_threaded
from ..analyze.results import CaseResult, in_order, results
from ..analyze.words import first_words
from .measurement import Group, Measurement
from .run import Follower, Ranks, RunProgress
from ..record.folder import RunFolder
from ..record.read import read_record
from ..record.model import Case

PROGRAM = "phl-coarray-gather"
WORD = 4


class Method(NamedTuple):
    """A coarray method: `kind` of transfer (number in the Fortran module), whether coarrays are `kept`, whether `images` wait only for
    their neighbors.
    """

    name: str
    kind: int
    kept: bool
    images: bool


METHODS = (  # methods that may take seconds come last
    Method("section-all", 3, kept=True, images=False),
    Method("section-images", 3, kept=True, images=True),
    Method("section-fresh", 3, kept=False, images=True),
    Method("put-all", 4, kept=True, images=False),
    Method("put-images", 4, kept=True, images=True),
    Method("put-fresh", 4, kept=False, images=True),
    Method("indexed-images", 2, kept=True, images=True),
    Method("elements-all", 1, kept=True, images=False),
    Method("elements-images", 1, kept=True, images=True),
)


@dataclass(frozen=True)
class CoarrayBuild:
    """A compiler with a coarray library and MPI settings."""

    toolchain: str
    mpi: str
    directory: Path
    build: Build | None  # None: the program starts its own images,
    images_variable: str = ""  # as many as this variable says
    setting: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"{self.toolchain}-{self.mpi}"

    def variant(self, method: Method) -> str:
        """Name of the variant: toolchain/method/MPI, the columns of the published table."""
        return f"{self.toolchain}/{method.name}/{self.mpi}"

    def launch(self, images: int, job: Path, bind: bool) -> Launch:
        program = self.directory / PROGRAM
        if self.build:
            return self.build.launch(images, program, [job], bind=bind, setting=self.setting)
        added, notes = single_threaded(os.environ)
        return Launch([str(program), str(job)], {**os.environ, **added, self.images_variable: str(images)}, notes)


def builds_here() -> list[CoarrayBuild]:
    """Return all coarray builds.

    Debian's MPICH returns stale values from gets and puts within a node unless MPIR_CVAR_NOLOCAL is set: both settings are variants.
    """
    builds = []
    for file in sorted(built.build_directory().glob("coarray/*/build.json")):
        if os.access(file.parent / PROGRAM, os.X_OK):
            builds += _settings(file)
    return builds


def _settings(file: Path) -> list[CoarrayBuild]:
    text = json.loads(file.read_text())
    toolchain, mpi = str(text["toolchain"]), str(text["name"])
    if "images_variable" in text:
        return [CoarrayBuild(toolchain, mpi, file.parent, None, str(text["images_variable"]))]
    told = built.load_build(file)
    builds = [CoarrayBuild(toolchain, mpi, file.parent, told)]
    if told.kind == "mpich":
        builds.append(CoarrayBuild(toolchain, f"{mpi}-nolocal", file.parent, told, setting={"MPIR_CVAR_NOLOCAL": "1"}))
    return builds


def words_of(case: dict[str, Any]) -> int | None:
    """Return the number of 32-bit words per cell, or None if cells are not whole words."""
    size = np.dtype(case["element"]).itemsize * int(case["components"])
    return size // WORD if size % WORD == 0 else None


def job_of(record: Path, launch: int, case: CaseResult, build: CoarrayBuild, method: Method, what: Measurement) -> dict[str, Any]:
    """Return the job of one case and method; `line` holds the known fields of its record line."""
    line = {"type": "case", "launch": launch, "name": case.name, "params": case.params, "variant": build.variant(method), "role": "library"}
    return {"record": str(record), "repetitions": what.repetitions, "least_s": what.min_sample_s, "budget_s": BUDGET_S,
            "dataset": case.params["dataset"], "words": words_of(case.params), "kind": method.kind, "kept": method.kept,
            "images": method.images, "line": line}


BUDGET_S = 1.0
LIMIT_S = 30.0
MOST_STOPPED = 2  # skip a build's other methods on a case after so many were stopped
END_S = 2.0  # wait for a regular exit


@dataclass
class Coarrays:
    """Coarray programs that `bench gather` launches once per rank count."""

    builds: list[CoarrayBuild]
    stopped: dict[str, str] = field(default_factory=dict)  # variant → reason

    def run(self, folder: RunFolder, what: Measurement, launch: int, group: Group, progress: RunProgress) -> None:
        """Append a case line for every build, method and case that the group's ranks have finished."""
        cases = in_order([case for case in results(read_record(folder.path).cases) if case.params["ranks"] == group.ranks])
        for build, case, method in product(self.builds, cases, METHODS):
            progress.starting(launch, group.ranks)
            name, here = build.variant(method), f" on {case.name.removeprefix('gather ')}"
            skipped, error = self._reason(case, build, name, here), None
            if not skipped and (error := self._launch(folder, what, launch, case, build, method, progress)):
                self.stopped[name] = error + here
            if skipped or error:
                folder.append(Case(launch, case.name, name, case.params, "library", verified=False, error=error, skipped=skipped))

    def _reason(self, case: CaseResult, build: CoarrayBuild, name: str, here: str) -> str | None:
        if words_of(case.params) is None:
            return "the coarray program has cells of whole 32-bit words"
        if why := self.stopped.get(name):
            return f"left out after: {why}"
        ended = [why for stopped, why in self.stopped.items() if stopped in map(build.variant, METHODS) and why.endswith(here)]
        return f"{len(ended)} other methods of {build.label} had to be stopped ({ended[-1]})" if len(ended) >= MOST_STOPPED else None

    def _launch(self, folder: RunFolder, what: Measurement, launch: int, case: CaseResult, build: CoarrayBuild, method: Method, progress: RunProgress) -> str | None:
        """Run one method; return why it gave no result, or None."""
        name = f"{launch}-{build.label}"
        job, log = folder.path / f"job-{name}.json", folder.path / f"launch-{name}.log"
        with writing(job):
            job.write_bytes(msgspec.json.encode(job_of(folder.record.resolve(), launch, case, build, method, what)))
        follower, before = Follower(folder.record), progress.done
        limit = min(what.timeout, LIMIT_S)
        with Ranks(build.launch(int(case.params["ranks"]), job.resolve(), what.bind), log) as ranks:
            for lines in ranks.lines(follower, limit):
                progress.lines(lines)
                if progress.done > before:
                    break
            ranks.leave(END_S)
        progress.lines(follower.new_lines())
        folder.drop_unfinished_line()
        if progress.done > before:
            return None
        return f"no result within {limit:g} s" if ranks.idle else f"{ranks.ending}: {first_words(ranks.message, 80)}"
