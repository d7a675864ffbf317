"""What `parhelion model simulate` does: simulates, prints, draws the speed-ups beside the published ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..placement import Machine, choose_grid
from ..show import Table
from ..cli.errors import BadInput, RanksFailed
from ..show.output import Output
from ..mesh.errors import IndexMapError
from ..show.palette import BLUE, GREY
from ..placement.parameters import Parameters, read_parameters
from .model_published import TOPOLOGY, fit_published, published_grid, published_rows
from .simulated_problem import GridHalo, MapGather, Problem
from .simulated_program import SimulationError, find_program
from .simulated_study import CellResult, TRANSPORTS, run_study, simulate, study_document

DEFAULT_FIGURES = "mpi_comm ompi"
PUBLISHED_RANKS_PER_NODE = (64, 128)


def run_simulate(output: Output, **options: Any) -> None:
    """Build, simulate, print, draw."""
    say = output.console.print
    if unknown := set(options["contenders"]) - TRANSPORTS.keys():
        raise BadInput(f"{', '.join(sorted(unknown))} cannot be simulated: choose from {', '.join(TRANSPORTS)}")
    try:
        program = find_program(options["build"], not options["no_build"])
        figures = read_parameters(options["parameters"]) if options["parameters"] else default_figures()
        problems = {ranks: find_problem(ranks, options) for ranks in options["ranks_per_node"]}
        simulated = partial(simulate, program, figures=figures, overhead_s=1e-6 * options["overhead"], iterations=options["iterations"],
                            timeout_s=options["timeout"], check=options["verify"])  # fmt: skip
        study = run_study(simulated, options["topology"], problems, find_cases(options), find_numberings(options), options["contenders"],
                          partial(say, markup=False))  # fmt: skip
    except SimulationError as problem:
        raise RanksFailed(str(problem)) from None
    output.show([results_table(study.results)])
    if options["picture"]:
        draw_speed_ups(study.results, options["picture"])
        say(f"drawn in {options['picture']}", markup=False)
    output.document(study_document(study, figures, options["topology"], options["overhead"]))


def default_figures() -> Parameters:
    """The figures fitted to the published hand-written MPI under Open MPI: Betzy with 64 ranks a node, numbering XYZ."""
    return fit_published(published_rows())[DEFAULT_FIGURES].parameters


def find_problem(ranks: int, options: dict[str, Any]) -> Problem:
    """The index maps that were given, of as many parts as there are ranks, or a grid."""
    maps, machine = options["maps"], Machine(options["topology"], ranks_per_node=ranks)
    if not maps:
        return GridHalo(find_grid(ranks, options), options["extent"])
    problem = MapGather(maps)
    try:
        parts = len(problem.graph.edges)
    except IndexMapError as error:
        raise BadInput(str(error)) from None
    if parts != machine.size:
        raise BadInput(f"{maps} has {parts} parts, the machine {machine.size} ranks: make them agree with --topology and --ranks-per-node")
    return problem


def find_numberings(options: dict[str, Any]) -> Sequence[str]:
    """Parts stand in one row, which has one."""
    return ("parts",) if options["maps"] else options["numberings"]


def find_grid(ranks: int, options: dict[str, Any]) -> tuple[int, ...]:
    """The grid asked for, the published one, or the one that keeps most halo inside the nodes."""
    if options["grid"]:
        return options["grid"]
    if options["topology"] == TOPOLOGY and ranks in PUBLISHED_RANKS_PER_NODE:
        return published_grid(ranks)
    machine = Machine(options["topology"], ranks_per_node=ranks)
    cube = round(machine.size ** (1 / 3))
    return choose_grid(machine, [64 * cube] * 3, "full", periodic=True)[0]


def find_cases(options: dict[str, Any]) -> list[tuple[int, int]]:
    """Halo widths and numbers of fields, in pairs or all with all."""
    halos, fields = options["halo"], options["fields"]
    if options["all_pairs"]:
        return list(itertools.product(halos, fields))
    if len(halos) != len(fields):
        raise BadInput(f"{len(halos)} halo widths and {len(fields)} numbers of fields do not make pairs: see --all-pairs")
    return list(zip(halos, fields, strict=True))


def results_table(results: list[CellResult]) -> Table:
    """One row per cell. `gain`: how many times as fast as pair by pair in the same order, blocked and placed."""
    rows = []
    pairwise = {r.cell: r for r in results if r.cell.transport == "mpi"}
    for r in results:
        c = r.cell
        published, off, gain = "–", "–", "–"
        if r.published:
            ratios = r.published_speed_ups.values()
            published = f"{min(ratios):.2f} … {max(ratios):.2f}"
            off = f"×{min(map(r.off_by, r.published)):.2f} … ×{max(map(r.off_by, r.published)):.2f}"
        other = pairwise.get(replace(c, transport="mpi"))
        if other and other is not r:
            gain = f"×{other.blocked_s / r.blocked_s:.2f}, ×{other.placed_s / r.placed_s:.2f}"
        rows.append((str(c.ranks_per_node), c.numbering, str(c.halo), str(c.fields), c.transport, f"{1e3 * r.blocked_s:.3f}",
                      f"{1e3 * r.placed_s:.3f}", f"×{r.speed_up:.2f}", gain, published, off))  # fmt: skip
    head = ("ranks/node", "numbering", "halo", "fields", "transport", "blocked, ms", "placed, ms", "speed-up", "gain", "published", "off by")
    return Table(head, rows, 5)


def draw_speed_ups(results: Sequence[CellResult], path: str | Path) -> None:
    """One group per cell: the simulation as a bar, each published software as a mark."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 0.9 * len(results), 4), layout="constrained")
    axis = figure.subplots()
    axis.bar(range(len(results)), [result.speed_up for result in results], width=0.6, color=BLUE, label="simulated")
    names = list(dict.fromkeys(name for result in results for name in result.published))
    for marker, name in zip("osD^vP*", names, strict=False):
        points = {i: r.published_speed_ups[name] for i, r in enumerate(results) if name in r.published}
        axis.plot(list(points), list(points.values()), marker, label=f"published: {name}",
                  color="none", markeredgecolor="black", markersize=6)  # fmt: skip
    axis.axhline(1, color=GREY, linewidth=0.8)
    cells = [result.cell for result in results]
    labels = [f"{c.ranks_per_node}/node\n{c.numbering}\n{c.transport}\nhalo {c.halo}\nfields {c.fields}" for c in cells]
    axis.set_xticks(range(len(results)), labels, fontsize=7)
    axis.set_ylabel("blocked order / placement")
    axis.legend(fontsize=7)
    figure.savefig(path, dpi=150)
