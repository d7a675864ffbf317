"""Rank cubes as published by hwcart: its README shows these."""

import pytest

from parhelion.placement import Machine, Numbering, place_by_hand
from parhelion.show.placement import cube, layers

BLOCKS = {"core": (4, 1, 1), "l3": (1, 2, 2), "numa": (1, 2, 2), "socket": (1, 2, 1), "node": (1, 1, 1)}


def slanted(planes):
    """Planes from the top; each the values of its rows from the back, one value for a whole row of four."""
    text = []
    for plane in planes:
        rows = [" " * (2 * y + 5) + f"{value:4d}" * 4 for y, value in zip(reversed(range(8)), plane, strict=True)]
        text.append("\n".join(rows) + "\n")
    return "\n".join(text)


@pytest.fixture(scope="module")
def placement():
    machine = Machine("node:1 pack:2 numa:4 l3:4 core:4")
    return place_by_hand(machine, BLOCKS, "XYZ")


def test_the_socket_level_prints_as_published(placement):
    published = slanted([[1, 1, 1, 1, 0, 0, 0, 0]] * 4)
    assert cube(placement.units("pack", within_node=True)) == published
    assert published.startswith("                      1   1   1   1\n                    1   1   1   1\n")


def test_the_numa_level_prints_as_published(placement):
    upper, lower = [7, 7, 6, 6, 3, 3, 2, 2], [5, 5, 4, 4, 1, 1, 0, 0]
    assert cube(placement.units("numa", within_node=True)) == slanted([upper, upper, lower, lower])


def test_units_are_counted_within_their_node_on_larger_machines():
    machine = Machine("node:1024 pack:2 numa:4 l3:4 core:4")
    placement = place_by_hand(machine, {**BLOCKS, "node": (16, 8, 8)}, "XYZ")
    assert placement.grid == (64, 64, 32)
    assert placement.units("numa", within_node=True).max() == 7
    assert placement.units("numa")[4:8, :8, :4].min() == 8  # the next node along x


@pytest.mark.parametrize(("numbering", "published"), [("XY", "2 3\n0 1\n"), ("YX", "1 3\n0 2\n")])
def test_the_two_numberings_of_four_ranks_print_as_published(numbering, published):
    assert cube(Numbering((2, 2), numbering).ranks()) == published


def test_layers_run_from_the_innermost_level_out_and_end_with_the_ranks(placement):
    text = layers(placement, "XYZ", {"numa": "HWCART_MD_NUMA"})
    headings = [line for line in text.splitlines() if line.startswith(("Level", "Rank"))]
    assert headings == ["Level 0 core", "Level 1 l3", "Level 2 HWCART_MD_NUMA", "Level 3 pack", "Level 4 node", "Rank layout"]


def test_from_a_thousand_ranks_on_columns_are_one_wider():
    machine = Machine("node:10 core:100")
    placement = place_by_hand(machine, {"node": (10, 1, 1), "core": (1, 10, 10)}, "XYZ")
    assert cube(placement.units("core", within_node=True)).splitlines()[-1].startswith("         0    0    0")
