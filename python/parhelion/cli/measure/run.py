"""From a bench command's options to its exit status."""

from __future__ import annotations

from pathlib import Path

from ...records import Record
from ..errors import BadInput
from ..output import Output
from .finish import exit_with, finish
from .measurement import (
    LAUNCHES,
    MIN_SAMPLE_S,
    QUICK_LAUNCHES,
    QUICK_MIN_SAMPLE_S,
    QUICK_REPETITIONS,
    REPETITIONS,
    Group,
    Measurement,
)
from .session import measure


def run(
    benchmark: str,
    groups: list[Group],
    contenders: tuple[str, ...],
    repetitions: int | None,
    launches: int | None,
    quick: bool,
    flavor: str | None,
    out: Path | None,
    seed: int,
    no_bind: bool,
    labels: tuple[str, ...],
    timeout: float,
    json_file: str | None,
    module: str | None = None,
) -> Record:
    """Measure the groups, print, write the document; leaves the process when the status is not 0."""
    output = Output(json_file)
    measurement = Measurement(
        benchmark,
        groups,
        repetitions=repetitions or (QUICK_REPETITIONS if quick else REPETITIONS),
        launches=launches or (QUICK_LAUNCHES if quick else LAUNCHES),
        min_sample_s=QUICK_MIN_SAMPLE_S if quick else MIN_SAMPLE_S,
        contenders=contenders,
        seed=seed,
        bind=not no_bind,
        flavor=flavor,
        out=out,
        timeout=timeout,
        labels=parse_labels(labels),
        module=module,
    )
    record = measure(measurement, output)
    exit_with(finish(record, output))
    return record


def parse_labels(labels: tuple[str, ...]) -> dict[str, str]:
    """`KEY=VALUE` words as a mapping."""
    pairs = [label.partition("=") for label in labels]
    for label, (key, equals, _) in zip(labels, pairs, strict=True):
        if not key.strip() or not equals:
            raise BadInput(f"--label {label}: give KEY=VALUE, such as image=v0.4")
    return {key.strip(): value.strip() for key, _, value in pairs}
