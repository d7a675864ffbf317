"""Gather and scatter between all ranks and the root."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..base.arguments import integer
from .cartesian import CartesianDomain
from .fields import Parts, read_groups, split_field


Make = Callable[[tuple[int, ...], np.dtype], np.ndarray]


def read_whole(domain: CartesianDomain, u: Any, root: int, name: str, make: Make) -> tuple[Parts, Parts]:
    """Parts of `u`, and on the root of a whole array from `make(shape, dtype)`, elsewhere of `u` again. Local."""
    [[parts]] = read_groups([domain], [[u]])
    if domain._native_comm.rank != integer(root, "root"):
        return parts, parts
    axes = zip(domain.extents, domain.stagger, parts.stagger, domain.periodic, strict=True)
    extents = (extent + (more > here and not periodic) for extent, here, more, periodic in axes)
    shape, dtype = (*extents, *parts.components), parts.arrays[0].dtype
    array = make(shape, dtype)
    if array.shape != shape:
        raise ValueError(
            f"{name} has shape {array.shape}, but the grid with its components has {shape}: pass an array of all cells on the root"
        )
    if array.dtype != dtype:
        raise TypeError(f"{name} holds {array.dtype}, but the field has {dtype}: pass an array of equal dtype")
    none = ((0, 0),) * domain.dimensions
    inside = [(False,) * domain.dimensions]
    return parts, replace(parts, arrays=[array], halo=none, depth_of_halo=none, owns_ends=False, lowest=inside)


def move_whole(move: Callable[..., None], domain: CartesianDomain, parts: Parts, whole: Parts, root: int) -> None:
    """Gather or scatter each field by `move`. Collective."""
    comm, call = domain._native_comm, "a grid in one place"
    depth = comm.largest(call, 0, [max(parts.depth, whole.depth)])[0]
    if depth > 0:
        apart = math.prod(parts.components[:depth])
        comm.require_equal(call, 0, "the arrays", "the number of components that are not contiguous", apart, "pass equal layouts on every rank")
    for field, all_cells in zip(split_field(parts, depth), split_field(whole, depth), strict=True):
        move(domain._native, field=field.native(), whole=all_cells.native(), root=root)
