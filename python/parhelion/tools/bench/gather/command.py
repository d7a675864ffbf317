"""`parhelion bench gather`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...cli.options import MOST_COMPONENTS, RANKS, Elements, Numbers, measuring_options
from .peers import PEERS, Peers


@click.command()
@click.argument("datasets", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DATASET...")
@click.option("--ranks", type=RANKS, help="Ranks [what each set was partitioned for].")
@click.option("--element", type=Elements(), default="int32", show_default=True, help="Element types.")
@click.option("--components", type=Numbers(high=MOST_COMPONENTS), default="1", show_default=True, help="Components per cell.")
@click.option("--peers", type=Peers(), default=None, metavar="NAMES",
              help=f"Beside the rest: {', '.join(PEERS)}, all, none [those that `make peers` has built; with --contenders: none].")
@measuring_options
def gather(datasets: tuple[Path, ...], peers: tuple[str, ...] | None, **options: Any) -> None:
    """Index-map gather on partitioned meshes beside hand-written MPI, every ghost verified.

    DATASET is a folder with one file per rank, `data001` …, as `parhelion partition` writes it. Each set is run on
    the number of ranks that it was partitioned for.
    """  # fmt: skip
    from ....launch import find_flavor
    from ...cli.output import Output
    from ..run import run
    from .cases import gather_groups
    from .peers import choose_peers

    cases = ("ranks", "element", "components")
    groups = gather_groups(datasets, **{name: options.pop(name) for name in cases})
    flavor = find_flavor(options["flavor"], measuring=True)
    chosen = choose_peers(peers or (("none",) if options["contenders"] else ("built",)), flavor)
    if chosen.contenders:
        options["contenders"] = (*(options["contenders"] or ("all",)), *chosen.contenders)
    if chosen.missing:
        text = f"not built for flavor {flavor.name}, see docs/measuring.md: {', '.join(chosen.missing)}"
        Output(options["json_file"]).errors.print(text, style="dim", soft_wrap=True)
    run("gather", groups, **options, companions=chosen.companions)
