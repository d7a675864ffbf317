"""Mesh partitioning and index-map data sets: which ids each rank owns and which it reads from others.

`meshes` reads and makes meshes, `maps` reads and writes index maps; between them stand graph, entities and the two commands.
"""

from .entities import ADJACENCIES, dual_graph, edge_cut, index_maps, partition_cells
from .errors import IndexMapError, MeshError
from .inspection import describe, inspect, inspection_text, partition_text
from .maps.dataset import read_index_maps, read_rank_map, write_index_maps
from .maps.maps import IndexMaps, RankMap
from .mesh_to_maps import partition_mesh
from .meshes.demo import demo_mesh, demo_partition
from .meshes.mesh import Mesh, mesh_from_meshio, read_mesh
from .meshes.topology import ENTITIES

__all__ = [
    "ADJACENCIES", "ENTITIES", "IndexMapError", "IndexMaps", "Mesh", "MeshError", "RankMap",
    "demo_mesh", "demo_partition", "describe", "dual_graph", "edge_cut",
    "index_maps", "inspect", "inspection_text", "mesh_from_meshio", "partition_cells", "partition_mesh",
    "partition_text", "read_index_maps", "read_mesh", "read_rank_map", "write_index_maps",
]  # fmt: skip
