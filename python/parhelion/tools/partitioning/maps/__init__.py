"""Index maps of all ranks: data sets of them on disk, and checks of both. Nothing here knows meshes."""
