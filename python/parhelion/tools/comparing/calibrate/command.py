"""`parhelion calibrate`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from ...cli.options import MOST_LAUNCHES, SEED, Real, Whole
from ...cli.output import Output, json_option
from ...style.words import percent


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--planted", type=Real(1, 100, min_open=True), default=1.05, show_default=True, help="Slowdown.")
@click.option("--splits", type=Whole(1, 100_000), default=200, show_default=True)
@click.option("--launches", type=Whole(1, MOST_LAUNCHES), help="Launches a side [half of what there is].")
@click.option("--contenders", "--transports", help="Only these, separated by commas.")
@click.option("--relative-to", metavar="CONTENDER", help="Times relative to this contender of the same start, as in compare.")
@click.option("--seed", type=SEED, default=1, show_default=True)
@json_option
def calibrate(
    run: Path, planted: float, splits: int, launches: int | None, contenders: str | None, relative_to: str | None, seed: int,
    json_file: str | None,
) -> None:
    """Split the launches of RUN at random into pairs in which nothing changed, and say how often `compare` finds a
    difference that is not there, and one that was planted.
    """
    from ..command import chosen
    from ..sets import read_set
    from .calibration import calibrate as measure

    output = Output(json_file)
    found = measure(chosen([read_set(run)], contenders, relative_to)[0], planted, splits, launches, seed)
    say = output.console.print
    say(f"{found.splits} random splits, {found.launches} launches a side, {found.cases} cases × contenders (seed {seed})")
    say(f"A/A: {percent(found.false_pairs)} of pairs called different in at least one case; {percent(found.false_cases, 2)} of cases")
    say(f"planted ×{planted:g}: found in {percent(found.found_pairs)} of pairs; {percent(found.found_cases)} of cases")
    output.document({"schema": "parhelion.calibration/1", "seed": seed, **asdict(found)})
