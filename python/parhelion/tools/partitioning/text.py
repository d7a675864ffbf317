"""Summaries as plain text for the terminal and for logs."""


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
        lines += ["", *_maps_lines(maps), *(f"  {form:<10} {path}" for form, path in maps["files"].items())]
    return "\n".join(lines)


def inspection_text(summary: dict) -> str:
    """What `inspect` returned, in a few lines."""
    return "\n".join([f"{summary['path']} ({summary['format']} format)", *_maps_lines(summary)])


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
