"""The option `--html`, which all verbs of `parhelion profile` have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...cli.output import Output
from ...cli.panels import options_of

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
