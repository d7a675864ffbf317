"""`parhelion bench apps`."""

from dataclasses import replace
from importlib.util import find_spec

import click

from ..cli.errors import BadInput
from ..cli.options import MeasuringOptions, Names, Numbers, RANKS, Whole, measuring_options
from ..show.terminal import Output
from ..cli.options import PanelCommand
from .launcher import launched_ranks
from .measurement import Group
from .cases import balanced_grid, check_memory, usual_ranks
from .veros_program.grid import ALL as OF_VEROS, EXTENT, process_grid

MULTIGRID, FINITE_VOLUME, POISSON, SHALLOW_WATER, HYDRODYNAMICS, VEROS = APPS = (
    "multigrid_cg", "finite_volume", "poisson", "shallow_water", "hydrodynamics", "veros")  # fmt: skip
INDEXED = {"hand_isend", "hand_persistent", "hand_neighbor_alltoallv"}
BY_HAND = {
    MULTIGRID: INDEXED,
    FINITE_VOLUME: INDEXED,
    POISSON: INDEXED,
    SHALLOW_WATER: {"hand_isend", "hand_sendrecv"},
    HYDRODYNAMICS: {"hand_isend", "hand_sendrecv"},
}
PEERS = {POISSON: {"petsc", "dolfinx"}}  # vectors of other libraries, where `make peers` has built them
MODULE = "parhelion.measure.veros_program"
ROW_BYTES = 27 * 12 * 2  # a row of the matrix and its vectors, on all levels
NODE_BYTES = 26 * 8  # of the cell and the node beside it
CONTENDERS_AT_ONCE = 5  # the reference among them
MOST_MESH = 8192


@click.command(cls=PanelCommand)
@click.option("--app", "--apps", "apps", type=Names(APPS, "application"), default=None, metavar="NAMES",
              help=f"Which: {', '.join(APPS)} [all, Veros where it is installed].")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@click.option("--extent", type=Numbers(high=512, most=3), default="32", show_default=True,
              help="Cells per rank, along each dimension: of hydrodynamics, and rows of multigrid_cg, with up to 4 levels, as often as it can be halved.")
@click.option("--mesh", type=Whole(4, MOST_MESH), default=128, show_default=True,
              help="Sides of the whole mesh: cells of shallow_water, squares of two triangles of finite_volume, nodes of poisson, a power of two.")
@measuring_options
def apps(options: MeasuringOptions, apps: tuple[str, ...] | None, ranks: int | None, extent: tuple[int, ...], mesh: int) -> None:
    """Whole applications: time per step with hand-written exchange and with the library's, every bit of the state compared.

    multigrid_cg: conjugate gradients with a multigrid preconditioner on the 27-point stencil, over index maps. finite_volume: Euler's
    equations on an unstructured mesh. poisson: finite elements solved by conjugate gradients, also over vectors of PETSc and of DOLFINx
    (`make peers`). shallow_water: a staggered C grid with swapped time levels, in Fortran. hydrodynamics: forces of three
    components summed at nodes that up to eight ranks hold. veros: a model of the ocean in Python (`make apps` installs it), whose own exchange is
    replaced from outside. Ends with what the exchanges of a step took, and the lines of code that they take.
    """  # fmt: skip
    from .run import run

    count = ranks or usual_ranks()
    wanted = _wanted(apps, count, Output(options.json_file))
    names = options.contenders
    groups = _compiled_groups(_compiled_cases(wanted, count, extent, mesh), count, names)
    if VEROS in wanted:
        groups.append(Group(count, [{"app": VEROS}], module=MODULE, contenders=tuple(name for name in names if name in OF_VEROS)))
    groups = [group for group in groups if group.contenders or not names]
    if not groups:
        raise BadInput(f"--contenders {','.join(names)}: {', '.join(wanted)} has none of them; veros has {', '.join(OF_VEROS)}")
    if launched_ranks() and len(groups) > 1:
        raise BadInput("--app: veros is another program than the other applications, and applications that have not all --contenders run apart; "
                       "mpiexec or srun has started the ranks of one: name fewer")  # fmt: skip
    run("apps", groups, replace(options, contenders=()))


def _compiled_groups(cases: list[dict[str, object]], ranks: int, names: tuple[str, ...]) -> list[Group]:
    """One for all, or where contenders are named, one for those applications that have the same of them."""
    groups: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for case in cases:
        own = BY_HAND[app := str(case["app"])] | PEERS.get(app, set())
        others = set().union(*BY_HAND.values(), *PEERS.values(), OF_VEROS) - own - {"auto", "planted_fault"}
        groups.setdefault(tuple(name for name in names if name not in others), []).append(case)
    return [Group(ranks, some, contenders=chosen) for chosen, some in groups.items()]


def _wanted(apps: tuple[str, ...] | None, ranks: int, output: Output) -> tuple[str, ...]:
    """The applications, checked; without names those that can run here, with a word on why one cannot."""
    why_not = _reason_against_veros(ranks)
    if apps and VEROS in apps and why_not:
        raise BadInput(f"--app veros: {why_not}")
    if not apps and why_not:
        output.errors.print(f"veros is left out: {why_not}", style="dim", markup=False, soft_wrap=True)
    return apps or tuple(name for name in APPS if name != VEROS or not why_not)


def _reason_against_veros(ranks: int) -> str | None:
    if find_spec("veros") is None:
        return "it is not installed: run `make apps`"
    if process_grid(ranks) is None:
        return f"its {EXTENT[0]}×{EXTENT[1]} columns cannot be divided evenly among {ranks} ranks: use fewer --ranks"
    return None


def _compiled_cases(wanted: tuple[str, ...], ranks: int, extent: tuple[int, ...], mesh: int) -> list[dict[str, object]]:
    sides = list(extent * 3 if len(extent) == 1 else extent)
    cases: list[dict[str, object]] = []
    if MULTIGRID in wanted:
        _check_box(ranks, sides, ROW_BYTES, "the matrices take")
        cases.append({"app": MULTIGRID, "grid": balanced_grid(ranks, 3), "extent": sides})
    for app, square_bytes in ((FINITE_VOLUME, 2 * 300), (POISSON, 7 * 20 + 100)):
        if app not in wanted:
            continue
        if mesh & (mesh - 1) or mesh * mesh < ranks:
            raise BadInput(f"--mesh {mesh}: give a power of two from 4 to {MOST_MESH}, with a square for each of {ranks} ranks")
        check_memory(mesh * mesh * square_bytes * CONTENDERS_AT_ONCE, "the meshes take", "use a smaller --mesh")
        cases.append({"app": app, "extent": [mesh, mesh]})
    if SHALLOW_WATER in wanted:
        grid = balanced_grid(ranks, 2)[::-1]  # rows, which are contiguous, stay long
        if mesh < 2 * max(grid):
            raise BadInput(f"--mesh {mesh}: shallow_water needs two cells for each of {max(grid)} ranks side by side")
        check_memory(mesh * mesh * 13 * 8 * (CONTENDERS_AT_ONCE + ranks), "the grids take", "use a smaller --mesh")
        cases.append({"app": SHALLOW_WATER, "grid": grid, "extent": [mesh, mesh]})
    if HYDRODYNAMICS in wanted:
        _check_box(ranks, sides, NODE_BYTES, "the cells take")
        cases.append({"app": HYDRODYNAMICS, "grid": balanced_grid(ranks, 3), "extent": sides})
    return cases


def _check_box(ranks: int, sides: list[int], cell_bytes: int, what: str) -> None:
    """Of three sides, and not too many cells for this host."""
    if len(sides) != 3:
        raise BadInput(f"--extent {'x'.join(map(str, sides))} has {len(sides)} numbers: give one, or three")
    check_memory(ranks * sides[0] * sides[1] * sides[2] * cell_bytes * CONTENDERS_AT_ONCE, what, "use a smaller --extent")
