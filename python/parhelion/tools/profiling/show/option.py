"""The option `--html`, which all verbs of `parhelion profile` have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...cli.output import Output

if TYPE_CHECKING:
    from ..model import Profile


def html_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that asks for a page."""
    return click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                        help="Also write one self-contained page with flame graphs.")(command)  # fmt: skip


def write_page(profiles: Sequence[Profile], html: Path | None, output: Output) -> None:
    """Write the page where `--html` said, if it was given."""
    if html is None:
        return
    from .page import write

    write(profiles, html)
    output.console.print(str(html.resolve()), markup=False, soft_wrap=True)
