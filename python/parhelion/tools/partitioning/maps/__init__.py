"""Index maps of all ranks: the published text format, the binary .phlmap, and checks of both. Nothing here knows meshes."""
