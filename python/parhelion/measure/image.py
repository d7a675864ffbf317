"""Measure a software image part by part, with checksums of its libraries; parts that cannot run are skipped with a reason.

The parts are the published alltoall and selected cases of halo, gather and set-up. The variants are MPI calls, hand-written MPI, the
library's transports with and without MPI, and plain copies; comparing them shows whether MPI or the machine causes a change.
"""

import hashlib
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from ..analyze.document import exit_status
from ..errors import InputError, what_is_missing
from ..launch import Build, find_build
from ..machine.networks import network
from ..machine.collect import collect
from ..mesh.demo import demo_partition
from ..record.folder import DEFAULT_STORE
from ..record.image import Image, LoadedFile, RAN, SCHEMA, create_folder, profile_folder, write_image
from ..record.profile import ProfileError
from ..record.read import Record
from ..record.variables import without_secrets
from . import measurement
from .measurement import Group, MIN_SAMPLE_S, Measurement, QUICK_MIN_SAMPLE_S, TIMEOUT_S
from .profile import Request, take_profile
from .run import measure

SIZES = (1, 1024, 65536, 1048576)
VARIANTS = {
    "halo": ("auto", "mpi", "shared", "hand_packed", "hand_persistent", "hand_neighbor_alltoallv", "floor"),
    "gather": ("auto", "mpi", "shared", "hand_isend", "hand_neighbor_alltoallv", "floor_get"),
}
CELLS = 50_000
REPETITIONS = 10
MEASURED = ("alltoall", "halo", "gather")
# Profiled variants must not spin by themselves, and must run long enough for samples.
PROFILED = {"alltoall": ("mpi_alltoall", "mpi_ialltoall"), "halo": ("mpi", "hand_packed", "hand_persistent")}
PROFILE_REPETITIONS, QUICK_REPETITIONS, PROFILE_SAMPLE_S = 150, 60, 0.001
PROFILE_TIMEOUT_S = 300.0
LETTERS = 16


@dataclass(frozen=True)
class ImageRequest:
    name: str
    folder: Path
    ranks: int
    build: str | None = None
    launches: int = 5
    quick: bool = False
    profile: bool = True
    bind: bool = True
    datasets: tuple[Path, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    timeout: float = TIMEOUT_S

    def groups(self, benchmark: str) -> list[Group]:
        """Return the benchmark's cases; the gather creates a demo mesh if no data set is named."""
        match benchmark:
            case "alltoall":
                return [Group(self.ranks, [{"size": size} for size in SIZES])]
            case "halo":
                return [measurement.halo(self.ranks, halo=(1, 5), fields=(1, 8))]
        datasets = self.datasets or (demo_partition(DEFAULT_STORE / "meshes", self.ranks, CELLS),)
        return measurement.gather(datasets, None, ("int32", "float64"), (1,))

    def measurement(self, benchmark: str) -> Measurement:
        return Measurement(
            benchmark, self.groups(benchmark), repetitions=REPETITIONS, launches=self.launches, variants=VARIANTS.get(benchmark, ()),
            min_sample_s=QUICK_MIN_SAMPLE_S if self.quick else MIN_SAMPLE_S, bind=self.bind, build=self.build,
            out=self.folder / benchmark, timeout=self.timeout, labels=self.labels | {"image": self.name},
            # This option times the first call after MPI_Init before any other message.
            program_options=(f"--first-size={SIZES[0]}",) if benchmark == "alltoall" else (),
        )

    def profiled(self, benchmark: str) -> Measurement:
        some = self.groups(benchmark)[0].cases
        return Measurement(benchmark, [Group(self.ranks, [some[0], some[-2]])], variants=PROFILED[benchmark], min_sample_s=PROFILE_SAMPLE_S,
                           repetitions=QUICK_REPETITIONS if self.quick else PROFILE_REPETITIONS)


def take_image(request: ImageRequest, console: Console) -> tuple[Image, int]:
    """Measure all parts into the folder; return the contents of `image.json` and the worst exit status."""
    build = find_build(request.build, measuring=True)
    folder = create_folder(request.folder)
    image = Image(
        SCHEMA, request.name, datetime.now(UTC).isoformat(timespec="seconds"), without_secrets(["parhelion", *sys.argv[1:]]),
        request.ranks, build.name, request.labels, collect(),
    )
    write_image(image, folder)
    records: list[Record] = []
    for benchmark in MEASURED:
        try:
            with console.status(f"preparing {benchmark}"):
                what = request.measurement(benchmark)
            records += measure(what, console)
            image.parts[benchmark], told = RAN, f"{benchmark}: {len(records[-1].cases)} lines in {records[-1].path}"
        except (InputError, ModuleNotFoundError) as error:
            missing = what_is_missing(error) if isinstance(error, ModuleNotFoundError) else None
            image.parts[benchmark] = reason = missing or str(error)
            told = f"left out: {benchmark}: {reason}"
        console.print(told, markup=False, soft_wrap=True)
    for benchmark in PROFILED:
        with console.status(f"profiling {benchmark}"):
            image.parts[f"profile of {benchmark}"] = _profiled(benchmark, request, build) if request.profile else "not asked for"
    image.providers = network(build, request.ranks, request.bind)
    libraries = (path for each in records for launch in each.launches for path in launch.libraries)
    image.files = loaded_files([str(build.program), *map(str, libraries)])
    write_image(image, folder)
    return image, max(map(exit_status, records), default=0)


def _profiled(benchmark: str, request: ImageRequest, build: Build) -> str:
    """Profile with perf, else with the watcher. Returns `ran`, or the reason why samples or both are missing."""
    command = _command(request.profiled(benchmark), build)
    reason = None
    for tool in ("perf", "watch"):
        what = Request(command, request.ranks, build, tool=tool, command=build.program.name, bind=request.bind, timeout=PROFILE_TIMEOUT_S,
                       out=profile_folder(request.folder, benchmark), labels=request.labels | {"image": request.name})
        try:
            take_profile(what, on_line=lambda line: None)
            return RAN if reason is None else f"sleep and libraries alone: {reason}"
        except ProfileError as error:
            reason = reason or str(error)
    return reason or RAN


def _command(what: Measurement, build: Build) -> list[str]:
    """Return the command line of one launch without a record."""
    return [str(build.program), *what.arguments(0, what.groups[0], {}), "--json=/dev/null"]


def loaded_files(paths: Iterable[str]) -> dict[str, LoadedFile]:
    """Return size and checksum of every readable file."""
    found = {}
    for path in sorted(set(paths)):
        with suppress(OSError), open(path, "rb") as file:
            found[path] = LoadedFile(os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()[:LETTERS])
    return found
