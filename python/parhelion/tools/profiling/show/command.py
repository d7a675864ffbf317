"""`parhelion profile show`, and the option `--html`, which all verbs have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ....launch.disk import writing
from ...cli.errors import BadInput
from ...cli.options import MOST_RANKS, Whole
from ...cli.output import Output, json_option
from ...cli.lazy import options_of
from ..model import PROFILE

if TYPE_CHECKING:
    from ..model import Profile


def html_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that asks for a page."""
    return options_of("Output")("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                        help="Write the page.")(command)  # fmt: skip


def write_page(profiles: Sequence[Profile], html: Path | None, output: Output) -> None:
    """Write the page where `--html` said, if it was given."""
    if html is None:
        return
    from .page import write

    write(profiles, html)
    output.console.print(str(html.resolve()), markup=False, soft_wrap=True)


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
    from ..model import read_profile
    from .text import profile_document, show
    from .page import folded as fold

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
