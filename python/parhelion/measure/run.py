"""From a bench command's options to its exit status; with `--against` two runs, and what `parhelion compare` says of them."""

from typing import Any

import click

from ..cli.errors import BadInput
from ..cli.options import MeasuringOptions
from ..show.terminal import Output
from .duet import NAMES, measure_pairs
from .measurement import Group, LAUNCHES, MIN_SAMPLE_S, Measurement, QUICK_LAUNCHES, QUICK_MIN_SAMPLE_S, QUICK_REPETITIONS, REPETITIONS, TIMEOUT_S
from .session import measure
from ..record.read import Record
from ..record.model import RecordError
from ..record.folder import parse_labels
from ..show.results import summary
from ..analyze.document import bench_document, exit_status
from .matrix import MATRIX_TIMEOUT_S, MatrixRequest, matrix_groups, write_matrix_report


def run(
    benchmark: str,
    groups: list[Group],
    options: MeasuringOptions,
    usual_repetitions: int = REPETITIONS,
    **special: Any,
) -> None:
    """Measure the groups, print, write the document; leaves the process when the status is not 0.

    With `--flavors` or `--networks`, every group is measured under each of its combinations. With `--against`, another build takes
    turns with this one, and the comparison decides about the status, too. `special`: what else this `Measurement` has.
    """
    output = Output(options.json_file)
    quick = options.quick
    asked = click.get_current_context().find_object(MatrixRequest)
    measurement = Measurement(
        benchmark,
        matrix_groups(groups, asked, options.flavor) if asked else groups,
        repetitions=options.repetitions or (QUICK_REPETITIONS if quick else usual_repetitions),
        precision=options.precision or 0.0,
        most_repetitions=options.most_repetitions,
        launches=options.launches or (QUICK_LAUNCHES if quick else LAUNCHES),
        contenders=options.contenders,
        seed=options.seed,
        bind=not options.no_bind,
        flavor=options.flavor,
        out=options.out,
        timeout=options.timeout or (MATRIX_TIMEOUT_S if asked else TIMEOUT_S),
        labels=parse_labels(options.labels),
        **{"min_sample_s": QUICK_MIN_SAMPLE_S if quick else MIN_SAMPLE_S, **special},
    )
    if options.against:
        if asked:
            raise BadInput(f"--against {options.against}: a matrix compares its combinations by itself; leave out one of both")
        raise SystemExit(run_pairs(measurement, options.against, output))
    record = measure(measurement, output)
    output.show(summary(record, output.fits))
    output.document(bench_document(record))
    if asked:
        write_matrix_report(record, asked, output)
    raise SystemExit(exit_status(record))


def run_pairs(measurement: Measurement, against: str, output: Output) -> int:
    """Measure both, print both, compare them; the document of `--json` is that of the comparison.

    Returns the exit status: what went wrong while measuring, else that of `compare`.
    """
    records = measure_pairs(measurement, against, output)
    for letter, record in zip(NAMES, records, strict=True):
        output.console.print(f"{letter}: {record.labels['image']}", markup=False, soft_wrap=True)
        output.show(summary(record, output.fits))
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
        context = click.get_current_context()
        compare = context.find_root().command.get_command(context, "compare")  # type: ignore[attr-defined]
        context.invoke(compare, a=first, b=second, json_file=output.json_file)
    except SystemExit as end:
        return int(end.code or 0)
    return 0
