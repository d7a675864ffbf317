"""Ghosts that do not hold what their owners have, as `Exchange.stale` tells them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StaleGhost:
    """A value of a ghost that differs from its owner's, byte by byte.

    array: its number among those that the exchange was made with, from 0, group after group.
    owner: the rank that has it (or passes it on, where a domain goes dimension by dimension).
    cell: where its owner has it: a coordinate per dimension, or (global id,); empty in an indexed pattern that was loaded.
    component: its number in a cell of several, flat; of an array that travels as several fields, within its field.
    here, there: the two values in words.
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
    """What `Exchange.stale` found on this rank; false where every ghost holds its owner's value.

    counts: of each array, how many values of its ghosts differ. first: the first few of each.
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
    """What the native exchange found of its fields; `numbers`: of each field, the array that it is a part of."""
    by_field, first = found
    counts = [0] * (max(numbers) + 1)
    for number, count in zip(numbers, by_field, strict=True):
        counts[number] += count
    ghosts = [StaleGhost(numbers[field], owner, tuple(cell), *rest) for field, owner, cell, *rest in first]
    return StaleGhosts(tuple(counts), tuple(ghosts))
