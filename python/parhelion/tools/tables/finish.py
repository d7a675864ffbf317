"""The end of a bench command: table, document, exit status."""

import sys

from ..cli.errors import BAD_INPUT, OK, RANKS_FAILED, WRONG_VALUE
from ..cli.output import Output
from ..documents.document import bench_document, failed
from ..documents.results import PEER, results
from ..measuring.ranks import exit_text
from ..records import Record
from ..records.model import LEFT_OUT
from .published import has_published_form, print_applications, print_gather, print_ghosts, print_levels
from .table import print_results


def finish(record: Record, output: Output) -> int:
    """Print the results, write the document, and return the exit status."""
    show(record, output)
    output.document(bench_document(record))
    return exit_status(record)


def show(record: Record, output: Output) -> None:
    """Print the results, and what went wrong."""
    print_results(output.console, record, results(record.cases))
    if record.run.benchmark == "ghosts":
        print_ghosts(output.console, record)
    if record.run.benchmark == "apps":
        print_applications(output.console, record)
    if record.run.benchmark == "gather" and has_published_form(results(record.cases)):
        print_gather(output.console, record)
    print_levels(output.console, record)
    alike: dict[tuple[str, str | None], list[int]] = {}
    for end in failed(record):
        alike.setdefault((str(end.status), end.message), []).append(end.launch + 1)
    for (status, message), launches in alike.items():
        _explain(output, status, message, launches)


def exit_status(record: Record) -> int:
    """2 when the ranks refused their input, 3 when they failed otherwise, 1 when a value was wrong, else 0.

    Other libraries' wrong values are shown, but are no fault of what is measured here.
    """
    statuses = {str(end.status) for end in failed(record)}
    if exit_text(BAD_INPUT) in statuses:
        return BAD_INPUT
    if statuses:
        return RANKS_FAILED
    entries = [entry for case in results(record.cases) for entry in case.entries.values()]
    return WRONG_VALUE if any(entry.failed and entry.role != PEER for entry in entries) else OK


def _explain(output: Output, status: str, message: str | None, launches: list[int]) -> None:
    which = f"launch{'es' if len(launches) > 1 else ''} {', '.join(map(str, launches))}"
    kind = "[note]note[/]" if status.startswith(LEFT_OUT) else "[bad]Error[/]"
    output.errors.print(f"{kind}: ranks of {which}: {status}", soft_wrap=True)
    if message:
        output.errors.print(message, markup=False, soft_wrap=True)


def exit_with(status: int) -> None:
    """Leave with `status`, through click."""
    if status:
        sys.exit(status)
