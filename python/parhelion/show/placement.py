"""Placements, index maps, cost model and simulation as tables, pictures, and rank cubes in hwcart's published layout."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..place.case import Placed
from ..place.published import Check
from ..place.simulate import Cell
from ..placement import BetweenNodes, LandGrid, NodeMessages, Numbering, Placement, PlacementError, Score
from . import Block, Table, Text
from .plots import BLUE, GREY, PALETTE
from ..analyze.words import product

FORMATS = (".svg", ".png", ".pdf")
MOST_POINTS = 200_000
MOST_POINTS_PRINTED = 256
MOST_SLICES = 12
MOST_NUMBERS = 128


def placed_blocks(placed: Placed, wanted: str = "no") -> list[Block]:
    """Scores of all candidates, the placement last; notes; rank cubes if `wanted` (yes, no, auto or hwcart)."""
    placement, machine = placed.placement, placed.placement.machine
    nodes = f"on {machine.nodes} node{'s' * (machine.nodes != 1)}. Jsum/Jmax by level:"
    notes = [_between(placed.pairs), f"Machine: {machine.source}", *placed.notes]
    if not isinstance(placement, Placement):
        notes.append(f"It took {placed.seconds:.2f} s.")
        land = placed.case.land
        told = f"Process grid {product(land.grid)} with land: {machine.size} ranks" if land else f"{placed.case.graph}: {machine.size} parts"
        return [Text(f"{told} {nodes}"), _scores_table(placed), *map(Text, notes)]
    if wanted in ("yes", "hwcart") or (wanted == "auto" and machine.size <= MOST_POINTS_PRINTED):
        notes.append("\n" + layers(placement, placed.case.numbering, HWCART_NAMES if wanted == "hwcart" else None))
    return [Text(f"Process grid {product(placement.grid)}: {machine.size} ranks {nodes}"), _scores_table(placed), *map(Text, notes)]


def land_table(grids: Sequence[LandGrid]) -> Table:
    rows = [(product(each.grid), f"{each.wet.size:,}", f"{each.ranks:,}", f"{100 * each.dropped:.0f} %", f"{each.halo:,}") for each in grids]
    return Table(("Process grid", "Places", "Ranks", "Land without a rank", "Largest halo, cells"), rows)


def _scores_table(placed: Placed) -> Table:
    placement, levels = placed.placement, placed.placement.machine.levels
    (own, scores), *others = placed.scores.items()
    cells = {name: [_cell(found[level]) for level in levels] for name, found in others}
    last = [own if own != "automatic" else f"automatic ({placement.name})", *(_cell(scores[level]) for level in levels)]
    if not isinstance(placement, Placement):
        return Table(("", *levels), [(name, *row) for name, row in cells.items()], foot=[last])
    times = [] if placement.seconds is None else ["Predicted, µs"]
    rows = [(each.name, *cells.get(each.name, [each.reason, *[""] * (len(levels) - 1)]), *_microseconds(each.seconds, times))
            for each in placement.members if not placement.by_name]
    return Table(("", *levels, *times), rows, foot=[[*last, *_microseconds(placement.seconds, times)]])


def _microseconds(seconds: float | None, times: list[str]) -> list[str]:
    return ["" if seconds is None else f"{1e6 * seconds:.1f}" for _ in times]


def _cell(score: Score) -> str:
    edges = f"{score.jsum}/{score.jmax}"
    return edges if score.jsum == score.jsum_bytes else f"{edges} ({score.jsum_bytes}/{score.jmax_bytes} B)"


def _between(pairs: np.ndarray) -> str:
    found = BetweenNodes.of(pairs)
    return f"Between nodes: {_messages(found.pairwise)}; combined, each cell once, for {len(pairs):,} pairs of nodes: {_messages(found.aggregated)}"


def _messages(found: NodeMessages) -> str:
    told = f"{found.messages:,} messages" + ("" if found.bytes is None else f" and {found.bytes:,} bytes")
    most = f"{found.busiest_messages:,}" + ("" if found.busiest_bytes is None else f" and {found.busiest_bytes:,}")
    return f"{told} (of the busiest node {most})"


def partition_blocks(summary: dict[str, Any]) -> list[Block]:
    mesh = summary["mesh"]
    told = [
        f"{mesh['name']}: {summary['cells']:,} cells ({_counts(mesh['cell_types'])}), {mesh['points']:,} points",
        f"{summary['parts']} parts by METIS: {summary['edge_cut']:,} faces cut, imbalance {summary['imbalance']:.3f}",
        *([f"left out, of lower dimension: {_counts(mesh['left_out'])}"] if mesh["left_out"] else []),
    ]
    return [*map(Text, told), *(block for maps in summary["maps"] for block in inspection_blocks(maps))]


def inspection_blocks(maps: dict[str, Any]) -> list[Block]:
    title = "ids" if maps["entities"] == "unknown" else maps["entities"]
    found = {name: maps[name] for name in ("owned", "ghosts", "neighbors")}
    rows = [(name, f"{each['min']:,}", f"{each['mean']:,.1f}", f"{each['max']:,}") for name, each in found.items()]
    told = [f"{maps['one_way']} pairs of ranks exchange in one direction only"] * (not maps["symmetric"])
    told += [f"{maps['empty_ranks']} ranks own nothing"] * bool(maps["empty_ranks"])
    head = f"{maps['path']}: {maps['size']:,} {title} on {maps['ranks']} ranks, imbalance {maps['imbalance']:.3f}"
    return [Text(head), Table(("", "min", "mean", "max"), rows), *map(Text, told)]


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def check_blocks(check: Check) -> list[Block]:
    head = ("software", "rows fitted", "latency inside a node, µs", "latency between nodes, µs", "node, GB/s", "out of a NUMA domain, GB/s",
            "copying per NUMA domain, GB/s", "held-out rows", "median error", "worst")
    rows = []
    for name, made in check.fits.items():
        p, errors = made.parameters, np.abs(check.held_out(name))
        figures = [_figure(1e6 * p.latency_s.get(level, 0), 2) for level in ("core", "node")]
        figures += [_figure(p.bandwidth.get(level, 0) / 1e9) for level in ("node", "numa")]
        figures.append(_figure(0 if math.isinf(p.copy_bandwidth) else p.copy_bandwidth / 1e9))
        rows.append((name, str(len(made.errors)), *figures, str(errors.size), f"{100 * np.median(errors):.1f} %", f"{100 * errors.max():.0f} %"))
    held = np.abs(check.held_out())
    far = sorted((row for row in check.rows if abs(check.error(row)) > 0.25), key=lambda row: -abs(check.error(row)))
    off = [(*map(str, row.key), f"{1e3 * row.seconds:.3f}", f"{1e3 * check.predicted(row):.3f}", f"{100 * check.error(row):+.0f} %",
            "fit" if row.calibrates else "held out") for row in far]
    return [
        Table(head, rows),
        Text(f"{held.size} held-out rows, median error {100 * np.median(held):.1f} %, nine in ten within {100 * np.quantile(held, 0.9):.0f} %, "
             f"the worst {100 * held.max():.0f} % off"),
        Table(("placement", "ranks/node", "numbering", "software", "halo", "fields", "published, ms", "model, ms", "error", "used for"), off, 6,
              title=f"{len(far)} of {len(check.rows)} rows are more than 25 % off"),
    ]


def _figure(value: float, digits: int = 1) -> str:
    return f"{value:.{digits}f}" if value else "–"


def simulation_table(cells: Sequence[Cell]) -> Table:
    rows = []
    pairwise = {cell.key: cell for cell in cells if cell.transport == "mpi"}
    for c in cells:
        published, off, gain = "–", "–", "–"
        if c.published:
            ratios = c.published_speed_ups.values()
            published = f"{min(ratios):.2f} … {max(ratios):.2f}"
            off = f"×{min(map(c.off_by, c.published)):.2f} … ×{max(map(c.off_by, c.published)):.2f}"
        other = pairwise.get(c.key)
        if other and other is not c:
            gain = f"×{other.blocked_s / c.blocked_s:.2f}, ×{other.placed_s / c.placed_s:.2f}"
        rows.append((*map(str, c.key), c.transport, f"{1e3 * c.blocked_s:.3f}", f"{1e3 * c.placed_s:.3f}", f"×{c.speed_up:.2f}",
                     gain, published, off))
    head = ("ranks/node", "numbering", "halo", "fields", "transport", "blocked, ms", "placed, ms", "speed-up", "gain", "published", "off by")
    return Table(head, rows, 5)


def draw_speed_ups(cells: Sequence[Cell], path: str | Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.6 + 0.9 * len(cells), 4), layout="constrained")
    axis = figure.subplots()
    axis.bar(range(len(cells)), [cell.speed_up for cell in cells], width=0.6, color=BLUE, label="simulated")
    names = dict.fromkeys(name for cell in cells for name in cell.published)
    for marker, name in zip("osD^vP*", names, strict=False):
        points = {i: cell.published_speed_ups[name] for i, cell in enumerate(cells) if name in cell.published}
        axis.plot(list(points), list(points.values()), marker, label=f"published: {name}", color="none", markeredgecolor="black", markersize=6)
    axis.axhline(1, color=GREY, linewidth=0.8)
    labels = [f"{c.ranks_per_node}/node\n{c.numbering}\n{c.transport}\nhalo {c.halo}\nfields {c.fields}" for c in cells]
    axis.set_xticks(range(len(cells)), labels, fontsize=7)
    axis.set_ylabel("blocked order / placement")
    axis.legend(fontsize=7)
    figure.savefig(path, dpi=150)


def draw(placement: Placement, path: str | Path) -> str:
    """Draw all levels into an SVG, PNG or PDF file; raises `PlacementError`. Returns a note on omitted slices, or an empty string.

    A level is a row; slices of three or four dimensions stand side by side. Neighboring units differ in color where possible.
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    if Path(path).suffix not in FORMATS:
        raise PlacementError(f"{path}: give a picture's name one of the extensions {', '.join(FORMATS)}")
    grid = (*placement.grid, 1)[: max(2, len(placement.grid))]
    if math.prod(grid) > MOST_POINTS:
        raise PlacementError(f"{math.prod(grid)} points are too many for a drawing: draw at most {MOST_POINTS}")
    machine = placement.machine
    levels = [level for level in machine.levels if machine.units(level) > 1] or machine.levels[:1]
    slices = list(np.ndindex(*grid[2:]))
    shown = slices[:MOST_SLICES]
    width, height = (max(least, 2.6 * extent / max(grid[:2])) for least, extent in zip((0.9, 0.6), grid, strict=False))
    figure = Figure(figsize=(0.9 + width * len(shown), 0.7 + (height + 0.35) * len(levels)), layout="constrained")
    for row, level in zip(figure.subplots(len(levels), len(shown), squeeze=False), levels, strict=True):
        units = placement.units(level).reshape(grid)
        colours = _colours(units)[units]
        for axis, index in zip(row, shown, strict=True):
            here = (slice(None), slice(None), *index)
            axis.imshow(colours[here].T, origin="lower", cmap=ListedColormap(PALETTE), vmin=-0.5, vmax=len(PALETTE) - 0.5, interpolation="nearest")
            axis.set_xticks([])
            axis.set_yticks([])
            axis.set_title(", ".join(f"{name} = {i}" for name, i in zip("zt", index, strict=False)), fontsize=7)
            for unit in np.unique(units[here]) if machine.units(level) <= MOST_NUMBERS else ():
                axis.text(*np.argwhere(units[here] == unit).mean(axis=0), unit, ha="center", va="center", fontsize=6)
        score = placement.scores[level]
        row[0].set_ylabel(f"{level}\nJsum {score.jsum}\nJmax {score.jmax}", fontsize=7)
    figure.suptitle(f"{'x'.join(map(str, placement.grid))} on {machine.nodes} nodes", fontsize=9)
    figure.savefig(path, dpi=150)
    return "" if len(shown) == len(slices) else f"only the first {MOST_SLICES} of {len(slices)} slices are drawn"


def _colours(units: np.ndarray) -> np.ndarray:
    """Color units greedily: the next color in turn that the fewest neighbors have."""
    neighbors: list[set[int]] = [set() for _ in range(int(units.max()) + 1)]
    for axis in range(units.ndim):
        pairs = np.stack([np.take(units, range(1, units.shape[axis]), axis).ravel(),
                          np.take(units, range(units.shape[axis] - 1), axis).ravel()], 1)
        for a, b in np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).tolist():
            neighbors[a].add(b)
            neighbors[b].add(a)
    colours = np.full(len(neighbors), -1)
    for unit in dict.fromkeys(units.ravel().tolist()):
        taken = [int(colours[n]) for n in neighbors[unit] if colours[n] >= 0]
        in_turn = [(unit + step) % len(PALETTE) for step in range(len(PALETTE))]
        colours[unit] = min(in_turn, key=taken.count)
    return colours


AXES = """Z |    / Y
  |   /
  |  /
  | /
  |_______ X
"""
HWCART_NAMES = {
    "pu": "HWCART_MD_HWTHREAD", "core": "HWCART_MD_CORE", "l2": "HWCART_MD_L2CACHE", "l3": "HWCART_MD_L3CACHE",
    "numa": "HWCART_MD_NUMA", "pack": "HWCART_MD_SOCKET", "node": "HWCART_MD_NODE",
}


def cube(values: np.ndarray) -> str:
    """Format a grid of integers: x to the right, y to the back, z upwards; a fourth dimension as successive cubes.

    Three dimensions are slanted, with hwcart's column width (4, or 5 from 1000 points on); one or two are a plain table.
    """
    if values.ndim <= 2:
        return _table(values)
    if values.ndim == 4:
        return "\n".join(f"t = {t}\n\n{cube(values[..., t])}" for t in range(values.shape[3]))
    width = 4 if values.size < 1000 else 5
    return "\n".join(_plane(values[:, :, z], width) for z in reversed(range(values.shape[2])))


def layers(placement: Placement, numbering: str = "", names: dict[str, str] | None = None) -> str:
    """Format the units of all levels, innermost first, then the rank of each grid point.

    Units inside a node are numbered per node, as in hwcart's layout. `names` replaces level names in headings.
    """
    parts = []
    for index, level in enumerate(reversed(placement.machine.levels)):
        parts.append(f"Level {index} {(names or {}).get(level, level)}\n\n{cube(placement.units(level, True))}")
    ranks = Numbering(placement.grid, numbering).ranks()
    parts.append(f"Rank layout\n\n{cube(ranks)}")
    if len(placement.grid) >= 3:
        parts.append(AXES)
    return "\n".join(parts)


def _plane(values: np.ndarray, width: int) -> str:
    rows = []
    for y in reversed(range(values.shape[1])):
        rows.append(" " * (2 * y + 5) + "".join(f"{value:{width}d}" for value in values[:, y]))
    return "\n".join(rows) + "\n"


def _table(values: np.ndarray) -> str:
    grid = values.reshape(len(values), -1)
    width = len(str(grid.max()))
    rows = [" ".join(f"{value:{width}d}" for value in grid[:, y]) for y in reversed(range(grid.shape[1]))]
    return "\n".join(rows) + "\n"
