"""What `parhelion model` does, and the tables of docs/model.md: figures of the model, and prediction against publication for every row."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..launch.disk import writing
from ..placement import Machine, place
from ..placement.parameters import read_parameters, write_parameters
from ..show import Table
from ..show.output import Output
from .fit import Fit, fit_records
from .model_published import Row, fit_published, published_rows, row_traffic
from .traffic import Exchange, traffic

FITS = """## What was fitted

InfiniBand at 100 Gbit/s a node, as on that machine, moves at most 12.5 GB/s each way: the fitted figure of the node is
to be compared with that. A dash: the fitted rows show no cost of its own.

| Software | Rows fitted | Latency inside a node, µs | Latency between nodes, µs | Node, GB/s | Out of a NUMA domain, GB/s | Copying per NUMA domain, GB/s | Held-out rows | Median error | Worst |
|---|---|---|---|---|---|---|---|---|---|
"""

ROWS = """\
| Placement | Ranks/node | Numbering | Software | Halo | Fields | Published, ms | Model, ms | Error | Used for |
|---|---|---|---|---|---|---|---|---|---|
"""


def model_tables(folder: str | Path | None = None) -> str:
    """Fits, errors and every row as Markdown: what stands below the words of docs/model.md."""
    rows = published_rows(folder)
    fits = fit_published(rows)
    shown = [row for row in rows if row.seconds and row.software in fits]
    held = [abs(error(row, fits)) for row in shown if not row.calibrates]
    missing = sum(row.seconds is None for row in rows)
    parts = [FITS, *(_fit_line(name, made, shown, fits) for name, made in fits.items())]
    parts.append(
        f"\nOver all {len(held)} held-out rows the median error is **{100 * np.median(held):.1f} %**, "
        f"nine in ten are within {100 * np.quantile(held, 0.9):.0f} %, the worst is {100 * max(held):.0f} % off. "
        f"{missing} rows have no published figure (GHEX did not start under Intel MPI).\n"
    )
    parts += [_does_not_fit(shown, fits), _speed_ups(shown, fits), _all_rows(shown, fits)]
    return "".join(parts)


def error(row: Row, fits: dict[str, Fit]) -> float:
    """Relative error of the prediction."""
    return predicted(row, fits) / row.seconds - 1


def predicted(row: Row, fits: dict[str, Fit]) -> float:
    """Seconds per exchange by the model."""
    return fits[row.software].parameters.predict(row_traffic(row))


def _fit_line(name: str, made: Fit, rows: Iterable[Row], fits: dict[str, Fit]) -> str:
    held = [abs(error(row, fits)) for row in rows if row.software == name and not row.calibrates]
    p = made.parameters
    cells = [
        name, len(made.errors), _figure(p.latency_s.get("core", 0) * 1e6, 2), _figure(p.latency_s.get("node", 0) * 1e6, 2),
        _figure(p.bandwidth.get("node", 0) / 1e9), _figure(p.bandwidth.get("numa", 0) / 1e9),
        _figure(0 if math.isinf(p.copy_bandwidth) else p.copy_bandwidth / 1e9), len(held),
        f"{100 * np.median(held):.1f} %", f"{100 * max(held):.0f} %",
    ]  # fmt: skip
    return _line(cells)


def _figure(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}" if value else "–"


def _does_not_fit(rows: list[Row], fits: dict[str, Fit]) -> str:
    far = sorted((row for row in rows if abs(error(row, fits)) > 0.25), key=lambda row: -abs(error(row, fits)))
    return f"\n## Rows that are more than 25 % off\n\n{len(far)} of {len(rows)} rows.\n\n" + ROWS + "".join(_row_line(row, fits) for row in far)


def _speed_ups(rows: list[Row], fits: dict[str, Fit]) -> str:
    """Blocked over placed, where both were published."""
    text = "\n## What placement is worth\n\nTime in blocked order over time with hwcart's blocks.\n\n"
    text += "| Ranks/node | Numbering | Software | Halo | Fields | Published | Model |\n|---|---|---|---|---|---|---|\n"
    by_key = {(r.placement, r.ranks_per_node, r.numbering, r.software, r.halo, r.fields): r for r in rows}
    for row in rows:
        key = (row.ranks_per_node, row.numbering, row.software, row.halo, row.fields)
        placed = by_key.get(("hwcart", *key))
        if row.placement == "mpicart" and placed:
            model = predicted(row, fits) / predicted(placed, fits)
            cells = [*key, f"{row.seconds / placed.seconds:.2f}", f"{model:.2f}"]
            text += _line(cells)
    return text


def _all_rows(rows: list[Row], fits: dict[str, Fit]) -> str:
    ordered = sorted(rows, key=lambda r: (r.software, r.placement, r.ranks_per_node, r.numbering, r.halo, r.fields))
    return "\n## Every row\n\n" + ROWS + "".join(_row_line(row, fits) for row in ordered)


def _row_line(row: Row, fits: dict[str, Fit]) -> str:
    cells = [
        row.placement, row.ranks_per_node, row.numbering, row.software, row.halo, row.fields, f"{1e3 * row.seconds:.3f}",
        f"{1e3 * predicted(row, fits):.3f}", f"{100 * error(row, fits):+.0f} %", "fit" if row.calibrates else "held out",
    ]  # fmt: skip
    return _line(cells)


def _line(cells: Iterable[object]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |\n"


def run_published(output: Output, data: Path | None, markdown: Path | None, folder: Path | None) -> None:
    """Fit, check, print; write page and parameters."""
    rows = published_rows(data)
    fits = fit_published(rows)
    rows = [row for row in rows if row.seconds and row.software in fits]
    errors = {name: [error(r, fits) for r in rows if r.software == name and not r.calibrates] for name in fits}
    output.show([_errors_table(fits, errors)])
    everywhere = np.abs([e for values in errors.values() for e in values])
    output.console.print(f"{everywhere.size} held-out rows, median error {100 * np.median(everywhere):.1f} %")
    if markdown:
        words = markdown.read_text().partition(FITS[: FITS.index("\n")])[0] if markdown.is_file() else ""
        with writing(markdown):
            markdown.write_text(words + model_tables(data))
        output.console.print(f"written: {markdown}", markup=False)
    for name, made in fits.items() if folder else ():
        folder.mkdir(parents=True, exist_ok=True)
        write_parameters(made.parameters, folder / f"{name.replace(' ', '-')}.json", "published Betzy rows")
    output.document({"schema": "parhelion.model.check/1", "held_out_median": float(np.median(everywhere)),
                     "software": {name: _document(made, errors[name]) for name, made in fits.items()}})  # fmt: skip


def run_fit(output: Output, runs: list[Path], contender: str, out: Path) -> None:
    """Fit to records and write the parameters."""
    made = fit_records(runs, contender)
    write_parameters(made.parameters, out, f"fitted to {', '.join(map(str, runs))}")
    spread = 100 * np.median(np.abs(made.errors))
    output.console.print(f"{out}: {len(made.errors)} cases, median error {spread:.1f} %", markup=False)
    output.document({"schema": "parhelion.model.fit/1", **_document(made, made.errors)})


def run_predict(output: Output, **options: Any) -> None:
    """Blocked order against the automatic placement, part by part."""
    parameters = read_parameters(options["parameters"])
    ranks = options["ranks_per_node"]
    machine = Machine(options["topology"], None, ranks[0] if ranks and len(ranks) == 1 else ranks)
    exchange = Exchange(options["extent"], options["halo"], options["fields"], options["bytes_per_field"],
                        options["algorithm"])  # fmt: skip
    parts = {}
    by_time = parameters if exchange.algorithm == "node_aware" else None
    for name, method in (("blocked", "blocked"), ("placed", "")):
        periodic = options["periodic"]
        placement = place(options["grid"], machine, exchange.stencil() if by_time else "full", periodic, method=method, parameters=by_time)
        parts[name] = parameters.parts(traffic(placement, exchange, periodic))
    keys = dict.fromkeys(key for found in parts.values() for key in found)
    rows = [(part, *(f"{1e6 * found[part]:.1f}" for found in parts.values())) for part in keys]
    total = ("total", *(f"{1e6 * sum(found.values()):.1f}" for found in parts.values()))
    output.show([Table(("µs per exchange", *parts), rows, foot=[total])])
    output.document({"schema": "parhelion.model.prediction/1", "seconds": {n: sum(p.values()) for n, p in parts.items()},
                     "parts": parts, "machine": machine.topology})  # fmt: skip


def _errors_table(fits: dict[str, Fit], errors: dict[str, list[float]]) -> Table:
    rows = []
    for name, made in fits.items():
        node, sizes = made.parameters.bandwidth.get("node", 0.0) / 1e9, np.abs(errors[name])
        rows.append((name, str(len(made.errors)), f"{node:.1f}" if node else "–", str(sizes.size), f"{100 * np.median(sizes):.1f} %", f"{100 * sizes.max():.0f} %"))
    return Table(("software", "rows fitted", "node, GB/s", "held-out rows", "median error", "worst"), rows)


def _document(made: Fit, errors: Any) -> dict[str, Any]:
    figures = {key: value for key, value in asdict(made.parameters).items() if value != float("inf")}
    return {"parameters": figures, "fitted": len(made.errors), "errors": [float(e) for e in errors]}
