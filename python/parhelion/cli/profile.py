"""`parhelion profile run` and `show`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.files import write_whole
from ..errors import InputError, RANKS_FAILED
from .options import MOST_RANKS, PROFILE, PanelCommand, RANKS, SECONDS, Whole, build_option, json_option, labels_option, no_bind_option, options_of, speedscope_option
from ..show.terminal import Output
from ..record.folder import parse_labels

if TYPE_CHECKING:
    from ..record.profile import Profile

STARTED, SAMPLES, OUTPUT = map(options_of, ("Builds and ranks", "Samples", "Output"))


@click.command(cls=PanelCommand, context_settings={"allow_interspersed_args": False})
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED, metavar="PROGRAM [ARGUMENTS]...")
@STARTED("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@build_option
@SAMPLES("--tool", type=click.Choice(["perf", "watch"]), default="perf", show_default=True,
         help="Profiler; watch takes no samples, needs no privileges, and shows where ranks sleep and what they load.")
@SAMPLES("--frequency", type=Whole(1, 20_000), default=499, show_default=True, help="Samples per second and core.")
@SAMPLES(
    "--call-graph",
    type=click.Choice(["dwarf", "fp", "none"]),
    default="dwarf",
    show_default=True,
    help="Call stacks from DWARF tables or frame pointers, or none.",
)
@SAMPLES("--command", default="", metavar="NAME", help="Only processes of this name [all; the ranks of parhelion bench].")
@OUTPUT("--out", type=click.Path(path_type=Path), metavar="FOLDER", help="Folder for the output [profiles/<time>-…].")
@labels_option
@no_bind_option
@STARTED("--timeout", type=SECONDS, default=600.0, show_default=True, metavar="SECONDS", help="Stop ranks after this time.")
@speedscope_option
@json_option
def run_profile(
    program: tuple[str, ...],
    ranks: int | None,
    build: str | None,
    no_bind: bool,
    labels: tuple[str, ...],
    speedscope: Path | None,
    json_file: str | None,
    **how,
) -> None:
    """Start PROGRAM as ranks, sample every rank, and show where its time goes.

    Such as: parhelion profile run --ranks 2 -- ./solver input.txt, or -- parhelion bench halo --halo 1 --fields 1.
    Exit status 3 if the program failed; the profile then ends there.
    """
    from ..launch import usable_cores
    from ..launch.program import choose
    from ..analyze.profile import profile_document
    from ..show.results import profile_blocks
    from ..measure.profile import Request, take_profile

    output = Output(json_file)
    count = ranks or max(2, usable_cores())
    request = Request(list(program), count, choose(program, build)[1], bind=not no_bind, labels=parse_labels(labels), **how)
    # With --json -, standard output is reserved for the document.
    on_line = (lambda line: output.errors.print(line, markup=False, soft_wrap=True)) if json_file == "-" else None
    found, folder, completed = take_profile(request, on_line)
    output.show(profile_blocks(found))
    output.console.print(f"profile: {folder}", markup=False, soft_wrap=True)
    if speedscope:
        output.paths(write_stacks([found], speedscope))
    output.document(profile_document(found, folder))
    if not completed.ok:
        raise SystemExit(RANKS_FAILED)


@click.command()
@click.argument("profile", type=PROFILE)
@click.option("--rank", type=Whole(0, MOST_RANKS), help="Only this rank.")
@click.option("--most", type=Whole(1, 1000), default=15, show_default=True, help="Maximum number of rows in long tables.")
@speedscope_option
@json_option
def show_profile(
    profile: Path, rank: int | None, most: int, speedscope: Path | None, json_file: str | None
) -> None:
    """Show PROFILE again: a folder, or a unique part of a name in `profiles/`."""
    from ..record.profile import read_profile
    from ..analyze.profile import profile_document
    from ..show.results import profile_blocks

    output = Output(json_file)
    found = read_profile(profile)
    if rank is not None:
        if rank >= len(found.ranks):
            raise InputError(f"--rank {rank}: {profile} has ranks 0 to {len(found.ranks) - 1}")
        found.ranks = [found.ranks[rank]]
    output.show(profile_blocks(found, most))
    if speedscope:
        output.paths(write_stacks([found], speedscope))
    output.document(profile_document(found, profile))


def write_stacks(profiles: Sequence[Profile], file: Path) -> list[Path]:
    """Write the stacks of all ranks to one file; viewers select a rank by name."""
    from msgspec import json

    from ..analyze.profile import stacks

    write_whole(file, json.encode(stacks(profiles)))
    return [file.resolve()]
