"""What `parhelion place` does."""

from pathlib import Path
from typing import Any

import numpy as np

from ..launch import FlavorError, find_flavor
from ..launch.disk import writing
from ..launch.slurm import SPEAKS
from ..placement import GraphPlacement, Placement, Score
from ..placement.machine import parts_of_a_node
from ..show import Table
from ..cli.errors import BadInput
from ..show.output import Output
from ..show.words import product
from .graphs import between_text
from .document import placement_document
from ..show.placement import HWCART_NAMES, draw, layers
from .parts import PlacedParts, place_parts_of
from .rank_files import rank_file
from .request import find_placement, with_allocation

MOST_POINTS_PRINTED = 256


def run_place(output: Output, **options: Any) -> None:
    """Place, print, draw and write."""
    options = with_allocation(options)
    if options["graph"]:
        _run_graph(output, options["graph"], options)
        return
    placement = find_placement(options)
    show(output, placement, options)
    for path in options["picture"]:
        _draw(output, placement, path)
    for target in options["rank_files"]:
        _write_rank_file(output, placement, target, options)
    output.document(placement_document(placement, options["objective"]))


def _run_graph(output: Output, path: Path, options: dict[str, Any]) -> None:
    placed = place_parts_of(path, options)
    placement = placed.placement
    nodes = placement.machine.nodes
    output.console.print(f"{path}: {placement.machine.size} parts on {nodes} node{'s' * (nodes != 1)}. Jsum/Jmax by level:", markup=False)
    output.show([_graph_table(placed)])
    notes = [between_text(placed.node_pairs), f"Machine: {placement.machine.source}", placement.note, f"It took {placed.seconds:.2f} s."]
    for note in filter(None, notes):
        output.console.print(note, markup=False)
    for target in options["rank_files"]:
        _write_rank_file(output, placement, target, options)
    output.document(placed.document(path, options["objective"]))


def _graph_table(placed: PlacedParts) -> Table:
    levels = placed.placement.machine.levels
    rows = {"blocked": placed.blocked, f"automatic ({placed.placement.chosen})": placed.placement.scores}
    return Table(("", *levels), [(name, *(_cell(scores[level]) for level in levels)) for name, scores in rows.items()])


def show(output: Output, placement: Placement, options: dict[str, Any]) -> None:
    """Scores of everything that was tried, notes, and the layers."""
    grid = product(placement.grid)
    ranks, nodes = placement.machine.size, placement.machine.nodes
    output.console.print(f"Process grid {grid}: {ranks} ranks on {nodes} node{'s' * (nodes != 1)}. Jsum/Jmax by level:", markup=False)
    output.show([scores_table(placement)])
    notes = [between_text(placement.node_pairs()), f"Machine: {placement.machine.source}", _crowding(placement), placement.note,
             placement.moved_points and f"local search moved {placement.moved_points} grid points"]
    for note in filter(None, notes):
        output.console.print(note, markup=False)
    wanted = options["layers"]
    if wanted == "auto":
        wanted = "yes" if placement.machine.size <= MOST_POINTS_PRINTED else "no"
    if wanted != "no":
        names = HWCART_NAMES if wanted == "hwcart" else None
        output.console.print("\n" + layers(placement, options["numbering"], names), markup=False, soft_wrap=True)


def scores_table(placement: Placement) -> Table:
    """One row per member, the placement itself last."""
    levels = placement.machine.levels
    timed = ["Predicted, µs"] if placement.seconds is not None else []
    rows = [(member.name, *([member.reason, *[""] * (len(levels) - 1)] if member.reason else [_cell(member.scores[level]) for level in levels]),
             *(_microseconds(member.seconds) or [""] * len(timed))) for member in placement.members] if len(placement.members) > 1 else []  # fmt: skip
    own = placement.name if placement.by_name else f"automatic ({placement.name})"
    last = (own, *(_cell(placement.scores[level]) for level in levels), *_microseconds(placement.seconds))
    return Table(("", *levels, *timed), rows, foot=[last])


def _microseconds(seconds: float | None) -> list[str]:
    return [] if seconds is None else [f"{1e6 * seconds:.1f}"]


def _cell(score: Score) -> str:
    edges = f"{score.jsum}/{score.jmax}"
    return edges if score.jsum == score.jsum_bytes else f"{edges} ({score.jsum_bytes}/{score.jmax_bytes} B)"


def _crowding(placement: Placement) -> str:
    """Where ranks and the machine's smallest parts differ in number: some stay empty, or some hold several ranks."""
    machine = placement.machine
    level, parts = machine.levels[-1], parts_of_a_node(machine.topology) if ":" in machine.topology else 0
    most = int(np.bincount(placement.units("node").ravel()).max())
    if level == "node" or not parts or machine.topology.startswith("xml:") or most == parts:
        return ""
    if most > parts:
        return f"nodes hold up to {most} ranks on {parts} parts of level {level}: some hold several ranks"
    return f"nodes hold at most {most} ranks on {parts} parts of level {level}: some stay empty"


def _draw(output: Output, placement: Placement, path: Path) -> None:
    left_out = draw(placement, path)
    output.console.print(f"drawn in {path}" + (f" ({left_out})" if left_out else ""), markup=False)


def _write_rank_file(output: Output, placement: Placement | GraphPlacement, target: str, options: dict[str, Any]) -> None:
    kind, _, path = target.partition(":")
    if not path:
        raise BadInput(f"--rank-file {target}: write KIND:FILE, such as mpich:hosts.txt")
    made = rank_file(kind, placement, options["numbering"], options["hosts"])
    with writing(path):
        Path(path).write_text(made.text)
    output.console.print(f"{path}: start with  {made.start.format(file=path, mpi=_spoken())}", markup=False, soft_wrap=True)
    if made.note:
        output.console.print(f"  {made.note}", markup=False, soft_wrap=True)


def _spoken() -> str:
    """How srun speaks to the MPI of the build that is used where none is named."""
    try:
        return SPEAKS.get(find_flavor().kind, "pmi2")
    except FlavorError:
        return "pmi2"
