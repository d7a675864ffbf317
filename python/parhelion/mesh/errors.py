"""Errors of meshes and index maps: each says what is wrong, where, and what to do."""

from ..errors import InputError


class MeshError(InputError):
    """A mesh cannot be read or cannot be partitioned as asked."""


class IndexMapError(InputError):
    """An index-map data set is damaged, incomplete or does not fit what was asked."""


def fault(where: object, what: str, remedy: str) -> IndexMapError:
    """An IndexMapError worded the same way everywhere."""
    return IndexMapError(f"{where}: {what}: {remedy}")
