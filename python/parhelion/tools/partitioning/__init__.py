"""Mesh partitioning and index-map data sets: which ids each rank owns and which it reads from others."""

from .command import partition_mesh
from .dataset import FORMATS, convert, format_of, read_index_maps, read_rank_map, write_index_maps
from .demo import demo_mesh, demo_partition
from .entities import ADJACENCIES, index_maps
from .errors import IndexMapError, MeshError
from .graph import dual_graph, edge_cut, partition_cells
from .inspection import describe, inspect
from .maps import IndexMaps, RankMap
from .mesh import Mesh, mesh_from_meshio
from .read import read_mesh
from .text import inspection_text, partition_text
from .topology import ENTITIES

__all__ = [
    "ADJACENCIES", "ENTITIES", "FORMATS", "IndexMapError", "IndexMaps", "Mesh", "MeshError", "RankMap",
    "convert", "demo_mesh", "demo_partition", "describe", "dual_graph", "edge_cut", "format_of",
    "index_maps", "inspect", "inspection_text", "mesh_from_meshio", "partition_cells", "partition_mesh",
    "partition_text", "read_index_maps", "read_mesh", "read_rank_map", "write_index_maps",
]  # fmt: skip
