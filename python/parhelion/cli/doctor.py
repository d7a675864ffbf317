"""`parhelion doctor`."""

from __future__ import annotations

import click

from .options import RANKS
from .output import Output, json_option


@click.command()
@click.option("--ranks", type=RANKS, help="Ranks that you mean to start on this host.")
@json_option
def doctor(ranks: int | None, json_file: str | None) -> None:
    """Say what this machine offers: cores, MPIs, which transports work here and why others do not.

    Everything is tried out, nothing is changed.
    """
    from .doctor_checks import examine
    from .doctor_text import show

    output = Output(json_file)
    examination = examine(ranks)
    show(examination, output.console)
    output.document(examination.document())
