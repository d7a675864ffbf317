"""`parhelion bench gather`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .options import POSITIVE, Elements, Numbers, measuring_options


@click.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATASET...")
@click.option("--ranks", type=POSITIVE, help="Ranks [what each set was partitioned for].")
@click.option("--element", type=Elements(), default="int32", show_default=True, help="Element types.")
@click.option("--components", type=Numbers(), default="1", show_default=True, help="Components per cell.")
@measuring_options
def gather(datasets: tuple[Path, ...], **options: Any) -> None:
    """Index-map gather on partitioned meshes beside hand-written MPI, every ghost verified.

    DATASET is a folder with one file per rank, `data001` …, as `parhelion partition` writes it. Each set is run on
    the number of ranks that it was partitioned for.
    """
    from .gather_cases import gather_groups
    from .measure.run import run

    cases = ("ranks", "element", "components")
    groups = gather_groups(datasets, **{name: options.pop(name) for name in cases})
    run("gather", groups, **options)
