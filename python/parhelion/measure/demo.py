"""`parhelion demo`: two short measurements, one table each, one report."""

from pathlib import Path

import click

from ..launch import usable_cores
from ..launch.remedies import need
from ..cli.options import RANKS, Whole, flavor_option, json_option
from ..show.terminal import Output
from .measurement import Group, Measurement, QUICK_LAUNCHES, QUICK_MIN_SAMPLE_S, QUICK_REPETITIONS
from ..record.read import Record
from ..record.folder import DEFAULT_STORE
from .halo import halo_group

HALO_WIDTHS, FIELDS = (1, 2, 5), (1, 8)
GATHERS = (("int32", 1), ("float64", 8))
CELLS = 200_000


@click.command()
@click.option("-n", "-np", "--ranks", type=RANKS, help="Ranks [one per usable core, at least 2].")
@flavor_option
@click.option("--mesh-cells", "cells", type=Whole(5_000, 50_000_000), default=CELLS, show_default=True, help="Cells of the mesh.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="FOLDER", help="Folder for what this writes [here].")
@json_option
def demo(ranks: int | None, flavor: str | None, cells: int, out: Path, json_file: str | None) -> None:
    """Measure the main job on this machine: halo exchange and gather on a mesh, beside hand-written MPI.

    Ends with a table and with report.html.
    """
    from ..analyze.document import bench_document, exit_status
    from .session import measure
    from ..show.results import summary

    need("matplotlib", "netgen", "pymetis")
    output = Output(json_file)
    count = ranks or max(2, usable_cores())
    say = output.console.print

    def measured(benchmark: str, group: Group) -> Record:
        short = Measurement(
            benchmark, [group], repetitions=QUICK_REPETITIONS, launches=QUICK_LAUNCHES, min_sample_s=QUICK_MIN_SAMPLE_S, flavor=flavor
        )
        record = measure(short, output)
        output.show(summary(record, output.fits))
        return record

    say(f"Parhelion on {count} ranks: each of them owns a block and keeps copies (ghosts) of what its neighbors own.")
    say("Every contender fills the same ghosts; every value is verified before a time counts.\n")
    halo = measured("halo", halo_group(count, halo=HALO_WIDTHS, fields=FIELDS))
    say()
    records = [halo, measured("gather", _gather_cases(count, cells, output))]
    files = _report(records, out, output)
    documents = [bench_document(record) for record in records]
    output.document({"schema": "parhelion.demo/1", "files": files, "runs": documents})
    raise SystemExit(max(exit_status(record) for record in records))


def _gather_cases(ranks: int, cells: int, output: Output) -> Group:
    from ..mesh.demo import demo_partition

    with output.errors.status("meshing a casting and partitioning it with METIS"):
        dataset = demo_partition(DEFAULT_STORE / "meshes", ranks, cells).resolve()
    return Group(ranks, [{"dataset": str(dataset), "element": kind, "components": each} for kind, each in GATHERS])


def _report(records: list[Record], out: Path, output: Output) -> dict[str, str]:
    from ..show.report import write_report

    html, markdown = (out / name for name in ("report.html", "report.md"))
    with output.errors.status("drawing the report"):
        write_report(records, html, markdown)
    output.console.print(f"\nreport: {html.resolve()}", markup=False, soft_wrap=True)
    return {"html": str(html.resolve()), "markdown": str(markdown.resolve())}
