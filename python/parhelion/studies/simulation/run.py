"""What `parhelion simulate` does."""

from __future__ import annotations

import itertools
from typing import Any

from rich.table import Table

from ...placement import Machine, choose_grid
from ...tools.cli.errors import BadInput, RanksFailed
from ...tools.cli.output import Output
from ..model import read_parameters
from ..model.published import TOPOLOGY as PUBLISHED_TOPOLOGY
from .drawing import draw_speed_ups
from .errors import SimulationError
from .figures import default_figures
from .program import find_program
from .study import CellResult, published_range, run_study, study_document

PUBLISHED_GRIDS = {64: (12, 12, 12), 128: (24, 12, 12)}


def run_simulate(output: Output, **options: Any) -> None:
    """Build, simulate, print, draw."""
    say = output.console.print
    try:
        program = find_program(options["build"], not options["no_build"])
        figures = read_parameters(options["parameters"]) if options["parameters"] else default_figures()
        grids = {ranks: find_grid(ranks, options) for ranks in options["ranks_per_node"]}
        study = run_study(program, options["topology"], grids, find_cases(options), options["numbering"], figures,
                          options["extent"], options["iterations"], options["timeout"], options["check"],
                          lambda text: say(text, markup=False))  # fmt: skip
    except SimulationError as problem:
        raise RanksFailed(str(problem)) from None
    say(results_table(study.results))
    if options["plot"]:
        draw_speed_ups(study.results, options["plot"])
        say(f"drawn in {options['plot']}", markup=False)
    output.document(study_document(study, figures, options["topology"]))


def find_grid(ranks: int, options: dict[str, Any]) -> tuple[int, ...]:
    """The grid asked for, the published one, or the one that keeps most halo inside the nodes."""
    if options["grid"]:
        return options["grid"]
    if options["topology"] == PUBLISHED_TOPOLOGY and ranks in PUBLISHED_GRIDS:
        return PUBLISHED_GRIDS[ranks]
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
            low, high = published_range(r)
            published = f"{low:.2f} … {high:.2f}"
            off = f"×{min(map(r.off_by, r.published)):.2f} … ×{max(map(r.off_by, r.published)):.2f}"
        table.add_row(str(c.ranks_per_node), c.numbering, str(c.halo), str(c.fields), f"{1e3 * r.blocked_s:.3f}",
                      f"{1e3 * r.placed_s:.3f}", f"×{r.speed_up:.2f}", published, off)  # fmt: skip
    return table
