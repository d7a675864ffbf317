"""`parhelion compare`."""

from pathlib import Path

import click

from ...launch.disk import why
from ..cli.errors import OK, WRONG_VALUE, BadInput
from ..cli.options import FAIL_ON_HELP, Names, Share
from ..cli.output import Output, json_option
from ..records.store import RUN

FAIL_ON = {"slower": ("slower",), "different": ("slower", "faster"), "never": ()}


@click.command()
@click.argument("a", type=RUN)
@click.argument("b", type=RUN)
@click.option("--alpha", type=Share(), default="3%", show_default=True, help="Share of false findings that is accepted.")
@click.option("--least", type=Share(), default="1%", show_default=True, help="Smaller differences do not count.")
@click.option("--margin", type=Share(), default="5%", show_default=True, help="What 'no difference beyond the margin' rules out.")
@click.option("--contenders", type=Names(), default=(), help="Only these [all].")
@click.option("--relative-to", metavar="CONTENDER",
              help="Times relative to this contender of the same launch, for machines that are now fast and now slow.")
@click.option("--fail-on", type=click.Choice(list(FAIL_ON)), default="slower", show_default=True,
              help=FAIL_ON_HELP)
@click.option("--all", "show_all", is_flag=True, help="Show every case, not only those that changed.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write it in Markdown.")
@json_option
def compare(
    a: Path, b: Path, alpha: float, least: float, margin: float, contenders: tuple[str, ...],
    relative_to: str | None, fail_on: str, show_all: bool,
    markdown: Path | None, json_file: str | None,
) -> None:
    """Compare B with A: each a run, or a folder of runs whose launches count together.

    Ratios are B / A: above 1, B is slower. Ten launches a side find 5 % on an ordinary machine; `parhelion calibrate`
    tells for this one. Exit status 1 when B is slower (see --fail-on) or gave wrong values.
    """  # fmt: skip
    from ..statistics.verdict import Rules
    from .comparison import compare as compare_sets
    from .document import comparison_document
    from .sets import read_set
    from .text import show

    output = Output(json_file)
    rules = Rules(alpha=alpha, least=least, margin=margin)
    first, second = chosen([read_set(a), read_set(b)], contenders, relative_to)
    found = compare_sets(first, second, rules)
    show(found, output.console, show_all)
    if markdown:
        _write(markdown, found)
    output.document(comparison_document(found))
    raise SystemExit(_status(found, FAIL_ON[fail_on]))


def _status(found, bad: tuple[str, ...]) -> int:
    judged = any(str(row.verdict) in bad for row in found.rows)
    return WRONG_VALUE if judged or found.failed["B"] else OK


def chosen(sets, contenders: tuple[str, ...], relative_to: str | None):
    """The sets with the named contenders, as times relative to one of them where that was asked for."""
    from .comparison import relative_to as relative

    if relative_to:
        sets = relative(sets, relative_to)
    return [only(each, contenders) for each in sets]


def only(records, contenders: tuple[str, ...]):
    """The set with the named contenders alone."""
    if contenders:
        for record in records.records:
            record.cases = [line for line in record.cases if line.contender in contenders]
    return records


def _write(path: Path, found) -> None:
    from .document import markdown

    try:
        path.write_text(markdown(found), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write --markdown {path}: {why(error, path)}") from None
