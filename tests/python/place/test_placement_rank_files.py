"""Rank files say of every rank where the placement puts it."""

import re

import numpy as np
import pytest

from parhelion.placement import Machine, Numbering, PlacementError, place
from parhelion.place.rank_files import rank_file
from parhelion.place.case import Case


@pytest.fixture(scope="module")
def placement():
    return place((6, 4), Machine("node:3 pack:2 core:4"), periodic=True)


def hosts_of(text):
    """Host lines with counts, or one host a line."""
    hosts = []
    for line in text.split():
        host, _, count = line.partition(":")
        hosts += [host] * int(count or 1)
    return hosts


@pytest.mark.parametrize("kind", ["mpich", "intel", "slurm"])
@pytest.mark.parametrize("numbering", ["", "XY"])
def test_every_rank_stands_on_its_node(placement, kind, numbering):
    hosts = hosts_of(rank_file(kind, placement, numbering).text)
    nodes = placement.units("node")
    ranks = Numbering(placement.grid, numbering)
    assert [int(host.removeprefix("node")) for host in hosts] == [nodes[ranks.coords(r)] for r in range(24)]


def test_open_mpi_gets_host_and_core_of_every_rank(placement):
    made = rank_file("openmpi", placement, hosts=["a", "b", "c"])
    found = re.findall(r"rank (\d+)=(\w) slot=(\d+)", made.text)
    cores = placement.units("core", within_node=True).ravel()
    nodes = placement.units("node").ravel()
    assert [(int(r), "abc".index(h), int(c)) for r, h, c in found] == [(r, nodes[r], cores[r]) for r in range(24)]
    assert "--host a:8,b:8,c:8" in made.start


def test_a_core_list_shared_by_all_nodes_binds_each_rank_to_its_core(placement):
    made = rank_file("slurm", placement)
    cores = [int(core) for core in re.search(r"map_cpu:([\d,]+)", made.start).group(1).split(",")]
    own = placement.units("core", within_node=True).ravel()
    for node in range(3):
        assert own[placement.units("node").ravel() == node].tolist() == cores


def test_hydra_is_not_given_a_list_that_it_would_start_anew(placement):
    assert "-bind-to user:" in rank_file("mpich", placement).start  # every host has one line
    made = rank_file("mpich", placement, "XY")
    assert "-bind-to" not in made.start
    assert "anew" in made.note


def test_without_cores_the_note_says_what_is_left_open():
    bare = place((4, 4), Machine("node:4", ranks_per_node=4))
    assert "without cores" in rank_file("intel", bare).note
    assert np.array_equal(sorted(hosts_of(rank_file("slurm", bare).text)), sorted(f"node{n}" for n in [0, 1, 2, 3] * 4))


def test_a_wrong_number_of_hosts_is_refused(placement):
    with pytest.raises(PlacementError, match="2 hosts are named for a machine of 3 nodes"):
        rank_file("slurm", placement, hosts=["a", "b"])


def test_nodes_and_their_names_come_from_the_allocation_unless_options_say_otherwise(tmp_path):
    nodes = tmp_path / "nodes"
    nodes.write_text("n7\nn7\nn9\nn9\n")
    env = {"PBS_NODEFILE": str(nodes)}
    assert Case().on_allocation(env) == Case(nodes=2, hosts=("n7", "n9"))
    assert Case(nodes=2, hosts=("a", "b")).on_allocation(env) == Case(nodes=2, hosts=("a", "b"))
    for other in (Case(nodes=3), Case(topology="node:4 core:2"), Case(ranks_per_node=(1, 2, 3)), Case(blocks={"node": (3, 1)})):
        assert other.on_allocation(env) == other
    assert Case().on_allocation({}) == Case()


def test_the_command_for_slurm_is_complete(placement):
    start = rank_file("slurm", placement, file="hosts.txt").start
    assert re.match(r"SLURM_HOSTFILE=hosts.txt srun --mpi=pm\w+ --distribution=arbitrary", start) and start.endswith("-n 24 PROGRAM")
