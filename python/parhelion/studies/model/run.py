"""What `parhelion model` does."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ...launch.disk import writing
from ...placement import Machine, place
from ...placement.parameters import read_parameters, write_parameters
from ...tools.cli.output import Output
from .traffic import Exchange, traffic
from .fit import Fit, fit_records
from .page import error, model_page
from .published import fit_published, published_rows


def run_published(output: Output, data: Path | None, markdown: Path | None, folder: Path | None) -> None:
    """Fit, check, print; write page and parameters."""
    rows = published_rows(data)
    fits = fit_published(rows)
    rows = [row for row in rows if row.seconds and row.software in fits]
    errors = {name: [error(r, fits) for r in rows if r.software == name and not r.calibrates] for name in fits}
    output.console.print(_errors_table(fits, errors))
    everywhere = np.abs([e for values in errors.values() for e in values])
    output.console.print(f"{everywhere.size} held-out rows, median error {100 * np.median(everywhere):.1f} %")
    if markdown:
        with writing(markdown):
            markdown.write_text(model_page(data))
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
    table = Table("µs per exchange", *parts)
    for part in dict.fromkeys(key for found in parts.values() for key in found):
        table.add_row(part, *(f"{1e6 * found[part]:.1f}" for found in parts.values()))
    table.add_section()
    table.add_row("total", *(f"{1e6 * sum(found.values()):.1f}" for found in parts.values()))
    output.console.print(table)
    output.document({"schema": "parhelion.model.prediction/1", "seconds": {n: sum(p.values()) for n, p in parts.items()},
                     "parts": parts, "machine": machine.topology})  # fmt: skip


def _errors_table(fits: dict[str, Fit], errors: dict[str, list[float]]) -> Table:
    table = Table("software", "rows fitted", "node, GB/s", "held-out rows", "median error", "worst")
    for name, made in fits.items():
        node = made.parameters.bandwidth.get("node", 0.0) / 1e9
        sizes = np.abs(errors[name])
        table.add_row(name, str(len(made.errors)), f"{node:.1f}" if node else "–", str(sizes.size),
                      f"{100 * np.median(sizes):.1f} %", f"{100 * sizes.max():.0f} %")  # fmt: skip
    return table


def _document(made: Fit, errors: Any) -> dict[str, Any]:
    figures = {key: value for key, value in asdict(made.parameters).items() if value != float("inf")}
    return {"parameters": figures, "fitted": len(made.errors), "errors": [float(e) for e in errors]}
