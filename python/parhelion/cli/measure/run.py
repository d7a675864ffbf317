"""From a bench command's options to its exit status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ...environment.variables import secret_labels
from ...records import Record
from ..errors import BadInput
from ..output import Output
from .finish import exit_with, finish
from .matrix import MATRIX_TIMEOUT_S, MatrixRequest, matrix_groups, write_matrix_report
from .measurement import (
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
from .session import measure


def run(
    benchmark: str,
    groups: list[Group],
    contenders: tuple[str, ...],
    repetitions: int | None,
    precision: float | None,
    most_repetitions: int,
    launches: int | None,
    quick: bool,
    flavor: str | None,
    out: Path | None,
    seed: int,
    no_bind: bool,
    labels: tuple[str, ...],
    timeout: float | None,
    json_file: str | None,
    *,
    module: str | None = None,
    usual_repetitions: int = REPETITIONS,
    min_sample_s: float | None = None,
    program_options: tuple[str, ...] = (),
    companions: tuple[Any, ...] = (),
) -> Record:
    """Measure the groups, print, write the document; leaves the process when the status is not 0.

    Inside `parhelion matrix`, every group is measured under each of its combinations.
    """
    output = Output(json_file)
    asked = click.get_current_context().find_object(MatrixRequest)
    measurement = Measurement(
        benchmark,
        matrix_groups(groups, asked, flavor) if asked else groups,
        repetitions=repetitions or (QUICK_REPETITIONS if quick else usual_repetitions),
        precision=precision or 0.0,
        most_repetitions=most_repetitions,
        launches=launches or (QUICK_LAUNCHES if quick else LAUNCHES),
        min_sample_s=(QUICK_MIN_SAMPLE_S if quick else MIN_SAMPLE_S) if min_sample_s is None else min_sample_s,
        contenders=contenders,
        seed=seed,
        bind=not no_bind,
        flavor=flavor,
        out=out,
        timeout=timeout or (MATRIX_TIMEOUT_S if asked else TIMEOUT_S),
        labels=parse_labels(labels),
        module=module,
        program_options=program_options,
        companions=companions,
    )
    record = measure(measurement, output)
    status = finish(record, output)
    if asked:
        write_matrix_report(record, asked, output)
    exit_with(status)
    return record


def parse_labels(labels: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    pairs = [label.partition("=") for label in labels]
    for label, (key, equals, _) in zip(labels, pairs, strict=True):
        if not key.strip() or not equals:
            raise BadInput(f"--label {label}: give KEY=VALUE, such as image=v0.4")
    told = {key.strip(): value.strip() for key, _, value in pairs}
    for key in secret_labels(told):
        raise BadInput(f"--label {key}=…: it looks like a secret, and labels are kept and shown; leave it out, or name it otherwise")
    return told
