"""`parhelion report`, `parhelion compare` and `parhelion runs history`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..errors import InputError, OK, WRONG_VALUE
from ..record.image import read_image
from ..record.model import RecordError
from ..record.profile import read_profile
from ..record.folder import parse_labels
from ..show.terminal import Output
from .options import IMAGE, PROFILE, RUN, FAIL_ON, Names, PanelCommand, Share, Whole, json_option, options_of, speedscope_option
from .runs import chosen, labeled_option, store_option

if TYPE_CHECKING:
    from ..analyze.comparison import RecordSet
    from ..analyze.statistics import Rules
    from ..show import Page

How = Mapping[str, Any]
KINDS = (RUN, IMAGE, PROFILE)
FAIL_ON_HOW: dict[str, Any] = {"type": click.Choice(list(FAIL_ON)), "default": "slower", "show_default": True, "help": "Which verdict gives exit status 1."}
RULES, OUTPUT = map(options_of, ("What counts as different", "Output"))


def _file(name: str, about: str, default: str | None = None) -> Any:
    return OUTPUT(name, type=click.Path(path_type=Path, dir_okay=False), default=default, show_default=bool(default), metavar="FILE", help=about)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=RUN, metavar="RUN...")
@_file("--html", "Write the page.", "report.html")
@_file("--markdown", "Write it in Markdown.", "report.md")
@_file("--figure", "Write the page's first figure as SVG.")
@click.option("--published", is_flag=True, help="Also show published figures of the same benchmark.")
@json_option
def report(runs: tuple[Path, ...], html: Path, markdown: Path, figure: Path | None, published: bool, json_file: str | None) -> None:
    """Write one self-contained HTML page and the same tables in Markdown from runs: names in `runs/`, or folders."""
    from ..show.report import write_report
    from ..analyze.document import bench_document
    from ..record.read import read_record

    output = Output(json_file)
    records = [read_record(run) for run in runs]
    output.paths(write_report(records, html, markdown, published, figure))
    files = {"html": str(html.resolve()), "markdown": str(markdown.resolve()), **({"figure": str(figure.resolve())} if figure else {})}
    output.document({"schema": "parhelion.report/1", "files": files, "runs": [bench_document(record) for record in records]})


class Compared(click.ParamType):
    """A run, software image or profile, by path, name or part of a name."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        if isinstance(value, Path):
            return value
        errors = []
        for kind in KINDS:
            try:
                return kind.convert(value, param, ctx)
            except RecordError as error:
                errors.append(str(error))
        raise RecordError(errors[0])

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        return [each for kind in KINDS for each in kind.shell_complete(ctx, param, incomplete)]


def _kind(path: Path) -> str:
    return next((kind.name for kind in KINDS if path.name == kind.file or (path / kind.file).exists()), RUN.name)


@click.command(cls=PanelCommand)
@click.argument("a", type=Compared())
@click.argument("b", type=Compared())
@RULES("--alpha", type=Share(), default="3%", show_default=True, help="Accepted false discovery rate.")
@RULES("--least", type=Share(), default="1%", show_default=True, help="Smaller differences do not count.")
@RULES("--margin", type=Share(), default="5%", show_default=True, help="Difference that 'no difference beyond the margin' excludes.")
@RULES("--drift", type=Share(), help="Tolerated drift of the machine between A and B [images: 3%; else none].")
@RULES("--fail-on", **FAIL_ON_HOW)
@click.option("--variants", type=Names(), default=(), help="Only these variants [all].")
@OUTPUT("--all", "show_all", is_flag=True, help="Show every case, not only those that changed.")
@OUTPUT("--most", type=Whole(1, 1000), default=12, show_default=True, help="Maximum number of rows in long tables.")
@speedscope_option
@_file("--html", "Write the page.")
@_file("--markdown", "Write it in Markdown.")
@json_option
def compare(a: Path, b: Path, json_file: str | None, **how: Any) -> None:
    """Compare B with A: runs, folders of runs whose launches count together, software images, or profiles.

    \b
    parhelion compare runs/before runs/after --markdown change.md
    parhelion compare images/v0.3 images/v0.4 --html page.html

    Ratios are B / A: above 1, B is slower.
    Ten launches per side detect a change of 5 % on an ordinary machine. For images, likely causes come first.
    Exit status 1 if B is slower (see --fail-on) or gave wrong values.
    """
    output, kind = Output(json_file), _kind(a)
    if kind != (other := _kind(b)):
        raise InputError(f"{a} is a {kind} and {b} a {other}: compare two of one kind")
    _refuse_unused(kind)
    compare_two = {RUN.name: _runs, IMAGE.name: _images, PROFILE.name: _profiles}[kind]
    raise SystemExit(compare_two(a, b, how, output))


RULED = ("alpha", "least", "margin", "drift")
UNUSED = {RUN.name: ("most", "speedscope"), IMAGE.name: ("variants", "show_all", "speedscope"), PROFILE.name: ("variants", "show_all", *RULED)}


def _refuse_unused(kind: str) -> None:
    context = click.get_current_context()
    for option in context.command.params:
        if option.name in UNUSED[kind] and context.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            raise InputError(f"{option.opts[-1]}: a comparison of two {kind}s does not use it: leave it out")


def _runs(a: Path, b: Path, how: How, output: Output) -> int:
    from ..analyze.comparison import compare
    from ..analyze.comparison import comparison_document
    from ..analyze.comparison import read_set
    from ..show.compare import comparison, comparison_page

    found = compare(_chosen(read_set(a), how), _chosen(read_set(b), how), _rules(how))
    output.show(comparison(found, how["show_all"]))
    _files(lambda: comparison_page(found), how, output)
    output.document(comparison_document(found))
    return WRONG_VALUE if _fails((row.verdict for row in found.rows), how) or found.failed["B"] else OK


def _images(a: Path, b: Path, how: How, output: Output) -> int:
    from ..analyze.images import compare_images, image_document
    from ..analyze.statistics import IMAGE_RULES
    from ..show.compare import images, images_page

    found = compare_images(read_image(a), read_image(b), _rules(how, IMAGE_RULES.drift))
    output.show(images(found, how["most"]))
    _files(lambda: images_page(found), how, output)
    output.document(image_document(found))
    return WRONG_VALUE if _fails((row.verdict for _, row in found.changed), how) or found.failed else OK


def _profiles(a: Path, b: Path, how: How, output: Output) -> int:
    """Compare shares of the time in two profiles; omit differences within the sampling error."""
    from ..analyze.profile import compare_profiles, comparison_document
    from ..show import Page
    from ..show.compare import profiles
    from .profile import write_stacks

    pair = read_profile(a), read_profile(b)
    found = compare_profiles(*pair)
    output.show(profiles(found, how["most"]))
    _files(lambda: Page(f"{pair[1].name} against {pair[0].name}", "two profiles", profiles(found, 1000)), how, output)
    if how["speedscope"]:
        output.paths(write_stacks(pair, how["speedscope"]))
    output.document(comparison_document(found))
    return WRONG_VALUE if how["fail_on"] == "different" and any(each.shown for each in found.parts) else OK


def _rules(how: How, drift: float = 0.0) -> Rules:
    from ..analyze.statistics import Rules

    return Rules(alpha=how["alpha"], least=how["least"], margin=how["margin"], drift=how["drift"] or drift)


def _fails(verdicts: Iterable[object], how: How) -> bool:
    return any(str(verdict) in FAIL_ON[how["fail_on"]] for verdict in verdicts)


def _chosen(records: RecordSet, how: How) -> RecordSet:
    if how["variants"]:
        for record in records.records:
            record.cases = [line for line in record.cases if line.variant in how["variants"]]
    return records


def _files(page: Callable[[], Page], how: How, output: Output) -> None:
    if how["html"] or how["markdown"]:
        from ..show.files import write

        output.paths(write(page(), how["html"], how["markdown"], RecordError))


@click.command()
@store_option
@click.option("--benchmark", help="Only runs of this benchmark.")
@labeled_option
@click.option("--variants", type=Names(), default=(), help="Only these variants [all].")
@click.option("--where", "params", multiple=True, metavar="PARAMETER=VALUE", help="Only cases with this parameter, such as halo=1; may be repeated.")
@click.option("--least", type=Share(), default="5%", show_default=True, help="Smaller differences do not count.")
@click.option("--alpha", type=Share(), default="1%", show_default=True, help="Accepted false discovery rate.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="Report only changes since this time (UTC); the analysis uses all runs.")
@click.option("--fail-on", **FAIL_ON_HOW)
@click.option("--most", type=Whole(1, 10_000), default=10, show_default=True, help="Maximum number of rows in long tables.")
@_file("--html", "Write the page.")
@json_option
def history(
    store: Path, benchmark: str | None, labels: tuple[str, ...], variants: tuple[str, ...], params: tuple[str, ...], least: float,
    alpha: float, since: datetime | None, fail_on: str, most: int, html: Path | None, json_file: str | None,
) -> None:
    """List the runs of a store at which figures became slower or faster, and what else changed there.

    A figure is the median of one variant on one case with one build. Detecting a change takes at least six runs, three of
    them after it. Exit status 1 if the last change of a figure is a slowdown (see --fail-on); 0 otherwise.
    """
    from ..show.compare import history as blocks, history_page
    from ..show.files import write
    from ..analyze.history import Wanted, history as find, history_document

    output = Output(json_file)
    moment = since.replace(tzinfo=UTC) if since else None
    wanted = Wanted(benchmark, tuple(parse_labels(labels).items()), variants, tuple(map(_parameter, params)), least, alpha, moment)
    found = find(chosen((), store, output), wanted)
    output.show(blocks(found, most))
    if html:
        output.paths(write(history_page(found, store), html, None, RecordError))
    output.document(history_document(found, store))
    kinds = {"slower" if point.slower else "faster" for point in found.latest}
    raise SystemExit(WRONG_VALUE if kinds & set(FAIL_ON[fail_on]) else OK)


def _parameter(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not name or not equals:
        raise InputError(f"--where {word}: give PARAMETER=VALUE, such as halo=1")
    return name.strip(), value.strip()
