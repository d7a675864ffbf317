"""Cases for `place` and `model simulate`: machine, grid or parts, and exchange."""

from __future__ import annotations

import ctypes
import importlib.util
import math
import os
import time
from collections.abc import Mapping
from ctypes.util import find_library
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..base.numbers import shortened, whole_number
from ..launch.jobs import given
from ..mesh.maps import IndexMaps, read_index_maps
from ..placement import BetweenNodes, GraphPlacement, LandGrid, Machine, Parameters, Placement, PlacementError, Score, Stencil
from ..placement import choose_grid, land_grid, land_grids, node_pairs, place, place_by_hand, place_graph
from ..placement.land import within_tiles
from ..placement.library import library
from ..placement.machine import MOST_RANKS, parts_of_a_node
from ..placement.placement import NODE_PAIR, each_periodic
from .traffic import Exchange, Traffic, traffic

AnyPlacement = Placement | GraphPlacement
Blocks = dict[str, tuple[int, ...]]
Edges = list[dict[int, int]]  # bytes by receiver, of each sender
NODE_NAMES = ("node", "machine", "host")
GRIDS_ALONE = ("blocks", "method", "numbering", "extent", "parameters")


@dataclass(frozen=True)
class Case:
    """A case from command options. Sizes of an exchange are per rank, `bytes_per_cell` per field.

    Exactly one of these defines the ranks: `grid`, `cells` (chooses a grid), `blocks` (by hand), `graph` (index maps of a mesh's parts), or `mask`
    (land, with `grid` or with `ranks`, which chooses a grid).
    """

    topology: str | None = None
    nodes: int | None = None
    ranks_per_node: tuple[int, ...] | None = None
    binding: str = "spread"
    hosts: tuple[str, ...] = ()
    grid: tuple[int, ...] | None = None
    cells: tuple[int, ...] | None = None
    blocks: Blocks = field(default_factory=dict)
    graph: Path | None = None
    mask: Path | None = None
    ranks: int | None = None
    tile_axis: int | None = None
    fold: tuple[int, ...] | None = None
    neighbors: str = "faces"
    periodic: bool | tuple[bool, ...] = False
    extent: tuple[int, ...] | None = None
    halo: int = 1
    fields: int = 1
    bytes_per_cell: int = 8
    objective: str = "jsum"
    method: str = ""
    refine: bool = True
    numbering: str = ""
    parameters: Parameters | None = None

    def on_allocation(self, env: Mapping[str, str] | None = None) -> Case:
        """Add the number and names of the nodes from Slurm, PBS or LSF.

        Uses names only if their number matches the options; a case that describes another machine stays unchanged.
        """
        hosts = given(os.environ if env is None else env).hosts
        told = self.nodes or self.blocks or len(self.ranks_per_node or ()) > 1 or _counts_nodes(self.topology or "")
        nodes = self.nodes or (None if told else len(hosts) or None)
        return replace(self, nodes=nodes, hosts=hosts if nodes == len(hosts) and not self.hosts else self.hosts)

    @cached_property
    def parts(self) -> IndexMaps | None:
        if not self.graph:
            return None
        others = [name for name in ("grid", "cells", "mask", *GRIDS_ALONE) if getattr(self, name)] + ["offsets"] * (self.neighbors not in ("faces", "full"))
        if others:
            raise PlacementError(f"--graph has parts, not a grid: leave out {', '.join('--' + name for name in others)}")
        return read_index_maps(self.graph)

    def grids_with_land(self) -> list[LandGrid]:
        """The process grid, or candidates for `ranks`, with the places that get a rank."""
        others = [name for name in GRIDS_ALONE if getattr(self, name)]
        if others:
            raise PlacementError(f"--mask needs a grid of even blocks: leave out {', '.join('--' + name for name in others)}")
        if not self.mask or bool(self.grid) == bool(self.ranks):
            raise PlacementError("give --mask, and either the process grid with --grid or the number of ranks with --ranks")
        if self.grid:
            return [land_grid(self.mask, self.grid, self.halo, self.cells, self.tile_axis, self.fold)]
        return land_grids(self.mask, self.ranks or 1, self.halo, self.cells, tile_axis=self.tile_axis, fold=self.fold)

    @cached_property
    def land(self) -> LandGrid | None:
        if not self.mask:
            return None
        return (self if self.grid or self.ranks else replace(self, ranks=self.machine.size)).grids_with_land()[0]

    @cached_property
    def edges(self) -> Edges:
        if self.land:
            stencil, wraps = Stencil.parse(self.neighbors, len(self.land.grid)), each_periodic(self.periodic, len(self.land.grid))
            return self.land.edges(stencil, wraps, self.halo, self._bytes_of_a_cell)
        return edges_of(self.parts, self._bytes_of_a_cell) if self.parts else []

    @cached_property
    def machine(self) -> Machine:
        """Machine from topology, nodes and ranks per node; grid, blocks or parts complete them."""
        topology, ranks = self.topology or "", self.ranks_per_node
        nodes = self.nodes or (len(ranks) if ranks and len(ranks) > 1 else None)
        if not topology and not nodes:
            raise PlacementError("the machine is unknown: give --nodes and --ranks-per-node, or --topology")
        if topology == "here" or topology.startswith("xml:"):
            nodes = nodes or self._nodes_that_hold(ranks)
        elif not _counts_nodes(topology):
            topology = f"node:{nodes or 1} {topology}".strip()
        if ranks is None:
            ranks = self._ranks_of(nodes if ":" not in topology.partition(" ")[2] else None)
        return Machine(topology, nodes, ranks[0] if ranks and len(ranks) == 1 else ranks, self.binding)

    def stencil(self, dimensions: int) -> Stencil:
        stencil = Stencil.parse(self.neighbors, dimensions)
        return stencil.with_halo(self.extent, self.halo, self._bytes_of_a_cell) if self.extent else stencil

    def placement(self) -> AnyPlacement:
        if self.parts or self.land:
            return self._place_parts(f"{self.graph} has {self.parts.ranks} parts" if self.parts else f"the process grid has {len(self.edges)} wet places")
        return self.on_grid()

    def on_grid(self, method: str = "") -> Placement:
        """Placement of a grid: automatic, by `method`, or by hand from blocks. Raises PlacementError."""
        if self.blocks:
            return self._place_by_hand()
        if bool(self.grid) == bool(self.cells):
            raise PlacementError("give either the process grid with --grid or global cells with --cells")
        if self._points > MOST_RANKS:
            raise PlacementError(f"--grid makes {self._points} ranks: at most {MOST_RANKS} can be placed")
        if self.cells:
            stencil = Stencil.parse(self.neighbors, len(self.cells))
            grid, stencil = choose_grid(self.machine, self.cells, stencil, self.halo, self.bytes_per_cell, self.periodic, self.objective)
        else:
            grid = self.grid or ()
            stencil = self.stencil(len(grid))
        return place(grid, self.machine, stencil, self.periodic, self.objective, self.refine, method or self.method, self.parameters)

    def traffic(self, placement: Placement) -> Traffic:
        return traffic(placement, Exchange(self.extent or (), self.halo, self.fields, self.bytes_per_cell), self.periodic)

    def place(self) -> Placed:
        _ = self.edges  # reads files before timing
        start = time.perf_counter()
        placed = self.placement()
        seconds = time.perf_counter() - start
        if isinstance(placed, Placement):
            return Placed(self, placed, None, placed.node_pairs(), placed.node_pairs(blocked=True), seconds)
        blocked = placed.in_order()
        return Placed(self, placed, blocked.scores, self._pairs(placed), self._pairs(blocked), seconds)

    def _pairs(self, placed: GraphPlacement) -> np.ndarray:
        if self.parts:
            return pairs_of_parts(self.parts, placed, self._bytes_of_a_cell)
        assert self.land
        land, nodes = self.land, self.machine.nodes
        units = np.full(land.grid, nodes)
        units[land.wet] = placed.units("node")
        largest = [-(-cells // parts) for cells, parts in zip(land.cells, land.grid, strict=True)]
        stencil = within_tiles(Stencil.parse(self.neighbors, len(largest)), land.tile_axis).with_halo(largest, self.halo, self._bytes_of_a_cell)
        pairs = node_pairs(land.unfolded(units), stencil, each_periodic(self.periodic, len(largest)))
        for name in (pairs.dtype.names or ())[2:] if land.fold else ():  # counted on both sides
            pairs[name] -= pairs[name] // 2
        return pairs[(pairs["from"] < nodes) & (pairs["to"] < nodes)]

    def _place_parts(self, told: str) -> GraphPlacement:
        if self.machine.size != len(self.edges):
            raise PlacementError(f"{told}, but the machine has {self.machine.size} ranks: make them agree, such as with --ranks-per-node")
        # If the system has no METIS, use the copy in pymetis, which partitions meshes.
        found = importlib.util.find_spec("pymetis._internal")
        if found and found.origin and not find_library("metis"):
            os.environ.setdefault("PARHELION_METIS", found.origin)
        return place_graph(self.machine, self.edges, self.objective)

    def _place_by_hand(self) -> Placement:
        if self.grid or self.cells or self.parameters:
            raise PlacementError("--blocks gives the process grid and the placement: leave out --grid, --cells and --parameters")
        dimensions = len(next(iter(self.blocks.values())))
        return place_by_hand(self.machine, self.blocks, self.numbering, self.stencil(dimensions), self.periodic)

    @property
    def _points(self) -> int:
        if self.mask and not self.grid:
            return self.ranks or 0
        return self.parts.ranks if self.parts else self.land.ranks if self.land else math.prod(self.grid or (0,))

    @property
    def _bytes_of_a_cell(self) -> int:
        return self.fields * self.bytes_per_cell

    def _nodes_that_hold(self, ranks: tuple[int, ...] | None) -> int:
        return self._points // ranks[0] if ranks and self._points > ranks[0] and self._points % ranks[0] == 0 else 1

    def _ranks_of(self, bare_nodes: int | None) -> tuple[int, ...] | None:
        """Product of the blocks inside a node; or the grid's ranks, spread evenly if only nodes are known."""
        if self.blocks:
            return (math.prod(math.prod(extent) for name, extent in self.blocks.items() if name not in NODE_NAMES),)
        if not (bare_nodes and self._points):
            return None
        if self._points % bare_nodes:
            raise PlacementError(f"{self._points} ranks do not divide evenly over {bare_nodes} nodes: give --ranks-per-node for each")
        return (self._points // bare_nodes,)


def land_document(land: LandGrid) -> dict[str, Any]:
    return {"grid": list(land.grid), "places": land.wet.size, "ranks": land.ranks, "land_dropped": land.dropped, "halo_cells": land.halo}


def parse_blocks(text: str) -> Blocks:
    """Parse ``node:3x3x3 socket:1x1x2`` to {"node": (3, 3, 3), "socket": (1, 1, 2)}."""
    blocks: Blocks = {}
    for token in text.replace(";", " ").split():
        level, _, extents = token.partition(":")
        if level in blocks:
            raise PlacementError(f"--blocks names the level {level} twice")
        try:
            blocks[level] = tuple(whole_number(part, 1, MOST_RANKS) for part in extents.lower().replace(",", "x").split("x"))
        except ValueError as error:
            raise PlacementError(f"--blocks {shortened(token)}: write level:AxBxC, such as node:3x3x3: {error}") from None
    if not blocks:
        raise PlacementError("--blocks is empty: write level:AxBxC for every level, such as 'node:3x3x3 core:4x4x4'")
    return blocks


def _counts_nodes(topology: str) -> bool:
    return any(f"{name}:" in topology for name in NODE_NAMES)


@dataclass(frozen=True)
class Placed:
    """A placement, the scores of parts in order, messages between nodes (NODE_PAIR), placed and blocked, and the time to find it."""

    case: Case
    placement: AnyPlacement
    blocked: dict[str, Score] | None
    pairs: np.ndarray
    pairs_blocked: np.ndarray
    seconds: float

    @property
    def scores(self) -> dict[str, dict[str, Score]]:
        """Scores by level of the placement, then of every member that applies, or of parts in order."""
        placement = self.placement
        others = {"blocked": self.blocked} if self.blocked else {each.name: each.scores for each in placement.members if not each.reason}
        return {placement.name if placement.by_name else "automatic": placement.scores} | others

    @property
    def notes(self) -> list[str]:
        moved = self.placement.moved_points
        told = self._crowding(), self.placement.note, f"local search moved {moved} grid points" if moved else ""
        return list(filter(None, told))

    def _crowding(self) -> str:
        machine = self.placement.machine
        level, parts = machine.levels[-1], parts_of_a_node(machine.topology) if ":" in machine.topology else 0
        most = int(np.bincount(self.placement.units("node").ravel()).max())
        if level == "node" or not parts or machine.topology.startswith("xml:") or most == parts:
            return ""
        return f"nodes hold at most {most} ranks on {parts} parts of level {level}: some {'hold several ranks' if most > parts else 'stay empty'}"

    def document(self) -> dict[str, Any]:
        """JSON document: grid or parts, node of every grid point (last dimension fastest) or part, scores by level, messages between nodes.

        In `scores`, "automatic" (or "by_hand", or the method) is the placement itself; `not_applicable` has members that do not apply.
        """
        placement, machine, scores = self.placement, self.placement.machine, self.scores
        own = next(iter(scores))
        names = self.pairs.dtype.names or ()
        pairs = [dict(zip(names, row, strict=True)) for row in self.pairs.tolist()]
        document = {
            "schema": "parhelion.placement/1",
            "node_of_rank": placement.units("node").ravel().tolist(),
            "scores": {name: {level: asdict(score) for level, score in levels.items()} for name, levels in scores.items()},
            "between_nodes": {own: asdict(BetweenNodes.of(self.pairs)), "blocked": asdict(BetweenNodes.of(self.pairs_blocked))},
            "node_pairs": [row | {"bytes": None if row["bytes"] < 0 else row["bytes"]} for row in pairs],
            "chosen": placement.name,
            "objective": self.case.objective,
            "levels": list(machine.levels),
            "units": {level: machine.units(level) for level in machine.levels},
            "notes": [placement.note] if placement.note else [],
            "seconds": self.seconds,
            "topology": machine.topology,
            "topology_source": machine.source,
        }
        if isinstance(placement, GraphPlacement):
            land = self.case.land
            return document | ({"mask": str(self.case.mask), **land_document(land)} if land else {"graph": str(self.case.graph), "parts": machine.size})
        timed = placement.seconds is not None
        predicted = {own: placement.seconds} | {member.name: member.seconds for member in placement.members if not member.reason}
        return document | {
            "grid": list(placement.grid),
            "objective": "time" if timed else self.case.objective,
            "predicted_s": predicted if timed else None,
            "not_applicable": {member.name: member.reason for member in placement.members if member.reason},
        }


def edges_of(maps: IndexMaps, bytes_per_cell: int) -> Edges:
    """Communication graph of a mesh's parts."""
    edges: Edges = [{} for _ in range(maps.ranks)]
    for reader in range(maps.ranks):
        for owner, cells in zip(*maps.sources(reader), strict=True):
            edges[int(owner)][reader] = int(cells) * bytes_per_cell
    return edges


def pairs_of_parts(maps: IndexMaps, placement: GraphPlacement, bytes_per_cell: int) -> np.ndarray:
    """Messages of a mesh's parts between nodes."""
    nodes, count = placement.units("node"), placement.machine.nodes
    senders, receivers, sizes = (each[nodes[placement.directed[0]] != nodes[placement.directed[1]]] for each in placement.directed)
    keys, place = np.unique(nodes[senders] * count + nodes[receivers], return_inverse=True)
    pairs = np.zeros(len(keys), NODE_PAIR)
    pairs["from"], pairs["to"] = np.divmod(keys, count)
    np.add.at(pairs["pairs"], place, 1)
    np.add.at(pairs["bytes_in_pairs"], place, sizes)
    contributors = np.bincount(np.unique(np.stack([place, senders]), axis=1)[0], minlength=len(keys))
    # A node receives each cell once.
    wanted = np.unique(np.concatenate([ids * count + nodes[reader] for reader, ids in enumerate(maps.ghosts)]))
    home, away = nodes[maps.owner_of(wanted // count)], wanted % count
    pairs["bytes"] = np.bincount(np.searchsorted(keys, (home * count + away)[home != away]), minlength=len(keys)) * bytes_per_cell
    messages = library().phl_node_messages
    pairs["messages"] = [messages(*map(ctypes.c_int64, pair)) for pair in zip(pairs["bytes"].tolist(), contributors.tolist(), strict=True)]
    return pairs
