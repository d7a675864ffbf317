"""`parhelion profile show`, and the option `--speedscope`, which all verbs have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .errors import BadInput
from .options import MOST_RANKS, Whole
from ..show.output import Output, json_option
from .lazy import options_of
from ..record.profile import PROFILE

if TYPE_CHECKING:
    from ..record.profile import Profile


def speedscope_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that asks for flame graphs."""
    return options_of("Output")("--speedscope", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                        help="Write stacks for https://www.speedscope.app, which draws flame graphs.")(command)  # fmt: skip


def write_stacks(profiles: Sequence[Profile], file: Path | None, output: Output) -> None:
    """Write the stacks where `--speedscope` said, if it was given."""
    if file is None:
        return
    from ..show.speedscope import write

    write(profiles, file)
    output.console.print(str(file.resolve()), markup=False, soft_wrap=True)


@click.command()
@click.argument("profile", type=PROFILE)
@click.option("--rank", type=Whole(0, MOST_RANKS), help="Only that rank.")
@click.option("--most", type=Whole(1, 1000), default=15, show_default=True, help="Rows of the longer tables.")
@speedscope_option
@json_option
def show_profile(
    profile: Path, rank: int | None, most: int, speedscope: Path | None, json_file: str | None
) -> None:
    """Show PROFILE again: a name in `profiles/`, a part of one, or a folder."""
    from ..record.profile import read_profile
    from ..show.profile import blocks, profile_document

    output = Output(json_file)
    found = read_profile(profile)
    if rank is not None:
        if rank >= len(found.ranks):
            raise BadInput(f"--rank {rank}: {profile} has ranks 0 to {len(found.ranks) - 1}")
        found.ranks = [found.ranks[rank]]
    output.show(blocks(found, most))
    write_stacks([found], speedscope, output)
    output.document(profile_document(found, profile))
