"""What a data set holds, in numbers; and the summaries of `parhelion partition` and `inspect` for people."""

from pathlib import Path

import numpy as np
from scipy import sparse

from .dataset import read_index_maps
from .maps import IndexMaps


def describe(maps: IndexMaps) -> dict:
    """Sizes and connections of `maps`, ready for JSON. Local.

    `imbalance` is the largest block over the mean block. A rank's neighbors are those that it reads
    from or is read by; `one_way` counts pairs of which only one reads from the other.
    """
    ghosts = np.array([len(ids) for ids in maps.ghosts])
    reads = _reads(maps)
    pairs = (reads + reads.T).tocsr()
    one_way = int((reads != reads.T).nnz) // 2
    return {
        "entities": maps.entities,
        "ranks": maps.ranks,
        "size": maps.size,
        "owned": spread(maps.owned),
        "imbalance": imbalance(maps.owned),
        "ghosts": spread(ghosts) | {"total": int(ghosts.sum())},
        "neighbors": spread(np.diff(pairs.indptr)),
        "symmetric": one_way == 0,
        "one_way": one_way,
        "empty_ranks": int(np.count_nonzero(maps.owned == 0)),
    }


def inspect(path: str | Path, ranks: int | None = None) -> dict:
    """Read and check a data set, and `describe` it. Local.

    Raises IndexMapError when it is damaged or not for `ranks`.
    """
    maps = read_index_maps(path, ranks)
    return {"schema": "parhelion.index-maps/1", "path": str(path)} | describe(maps)


def spread(values: np.ndarray) -> dict:
    """Smallest, mean and largest of `values`."""
    return {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())}


def imbalance(owned: np.ndarray) -> float:
    """Largest block over mean block; 1 is perfect."""
    return float(owned.max() / owned.mean()) if owned.any() else 1.0


def _reads(maps: IndexMaps) -> sparse.csr_array:
    """Ranks × ranks, true where the row's rank reads ghosts from the column's."""
    sources = [maps.sources(rank)[0] for rank in range(maps.ranks)]
    columns = np.concatenate(sources)
    rows = np.repeat(np.arange(maps.ranks), [len(found) for found in sources])
    return sparse.csr_array((np.ones(len(columns), dtype=bool), (rows, columns)), shape=(maps.ranks,) * 2)


def partition_text(summary: dict) -> str:
    """What `partition_mesh` returned, in a few lines."""
    mesh = summary["mesh"]
    lines = [
        f"{mesh['name']}: {summary['cells']:,} cells ({_counts(mesh['cell_types'])}), {mesh['points']:,} points",
        f"{summary['parts']} parts by METIS: {summary['edge_cut']:,} faces cut, imbalance {summary['imbalance']:.3f}",
    ]
    if mesh["left_out"]:
        lines.append(f"left out, of lower dimension: {_counts(mesh['left_out'])}")
    for maps in summary["maps"]:
        lines += ["", *_maps_lines(maps), f"  {maps['path']}"]
    return "\n".join(lines)


def inspection_text(summary: dict) -> str:
    """What `inspect` returned, in a few lines."""
    return "\n".join([summary["path"], *_maps_lines(summary)])


def _maps_lines(maps: dict) -> list[str]:
    title = "ids" if maps["entities"] == "unknown" else maps["entities"]
    lines = [
        f"{maps['size']:,} {title} on {maps['ranks']} ranks, imbalance {maps['imbalance']:.3f}",
        f"  {'':<10} {'min':>12} {'mean':>14} {'max':>12}",
    ]
    lines += [_spread_line(name, maps[name]) for name in ("owned", "ghosts", "neighbors")]
    if not maps["symmetric"]:
        lines.append(f"  {maps['one_way']} pairs of ranks exchange in one direction only")
    if maps["empty_ranks"]:
        lines.append(f"  {maps['empty_ranks']} ranks own nothing")
    return lines


def _spread_line(name: str, spread: dict) -> str:
    return f"  {name:<10} {spread['min']:>12,} {spread['mean']:>14,.1f} {spread['max']:>12,}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
