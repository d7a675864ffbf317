"""A measurement with `--against`: two runs, and what `parhelion compare` says of them."""

import click

from ..cli.output import Output
from ..comparing.command import compare
from ..measuring.duet import NAMES, measure_pairs
from ..measuring.measurement import Measurement
from ..records import Record, RecordError
from ..tables.finish import exit_status, show


def run_pairs(measurement: Measurement, against: str, output: Output) -> int:
    """Measure both, print both, compare them; the document of `--json` is that of the comparison.

    Returns the exit status: what went wrong while measuring, else that of `compare`.
    """
    records = measure_pairs(measurement, against, output)
    for letter, record in zip(NAMES, records, strict=True):
        output.console.print(f"{letter}: {record.labels['image']}", markup=False, soft_wrap=True)
        show(record, output)
    status = max(map(exit_status, records))
    try:
        compared = _compared(records, output)
    except RecordError as error:
        if not status:
            raise
        output.errors.print(str(error), markup=False, soft_wrap=True)  # ranks failed before anything could be compared
        return status
    return status or compared


def _compared(records: tuple[Record, Record], output: Output) -> int:
    """B against A, as the command says it with its usual options."""
    first, second = (record.path.parent for record in records)
    output.console.print(f"parhelion compare {first} {second}", style="dim", markup=False, soft_wrap=True)
    try:
        click.get_current_context().invoke(compare, a=first, b=second, json_file=output.json_file)
    except SystemExit as end:
        return int(end.code or 0)
    return 0
