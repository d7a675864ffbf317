"""`parhelion profile show`."""

from __future__ import annotations

from pathlib import Path

import click

from ....launch.disk import writing
from ...cli.errors import BadInput
from ...cli.options import MOST_RANKS, Whole
from ...cli.output import Output, json_option
from ..folder import PROFILE
from .option import html_option, write_page


@click.command()
@click.argument("profile", type=PROFILE)
@click.option("--rank", type=Whole(0, MOST_RANKS), help="Only that rank.")
@click.option("--most", type=Whole(1, 1000), default=15, show_default=True, help="Rows of the longer tables.")
@click.option(
    "--folded", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Also write folded stacks, for other tools."
)
@html_option
@json_option
def show_profile(
    profile: Path, rank: int | None, most: int, folded: Path | None, html: Path | None, json_file: str | None
) -> None:
    """Show PROFILE again: a name in `profiles/`, a part of one, or a folder."""
    from ..folder import read_profile
    from .document import profile_document
    from .flame import folded as fold
    from .text import show

    output = Output(json_file)
    found = read_profile(profile)
    if rank is not None:
        if rank >= len(found.ranks):
            raise BadInput(f"--rank {rank}: {profile} has ranks 0 to {len(found.ranks) - 1}")
        found.ranks = [found.ranks[rank]]
    show(found, output.console, most)
    if folded:
        with writing(folded):
            folded.write_text(fold(found))
    write_page([found], html, output)
    output.document(profile_document(found, profile))
