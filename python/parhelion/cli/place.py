"""`parhelion place`, `parhelion partition` and the verbs of `parhelion model`."""

from __future__ import annotations

import itertools
from dataclasses import fields
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click

from .options import (
    MOST_BYTES, MOST_EXTENT, MOST_FIELDS, MOST_HALO, MOST_NODES, MOST_PLACED_RANKS, MOST_RANKS, MOST_REPETITIONS, Names, Numbers, PanelCommand, Periodic, RANKS, Real, SECONDS,
    RUN, TOPOLOGY_HELP, Whole, json_option, options_of,
)
from ..errors import InputError, RanksFailed
from ..show.terminal import Output

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
MACHINE, WEIGHTS, SEARCH, RUNNING, SCHEDULE, OUTPUT = map(options_of, ("Machine", "Weights of neighbors", "Search", "Simulation", "Schedule", "Output"))


def described(option: Any, *flags: str, **settings: Any) -> Any:
    shared = SHARED[flags[0]]
    return option(*flags, **{**shared, **settings}, **({"show_default": True} if settings.get("default") else {}))


SHARED: dict[str, dict[str, Any]] = {
    "--grid": {"type": Numbers(high=MOST_PLACED_RANKS, most=4), "metavar": "PxQxR", "help": "Process grid."},
    "--topology": {"metavar": "TEXT", "help": TOPOLOGY_HELP},
    "--ranks-per-node": {"type": Numbers(high=MOST_PLACED_RANKS), "metavar": "N[,N…]", "help": "Ranks per node."},
    "--extent": {"type": Numbers(high=MOST_EXTENT, most=4), "help": "Cells per rank, along each dimension."},
    "--halo": {"type": Whole(1, MOST_HALO), "help": "Halo width in cells."},
    "--fields": {"type": Whole(1, MOST_FIELDS), "help": "Number of fields."},
    "--periodic": {"type": Periodic(), "metavar": "yes|no|yes,no,…", "help": "Whether opposite ends are neighbors."},
    "--parameters": {"type": FILE, "metavar": "FILE", "help": "Latency and bandwidth, as `model fit` or `model published` wrote them."},
    "--picture": {"type": FILE, "metavar": "FILE", "help": "Draw a picture: .svg, .png or .pdf."},
}


def case_of(options: dict[str, Any]) -> Any:
    """Take the options of a placement case out of `options` and return the case."""
    from ..place.case import Case

    names = {each.name for each in fields(Case)}
    return Case(**{name: options.pop(name) for name in list(options) if name in names})


@click.command(cls=PanelCommand)
@described(click.option, "--grid", help="Process grid [chosen for --cells].")
@click.option("--cells", type=Numbers(most=4), metavar="PxQxR", help="Global cells; the process grid is chosen for them.")
@click.option("--graph", type=click.Path(path_type=Path), metavar="DATASET", help="Parts of a mesh instead of a grid: a data set of `parhelion partition`.")
@click.option("--mask", type=FILE, metavar="FILE", help="File of wet cells (.npy, nonzero): places of the process grid without a wet cell get no rank.")
@click.option("-n", "-np", "--ranks", type=Whole(1, MOST_PLACED_RANKS), metavar="N",
              help="Ranks [with --mask and without --grid: number of places with a wet cell].")
@click.option("--tile-axis", type=Whole(0, 3), metavar="AXIS", help="With --mask: the axis of the tiles.")
@click.option("--fold", type=Numbers(0, 3, 2), metavar="AXIS[,AXIS]",
              help="With --mask: the axis whose upper side is folded, and the axis that the fold mirrors [the one before it].")
@MACHINE("--nodes", type=Whole(1, MOST_NODES), help="Number of nodes.")
@described(MACHINE, "--ranks-per-node")
@described(MACHINE, "--topology")
@MACHINE("--binding", type=click.Choice(["spread", "compact"]), default="spread", show_default=True,
              help="Spread the ranks over the node, or fill its cores in order.")
@click.option("--neighbors", type=click.Choice(["full", "faces"]), default="faces", show_default=True,
              help="Neighbors across edges and corners too, or faces only.")
@click.option("--offsets", metavar="'0,1;0,-1;…'", help="Any stencil, instead of --neighbors.")
@described(click.option, "--periodic", default="no")
@described(WEIGHTS, "--extent", help="Cells per rank, along each dimension: weigh the offsets by their bytes [equal weights].")
@described(WEIGHTS, "--halo", default=1)
@WEIGHTS("--bytes-per-cell", type=Whole(1, MOST_BYTES), default=8, show_default=True, help="Bytes per cell, of all fields together.")
@SEARCH("--objective", type=click.Choice(["jsum", "jmax"]), default="jsum", show_default=True,
              help="Minimize the traffic of all units, or of the worst unit.")
@described(SEARCH, "--parameters", help="Latency and bandwidth, as `model fit` or `model published` wrote them: choose the placement with the "
                                        "shortest predicted time, with one message per pair of nodes.")
@SEARCH("--method", default="", metavar="MEMBER", help="Use this method, such as blocked, without local search.")
@SEARCH("--no-refine", "refine", is_flag=True, flag_value=False, default=True, help="Use the best method without local search.")
@SEARCH("--blocks", metavar="'node:3x3x3 socket:1x1x2 …'", help="Placement by hand, level by level, as in hwcart.")
@SEARCH("--numbering", default="", metavar="XYZ", help="Numbering of ranks, the fastest dimension first [last dimension fastest].")
@OUTPUT("--layers", type=click.Choice(["yes", "no", "auto", "hwcart"]), default="auto", show_default=True,
              help="Print every level's rank cube; auto: of at most 256 points; hwcart: with its level names.")
@described(OUTPUT, "--picture", "pictures", multiple=True)
@OUTPUT("--rank-file", "rank_files", multiple=True, metavar="KIND:FILE", help="Write a rank file: for mpich, openmpi, intel, slurm.")
@OUTPUT("--host-names", "hosts", type=Names(), default=(), help="Names of the nodes, for rank files.")
@json_option
def place(json_file: str | None, layers: str, pictures: tuple[Path, ...], rank_files: tuple[str, ...], offsets: str | None, **options: Any) -> None:
    """Place the process grid on the machine, and print the traffic that leaves each level.

    Prints the scores of all methods (Jsum: directed stencil edges that leave a unit, over all units;
    Jmax: those of the worst unit) and the traffic between nodes, and writes pictures and rank files. With --json the document holds the grid, the
    node of every grid point (last dimension fastest) and all scores.

    With --mask and without a machine it prints the number of ranks that a process grid needs, or the process grids for --ranks.
    """
    from ..place.case import land_document, parse_blocks
    from ..place.rank_files import write_rank_file
    from ..placement import read_parameters
    from ..show.placement import draw, land_table, placed_blocks

    output = Output(json_file)
    if options["graph"] and pictures:
        raise InputError("--graph has parts, not a grid: leave out --picture")
    if options["mask"] and pictures:
        raise InputError("a grid with land (--mask) cannot be drawn: leave out --picture")
    if options["ranks"] and not options["mask"]:
        raise InputError("--ranks is for a grid with land: give --mask, or the process grid with --grid")
    for name in ("tile_axis", "fold"):
        if options[name] is not None and not options["mask"]:
            raise InputError(f"--{name.replace('_', '-')} is for a grid with land: give --mask, or leave it out")
    options["neighbors"] = offsets or options["neighbors"]
    options["blocks"] = parse_blocks(options["blocks"]) if options["blocks"] is not None else {}
    options["parameters"] = options["parameters"] and read_parameters(options["parameters"])
    case = case_of(options)
    if case.mask and not (case.nodes or case.ranks_per_node or case.topology):
        grids = case.grids_with_land()
        output.show([land_table(grids)])
        output.document({"schema": "parhelion.land/1", "mask": str(case.mask), "grids": [land_document(each) for each in grids]})
        return
    placed = case.on_allocation().place()
    output.show(placed_blocks(placed, layers))
    for path in pictures:
        left_out = draw(placed.placement, path)
        output.console.print(f"drawn in {path}" + (f" ({left_out})" if left_out else ""), markup=False)
    for target in rank_files:
        for line in write_rank_file(target, placed.placement, placed.case.numbering, placed.case.hosts):
            output.console.print(line, markup=False, soft_wrap=True)
    output.document(placed.document())


@click.command()
@click.option("--csv", "table", type=FILE, metavar="FILE", help="Write every row, published and predicted.")
@click.option("--out", type=FOLDER, metavar="FOLDER", help="Folder for the output [no parameters are written].")
@json_option
def published(table: Path | None, out: Path | None, json_file: str | None) -> None:
    """Fit the model to some of the published Betzy rows and check it on the others."""
    from ..place.published import check_published
    from ..placement import write_parameters
    from ..show.placement import check_blocks

    output, check = Output(json_file), check_published()
    output.show(check_blocks(check))
    if table:
        check.write(table)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        for name, made in check.fits.items():
            write_parameters(made.parameters, out / f"{name.replace(' ', '-')}.json", "published Betzy rows")
    output.document({"schema": "parhelion.model.check/1", "held_out_median": median(map(abs, check.held_out())),
                     "software": {name: made.document(check.held_out(name)) for name, made in check.fits.items()}})


@click.command()
@click.argument("runs", nargs=-1, required=True, type=RUN, metavar="RUN...")
@click.option("--variant", default="mpi", show_default=True, help="Variant whose times are fitted.")
@click.option("--file", type=FILE, required=True, metavar="FILE", help="File to write.")
@json_option
def fit(runs: tuple[Path, ...], variant: str, file: Path, json_file: str | None) -> None:
    """Fit latency and bandwidth to the halo cases of runs that `parhelion bench halo` made."""
    from ..place.fit import fit_records
    from ..placement import write_parameters

    output, made = Output(json_file), fit_records(list(runs), variant)
    write_parameters(made.parameters, file, f"fitted to {', '.join(map(str, runs))}")
    output.console.print(f"{file}: {len(made.errors)} cases, median error {100 * made.median_error:.1f} %", markup=False)
    output.document({"schema": "parhelion.model.fit/1", **made.document()})


@click.command(cls=PanelCommand)
@described(click.option, "--grid", required=True)
@described(click.option, "--ranks-per-node", type=Whole(1, MOST_PLACED_RANKS), metavar="N", help="Ranks per node: counts messages between nodes, too.")
@described(click.option, "--extent", default="64x64x64")
@described(click.option, "--halo", default=1)
@described(click.option, "--fields", default=1)
@click.option("--bytes-per-field", "bytes_per_cell", type=Whole(1, MOST_BYTES), default=8, show_default=True, help="Bytes per cell of one field.")
@click.option("--neighbors", type=click.Choice(["full", "faces"]), default="full", show_default=True, help="Neighbors across edges and corners too, or faces only.")
@click.option("--algorithm", type=click.Choice(["standard", "by_dimension"]), default="standard", show_default=True,
              help="Messages to every neighbor, or dimension by dimension.")
@described(click.option, "--periodic", default="yes")
@SCHEDULE("--exchanges", type=Whole(1, 1000), default=1, show_default=True, help="Number of successive exchanges.")
@SCHEDULE("--copy-rate", type=Real(0.001, 1e6), default=10.0, show_default=True, metavar="GB/s", help="Rate at which a rank packs and unpacks.")
@SCHEDULE("--file", type=FILE, metavar="FILE", help="File to write [none: count only].")
@json_option
def schedule(json_file: str | None, grid: tuple[int, ...], ranks_per_node: int | None, exchanges: int, copy_rate: float, file: Path | None,
             periodic: bool | tuple[bool, ...], neighbors: str, **sizes: Any) -> None:
    """Write exchanges as a GOAL schedule for LogGOPSim, with up to a million ranks, and count their messages and bytes."""
    from ..place.goal import Schedule, write
    from ..place.traffic import Exchange
    from ..show import Table

    output = Output(json_file)
    extent = sizes.pop("extent")
    exchange = Exchange(extent if len(extent) > 1 else extent * len(grid), faces_only=neighbors == "faces", **sizes)
    made = Schedule(grid, exchange, periodic, exchanges, 1 / copy_rate)
    totals = made.totals(ranks_per_node)
    output.show([Table(("in one exchange", ""), [(name.replace("_", " "), f"{number:,}") for name, number in totals.items()])])
    if file:
        write(made, file)
        output.console.print(f"{file}: {exchanges} exchange{'s' * (exchanges != 1)}", markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.model.schedule/1", **totals, "exchanges": exchanges})


@click.command(cls=PanelCommand)
@described(click.option, "--topology", default="node:27 pack:2 numa:4 l3:4 core:4")
@described(click.option, "--ranks-per-node", default="64,128", help="Ranks per node [one study for each number].")
@described(click.option, "--grid", help="Process grid [the published one on its machine, otherwise as cubic as possible].")
@described(click.option, "--extent", default="64x64x64")
@described(click.option, "--halo", type=Numbers(high=MOST_HALO), default="1,5")
@described(click.option, "--fields", type=Numbers(high=MOST_FIELDS), default="1,8", help="Number of fields [float32].")
@click.option("--all-pairs", is_flag=True, help="Every halo width with every number of fields [pairs: 1 with 1, 5 with 8].")
@click.option("--numberings", type=Names(), default="XYZ,ZYX", show_default=True, help="Numberings of ranks, the fastest dimension first.")
@click.option("--variants", type=Names(("mpi", "node_aware"), "simulated transport"), default="mpi", show_default=True, metavar="NAME[,NAME]",
              help="Only these variants: mpi, a message per pair of ranks; node_aware, one per pair of nodes.")
@described(click.option, "--parameters", help="Latency and bandwidth, as `model fit` or `model published` wrote them "
                                              "[fitted to published rows with 64 ranks per node].")
@click.option("--overhead", type=Real(0, 1000), default=0.0, show_default=True, metavar="MICROSECONDS",
              help="Processor time of each message at both ends, besides its latency.")
@RUNNING("--iterations", type=Whole(1, MOST_REPETITIONS), default=2, show_default=True, help="Number of timed exchanges, after one untimed.")
@RUNNING("--verify", is_flag=True, help="Verify every ghost; needs memory for all ranks.")
@described(OUTPUT, "--picture")
@RUNNING("--build-folder", "build", type=FOLDER, help="Folder in which the program is built.")
@RUNNING("--timeout", type=SECONDS, default=3600.0, show_default=True, metavar="SECONDS", help="Stop ranks after this time.")
@json_option
def simulate(
    json_file: str | None, topology: str, ranks_per_node: tuple[int, ...], grid: tuple[int, ...] | None, extent: tuple[int, ...],
    halo: tuple[int, ...], fields: tuple[int, ...], all_pairs: bool, numberings: tuple[str, ...], variants: tuple[str, ...],
    parameters: Path | None, overhead: float, iterations: int, verify: bool, picture: Path | None, build: Path | None, timeout: float,
) -> None:
    """Run the real exchange on a described machine under SimGrid: blocked order against placement.

    Every rank runs the unchanged library code; SimGrid decides how long its messages take. For the published machine,
    the table also has the published speed-ups.
    """
    from ..place.case import Case
    from ..place.published import FLOAT32
    from ..place.simgrid import BUILD, Simulation, SimulationError, find_program
    from ..place.simulate import default_figures, default_grid, run_study
    from ..placement import read_parameters
    from ..show.placement import draw_speed_ups, simulation_table

    output = Output(json_file)
    if not all_pairs and len(halo) != len(fields):
        raise InputError(f"{len(halo)} halo widths and {len(fields)} numbers of fields do not form pairs: see --all-pairs")
    sizes = list(itertools.product(halo, fields) if all_pairs else zip(halo, fields, strict=True))
    cases = [
        Case(topology, ranks_per_node=(ranks,), grid=grid or default_grid(topology, ranks), neighbors="full", periodic=True, extent=extent,
             halo=width, fields=count, bytes_per_cell=FLOAT32)
        for ranks in ranks_per_node for width, count in sizes
    ]
    figures = read_parameters(parameters) if parameters else default_figures()
    try:
        simulation = Simulation(find_program(build or BUILD), figures, 1e-6 * overhead, iterations, timeout, verify)
        study = run_study(simulation, cases, numberings, variants, partial(output.console.print, markup=False))
    except SimulationError as problem:
        raise RanksFailed(str(problem)) from None
    output.show([simulation_table(study.cells)])
    if picture:
        draw_speed_ups(study.cells, picture)
        output.console.print(f"drawn in {picture}", markup=False)
    output.document(study.document(simulation, topology))


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MESH | DATASET...")
@click.option("--parts", type=Whole(1, MOST_RANKS), help="Number of parts, one per rank [data sets are checked].")
@click.option("--entities", type=Names(), default="cells", show_default=True, help="Entities: cells, faces, edges, nodes.")
@click.option("--adjacency", type=click.Choice(["faces", "nodes"]), default="faces", show_default=True,
              help="Cells are neighbors if they share one of these.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="FOLDER", help="Folder for the output [here].")
@click.option("--name", help="Name of the data sets [the mesh file's]: no slash, no leading dot or dash.")
@click.option("--seed", type=Whole(0, 2**31 - 1), default=0, show_default=True, help="Random seed: passed to METIS.")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [any; refuses data sets for another number].")
@json_option
def partition(
    paths: tuple[Path, ...], parts: int | None, entities: tuple[str, ...], adjacency: str, out: Path,
    name: str | None, seed: int, ranks: int | None, json_file: str | None,
) -> None:
    """Partition MESH, any file that meshio reads, with METIS, and write index maps of its entities; without --parts, check index maps.

    \b
    parhelion partition casting.msh --parts 12
    parhelion partition casting-12

    `parhelion bench gather` reads the folders NAME-PARTS.
    """
    from ..mesh.maps import IndexMapError, inspect
    from ..mesh.partition import partition_mesh
    from ..show.placement import inspection_blocks, partition_blocks

    output = Output(json_file)
    if parts is not None:
        if len(paths) > 1 or ranks:
            raise InputError("--parts is for one mesh and sets the number of ranks: leave out --ranks and other paths")
        summary = partition_mesh(paths[0], parts, entities, out, adjacency=adjacency, name=name, seed=seed)
        output.show(partition_blocks(summary))
        output.document(summary)
        return
    try:
        summaries = [inspect(path, ranks) for path in paths]
    except IndexMapError as error:
        raise IndexMapError(f"{error} (to partition a mesh, give --parts)") from None
    output.show([block for summary in summaries for block in inspection_blocks(summary)])
    output.document({"schema": "parhelion.inspection/1", "datasets": summaries})
