"""Meshes: file formats and the shapes of their cells, topology, the demo mesh. Nothing here knows ranks."""
