"""What `parhelion model` does, and the page docs/model.md: the model, its figures, and prediction against publication for every row."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from ...launch.disk import writing
from ...placement import Machine, place
from ...placement.parameters import read_parameters, write_parameters
from ...tools.cli.output import Output
from .fit import Fit, fit_records
from .published import Row, fit_published, published_rows, row_traffic
from .traffic import Exchange, traffic

HEAD = """# The model against the published figures

This page is written by `parhelion model published --markdown docs/model.md`; run it again to check it.

## What the model says

The time of an exchange is a sum, because a rank packs, sends and unpacks one after another:

> time = Σ over levels (messages of a rank × latency)
>      + bytes that leave the busiest node / bandwidth of its network interface
>      + bytes that leave the busiest NUMA domain / bandwidth out of it
>      + bytes that the ranks of one NUMA domain send / bandwidth of copying

Bytes and messages follow from the placement and the exchange alone: they are counted over every grid point and
neighbor (`parhelion.studies.model.traffic`). All ranks of a node share its network interface, which is why placement matters.
Latency and bandwidth are fitted by non-negative least squares on relative errors (`parhelion.studies.model.fit`), for each
software on its own; the machine is the same for all.

## Messages between nodes collected

With `node_aware` the term of messages between nodes is that of the busiest node, latency × the messages that it sends, since they share its network interface, and its bytes
are those of the different cells that it sends ([placement](placement.md#between-nodes)). Inside nodes nothing changes: every value is copied twice, as by any
message, so that the term of copying remains. `parhelion model fit` takes cases of `node_aware` so, `model predict --algorithm node_aware` and
`place --parameters` use what it finds:

```
$ for n in 2:8 3:9 4:8; do for cells in 8 32 64; do
    parhelion hosts --hosts ${n%:*} parhelion bench halo --ranks ${n#*:} --extent $cells --halo 1,2 --fields 1,4 \\
      --contenders "shared+node_aware(mpi),mpi" --out runs/n${n%:*}-$cells
  done; done
$ parhelion model fit runs/n* --contender "shared+node_aware(mpi)" --file figures.json
$ parhelion place --grid 8x8x8 --nodes 8 --ranks-per-node 64 --neighbors full --extent 32x32x32 --parameters figures.json
```

So on two cores that did nothing else, MPICH, 8 samples, 36 cases of each: `shared+node_aware(mpi)` 0.14 ms per message of the busiest node, 0.63 GB/s out of a node and
18 GB/s of copying, median error 29 %; `mpi` 19 µs per message of a rank, 0.34 GB/s and no cost of copying, 36 %. All nodes share two cores, so that much of it is
the time that ranks wait for one: none of these figures is a default of anything; fit to runs of the machine in question.

## Which rows were used for what

**Fitted:** rows with 64 ranks a node, numbering XYZ, halo width 1 or 5 and 1 or 8 fields, in blocked order (`mpicart`)
and with hwcart's blocks. **Held out:** all others, that is every row with 128 ranks a node, every row numbered ZYX, and
halo widths 2 and 4 or 2 and 4 fields. The second published table repeats rows of the first; each counts once.
"""

FITS = """
## What was fitted

InfiniBand at 100 Gbit/s a node, as on that machine, moves at most 12.5 GB/s each way: the fitted figure of the node is
to be compared with that. A dash: the fitted rows show no cost of its own.

| Software | Rows fitted | Latency inside a node, µs | Latency between nodes, µs | Node, GB/s | Out of a NUMA domain, GB/s | Copying per NUMA domain, GB/s | Held-out rows | Median error | Worst |
|---|---|---|---|---|---|---|---|---|---|
"""

ROWS = """\
| Placement | Ranks/node | Numbering | Software | Halo | Fields | Published, ms | Model, ms | Error | Used for |
|---|---|---|---|---|---|---|---|---|---|
"""


def model_page(folder: str | None = None) -> str:
    """The whole page as Markdown."""
    rows = published_rows(folder)
    fits = fit_published(rows)
    shown = [row for row in rows if row.seconds and row.software in fits]
    held = [abs(error(row, fits)) for row in shown if not row.calibrates]
    missing = sum(row.seconds is None for row in rows)
    parts = [HEAD, FITS, *(_fit_line(name, made, shown, fits) for name, made in fits.items())]
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
    text = f"\n## What does not fit\n\n{len(far)} of {len(rows)} rows are more than 25 % off.\n"
    text += """
- GHEX with all 26 messages over MPI or UCX takes up to 1.8 times as long as predicted for wide halos with 8 fields, most
  of all with 128 ranks a node. Its time grows faster than the bytes, perhaps because buffers of megabytes per rank no
  longer fit the caches; the model knows no caches.
- `mpi_comm` under Intel MPI, hwcart, XYZ, halo 1, 1 field was published with 3.00 s, while ZYX took 1.81 s and 2 fields
  took 3.60 s: the row looks like an outlier. It is among the fitted ones and raises that software's latency.
- The numbering changes nothing in the model, and little in the figures. For `mpicart` the numbering was ignored: its XYZ
  and ZYX rows are repetitions and show the scatter of single runs, up to 15 %.

"""
    return text + ROWS + "".join(_row_line(row, fits) for row in far)


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
