"""A measurement: the cases of each benchmark, validated before any launch, their translation to the measuring program's options, and the
sides that run them.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError, build_for
from ..launch import Build, Launch, find_build, usable_cores
from ..launch.jobs import Hosts, rank_of_launcher
from ..machine.installed import built_variants
from .programs import EXTENT, GHOSTS, VEROS, VEROS_EXAMPLE, names, process_grid

if TYPE_CHECKING:
    from .sides import SoftwareImage

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

    def program(self, build: Build) -> tuple[list[str], dict[str, str]]:
        """Return the measuring program and variables; PARHELION_BUILD selects among builds that fit the MPI of a Python rank."""
        if self.module is None:
            return [str(build.program)], {}
        return [sys.executable, "-m", self.module], {"PARHELION_BUILD": build.name}


@dataclass(frozen=True)
class Measurement:
    """A run: `launches` launches of each group on each side."""

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


@dataclass(frozen=True)
class Side:
    """One side of a comparison. `params` distinguish its cases within a run; with a `reason` it cannot be launched."""

    name: str = ""
    build: Build | None = None
    setting: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    reason: str | None = None
    environment: dict[str, Any] | None = None  # if different from this environment
    package: Path | None = None  # for ranks in Python: another checkout's package
    image: SoftwareImage | None = None

    @classmethod
    def here(cls, what: Measurement) -> Side:
        """This checkout's or installation's own build. Raises `InputError`, as `check`."""
        build = find_build(what.build, measuring=True)
        return cls(build.name, build).check(what)

    def launch(self, what: Measurement, group: Group, arguments: list[str]) -> Launch:
        if self.image:
            return self.image.launch(what, group, arguments)
        assert self.build
        program, setting = group.program(self.build)
        if group.module and self.package:
            setting |= {"PYTHONPATH": os.pathsep.join(filter(None, (str(self.package), os.environ.get("PYTHONPATH")))), "PYTHONSAFEPATH": "1"}
        return self.build.launch(group.ranks, program[0], [*program[1:], *arguments], bind=what.bind, setting=self.setting | setting)

    def notes(self, what: Measurement) -> list[str]:
        return [] if self.reason else self.launch(what, what.groups[0], []).notes

    def check(self, what: Measurement) -> Side:
        """Raise `InputError` before a run folder is created, for unknown variants (if the build lists them) or a missing MPI; return self."""
        build = self.build
        if not build:
            return self
        known = [entry["name"] for entry in built_variants(build).get(what.benchmark, [])]
        named = [name for group in what.groups if group.module is None for name in what.variants_of(group)]
        for unknown in [name for name in named if known and name not in [*known, "all"]]:
            raise InputError(f"--variants {unknown}: build {build.name} has {', '.join(known)}")
        if any(group.module for group in what.groups) and not build.mpi_library.exists():
            raise InputError(f"build {build.name} is built for {build.mpi_library}, which no longer exists: {build_for(build.name, again=True)}")
        return self


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


ELEMENT_BYTES = {"float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "complex64": 8, "complex128": 16}
IN_PYTHON = "parhelion.measure.programs"

# Benchmark → other library → its variants in the measuring program's plug-in, built by `make libraries`.
PLUG_INS: dict[str, dict[str, tuple[str, ...]]] = {
    "halo": {"ghex": ("ghex", "ghex_staged")},
    "gather": {
        "petsc": ("petsc_basic", "petsc_neighbor", "petsc_window_fence", "petsc_window_lock"),
        "dolfinx": ("dolfinx",),
    },
}


def usual_ranks() -> int:
    """One rank per usable core, at least 2; those of the launcher that started this process."""
    here = rank_of_launcher()
    return (here and here.size) or max(2, usable_cores())


def balanced_grid(ranks: int, dimensions: int) -> list[int]:
    """Return the process grid with the most similar sides, longest first."""
    if dimensions == 1:
        return [ranks]
    sides = [side for side in range(1, ranks + 1) if ranks % side == 0 and side**dimensions <= ranks]
    return [*balanced_grid(ranks // sides[-1], dimensions - 1), sides[-1]]


def _ranks_on_grid(ranks: int | None, grid: tuple[int, ...] | None) -> int:
    count = ranks or (math.prod(grid) if grid else usual_ranks())
    if grid and math.prod(grid) != count:
        raise InputError(f"--grid {'x'.join(map(str, grid))} needs {math.prod(grid)} ranks, but --ranks is {count}: make them agree")
    return count


def _check_memory(needed: int, what: str, remedy: str) -> None:
    """Raise `InputError` if cases exceed this host's memory and there is no other host."""
    here = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > here and not Hosts.told(os.environ).names:
        raise InputError(f"{what} {needed / 2**30:,.0f} GiB, this host has {here / 2**30:,.0f}: {remedy}")


def halo(
    ranks: int | None,
    grid: tuple[int, ...] | None = None,
    extent: tuple[int, ...] = (64,),
    halo: tuple[int, ...] = (1,),
    fields: tuple[int, ...] = (1,),
    element: tuple[str, ...] = ("float32",),
    components: tuple[int, ...] = (1,),
    neighbors: str = "full",
    order: str = "F",
    periodic: bool | tuple[bool, ...] = True,
    seam: str | None = None,
    memory: str = "host",
    overlap: float | None = None,
    uneven: float = 0,
    cells: tuple[int, ...] | None = None,
    phases: bool = False,
) -> Group:
    """Return one case per combination; `seam` adds each with a folded seam. All cases share a process grid. `cells`: of the global grid."""
    if cells:
        grid = grid or tuple(balanced_grid(ranks or usual_ranks(), len(cells) if len(cells) > 1 else 3))
        whole = cells if len(cells) > 1 else cells * len(grid)
        if len(whole) != len(grid) or any(each % side for each, side in zip(whole, grid)):
            raise InputError(f"--cells {'x'.join(map(str, cells))} cannot be divided evenly among {'x'.join(map(str, grid))} ranks: ranks have equal blocks here")
        extent = tuple(each // side for each, side in zip(whole, grid))
    dimensions = len(grid) if grid else len(extent) if len(extent) > 1 else 3
    if len(extent) not in (1, dimensions):
        raise InputError(f"--extent has {len(extent)} numbers, but the process grid has {dimensions} dimensions: give one, or one for each")
    count, widest = _ranks_on_grid(ranks, grid), max(halo)
    sides, block = list(grid or balanced_grid(count, dimensions)), list(extent if len(extent) > 1 else extent * dimensions)
    if widest > min(block):
        raise InputError(f"--halo {widest} exceeds the local extent {min(block)}: use a halo of at most {min(block)} or more cells")
    bytes_per_cell = max(fields) * max(components) * max(ELEMENT_BYTES[kind] for kind in element)
    _check_memory(count * math.prod(side + 2 * widest for side in block) * bytes_per_cell, "the fields take", "use a smaller --extent or fewer --fields")
    if uneven and not overlap:
        raise InputError("--uneven sets the imbalance of the work of --overlap: give both, or neither")
    if isinstance(periodic, tuple) and len(periodic) != dimensions:
        raise InputError(f"--periodic has {len(periodic)} entries, but the process grid has {dimensions} dimensions: give one, or one for each")
    if seam and (dimensions < 2 or periodic is not True or 2 * widest >= block[1] * sides[1]):
        raise InputError("--seam folds the second dimension at both ends: give two dimensions or more, with more cells along it than two halos, "
                         "and leave out --periodic")
    fixed: dict[str, Any] = {"neighbors": neighbors, "periodic": list(periodic) if isinstance(periodic, tuple) else periodic, "order": order}
    if phases:
        fixed["phases"] = True
    if memory != "host":
        fixed["memory"] = memory
    if overlap:
        fixed |= {"work_us": overlap, "uneven": uneven}
    return Group(count, [
        {"grid": sides, "extent": block, "halo": width, "fields": number, "element": kind, "components": each} | fixed | beside
        for kind, each, width, number, beside in product(element, components, halo, fields, [{}, {"seam": seam}] if seam else [{}])
    ])


BUFFERS = 4  # of all alltoall variants together, in units of one rank's send buffer


def alltoall(ranks: tuple[int, ...] | None, sizes: tuple[int, ...], first: int) -> list[Group]:
    """`first`: size of the call before the cases."""
    counts = ranks or (usual_ranks(),)
    most, largest = max(counts), max(*sizes, first)
    _check_memory(BUFFERS * most * most * largest, f"an alltoall of {largest} B on {most} ranks with all variants takes",
                  "use smaller sizes or fewer --ranks")
    return [Group(count, [{"size": size} for size in sizes]) for count in dict.fromkeys(counts)]


def gather(datasets: Sequence[Path], ranks: int | None, element: tuple[str, ...], components: tuple[int, ...]) -> list[Group]:
    """Return one group per rank count, ascending; reads and validates every data set."""
    from ..mesh.maps import read_index_maps

    groups: dict[int, list[dict[str, object]]] = {}
    for dataset, apart in told_apart_by([dataset.resolve() for dataset in datasets]).items():
        cases = groups.setdefault(read_index_maps(dataset, ranks).ranks, [])
        cases += [{"dataset": str(dataset), **apart, "element": kind, "components": each} for kind, each in product(element, components)]
    return [Group(count, cases) for count, cases in sorted(groups.items())]


def told_apart_by(datasets: Sequence[Path]) -> dict[Path, dict[str, str]]:
    """Map each data set to parameters that distinguish equal names: `from`, the differing parts of their folders.

    Tables and comparisons identify a data set by its name, as its path differs between machines.
    """
    apart: dict[Path, dict[str, str]] = {}
    for dataset in datasets:
        folders = {other.parent for other in datasets if other.name == dataset.name}
        within = dataset.parent.relative_to(os.path.commonpath(folders))
        apart[dataset] = {"from": ":".join(within.parts) or "."} if len(folders) > 1 else {}
    return apart


ARRAYS_AT_ONCE = 9  # one per variant


def ghosts(
    ranks: int | None, grid: tuple[int, ...] | None, extent: int, vdim: tuple[int, ...], element: tuple[str, ...], pattern: str,
    variants: Sequence[str],
) -> Group:
    count = _ranks_on_grid(ranks, grid)
    sides = list(grid or balanced_grid(count, 3))
    sides += [1] * (3 - len(sides))
    rows = count * (extent**3 + 6 * extent**2) * ARRAYS_AT_ONCE
    _check_memory(rows * max(vdim) * max(ELEMENT_BYTES[kind] for kind in element), "the arrays take", "use a smaller --extent or --vdim")
    for name in [name for name in variants if name not in names(GHOSTS)]:
        raise InputError(f"--variants {name}: there are {', '.join(names(GHOSTS))}")
    cases = [{"grid": sides, "extent": extent, "vdim": each, "element": kind, "pattern": pattern} for kind, each in product(element, vdim)]
    return Group(count, cases, module=IN_PYTHON)


INDEXED, ON_GRIDS = ("hand_isend", "hand_persistent", "hand_neighbor_alltoallv"), ("hand_isend", "hand_sendrecv")
BY_HAND = {"multigrid_cg": INDEXED, "finite_volume": INDEXED, "poisson": INDEXED, "shallow_water": ON_GRIDS, "hydrodynamics": ON_GRIDS}
LIBRARIES = {"poisson": {"petsc", "dolfinx"}}  # variants that need `make libraries`
APPS = (*BY_HAND, "veros")
# Bytes per matrix row with its vectors on all levels, per two triangles, per node with its elements, per cell, per cell with its node.
BYTES = {"multigrid_cg": 27 * 12 * 2, "finite_volume": 2 * 300, "poisson": 7 * 20 + 100, "shallow_water": 13 * 8, "hydrodynamics": 26 * 8}
AT_ONCE = 5  # variants, including the reference
MOST_MESH = 8192


def apps(wanted: Sequence[str], ranks: int, extent: tuple[int, ...], mesh: int, variants: tuple[str, ...]) -> list[Group]:
    """Return a group per set of variants that the compiled applications share, and one for Veros, which is another program."""
    every = set(names(VEROS)).union(*BY_HAND.values(), *LIBRARIES.values()) - {"auto", "planted_fault"}
    chosen: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for app in (app for app in BY_HAND if app in wanted):
        others = every - {*BY_HAND[app], *LIBRARIES.get(app, ())}
        chosen.setdefault(tuple(name for name in variants if name not in others), []).append(_compiled(app, ranks, extent, mesh))
    groups = [Group(ranks, cases, variants=some) for some, cases in chosen.items()]
    if "veros" in wanted:
        groups.append(Group(ranks, [{"app": "veros"}], IN_PYTHON, tuple(name for name in variants if name in names(VEROS))))
    groups = [group for group in groups if group.variants or not variants]
    if not groups:
        raise InputError(f"--variants {','.join(variants)}: {', '.join(wanted)} has none of them; veros has {', '.join(names(VEROS))}")
    return groups


def reason_against_veros(ranks: int) -> str | None:
    if find_spec("veros") is None:
        return "it is not installed: run `make apps`"
    if not VEROS_EXAMPLE.is_dir():
        return f"{VEROS_EXAMPLE} does not exist: Veros is measured from a checkout"
    if process_grid(ranks) is None:
        return f"its {EXTENT[0]}×{EXTENT[1]} columns cannot be divided evenly among {ranks} ranks: use fewer --ranks"
    return None


def _compiled(app: str, ranks: int, extent: tuple[int, ...], mesh: int) -> dict[str, object]:
    case: dict[str, object] = {"app": app}
    if app in ("multigrid_cg", "hydrodynamics"):
        sides = list(extent * 3 if len(extent) == 1 else extent)
        if len(sides) != 3:
            raise InputError(f"--extent {'x'.join(map(str, sides))} has {len(sides)} numbers: give one, or three")
        cells, case = ranks * math.prod(sides), case | {"grid": balanced_grid(ranks, 3), "extent": sides}
    elif app == "shallow_water":
        grid = balanced_grid(ranks, 2)[::-1]  # keep the contiguous rows long
        if mesh < 2 * max(grid):
            raise InputError(f"--mesh {mesh}: shallow_water needs two cells for each of {max(grid)} ranks side by side")
        cells, case = mesh * mesh, case | {"grid": grid, "extent": [mesh, mesh]}
    else:
        if mesh & (mesh - 1) or mesh * mesh < ranks:
            raise InputError(f"--mesh {mesh}: give a power of two from 4 to {MOST_MESH}, with a square for each of {ranks} ranks")
        cells, case = mesh * mesh, case | {"extent": [mesh, mesh]}
    copies = AT_ONCE + ranks * (app == "shallow_water")  # the reference holds the whole grid on every rank
    _check_memory(cells * BYTES[app] * copies, f"{app} takes", "use a smaller --extent or --mesh")
    return case
