"""Export of run medians to performance trackers and frameworks: Bencher, JUBE, OpenMetrics, Apache Otava, Ramble."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..base.files import write_whole
from ..record.model import RecordError
from ..record.read import Record
from ..analyze.results import CaseResult, text, usual_state, with_case
from ..analyze.statistics import Summary


class Figure(NamedTuple):
    """Summary of a variant without wrong values on a case, in seconds."""

    labels: dict[str, str]
    summary: Summary

    @property
    def name(self) -> str:
        return " ".join(value if name in ("benchmark", "case", "variant") else f"{name.removeprefix('param_')}={value}"
                        for name, value in self.labels.items() if name != "benchmark" or value != self.labels["case"])


def write_tracked(records: Sequence[Record], form: str, path: Path) -> int:
    """Write medians in a format of `TRACKERS`, for Otava with a .yaml configuration; returns their number, raises `RecordError`."""
    texts, count = TRACKERS[form](records, path)
    try:
        for file, content in texts.items():
            write_whole(file, content.encode())
    except OSError as error:
        raise RecordError(f"cannot write {path}: {error.strerror}") from None
    return count


def _figures(record: Record) -> Iterator[Figure]:
    for case, entry in with_case(usual_state(record)[1]):
        if entry.median is not None and entry.summary:
            params = {f"param_{name}": value for name, value in _params(case).items()}
            yield Figure({"benchmark": record.run.benchmark, "case": case.name, "variant": entry.variant} | params, entry.summary)


def _params(case: CaseResult) -> dict[str, str]:
    return {name: value if isinstance(value, str) else text(value) for name, value in case.params.items()}


def _bencher(records: Sequence[Record], path: Path) -> tuple[dict[Path, str], int]:
    """https://bencher.dev/docs/reference/bencher-metric-format: its measure `latency` is in nanoseconds."""
    if len(records) != 1:
        raise RecordError(f"a report to Bencher holds one run, not {len(records)}: name the run")
    report = {}
    for figure in _figures(records[0]):
        values = {"value": figure.summary.median, "lower_value": figure.summary.interval.low, "upper_value": figure.summary.interval.high}
        report[figure.name] = {"latency": {name: seconds * 1e9 for name, seconds in values.items() if seconds is not None}}
    return {path: _json(report)}, len(report)


def _jube(records: Sequence[Record], path: Path) -> tuple[dict[Path, str], int]:
    """http://www.fz-juelich.de/jsc/jube: a result table in style csv, which quotes nothing; units are in brackets."""
    figures = [({"run": record.id} | figure.labels, figure.summary) for record in records for figure in _figures(record)]
    names = list(dict.fromkeys(name for labels, _ in figures for name in labels))
    table = [[*(name.removeprefix("param_") for name in names), "median[s]", "low[s]", "high[s]"]]
    for labels, summary in figures:
        seconds = (summary.median, summary.interval.low, summary.interval.high)
        table.append([*(labels.get(name, "") for name in names), *("" if value is None else repr(value) for value in seconds)])
    return {path: "".join(",".join(re.sub(r"[,\s]+", " ", cell) for cell in row) + "\n" for row in table)}, len(figures)


def _ramble(records: Sequence[Record], path: Path) -> tuple[dict[Path, str], int]:
    """https://ramble.readthedocs.io, also of Benchpark: what `ramble workspace analyze --formats json` writes, for `ramble results`.
    An experiment per run and case, a context per variant.
    """
    if path.suffix != ".json":
        raise RecordError(f"{path}: Ramble reads results from .json files: name it so")
    experiments, count = [], 0
    for record in records:
        for number, case in enumerate(usual_state(record)[1]):
            contexts = [_context(entry.variant, entry.summary) for entry in case.entries.values() if entry.median is not None and entry.summary]
            status, names = "FAILED" if any(entry.failed for entry in case.entries.values()) else "SUCCESS", ("parhelion", record.run.benchmark)
            ranks, name = case.params.get("ranks", 1), f"{record.id}_{number}"
            nodes = next((len(set(map(str, each.hosts))) for each in record.launches if each.ranks == ranks and each.hosts), 1)
            sizes = {"n_ranks": ranks, "n_nodes": nodes, "processes_per_node": -(-ranks // nodes), "n_threads": 1}
            experiments.append({
                "name": ".".join((*names, name)), "RAMBLE_STATUS": status, "EXPERIMENT_STATUS": status, "N_REPEATS": 0,
                "application_name": names[0], "workload_name": names[1], "experiment_name": name, "simplified_workload_namespace": "_".join(names),
                **{key: str(value) for key, value in sizes.items()},
                "RAMBLE_VARIABLES": {"workspace_name": record.id, "repeat_index": "0", "case": case.name} | _params(case),
                "RAMBLE_RAW_VARIABLES": {}, "CONTEXTS": contexts, "SOFTWARE": {}, "TAGS": [],
            })
            count += len(contexts)
    return {path: _json({"workspace_name": path.stem, "workspace_hash": " ".join(record.id for record in records), "experiments": experiments})}, count


def _context(variant: str, summary: Summary) -> dict[str, Any]:
    seconds = {"median": summary.median, "low": summary.interval.low, "high": summary.interval.high}
    foms = [{"name": name, "value": value, "units": "s", "origin": "parhelion", "origin_type": "application",
             "fom_type": {"name": "TIME", "better_direction": "LOWER"}} for name, value in seconds.items() if value is not None]
    return {"name": variant, "display_name": variant, "foms": foms}


def _openmetrics(records: Sequence[Record], path: Path) -> tuple[dict[Path, str], int]:
    """https://prometheus.io/docs/specs/om/open_metrics_spec, version 1.0: gauges for the median and the ends of its interval."""
    runs = [record.id for record in records]
    if twice := sorted({run for run in runs if runs.count(run) > 1}):
        raise RecordError(f"several of the runs have the id {', '.join(twice)}, and a series has one value: name one of them")
    figures = [(record, figure) for record in records for figure in _figures(record)]
    lines = []
    for name, what in (("median", "Median time"), ("low", "Lower end of the 95 % interval of the median time"),
                       ("high", "Upper end of the 95 % interval of the median time")):
        family = f"parhelion_{name}_seconds"
        lines += [f"# TYPE {family} gauge", f"# UNIT {family} seconds", f"# HELP {family} {what}."]
        for record, figure in figures:
            value = figure.summary.median if name == "median" else getattr(figure.summary.interval, name)
            if value is not None:
                labels = ",".join(_label(*label) for label in ({"run": record.id} | figure.labels).items())
                lines.append(f"{family}{{{labels}}} {value!r}")
    return {path: "\n".join([*lines, "# EOF"]) + "\n"}, len(figures)


def _label(name: str, value: str) -> str:
    escaped = value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
    return f'{re.sub("[^a-zA-Z0-9_]", "_", name)}="{escaped}"'


def _otava(records: Sequence[Record], path: Path) -> tuple[dict[Path, str], int]:
    """https://github.com/apache/otava: a row per run; Otava rejects empty cells, so only timings of all runs are written."""
    rows = []
    for record in records:
        try:
            rows.append((datetime.fromisoformat(record.run.created), record.id, {figure.name: figure.summary.median for figure in _figures(record)}))
        except ValueError:
            fault = f"{record.path}: its time of creation is {record.run.created!r}"
            raise RecordError(f"{fault}: Otava needs one, such as 2026-01-31T12:00:00+00:00") from None
    rows.sort(key=lambda row: (row[0].timestamp(), row[1]))
    names = [name for name in (rows[0][2] if rows else ()) if all(name in figures for *_, figures in rows)]
    if not names:
        raise RecordError("the runs have no verified figure in common: name runs of the same cases")
    file = io.StringIO()
    table = [[time.isoformat(), run, *(figures[name] for name in names)] for time, run, figures in rows]
    csv.writer(file, lineterminator="\n").writerows([["time", "run", *names], *table])
    metrics = {name: {"column": name, "direction": -1} for name in names}
    test = {"type": "csv", "file": str(path), "time_column": "time", "attributes": ["run"], "metrics": metrics}
    settings = path.with_suffix(".yaml")
    if settings == path:
        raise RecordError(f"{path} would be overwritten by the configuration: end its name in .csv")
    return {path: file.getvalue(), settings: _json({"tests": {"parhelion": test}})}, len(names) * len(rows)


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode() + "\n"


Tracker = Callable[[Sequence[Record], Path], tuple[dict[Path, str], int]]
TRACKERS: dict[str, Tracker] = {"bencher": _bencher, "jube": _jube, "openmetrics": _openmetrics, "otava": _otava, "ramble": _ramble}
