"""From a bench command's options to its exit status."""

from typing import Any

import click

from ..cli.errors import BadInput
from ..cli.options import MeasuringOptions
from ..cli.output import Output
from ..measuring.measurement import (
    LAUNCHES,
    MIN_SAMPLE_S,
    QUICK_LAUNCHES,
    QUICK_MIN_SAMPLE_S,
    QUICK_REPETITIONS,
    REPETITIONS,
    TIMEOUT_S,
    Group,
    Measurement,
)
from ..measuring.session import measure
from ..records.store import parse_labels
from ..tables.finish import exit_with, finish
from .against import run_pairs
from .matrix.request import MATRIX_TIMEOUT_S, MatrixRequest, matrix_groups, write_matrix_report


def run(
    benchmark: str,
    groups: list[Group],
    options: MeasuringOptions,
    usual_repetitions: int = REPETITIONS,
    **special: Any,
) -> None:
    """Measure the groups, print, write the document; leaves the process when the status is not 0.

    Inside `parhelion matrix`, every group is measured under each of its combinations. With `--against`, another build takes
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
        exit_with(run_pairs(measurement, options.against, output))
        return
    record = measure(measurement, output)
    status = finish(record, output)
    if asked:
        write_matrix_report(record, asked, output)
    exit_with(status)
