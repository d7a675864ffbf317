"""The whole job of `parhelion partition`: mesh in, index maps and a summary out."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ..base.numbers import shortened
from .entities import dual_graph, edge_cut, index_maps, partition_cells
from .errors import MeshError
from .inspection import describe, imbalance
from .dataset import write_index_maps
from .maps import IndexMaps
from .mesh import Mesh, mesh_from_meshio, read_mesh
from .topology import ENTITIES

SCHEMA = "parhelion.partition/1"
MOST_NAME_BYTES = 200


def partition_mesh(
    mesh,
    parts: int,
    entities: str | Iterable[str] = "cells",
    out: str | Path = ".",
    *,
    adjacency: str = "faces",
    name: str | None = None,
    seed: int = 0,
) -> dict:
    """Partition `mesh` into `parts` and write the index maps of `entities` into the folder `out`.

    Local. `mesh` is a file that meshio reads, a `meshio.Mesh` or a `Mesh`. Data sets are named
    NAME-P for cells, NAME-faces-P and so on for others; NAME is the file's unless given. Returns a
    summary ready for JSON. Raises MeshError or IndexMapError (both ValueError) before anything is
    written.

        partition_mesh("casting.msh", 12, entities=["cells", "nodes"], out="maps")
    """
    entities = _listed(entities, ENTITIES, "entities")
    begun = time.perf_counter()
    if name is not None:
        _check_name(name)
    mesh = _as_mesh(mesh, name)
    name = mesh.name if name is None else name
    _check_name(name)
    graph = dual_graph(mesh)
    part = partition_cells(graph, parts, seed)
    parts = int(parts)
    maps = [index_maps(mesh, part, parts, kind, _adjacency_for(kind, adjacency, entities)) for kind in entities]
    return {
        "schema": SCHEMA,
        "mesh": _about(mesh),
        "cells": mesh.cells,
        "parts": parts,
        "adjacency": adjacency,
        "edge_cut": edge_cut(graph, part),
        "imbalance": imbalance(np.bincount(part, minlength=parts)),
        "maps": [_write(item, name, out) for item in maps],
        "seconds": time.perf_counter() - begun,
    }


def _listed(given: str | Iterable[str], known: tuple[str, ...], what: str) -> list[str]:
    listed = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    unknown = [item for item in listed if item not in known]
    if unknown or not listed:
        raise MeshError(f"{what} {', '.join(map(repr, unknown)) or 'none'}: use one of {', '.join(known)}")
    return listed


def _check_name(name: str) -> None:
    """A data set is a file or folder in `out`, of that name and some letters more."""
    why = None
    if not name:
        why = "is empty"
    elif any(character == "/" or not character.isprintable() for character in name):
        why = "holds a slash or a character that cannot be printed"
    elif name[0] in ".-":
        why = f"begins with '{name[0]}'"
    elif len(os.fsencode(name)) > MOST_NAME_BYTES:
        why = f"is longer than {MOST_NAME_BYTES} bytes"
    if why:
        raise MeshError(f"the name {shortened(name)} of the data sets {why}: give another name, such as casting")


def _as_mesh(mesh, name: str | None) -> Mesh:
    if isinstance(mesh, Mesh):
        return mesh
    if isinstance(mesh, (str, Path)):
        return read_mesh(mesh)
    if not hasattr(mesh, "cells") or not hasattr(mesh, "points"):
        raise MeshError(f"a {type(mesh).__name__} is no mesh: give a file, a meshio.Mesh or a Mesh")
    return mesh_from_meshio(mesh, name or "mesh")


def _adjacency_for(kind: str, adjacency: str, entities: list[str]) -> str:
    """`adjacency` shapes the cells' ghosts; asked together with cells, other entities pass it by."""
    return "faces" if kind != "cells" and "cells" in entities else adjacency


def _about(mesh: Mesh) -> dict:
    return {
        "name": mesh.name,
        "dimension": mesh.dimension,
        "points": len(mesh.points),
        "cell_types": mesh.cell_types,
        "left_out": mesh.left_out,
    }


def _write(maps: IndexMaps, name: str, out: str | Path) -> dict:
    stem = name if maps.entities == "cells" else f"{name}-{maps.entities}"
    return describe(maps) | {"path": str(write_index_maps(maps, Path(out) / f"{stem}-{maps.ranks}"))}
