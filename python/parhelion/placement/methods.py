"""Ways to get a placement."""

import ctypes
from collections.abc import Mapping, Sequence

from .library import PlacementError, check, integers, library, long_integers
from .machine import Machine
from .parameters import Parameters
from .placement import Placement
from .stencil import Stencil

OBJECTIVES = ("jsum", "jmax")


def place(
    grid: Sequence[int],
    machine: Machine,
    stencil: Stencil | str = "faces",
    periodic: bool | Sequence[bool] = False,
    objective: str = "jsum",
    refine: bool = True,
    method: str = "",
    parameters: Parameters | None = None,
) -> Placement:
    """Automatic: tries the whole portfolio and improves the best by local search; never worse than any member.

    `objective` is ``jsum`` or ``jmax``; both count the stencil's bytes, level by level from the node inwards. Local
    and deterministic. `method` takes one member as it is (``blocked``, …). With `parameters` the time that they predict decides, with messages
    between nodes collected; it needs a stencil `with_halo`. Raises PlacementError.
    """
    stencil = as_stencil(stencil, len(grid))
    handle = ctypes.c_void_p()
    shape = machine._handle, len(grid), integers(grid), _periodic(periodic, len(grid)), len(stencil.offsets), stencil.steps()
    how = _objective(objective), int(refine), method.encode(), ctypes.byref(handle)
    if parameters:
        if not stencil.cells:
            raise PlacementError("what an exchange takes depends on which cells travel: give cells and halo width, by Stencil.with_halo or --extent")
        cells = long_integers(stencil.cells), stencil.halo, stencil.bytes_per_cell
        check(library().phl_place_by_time(*shape, *cells, ctypes.byref(parameters.c_costs()), *how))
    else:
        check(library().phl_place(*shape, long_integers(stencil.bytes), *how))
    return Placement(handle, machine, stencil, each_periodic(periodic, len(grid)), timed=parameters is not None)


def place_by_hand(
    machine: Machine,
    blocks: Mapping[str, Sequence[int]],
    numbering: str = "",
    stencil: Stencil | str = "faces",
    periodic: bool | Sequence[bool] = False,
) -> Placement:
    """Level by level as published: ``{"core": (4, 1, 1), "l3": (1, 2, 2), …, "node": (16, 8, 8)}``.

    Each level's blocks say how its units are arranged inside the unit around them. Raises PlacementError where they do
    not fit the machine.
    """
    if not blocks:
        raise PlacementError("no blocks are given: say how the units of each level are arranged, such as node:3x3x3")
    dimensions = len(next(iter(blocks.values())))
    if any(len(block) != dimensions for block in blocks.values()):
        raise PlacementError(f"blocks {dict(blocks)} have different numbers of dimensions: give as many for every level")
    handle = ctypes.c_void_p()
    flat = [extent for block in blocks.values() for extent in block]
    check(
        library().phl_place_by_hand(
            machine._handle, dimensions, " ".join(blocks).encode(), integers(flat), _periodic(periodic, dimensions),
            numbering.encode(), ctypes.byref(handle),
        )
    )  # fmt: skip
    return Placement(handle, machine, as_stencil(stencil, dimensions), each_periodic(periodic, dimensions))


def choose_grid(
    machine: Machine,
    cells: Sequence[int],
    stencil: Stencil | str = "faces",
    halo: int = 1,
    bytes_per_cell: int = 8,
    periodic: bool | Sequence[bool] = False,
    objective: str = "jsum",
) -> tuple[tuple[int, ...], Stencil]:
    """The process grid for all ranks over a grid of cells that keeps the most halo bytes inside the nodes.

    Returns the grid and the stencil with its halo bytes.
    """
    stencil = as_stencil(stencil, len(cells))
    grid, sizes = integers(cells), long_integers(stencil.bytes)
    check(
        library().phl_choose_grid(
            machine._handle, len(cells), long_integers(cells), len(stencil.offsets), stencil.steps(), int(halo),
            int(bytes_per_cell), _periodic(periodic, len(cells)), _objective(objective), grid, sizes,
        )
    )  # fmt: skip
    largest = tuple(-(-cell // ranks) for cell, ranks in zip(cells, grid, strict=True))
    return tuple(grid), Stencil(stencil.offsets, tuple(sizes), largest, halo, bytes_per_cell)


def as_stencil(stencil: Stencil | str, dimensions: int) -> Stencil:
    """A stencil from its name or offsets."""
    return Stencil.parse(stencil, dimensions) if isinstance(stencil, str) else stencil


def each_periodic(periodic: bool | Sequence[bool], dimensions: int) -> list[bool]:
    """One entry per dimension."""
    wraps = [periodic] * dimensions if isinstance(periodic, bool) else list(periodic)
    if len(wraps) != dimensions:
        raise PlacementError(f"periodicity {wraps} has {len(wraps)} entries, the process grid has {dimensions} dimensions: give one, or as many")
    return wraps


def _periodic(periodic: bool | Sequence[bool], dimensions: int) -> ctypes.Array:
    return integers(each_periodic(periodic, dimensions))


def _objective(objective: str) -> int:
    if objective not in OBJECTIVES:
        raise PlacementError(f"objective '{objective}' is unknown: choose from {', '.join(OBJECTIVES)}")
    return OBJECTIVES.index(objective)
