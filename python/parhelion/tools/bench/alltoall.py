"""`parhelion bench alltoall`."""

from __future__ import annotations

from typing import Any

import click

from ...cli.options import MOST_RANKS, Numbers, Sizes, measuring_options


@click.command()
@click.option("--ranks", type=Numbers(high=MOST_RANKS), help="Ranks, several counts one after the other [one per usable core, at least 2].")
@click.option("--size", "--sizes", type=Sizes(), default="1-4M", show_default=True,
              help="Bytes that each rank sends to each: a list, or a range of powers of two.")
@click.option("--first-size", type=Sizes(), help="Size of the very first call after MPI_Init [the first of the sizes].")
@click.option("--single-calls", is_flag=True, help="A sample is one call, as in the published test [a batch of calls].")
@measuring_options
def alltoall(**options: Any) -> None:
    """MPI_Alltoall over message sizes, every byte verified, beside other ways to do the same.

    The very first call after MPI_Init is reported apart: it makes MPI's connections. Ends with the published layout,
    mean(std) per image and network, and with the sizes at which another algorithm seems to take over. Ten samples per size
    and start, or as many as --precision needs. Name image, reservation and notes with --label.
    """  # fmt: skip
    from ..run import run
    from .cases import alltoall_groups, program_options

    ranks, sizes, first = (options.pop(name) for name in ("ranks", "size", "first_size"))
    groups = alltoall_groups(ranks, sizes)
    single = options.pop("single_calls")
    run("alltoall", groups, **options, usual_repetitions=10, program_options=program_options(first, sizes),
        min_sample_s=0.0 if single else None)  # fmt: skip
