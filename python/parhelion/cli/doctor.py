"""`parhelion doctor`."""

import click

from .options import RANKS, json_option
from ..show.terminal import Output


@click.command()
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [none in mind; more than fit on this host are warned of].")
@click.option("--start/--no-start", default=None, help="Start two ranks under each build, and tell which network its MPI takes [not on a login node].")
@json_option
def doctor(ranks: int | None, start: bool | None, json_file: str | None) -> None:
    """Say what this machine offers: cores, MPIs, which transports work here and why others do not.

    Everything is tried out, nothing is changed. Where a scheduler is, and this is no job of its, no ranks are started without --start.
    """
    from ..machine.doctor import examine
    from ..show.doctor import blocks

    output = Output(json_file)
    examination = examine(ranks, start)
    output.show(blocks(examination))
    output.document(examination.document())
