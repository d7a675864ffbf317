"""The cases of each benchmark, checked before anything is started, and what is measured beside the library."""

import math
import os
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..launch import usable_cores
from ..launch.jobs import Hosts
from .measurement import Group
from .programs import EXTENT, GHOSTS, VEROS, names, process_grid

ELEMENT_BYTES = {"float32": 4, "float64": 8, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "complex64": 8, "complex128": 16}
IN_PYTHON = "parhelion.measure.programs"

# Benchmark → other library → the contenders in its plug-in of the measuring program, which `make peers` builds.
# PETSc's type `window` aborts with active synchronisation under Open MPI 4.1: petsc_window_active runs only where it is named.
PLUG_INS: dict[str, dict[str, tuple[str, ...]]] = {
    "halo": {"ghex": ("ghex", "ghex_staged")},
    "gather": {
        "petsc": ("petsc_basic", "petsc_neighbor", "petsc_window_fence", "petsc_window_lock"),
        "dolfinx": ("dolfinx",),
    },
}


def usual_ranks() -> int:
    """One rank per usable core, at least 2."""
    return max(2, usable_cores())


def balanced_grid(ranks: int, dimensions: int) -> list[int]:
    """The process grid whose sides differ least, longest first."""
    if dimensions == 1:
        return [ranks]
    sides = [side for side in range(1, ranks + 1) if ranks % side == 0 and side**dimensions <= ranks]
    return [*balanced_grid(ranks // sides[-1], dimensions - 1), sides[-1]]


def _ranks_on_grid(ranks: int | None, grid: tuple[int, ...] | None) -> int:
    count = ranks or (math.prod(grid) if grid else usual_ranks())
    if grid and math.prod(grid) != count:
        raise InputError(f"--grid {'x'.join(map(str, grid))} makes {math.prod(grid)} ranks, --ranks says {count}: make them agree")
    return count


def _check_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse cases beyond this host's memory, where the ranks have no other host."""
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
    overlap: float | None = None,
    uneven: float = 0,
) -> Group:
    """One case per combination, all on one process grid."""
    dimensions = len(grid) if grid else len(extent) if len(extent) > 1 else 3
    if len(extent) not in (1, dimensions):
        raise InputError(f"--extent has {len(extent)} numbers, the process grid has {dimensions}: give one, or as many")
    count, widest = _ranks_on_grid(ranks, grid), max(halo)
    sides, cells = list(grid or balanced_grid(count, dimensions)), list(extent if len(extent) > 1 else extent * dimensions)
    if widest > min(cells):
        raise InputError(f"--halo {widest} exceeds the local extent {min(cells)}: use a halo of at most {min(cells)} or more cells")
    bytes_per_cell = max(fields) * max(components) * max(ELEMENT_BYTES[kind] for kind in element)
    _check_memory(count * math.prod(side + 2 * widest for side in cells) * bytes_per_cell, "the fields take", "use a smaller --extent or fewer --fields")
    if uneven and not overlap:
        raise InputError("--uneven tells how unequal the work of --overlap is: give both, or neither")
    if isinstance(periodic, tuple) and len(periodic) != dimensions:
        raise InputError(f"--periodic has {len(periodic)} entries, the process grid has {dimensions} dimensions: give one, or as many")
    fixed: dict[str, Any] = {"neighbors": neighbors, "periodic": list(periodic) if isinstance(periodic, tuple) else periodic, "order": order}
    if overlap:
        fixed |= {"work_us": overlap, "uneven": uneven}
    return Group(count, [
        {"grid": sides, "extent": cells, "halo": width, "fields": number, "element": kind, "components": each} | fixed
        for kind, each, width, number in product(element, components, halo, fields)
    ])


def setup(ranks: tuple[int, ...] | None, transport: tuple[str, ...], width: int, fields: int, **grid: Any) -> list[Group]:
    """One group per rank count; 1, 2, 4, … up to 8, or to the usable cores where there are more."""
    counts = ranks or [2**power for power in range(max(8, usable_cores()).bit_length())]
    groups = [halo(count, halo=(width,), fields=(fields,), **grid) for count in dict.fromkeys(counts)]
    return [Group(each.ranks, [{**case, "transport": name} for case, name in product(each.cases, transport)]) for each in groups]


BUFFERS = 10  # of all contenders of the alltoall together, in multiples of what one rank sends


def alltoall(ranks: tuple[int, ...] | None, sizes: tuple[int, ...]) -> list[Group]:
    """One group per rank count, each with all sizes."""
    counts = ranks or (usual_ranks(),)
    most, largest = max(counts), max(sizes)
    _check_memory(BUFFERS * most * most * largest, f"an alltoall of {largest} B on {most} ranks with all contenders takes",
                  "use smaller sizes or fewer --ranks")
    return [Group(count, [{"size": size} for size in sizes]) for count in dict.fromkeys(counts)]


def gather(datasets: Sequence[Path], ranks: int | None, element: tuple[str, ...], components: tuple[int, ...]) -> list[Group]:
    """One group per rank count, the fewest ranks first; every data set is read and checked."""
    from ..mesh.maps import read_index_maps

    groups: dict[int, list[dict[str, object]]] = {}
    for dataset, apart in told_apart_by([dataset.resolve() for dataset in datasets]).items():
        cases = groups.setdefault(read_index_maps(dataset, ranks).ranks, [])
        cases += [{"dataset": str(dataset), **apart, "element": kind, "components": each} for kind, each in product(element, components)]
    return [Group(count, cases) for count, cases in sorted(groups.items())]


def told_apart_by(datasets: Sequence[Path]) -> dict[Path, dict[str, str]]:
    """Each data set once; those of one name with a parameter `from`, the folders in which they lie, as far as they differ.

    Tables and comparisons know a data set by its name, since its place is another one on each machine.
    """
    return {dataset: _apart(dataset, [other for other in datasets if other.name == dataset.name != "" and other != dataset]) for dataset in datasets}


def _apart(dataset: Path, others: Sequence[Path]) -> dict[str, str]:
    if not others:
        return {}
    depths = range(1, len(dataset.parent.parts) + 1)
    depth = next(depth for depth in depths if all(dataset.parent.parts[-depth:] != other.parent.parts[-depth:] for other in others))
    return {"from": ":".join(part.strip("/") for part in dataset.parent.parts[-depth:])}


ARRAYS_AT_ONCE = 9  # one for each contender


def ghosts(
    ranks: int | None, grid: tuple[int, ...] | None, extent: int, vdim: tuple[int, ...], element: tuple[str, ...], pattern: str,
    contenders: Sequence[str],
) -> Group:
    """One case per length of rows and element."""
    count = _ranks_on_grid(ranks, grid)
    sides = list(grid or balanced_grid(count, 3))
    sides += [1] * (3 - len(sides))
    rows = count * (extent**3 + 6 * extent**2) * ARRAYS_AT_ONCE
    _check_memory(rows * max(vdim) * max(ELEMENT_BYTES[kind] for kind in element), "the arrays take", "use a smaller --extent or --vdim")
    for name in [name for name in contenders if name not in names(GHOSTS)]:
        raise InputError(f"--contenders {name}: there are {', '.join(names(GHOSTS))}")
    cases = [{"grid": sides, "extent": extent, "vdim": each, "element": kind, "pattern": pattern} for kind, each in product(element, vdim)]
    return Group(count, cases, module=IN_PYTHON)


INDEXED = {"hand_isend", "hand_persistent", "hand_neighbor_alltoallv"}
BY_HAND = {
    "multigrid_cg": INDEXED,
    "finite_volume": INDEXED,
    "poisson": INDEXED,
    "shallow_water": {"hand_isend", "hand_sendrecv"},
    "hydrodynamics": {"hand_isend", "hand_sendrecv"},
}
APPS = (*BY_HAND, "veros")
PEERS = {"poisson": {"petsc", "dolfinx"}}  # vectors of other libraries, where `make peers` has built them
ROW_BYTES = 27 * 12 * 2  # a row of the matrix and its vectors, on all levels
NODE_BYTES = 26 * 8  # of the cell and the node beside it
AT_ONCE = 5  # contenders, the reference among them
MOST_MESH = 8192


def apps(wanted: Sequence[str], ranks: int, extent: tuple[int, ...], mesh: int, contenders: tuple[str, ...]) -> list[Group]:
    """The compiled ones together, or where contenders are named, one group for those that have the same of them; Veros is another program."""
    chosen: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for case in _compiled(wanted, ranks, extent, mesh):
        own = BY_HAND[app := str(case["app"])] | PEERS.get(app, set())
        others = set().union(*BY_HAND.values(), *PEERS.values(), names(VEROS)) - own - {"auto", "planted_fault"}
        chosen.setdefault(tuple(name for name in contenders if name not in others), []).append(case)
    groups = [Group(ranks, cases, contenders=some) for some, cases in chosen.items()]
    if "veros" in wanted:
        groups.append(Group(ranks, [{"app": "veros"}], IN_PYTHON, tuple(name for name in contenders if name in names(VEROS))))
    groups = [group for group in groups if group.contenders or not contenders]
    if not groups:
        raise InputError(f"--contenders {','.join(contenders)}: {', '.join(wanted)} has none of them; veros has {', '.join(names(VEROS))}")
    return groups


def reason_against_veros(ranks: int) -> str | None:
    """Why Veros cannot run here."""
    if find_spec("veros") is None:
        return "it is not installed: run `make apps`"
    if process_grid(ranks) is None:
        return f"its {EXTENT[0]}×{EXTENT[1]} columns cannot be divided evenly among {ranks} ranks: use fewer --ranks"
    return None


def _compiled(wanted: Sequence[str], ranks: int, extent: tuple[int, ...], mesh: int) -> list[dict[str, object]]:
    sides = list(extent * 3 if len(extent) == 1 else extent)
    cases: list[dict[str, object]] = []
    for app in (app for app in BY_HAND if app in wanted):
        match app:
            case "multigrid_cg" | "hydrodynamics":
                if len(sides) != 3:
                    raise InputError(f"--extent {'x'.join(map(str, sides))} has {len(sides)} numbers: give one, or three")
                cell_bytes, what = (ROW_BYTES, "the matrices take") if app == "multigrid_cg" else (NODE_BYTES, "the cells take")
                _check_memory(ranks * math.prod(sides) * cell_bytes * AT_ONCE, what, "use a smaller --extent")
                cases.append({"app": app, "grid": balanced_grid(ranks, 3), "extent": sides})
            case "finite_volume" | "poisson":
                if mesh & (mesh - 1) or mesh * mesh < ranks:
                    raise InputError(f"--mesh {mesh}: give a power of two from 4 to {MOST_MESH}, with a square for each of {ranks} ranks")
                _check_memory(mesh * mesh * (2 * 300 if app == "finite_volume" else 7 * 20 + 100) * AT_ONCE, "the meshes take", "use a smaller --mesh")
                cases.append({"app": app, "extent": [mesh, mesh]})
            case _:
                grid = balanced_grid(ranks, 2)[::-1]  # rows, which are contiguous, stay long
                if mesh < 2 * max(grid):
                    raise InputError(f"--mesh {mesh}: shallow_water needs two cells for each of {max(grid)} ranks side by side")
                _check_memory(mesh * mesh * 13 * 8 * (AT_ONCE + ranks), "the grids take", "use a smaller --mesh")
                cases.append({"app": app, "grid": grid, "extent": [mesh, mesh]})
    return cases
