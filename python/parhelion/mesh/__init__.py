"""Reading and partitioning of meshes, and index maps: the indices that each rank owns and its ghosts."""

from .demo import demo_mesh, demo_partition
from .maps import IndexMapError, IndexMaps, describe, inspect, read_index_maps, write_index_maps
from .mesh import Mesh, MeshError, mesh_from_meshio, read_mesh
from .partition import dual_graph, edge_cut, index_maps, partition_cells, partition_mesh

__all__ = [
    "IndexMapError", "IndexMaps", "Mesh", "MeshError", "demo_mesh", "demo_partition", "describe", "dual_graph", "edge_cut",
    "index_maps", "inspect", "mesh_from_meshio", "partition_cells", "partition_mesh", "read_index_maps", "read_mesh", "write_index_maps",
]
