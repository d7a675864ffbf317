"""`parhelion runs history`."""

from datetime import UTC, datetime
from pathlib import Path

import click

from ...cli.errors import OK, WRONG_VALUE, BadInput
from ...cli.options import FAIL_ON_HELP, Names, Share, Whole
from ...cli.output import Output, json_option
from ...comparing.command import FAIL_ON
from ...records.store import parse_labels
from ..commands import chosen, labeled_option, store_option


@click.command()
@store_option
@click.option("--benchmark", help="Only runs of this benchmark.")
@labeled_option
@click.option("--contenders", type=Names(), default=(), help="Only these [all].")
@click.option("--case", "params", multiple=True, metavar="PARAMETER=VALUE", help="Only cases with this parameter, such as halo=1; may be repeated.")
@click.option("--least", type=Share(), default="5%", show_default=True, help="Smaller differences do not count.")
@click.option("--alpha", type=Share(), default="1%", show_default=True, help="Share of false findings that is accepted.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="Only changes from then on (UTC) count; all runs enter.")
@click.option("--fail-on", type=click.Choice(list(FAIL_ON)), default="slower", show_default=True,
              help=FAIL_ON_HELP)
@click.option("--most", type=Whole(1, 10_000), default=10, show_default=True, help="Rows of the longer tables.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the page.")
@json_option
def history(
    store: Path, benchmark: str | None, labels: tuple[str, ...], contenders: tuple[str, ...], params: tuple[str, ...], least: float,
    alpha: float, since: datetime | None, fail_on: str, most: int, html: Path | None, json_file: str | None,
) -> None:
    """Say at which runs of a store figures became slower or faster, and what else changed there.

    A figure is the median of one contender on one case with one build; six runs or more tell of changes, and a change shows from
    its third run on. Exit status 1 when the last change of a figure is for the slower (see --fail-on); 0 otherwise.
    """  # fmt: skip
    from .find import Wanted, history as find, history_document
    from .text import show

    output = Output(json_file)
    moment = since.replace(tzinfo=UTC) if since else None
    wanted = Wanted(benchmark, tuple(parse_labels(labels).items()), contenders, tuple(map(_parameter, params)), least, alpha, moment)
    found = find(chosen((), store, output), wanted)
    show(found, output.console, most)
    if html:
        from .page import write

        write(found, store, html)
        output.console.print(str(html.resolve()), markup=False, soft_wrap=True)
    output.document(history_document(found, store))
    kinds = {"slower" if point.slower else "faster" for point in found.latest}
    raise SystemExit(WRONG_VALUE if kinds & set(FAIL_ON[fail_on]) else OK)


def _parameter(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise BadInput(f"--case {word}: give PARAMETER=VALUE, such as halo=1")
    return name.strip(), value.strip()
