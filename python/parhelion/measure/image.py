"""An image measured part by part, with what its loaded libraries hold; a part that cannot be had here is left out with its reason.

Measured are the published alltoall, and enough of halo, gather and set-up to tell where a change comes from.
Contenders are MPI's calls and hand-written MPI, the library's own ways through MPI and past it, and copying alone: what became slower
among these tells whether MPI or the machine is why.
"""

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path


from ..errors import InputError
from ..launch import Flavor, find_flavor
from .gather import gather_groups
from .halo import halo_group
from ..cli.errors import BadInput
from ..launch.remedies import what_is_missing
from ..show.terminal import Output
from ..machine.collect import collect
from ..machine.builds import providers
from .measurement import Group, MIN_SAMPLE_S, Measurement, QUICK_MIN_SAMPLE_S, TIMEOUT_S
from .session import measure
from ..mesh.demo import demo_partition
from ..record.profile import ProfileError
from .profile import Request, take_profile
from ..record.read import Record
from ..record.variables import without_secrets
from ..record.folder import DEFAULT_STORE
from ..analyze.document import exit_status
from ..record.image import BENCHMARKS, Image, LoadedFile, RAN, SCHEMA, create_folder, profile_folder, write_image

SIZES = (1, 1024, 65536, 1048576)
HALO_CONTENDERS = ("auto", "mpi", "shared", "hand_packed", "hand_persistent", "hand_neighbor_alltoallv", "floor_packed")
GATHER_CONTENDERS = ("auto", "mpi", "shared", "hand_isend", "hand_neighbor_alltoallv", "floor_get")
HALOS, FIELDS = (1, 5), (1, 8)
CELLS = 50_000
PROFILED = {"alltoall": ("mpi_alltoall", "mpi_ialltoall"), "halo": ("mpi", "hand_packed", "hand_persistent")}
PROFILE_REPETITIONS, QUICK_REPETITIONS, PROFILE_SAMPLE_S = 150, 60, 0.001


def groups(benchmark: str, ranks: int, datasets: tuple[Path, ...], store: Path) -> list[Group]:
    """The cases of a benchmark; those of the gather need a mesh, which is made where none is named."""
    if benchmark == "alltoall":
        return [Group(ranks, [{"size": size} for size in SIZES])]
    if benchmark == "halo":
        return [halo_group(ranks, halo=HALOS, fields=FIELDS)]
    if benchmark == "setup":
        (group,) = [halo_group(ranks)]
        return [Group(ranks, [case | {"transport": "auto"} for case in group.cases])]
    return gather_groups(datasets or (demo_partition(store, ranks, CELLS),), None, ("int32", "float64"), (1,))


def contenders(benchmark: str) -> tuple[str, ...]:
    """Who runs; of those benchmarks that name none, all."""
    return {"halo": HALO_CONTENDERS, "gather": GATHER_CONTENDERS}.get(benchmark, ())


def program_options(benchmark: str) -> tuple[str, ...]:
    """The very first call after MPI_Init is timed before anything else is sent."""
    return (f"--first-size={SIZES[0]}",) if benchmark == "alltoall" else ()


def profiled(benchmark: str, ranks: int, quick: bool) -> Measurement:
    """What runs under the profiler: long enough for samples, and no contender that spins by itself."""
    cases = groups(benchmark, ranks, (), Path())[0].cases
    return Measurement(benchmark, [Group(ranks, [cases[0], cases[-2]])], repetitions=QUICK_REPETITIONS if quick else PROFILE_REPETITIONS, launches=1,
                       min_sample_s=PROFILE_SAMPLE_S, contenders=PROFILED[benchmark])  # fmt: skip


LETTERS = 16
REPETITIONS = 10
PROFILE_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class ImageRequest:
    """What `parhelion bench image` was asked for."""

    name: str
    folder: Path
    ranks: int
    flavor: str | None = None
    launches: int = 5
    quick: bool = False
    profile: bool = True
    bind: bool = True
    datasets: tuple[Path, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    timeout: float = TIMEOUT_S


def take_image(request: ImageRequest, output: Output) -> tuple[Image, int]:
    """Measure all parts into the folder; returns what `image.json` says, and the worst exit status of a part."""
    flavor = find_flavor(request.flavor, measuring=True)
    folder = create_folder(request.folder)
    image = Image(
        SCHEMA, request.name, datetime.now(UTC).isoformat(timespec="seconds"), without_secrets(["parhelion", *sys.argv[1:]]),
        request.ranks, flavor.name, request.labels, collect(),
    )  # fmt: skip
    write_image(image, folder)
    records = [record for each in BENCHMARKS if (record := _measured(each, request, folder, image, output))]
    for benchmark in PROFILED:
        image.parts[f"profile of {benchmark}"] = _profiled(benchmark, request, folder, flavor, output)
    image.providers = _providers(request, folder, flavor)
    programs = [str(flavor.program)]
    image.files = loaded_files([*programs, *(str(path) for each in records for launch in each.launches for path in launch.libraries)])
    write_image(image, folder)
    return image, max((exit_status(record) for record in records), default=0)


def _measured(benchmark: str, request: ImageRequest, folder: Path, image: Image, output: Output) -> Record | None:
    try:
        what = _measurement(benchmark, request, folder, output)
        record = measure(what, output)
    except (BadInput, InputError) as error:
        _left_out(benchmark, str(error), image, output)
        return None
    except ModuleNotFoundError as error:
        _left_out(benchmark, what_is_missing(error) or str(error), image, output)
        return None
    image.parts[benchmark] = RAN
    output.console.print(f"{benchmark}: {len(record.cases)} lines in {record.path}", markup=False, soft_wrap=True)
    return record


def _left_out(benchmark: str, reason: str, image: Image, output: Output) -> None:
    image.parts[benchmark] = reason
    output.errors.print(f"left out: {benchmark}: {reason}", markup=False, soft_wrap=True)


def _measurement(benchmark: str, request: ImageRequest, folder: Path, output: Output) -> Measurement:
    with output.errors.status(f"preparing {benchmark}"):
        cases = groups(benchmark, request.ranks, request.datasets, DEFAULT_STORE / "meshes")
    return Measurement(
        benchmark, cases, repetitions=REPETITIONS, launches=request.launches, contenders=contenders(benchmark),
        min_sample_s=QUICK_MIN_SAMPLE_S if request.quick else MIN_SAMPLE_S, bind=request.bind, flavor=request.flavor,
        out=folder / benchmark, timeout=request.timeout, labels=request.labels | {"image": request.name},
        program_options=program_options(benchmark),
    )  # fmt: skip


def _profiled(benchmark: str, request: ImageRequest, folder: Path, flavor: Flavor, output: Output) -> str:
    """Samples of perf; where there is none, what the watcher sees of sleeping ranks. Returns `ran`, or why there is neither."""
    if not request.profile:
        return "not asked for"
    command = _command(profiled(benchmark, request.ranks, request.quick), flavor)
    reason = None
    for tool in ("perf", "watch"):
        what = Request(command, request.ranks, flavor, tool=tool, command=flavor.program.name,
                       bind=request.bind, timeout=PROFILE_TIMEOUT_S, out=profile_folder(folder, benchmark),
                       labels=request.labels | {"image": request.name})  # fmt: skip
        try:
            with output.errors.status(f"profiling {benchmark}"):
                take_profile(what, on_line=lambda line: None)
            return RAN if reason is None else f"sleep and libraries alone: {reason}"
        except ProfileError as error:
            reason = reason or str(error)
    return reason or RAN


def _command(what: Measurement, flavor: Flavor) -> list[str]:
    """One launch whose record nobody keeps."""
    return [str(flavor.program), *what.arguments(0, what.groups[0]), "--json=/dev/null"]


def _providers(request: ImageRequest, folder: Path, flavor: Flavor) -> dict[str, str]:
    group = groups("alltoall", request.ranks, (), Path())[0]
    short = Measurement("alltoall", [group], repetitions=1, min_sample_s=0.0, contenders=("mpi_alltoall",))
    return providers(flavor, request.ranks, _command(short, flavor), request.bind)


def loaded_files(paths: Iterable[str]) -> dict[str, LoadedFile]:
    """Size and checksum of every file that can be read on this host."""
    return {path: found for path in sorted(set(paths)) if (found := _look(Path(path)))}


def _look(path: Path) -> LoadedFile | None:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        return LoadedFile(path.stat().st_size, digest.hexdigest()[:LETTERS])
    except OSError:
        return None
