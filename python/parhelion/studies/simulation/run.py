"""What `parhelion simulate` does: simulates, prints, draws the speed-ups beside the published ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from ...placement import Machine, choose_grid
from ...tools.cli.errors import BadInput, RanksFailed
from ...tools.cli.output import Output
from ...tools.style.palette import BLUE, GREY
from ..model import Parameters, read_parameters
from ..model.published import TOPOLOGY, fit_published, published_grid, published_rows
from .program import SimulationError, find_program
from .study import CellResult, run_study, study_document

DEFAULT_FIGURES = "mpi_comm ompi"
PUBLISHED_RANKS_PER_NODE = (64, 128)


def run_simulate(output: Output, **options: Any) -> None:
    """Build, simulate, print, draw."""
    say = output.console.print
    try:
        program = find_program(options["build"], not options["no_build"])
        figures = read_parameters(options["parameters"]) if options["parameters"] else default_figures()
        grids = {ranks: find_grid(ranks, options) for ranks in options["ranks_per_node"]}
        study = run_study(program, options["topology"], grids, find_cases(options), options["numberings"], figures,
                          options["extent"], options["iterations"], options["timeout"], options["verify"],
                          lambda text: say(text, markup=False))  # fmt: skip
    except SimulationError as problem:
        raise RanksFailed(str(problem)) from None
    say(results_table(study.results))
    if options["picture"]:
        draw_speed_ups(study.results, options["picture"])
        say(f"drawn in {options['picture']}", markup=False)
    output.document(study_document(study, figures, options["topology"]))


def default_figures() -> Parameters:
    """The figures fitted to the published hand-written MPI under Open MPI: Betzy with 64 ranks a node, numbering XYZ."""
    return fit_published(published_rows())[DEFAULT_FIGURES].parameters


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
    """One row per cell."""
    table = Table("ranks/node", "numbering", "halo", "fields", "blocked, ms", "placed, ms", "speed-up", "published", "off by")
    for r in results:
        c = r.cell
        published, off = "–", "–"
        if r.published:
            ratios = r.published_speed_ups.values()
            published = f"{min(ratios):.2f} … {max(ratios):.2f}"
            off = f"×{min(map(r.off_by, r.published)):.2f} … ×{max(map(r.off_by, r.published)):.2f}"
        table.add_row(str(c.ranks_per_node), c.numbering, str(c.halo), str(c.fields), f"{1e3 * r.blocked_s:.3f}",
                      f"{1e3 * r.placed_s:.3f}", f"×{r.speed_up:.2f}", published, off)  # fmt: skip
    return table


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
    labels = [f"{c.ranks_per_node}/node\n{c.numbering}\nhalo {c.halo}\nfields {c.fields}" for c in cells]
    axis.set_xticks(range(len(results)), labels, fontsize=7)
    axis.set_ylabel("blocked order / placement")
    axis.legend(fontsize=7)
    figure.savefig(path, dpi=150)
