"""Stale ghosts: results of `Exchange.stale`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StaleGhost:
    """A ghost value that differs bytewise from its owner's.

    array: number of the array in the exchange, from 0, group after group.
    owner: owning rank (or the rank that forwards the value, if the exchange goes dimension by dimension).
    cell: the owner's cell: a coordinate per dimension, or (global id,); empty in an indexed pattern that was loaded.
    component: flat component number; within its field, if the array travels as several fields.
    here, there: the two values as text.
    """

    array: int
    owner: int
    cell: tuple[int, ...]
    component: int
    here: str
    there: str
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class StaleGhosts:
    """Result of `Exchange.stale` on this rank; false if every ghost holds its owner's value.

    counts: number of differing ghost values of each array. first: the first few of each.
    """

    counts: tuple[int, ...]
    first: tuple[StaleGhost, ...]

    def __bool__(self) -> bool:
        return bool(self.first)

    def __str__(self) -> str:
        told = [str(ghost) for ghost in self.first]
        rest = sum(self.counts) - len(told)
        return "\n".join(told + [f"and {rest} more"] * (rest > 0)) or "every ghost holds its owner's value"


def stale_from(found: tuple[Sequence[int], Sequence[tuple[Any, ...]]], numbers: Sequence[int]) -> StaleGhosts:
    """Convert the native result; `numbers` maps each field to its array."""
    by_field, first = found
    counts = [0] * (max(numbers) + 1)
    for number, count in zip(numbers, by_field, strict=True):
        counts[number] += count
    ghosts = [StaleGhost(numbers[field], owner, tuple(cell), *rest) for field, owner, cell, *rest in first]
    return StaleGhosts(tuple(counts), tuple(ghosts))
