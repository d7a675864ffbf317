"""From the options of `parhelion place`, and what a job's allocation says of the machine, to a placement."""

import math
import os
from collections.abc import Mapping
from typing import Any

from ..base.numbers import shortened, whole_number
from ..launch.schedulers import given
from ..placement import Machine, Placement, Stencil, choose_grid, place, place_by_hand, read_parameters
from ..cli.errors import BadInput
from ..cli.options import MOST_PLACED_RANKS, Periodic

Blocks = dict[str, tuple[int, ...]]
NODE_NAMES = ("node", "machine", "host")
OUTERMOST_FIRST = ("pack", "package", "socket", "numa", "numanode", "die", "l3", "l3cache", "l2", "l2cache", "core",
                   "pu", "thread", "hwthread")  # fmt: skip


def find_placement(options: dict[str, Any]) -> Placement:
    """The placement that the options ask for."""
    if options["blocks"]:
        return _by_hand(parse_blocks(options["blocks"]), options)
    if bool(options["grid"]) == bool(options["cells"]):
        raise BadInput("give the process grid with --grid, or global cells with --cells: one of the two")
    ranks = math.prod(options["grid"] or ())
    if ranks > MOST_PLACED_RANKS:
        raise BadInput(f"--grid makes {ranks} ranks: at most {MOST_PLACED_RANKS} can be placed")
    machine = find_machine(options)
    if options["cells"]:
        grid, stencil = _chosen_grid(machine, options)
    else:
        grid = options["grid"]
        stencil = find_stencil(len(grid), options)
    periodic = find_periodic(len(grid), options)
    parameters = options["parameters"] and read_parameters(options["parameters"])
    return place(grid, machine, stencil, periodic, options["objective"], not options["no_refine"], options["method"], parameters)


def find_machine(options: dict[str, Any], blocks: Blocks | None = None) -> Machine:
    """The machine from --topology, --nodes and --ranks-per-node; what they leave open follows from grid or blocks."""
    ranks = options["ranks_per_node"]
    nodes = options["nodes"] or (len(ranks) if ranks and len(ranks) > 1 else None) or _nodes_of(blocks)
    topology = options["topology"]
    if not topology and not nodes:
        raise BadInput("the machine is not described: give --nodes and --ranks-per-node, or --topology")
    if not topology:
        topology = f"node:{nodes} {_levels_of(blocks or {})}".strip()
    elif topology == "here" or topology.startswith("xml:"):
        nodes = nodes or _nodes_that_hold(options, ranks)
    elif not _counts_nodes(topology):
        topology = f"node:{nodes or 1} {topology}"
    if ranks is None:
        ranks = _ranks_per_node(options, blocks, nodes if ":" not in topology.partition(" ")[2] else None)
    return Machine(topology, nodes, ranks[0] if ranks and len(ranks) == 1 else ranks, options["binding"])


def _nodes_of(blocks: Blocks | None) -> int | None:
    """As many as the blocks of the nodes' level are; one where blocks tell nothing of nodes."""
    return math.prod(next((extents for name, extents in blocks.items() if name in NODE_NAMES), ())) if blocks else None


def _nodes_that_hold(options: dict[str, Any], ranks: tuple[int, ...] | None) -> int:
    """As many nodes as the grid needs with so many ranks on each; one where that is not known."""
    points = math.prod(options["grid"] or ())
    return points // ranks[0] if ranks and points > ranks[0] and points % ranks[0] == 0 else 1


def find_stencil(dimensions: int, options: dict[str, Any]) -> Stencil:
    """The stencil with its weights."""
    stencil = Stencil.parse(options["offsets"] or options["neighbors"], dimensions)
    if options["weights"] and options["extent"]:
        raise BadInput("give --weights or --extent, not both")
    if options["weights"]:
        return stencil.with_weights(options["weights"])
    if options["extent"]:
        return stencil.with_halo(options["extent"], options["halo"], options["bytes_per_cell"])
    return stencil


def find_periodic(dimensions: int, options: dict[str, Any]) -> list[bool]:
    """One entry per dimension."""
    return Periodic.along(options["periodic"], dimensions)


def parse_blocks(text: str) -> Blocks:
    """``node:3x3x3 socket:1x1x2`` → {"node": (3, 3, 3), "socket": (1, 1, 2)}."""
    blocks = {}
    for token in text.replace(";", " ").split():
        level, _, extents = token.partition(":")
        parts = extents.lower().replace(",", "x").split("x")
        if level in blocks:
            raise BadInput(f"--blocks names the level {level} twice")
        try:
            blocks[level] = tuple(whole_number(part, 1, MOST_PLACED_RANKS) for part in parts)
        except ValueError as error:
            raise BadInput(f"--blocks {shortened(token)}: write level:AxBxC, such as node:3x3x3: {error}") from None
    if not blocks:
        raise BadInput("--blocks is empty: write level:AxBxC for every level, such as 'node:3x3x3 core:4x4x4'")
    return blocks


def _by_hand(blocks: Blocks, options: dict[str, Any]) -> Placement:
    if options["grid"] or options["cells"] or options["parameters"]:
        raise BadInput("--blocks gives the process grid and the placement: leave out --grid, --cells and --parameters")
    dimensions = len(next(iter(blocks.values())))
    machine = find_machine(options, blocks)
    stencil = find_stencil(dimensions, options)
    return place_by_hand(machine, blocks, options["numbering"], stencil, find_periodic(dimensions, options))


def _levels_of(blocks: Blocks) -> str:
    """Without a topology the machine has just the levels that blocks are given for."""
    inner = [name for name in blocks if name.lower() in OUTERMOST_FIRST]
    inner.sort(key=lambda name: OUTERMOST_FIRST.index(name.lower()))
    return " ".join(f"{name}:{math.prod(blocks[name])}" for name in inner)


def _chosen_grid(machine: Machine, options: dict[str, Any]) -> tuple[tuple[int, ...], Stencil]:
    cells = options["cells"]
    stencil = Stencil.parse(options["offsets"] or options["neighbors"], len(cells))
    periodic = find_periodic(len(cells), options)
    return choose_grid(machine, cells, stencil, options["halo"], options["bytes_per_cell"], periodic, options["objective"])


def _ranks_per_node(options: dict[str, Any], blocks: Blocks | None, bare_nodes: int | None) -> tuple[int, ...] | None:
    """What the blocks inside a node hold; or the grid's ranks dealt evenly, where nodes are all that is known."""
    if blocks:
        return (math.prod(math.prod(extent) for name, extent in blocks.items() if name not in NODE_NAMES),)
    if not (bare_nodes and options["grid"]):
        return None
    ranks = math.prod(options["grid"])
    if ranks % bare_nodes:
        raise BadInput(f"{ranks} ranks do not divide evenly over {bare_nodes} nodes: give --ranks-per-node for each")
    return (ranks // bare_nodes,)


def with_allocation(options: dict[str, Any], env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The options with the number of nodes and their names from Slurm, PBS or LSF.

    Names are taken where there are as many nodes as the options say; options that describe another machine are left as they are.
    """
    hosts = given(os.environ if env is None else env).hosts
    told = options["nodes"] or options["blocks"] or len(options["ranks_per_node"] or ()) > 1 or _counts_nodes(options["topology"] or "")
    nodes = options["nodes"] or (None if told else len(hosts) or None)
    fitting = nodes == len(hosts) and not options["hosts"]
    return {**options, "nodes": nodes, "hosts": hosts if fitting else options["hosts"]}


def _counts_nodes(topology: str) -> bool:
    return any(f"{name}:" in topology for name in NODE_NAMES)
