"""`parhelion image compare`."""

from pathlib import Path

import click

from ...cli.errors import OK, WRONG_VALUE
from ...cli.options import FAIL_ON_HELP, Share, Whole
from ...cli.output import Output, json_option
from ...comparing.command import FAIL_ON
from ..folder import IMAGE


@click.command()
@click.argument("a", type=IMAGE)
@click.argument("b", type=IMAGE)
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), default="image.html", show_default=True, metavar="FILE", help="Write the page.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), default="image.md", show_default=True, metavar="FILE", help="Write it in Markdown.")
@click.option("--alpha", type=Share(), default="3%", show_default=True, help="Share of false findings that is accepted.")
@click.option("--drift", type=Share(), default="3%", show_default=True, help="By how much the machine may have drifted between the two.")
@click.option("--most", type=Whole(1, 1000), default=5, show_default=True, help="Rows of the longer tables.")
@click.option("--fail-on", type=click.Choice(list(FAIL_ON)), default="slower", show_default=True,
              help=FAIL_ON_HELP)
@json_option
def compare_images(
    a: Path, b: Path, html: Path, markdown: Path, alpha: float, drift: float, most: int, fail_on: str, json_file: str | None
) -> None:
    """Compare image B with image A: what `parhelion image run` has written, by name or as folders.

    Writes a page: what could explain the difference, most probable causes first; what changed, ranked; the table in the published
    form; profiles side by side; all differences of libraries, channels, control variables and machine.
    Exit status 1 when a figure of B is slower (see --fail-on) or wrong.
    """  # fmt: skip
    from ...statistics.verdict import Rules
    from ...style import pages
    from ..folder import ImageError, read_image
    from . import page
    from .comparison import compare_images as compare, image_document
    from .page import show

    output = Output(json_file)
    found = compare(read_image(a), read_image(b), Rules(alpha=alpha, drift=drift))
    show(found, output.console, most)
    for path, made in ((html, page.html), (markdown, page.markdown)):
        pages.write(path, made(found), ImageError)
        output.console.print(str(path.resolve()), markup=False, soft_wrap=True)
    output.document(image_document(found))
    bad = any(str(row.verdict) in FAIL_ON[fail_on] for _, row in found.changed)
    raise SystemExit(WRONG_VALUE if bad or found.failed else OK)
