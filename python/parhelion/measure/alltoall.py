"""`parhelion bench alltoall`."""

import click

from ..cli.errors import BadInput
from ..cli.options import MOST_RANKS, MeasuringOptions, Numbers, Sizes, measuring_options
from ..cli.options import PanelCommand
from .measurement import Group
from .cases import check_memory, usual_ranks

BUFFERS = 10  # of all contenders together, in multiples of what one rank sends


@click.command(cls=PanelCommand)
@click.option("-n", "-np", "--ranks", type=Numbers(high=MOST_RANKS), help="Ranks [one per usable core, at least 2].")
@click.option("--size", type=Sizes(), default="1-4M", show_default=True,
              help="Bytes that each rank sends to each: a list, or a range of powers of two.")
@click.option("--first-size", type=Sizes(), help="Size of the very first call after MPI_Init [the first of the sizes].")
@click.option("--single-calls", is_flag=True, help="A sample is one call, as in the published test [a batch of calls].")
@measuring_options
def alltoall(
    options: MeasuringOptions, ranks: tuple[int, ...] | None, size: tuple[int, ...], first_size: tuple[int, ...] | None, single_calls: bool
) -> None:
    """MPI_Alltoall over message sizes, every byte verified, beside other ways to do the same.

    The very first call after MPI_Init is reported apart: it makes MPI's connections. Ends with the published layout,
    mean(std) per image and network, and with the sizes at which another algorithm seems to take over. Ten samples per size
    and launch, or as many as --precision needs. Name image, reservation and notes with --label.
    """  # fmt: skip
    from .run import run

    first = first_size or size[:1]
    if len(first) != 1:
        raise BadInput(f"--first-size has {len(first)} sizes: give one, for a process makes its connections once")
    run("alltoall", _groups(ranks or (usual_ranks(),), size), options, usual_repetitions=10,
        program_options=(f"--first-size={first[0]}",), **({"min_sample_s": 0.0} if single_calls else {}))  # fmt: skip


def _groups(ranks: tuple[int, ...], sizes: tuple[int, ...]) -> list[Group]:
    """One group per rank count, each with all sizes; checked against this host's memory."""
    most, largest = max(ranks), max(sizes)
    check_memory(BUFFERS * most * most * largest, f"an alltoall of {largest} B on {most} ranks with all contenders takes",
                 "use smaller sizes or fewer --ranks")  # fmt: skip
    return [Group(count, [{"size": size} for size in sizes]) for count in dict.fromkeys(ranks)]
