"""`parhelion calibrate`."""

from dataclasses import asdict
from pathlib import Path

import click

from ...cli.errors import BadInput
from ...cli.options import MOST_LAUNCHES, SEED, Names, Real, Whole
from ...cli.output import Output, json_option
from ...records.store import RUN
from ...style.words import percent


@click.command()
@click.argument("run", type=RUN, required=False)
@click.option("--planted", type=Real(1, 100, min_open=True), default=1.05, show_default=True, help="Slowdown.")
@click.option("--launches", type=Whole(2, MOST_LAUNCHES), help="Launches [a side: half of what there is].")
@click.option("--contenders", type=Names(), default=(), help="Only these [all].")
@click.option("--relative-to", metavar="CONTENDER", help="Times relative to this contender of the same launch, for machines that are now fast and now slow.")
@click.option("--error-rates", is_flag=True, help="Error rates over launches × noise × effect, on made-up sides; with RUN, on its launches as well.")
@click.option("--images", is_flag=True, help="Error rates of `image compare` over launches × noise × effect, on made-up images.")
@click.option("--comparisons", type=Whole(1, 100_000), default=400, show_default=True, help="Per cell of made-up sides or images.")
@click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of what is random: here the made-up sides.")
@json_option
def calibrate(
    run: Path | None, planted: float, launches: int | None, contenders: tuple[str, ...], relative_to: str | None, error_rates: bool,
    images: bool, comparisons: int, seed: int, json_file: str | None,
) -> None:
    """Say how often `compare` finds a difference that is not there, and one that was planted.

    Sides are made of stretches of consecutive launches of RUN (a run, or a folder of runs): one side after the other, as two
    runs are measured, and in turn, as pairs are. The first sees what drifts between runs.
    """  # fmt: skip
    output = Output(json_file)
    if not (run or error_rates or images):
        raise BadInput("give a RUN whose launches are to be compared, or --error-rates, or --images")
    if images:
        output.document(_images(output, comparisons, seed))
        return
    chosen = _chosen(run, contenders, relative_to) if run else None
    output.document(_grid(output, chosen, comparisons, seed) if error_rates else _splits(output, chosen, planted, launches))


def _chosen(run: Path, contenders: tuple[str, ...], relative_to: str | None):
    from ..command import chosen
    from ..sets import read_set

    return chosen([read_set(run)], contenders, relative_to)[0]


def _splits(output: Output, records, planted: float, launches: int | None) -> dict:
    from .calibration import calibrate as measure

    found = measure(records, planted, launches)
    say = output.console.print
    for each in found:
        say(f"{each.launches} launches a side, {each.design}: {each.splits} splits of {each.cases} cases × contenders")
        say(f"  A/A: {percent(each.false_pairs)} of pairs called different in at least one case; {percent(each.false_cases, 2)} of cases")
        say(f"  planted ×{each.planted:g}: found in {percent(each.found_pairs)} of pairs; {percent(each.found_cases)} of cases")
    return {"schema": "parhelion.calibration/2", "designs": [asdict(each) for each in found]}


def _images(output: Output, comparisons: int, seed: int) -> dict:
    from ...statistics.verdict import IMAGE_RULES
    from .calibration import grid_table
    from .images import image_grid

    cells = [*image_grid(comparisons, seed, IMAGE_RULES)]
    output.console.print(grid_table("whole images", cells))
    return {"schema": "parhelion.grid/2", "seed": seed, "cells": [asdict(cell) for cell in cells]}


def _grid(output: Output, records, comparisons: int, seed: int) -> dict:
    from .calibration import grid_table, other_machines, real_grid, starts_by_case, synthetic_grid

    parts = {"made up": [*synthetic_grid(comparisons, seed)], "another machine": [*other_machines(comparisons, seed)]}
    if records is not None:
        parts[records.name] = [*real_grid(starts_by_case(records))]
    for title, cells in parts.items():
        output.console.print(grid_table(title, cells))
    return {"schema": "parhelion.grid/2", "seed": seed, "cells": [asdict(cell) for each in parts.values() for cell in each]}
