"""`parhelion profile compare`."""

from pathlib import Path

import click

from ...cli.errors import OK, WRONG_VALUE
from ...cli.options import FAIL_ON_HELP, Whole
from ...cli.output import Output, json_option
from ..model import PROFILE
from ..show.command import speedscope_option, write_stacks


@click.command()
@click.argument("a", type=PROFILE)
@click.argument("b", type=PROFILE)
@click.option("--most", type=Whole(1, 1000), default=12, show_default=True, help="Rows of the longer tables.")
@click.option("--fail-on", type=click.Choice(["different", "never"]), default="never", show_default=True, help=FAIL_ON_HELP)
@speedscope_option
@json_option
def compare(a: Path, b: Path, most: int, fail_on: str, speedscope: Path | None, json_file: str | None) -> None:
    """Compare profile B with profile A: what takes more or less of the time, and what changed around it.

    Differences that sampling alone can explain are left out.
    """
    from ..model import read_profile
    from .difference import compare_profiles, comparison_document, show

    output = Output(json_file)
    first, second = (read_profile(name) for name in (a, b))
    found = compare_profiles(first, second)
    show(found, output.console, most)
    write_stacks([first, second], speedscope, output)
    output.document(comparison_document(found))
    raise SystemExit(WRONG_VALUE if fail_on == "different" and any(each.shown for each in found.parts) else OK)
