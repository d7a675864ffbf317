"""What the verbs of `parhelion profile` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..cli.output import Output
from ..records.store import find_run
from .folder import DEFAULT_STORE, FILE_NAME

if TYPE_CHECKING:
    from .model import Profile


def html_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that asks for a page."""
    return click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                        help="Also write one self-contained page with flame graphs.")(command)  # fmt: skip


def find_profile(name: str) -> Path:
    """A profile by its path, or by a part of its name in `profiles/` that no other has."""
    return find_run(name, DEFAULT_STORE, FILE_NAME, "profile")


def write_page(profiles: Sequence[Profile], html: Path | None, output: Output) -> None:
    """Write the page where `--html` said, if it was given."""
    if html is None:
        return
    from .show.page import write

    write(profiles, html)
    output.console.print(str(html.resolve()), markup=False, soft_wrap=True)
