"""Meshes to index maps: reading, partitioning, inspecting."""
