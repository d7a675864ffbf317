"""`parhelion runs list`, `show`, `tag`, `import` and `export`, and helpers of all `runs` verbs."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ..errors import InputError
from ..show import Table, Text
from ..show.terminal import Output
from .options import RANKS, RUN, json_option, labels_option, out_option
from ..record.read import Record, read_record
from ..record.folder import DEFAULT_STORE
from ..record.folder import Stored, parse_labels, relabel, stored_runs
from ..record.export import FORMATS, TABLES
from ..show.trackers import TRACKERS, write_tracked

# Eager: RUN arguments are looked up in the store.
store_option = click.option("--store", is_eager=True, type=click.Path(path_type=Path), default=DEFAULT_STORE, show_default=True, metavar="FOLDER",
                            help="Folder of run folders.")
labeled_option = click.option("--labeled", "labels", multiple=True, metavar="KEY=VALUE", help="Only runs with this label; may be repeated.")


def chosen(runs: Sequence[Path], store: Path, output: Output) -> list[Record]:
    """Return the named runs, each once, by default every readable run of the store; report the unreadable ones."""
    if runs:
        return list({record.path.resolve(): record for record in map(read_record, runs)}.values())
    found = stored_runs(store)
    for each in found:
        if each.error:
            output.errors.print(f"left out: {each.error}", markup=False, soft_wrap=True)
    return [each.record for each in found if each.record]


@click.command()
@store_option
@click.option("--benchmark", help="Only runs of this benchmark.")
@labeled_option
@json_option
def list_runs(store: Path, benchmark: str | None, labels: tuple[str, ...], json_file: str | None) -> None:
    """List the runs in a store, the oldest first. Runs that cannot be read are named with the reason."""
    output = Output(json_file)
    wanted = parse_labels(labels)
    runs = [run for run in stored_runs(store) if _matches(run, benchmark, wanted)]
    shown = Table(("run", "benchmark", "launches", "lines", "labels", "notes"), list(map(_cells, runs)), 6)
    output.show([shown if runs else Text("no run matches")])
    output.document({"schema": "parhelion.runs/1", "store": str(store), "runs": [_object(run) for run in runs]})


def _matches(run: Stored, benchmark: str | None, labels: dict[str, str]) -> bool:
    if run.record is None:
        return not benchmark and not labels
    right = benchmark in (None, run.record.run.benchmark)
    return right and all(run.record.labels.get(name) == value for name, value in labels.items())


def _cells(run: Stored) -> tuple[str, ...]:
    record = run.record
    if record is None:
        return run.path.name, "–", "–", "–", "", run.error or ""
    labels = ", ".join(f"{name}={value}" for name, value in record.labels.items())
    return run.path.name, record.run.benchmark, str(len(record.launches)), str(len(record.cases)), labels, "; ".join(record.notes)


def _object(run: Stored) -> dict[str, object]:
    record = run.record
    if record is None:
        return {"path": str(run.path), "error": run.error}
    return {
        "path": str(run.path), "run": record.id, "benchmark": record.run.benchmark, "created": record.run.created,
        "labels": record.labels, "launches": len(record.launches), "lines": len(record.cases), "notes": record.notes,
    }


@click.command()
@click.argument("run", type=RUN)
@store_option
@click.option("--environment", is_flag=True, help="Also show the environment.")
@json_option
def show_run(run: Path, store: Path, environment: bool, json_file: str | None) -> None:
    """Show one run's table again. RUN is a folder, or a unique part of a name in the store."""
    from ..analyze.document import bench_document
    from ..record.model import flatten
    from ..show.results import summary

    output = Output(json_file)
    record = read_record(run)
    output.show(summary(record, output.fits))
    facts = {"label " + name: value for name, value in record.labels.items()}
    if environment:
        facts |= dict(flatten(record.run.environment))
    for name, value in facts.items():
        output.console.print(f"{name}: {value}", markup=False, soft_wrap=True)
    output.document(bench_document(record))


@click.command()
@click.argument("run", type=RUN)
@click.argument("labels", nargs=-1, metavar="KEY=VALUE...")
@click.option("--remove", multiple=True, metavar="KEY", help="Remove a label; may be repeated.")
@store_option
@json_option
def tag_run(run: Path, labels: tuple[str, ...], remove: tuple[str, ...], store: Path, json_file: str | None) -> None:
    """Give RUN labels, such as image=v0.4 reservation=full notes='after the upgrade'."""
    output = Output(json_file)
    changes: dict[str, str | None] = {**parse_labels(labels), **dict.fromkeys(remove)}
    record = relabel(run, changes)
    for name, value in record.labels.items():
        output.console.print(f"{name}={value}", markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.labels/1", "run": record.id, "labels": record.labels})


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [from the file].")
@out_option
@labels_option
@json_option
def import_runs(
    files: tuple[Path, ...], ranks: int | None, out: Path | None, labels: tuple[str, ...], json_file: str | None
) -> None:
    """Create a run from the output of OSU Micro-Benchmarks, IMB or Comb. Each FILE is one launch, so that
    several files of the same test can be compared with several others.
    """
    from ..analyze.document import bench_document
    from ..record.imported import import_files

    output = Output(json_file)
    record = import_files(files, out, parse_labels(labels), ranks, ["parhelion", *sys.argv[1:]])
    tests = len({line.name for line in record.cases})
    said = (
        f"{record.path.parent}: {len(record.cases)} figures of {tests} test{'s' if tests != 1 else ''} from {len(files)} file(s)"
    )
    output.console.print(said, markup=False, soft_wrap=True)
    output.document(bench_document(record))


@click.command()
@click.argument("runs", nargs=-1, type=RUN, metavar="[RUN]...")
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE", help="File to write.")
@click.option("--table", type=click.Choice(TABLES), help="Table of the store [samples].")
@click.option("--format", "form", type=click.Choice([*FORMATS, *TRACKERS]),
              help="Format of the file [by its extension]. Bencher, JUBE, OpenMetrics, Otava and Ramble take medians.")
@store_option
@json_option
def export_runs(runs: tuple[Path, ...], file: Path, table: str | None, form: str | None, store: Path, json_file: str | None) -> None:
    """Write a table of RUNS, or of the whole store: every sample, every case and launch, or every run.
    Or write the medians for a tool that tracks them over time.
    """
    from ..record.export import export

    output = Output(json_file)
    wanted = form or file.suffix.removeprefix(".")
    if form is None and wanted not in FORMATS:
        raise InputError(f"--file {file}: its extension names no format: use .{', .'.join(FORMATS)}, or give --format")
    if table and wanted in TRACKERS:
        raise InputError(f"--format {wanted} takes medians, not a table: leave --table out")
    records = chosen(runs, store, output)
    rows = write_tracked(records, wanted, file) if wanted in TRACKERS else export(records, table or "samples", wanted, file)
    output.console.print(f"{file}: {rows} rows", markup=False, soft_wrap=True)
    output.document({"schema": "parhelion.export/1", "file": str(file), "table": None if wanted in TRACKERS else table or "samples", "format": wanted, "rows": rows})
