"""What the image test measures: the published alltoall, and enough of halo, gather and set-up to tell where a change comes from.

Contenders are MPI's calls and hand-written MPI, the library's own ways through MPI and past it, and copying alone: what became slower
among these tells whether MPI or the machine is why.
"""

from pathlib import Path

from ...bench.gather.command import gather_groups
from ...bench.halo import halo_group
from ...measuring.measurement import Group, Measurement
from ...partitioning import demo_partition

SIZES = (1, 1024, 65536, 1048576)
HALO_CONTENDERS = ("auto", "mpi_persistent", "shared", "hand_packed", "hand_persistent", "hand_neighbor_alltoallv", "floor_packed")
GATHER_CONTENDERS = ("auto", "mpi_persistent", "shared", "hand_isend", "hand_neighbor_alltoallv", "floor_get")
HALOS, FIELDS = (1, 5), (1, 8)
CELLS = 50_000
PROFILED = {"alltoall": ("mpi_alltoall", "mpi_ialltoall"), "halo": ("mpi_persistent", "hand_packed", "hand_persistent")}
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
    return ("--cold-alltoall", str(SIZES[0])) if benchmark == "alltoall" else ()


def profiled(benchmark: str, ranks: int, quick: bool) -> Measurement:
    """What runs under the profiler: long enough for samples, and no contender that spins by itself."""
    cases = groups(benchmark, ranks, (), Path())[0].cases
    return Measurement(benchmark, [Group(ranks, [cases[0], cases[-2]])], repetitions=QUICK_REPETITIONS if quick else PROFILE_REPETITIONS, launches=1,
                       min_sample_s=PROFILE_SAMPLE_S, contenders=PROFILED[benchmark])  # fmt: skip
