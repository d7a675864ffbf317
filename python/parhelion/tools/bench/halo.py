"""`parhelion bench halo`."""

from __future__ import annotations

from typing import Any

import click

from ...cli.options import (
    MOST_COMPONENTS,
    MOST_EXTENT,
    MOST_FIELDS,
    MOST_HALO,
    MOST_RANKS,
    RANKS,
    Elements,
    Names,
    Numbers,
    measuring_options,
)

PEERS = {"ghex": ("ghex", "ghex_staged")}


class Peers(Names):
    """A list of libraries, as the contenders that each stands for."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        names = super().convert(value, param, ctx)
        for name in names:
            if name not in PEERS:
                self.fail(f"'{name}' is no peer: choose from {', '.join(PEERS)}", param, ctx)
        return tuple(contender for name in names for contender in PEERS[name])


@click.command()
@click.option("--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@click.option("--grid", type=Numbers(high=MOST_RANKS, most=4), metavar="PxQxR", help="Process grid [as cubic as it gets].")
@click.option("--extent", type=Numbers(high=MOST_EXTENT, most=4), default="64", show_default=True, help="Cells per rank and dimension.")
@click.option("--halo", type=Numbers(high=MOST_HALO), default="1,2,4,5", show_default=True, help="Halo widths.")
@click.option("--fields", type=Numbers(high=MOST_FIELDS), default="1,2,4,8", show_default=True, help="Numbers of fields.")
@click.option("--element", type=Elements(), default="float32", show_default=True, help="Element types.")
@click.option("--components", type=Numbers(high=MOST_COMPONENTS), default="1", show_default=True, help="Components per cell.")
@click.option("--neighbors", type=click.Choice(["full", "faces"]), default="full", show_default=True,
              help="With edges and corners, or faces only.")
@click.option("--order", type=click.Choice(["F", "C"]), default="F", show_default=True, help="Order in memory.")
@click.option("--not-periodic", is_flag=True, help="Domain with ends [periodic in every dimension].")
@click.option("--peers", type=Peers(), default=(), metavar="NAMES",
              help="Other libraries beside the rest: ghex (built by `make peers`).")
@measuring_options
def halo(**options: Any) -> None:
    """Halo exchange of a structured grid beside hand-written MPI, every ghost verified.

    The default is the published case: 64³ cells of float32 per rank, full halo, 16 cells of halo width × fields.
    """  # fmt: skip
    from ..run import run
    from .cases import halo_group

    cases = ("ranks", "grid", "extent", "halo", "fields", "element", "components", "neighbors", "order", "not_periodic")
    group = halo_group(**{name: options.pop(name) for name in cases})
    if peers := options.pop("peers"):
        options["contenders"] = (*(options["contenders"] or ("all",)), *peers)
    run("halo", [group], **options)
