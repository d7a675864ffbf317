"""Several hosts on one machine: ranks that really meet over a network."""

import os
import sys

import pytest
from measured import document, need_build, parhelion
from synthetic import write_dataset

from parhelion.errors import InputError
from parhelion.launch import default_build
from parhelion.launch.jobs import Hosts
from parhelion.machine.hosts import run_on_hosts
from parhelion.record.read import read_record


@pytest.fixture(scope="module")
def possible():
    """Skip with the reason where hosts cannot be made."""
    try:
        assert run_on_hosts(2, ["true"]) == 0
    except InputError as error:
        pytest.skip(f"skipped: {error}")


def test_each_host_has_its_own_name_processes_and_shared_memory(possible, tmp_path):
    told = 'hostname; ls /proc | grep -c "^[0-9]"; touch /dev/shm/mine; $PARHELION_REMOTE_SHELL phl2 "hostname; ls /dev/shm | wc -l"'
    done = parhelion("run", "--on-hosts", "2", "--once", "sh", "-c", told, cwd=tmp_path)
    lines = done.stdout.split()
    assert done.returncode == 0, done.stderr
    assert (lines[0], lines[2], lines[3]) == ("phl1", "phl2", "0") and int(lines[1]) < 10


def test_each_command_on_a_host_has_a_folder_of_its_own_for_what_it_names_by_process_numbers(possible, tmp_path):
    done = parhelion("run", "--on-hosts", "2", "--once", "sh", "-c", 'echo $TMPDIR; for i in 1 2; do $PARHELION_REMOTE_SHELL phl2 "echo \\$TMPDIR; ls -d \\$TMPDIR"; done', cwd=tmp_path)
    here, *there = done.stdout.split()
    assert done.returncode == 0 and there[0] == there[1] and there[2] == there[3], done.stdout + done.stderr
    assert len({here, *there}) == 3 and not any(os.path.exists(folder) for folder in (here, *there))


def test_the_exit_status_is_the_commands(possible, tmp_path):
    assert parhelion("run", "--on-hosts", "2", "--once", "sh", "-c", "exit 7", cwd=tmp_path).returncode == 7


def test_ranks_are_spread_over_both_hosts_and_every_byte_arrives(possible, tmp_path):
    need_build()
    done = parhelion("run", "--on-hosts", "2", "--once", sys.executable, "-m", "parhelion", "bench", "alltoall", "--quick", "--ranks", "4", "--size", "1,5000",
                     "--variants", "mpi_alltoall,pairwise", "--repetitions", "3", "--out", "run", "--json", "out.json",
                     cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (launch,) = read_record(tmp_path / "run").launches
    assert launch.hosts == ["phl1", "phl1", "phl2", "phl2"]
    cases = {(case["variant"], case["params"]["size"]): case for case in document(tmp_path)["cases"]}
    assert len(cases) == 4 and all(case["verified"] for case in cases.values())
    assert cases["pairwise", 1]["messages"] == 3 and cases["pairwise", 5000]["bytes"] == 3 * 5000


def test_halos_between_hosts_are_verified_too(possible, tmp_path):
    need_build()
    done = parhelion("run", "--on-hosts", "2", "--once", sys.executable, "-m", "parhelion", "bench", "halo", "--quick", "--ranks", "2", "--extent", "8", "--halo", "1",
                     "--fields", "1", "--variants", "auto,mpi,shared,hand_packed", "--repetitions", "3", "--per-node", "--json", "out.json",
                     cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = document(tmp_path)
    assert {case["variant"] for case in found["cases"]} == {"auto", "mpi", "hand_packed"}
    assert all(case["verified"] for case in found["cases"])
    between = {case["variant"]: case["traffic_by_level"] for case in found["cases"]}
    # 26 neighbors, of which 18 lie to the left or the right, on the other host: as many messages, unless they are joined.
    assert between["hand_packed"]["other_node"] == {"messages": 36, "bytes": 2 * 2 * 10 * 10 * 4}
    assert between["hand_packed"]["busiest_node"] == {"messages": 18, "bytes": 2 * 10 * 10 * 4}
    assert between["auto"]["other_node"] == {"messages": 2, "bytes": 2 * 2 * 8 * 8 * 4}  # images of a cell travel once
    assert between["auto"]["own_rank"]["bytes"] > 0
    assert [each["variant"] for each in found["not_run"]] == ["shared"]


def test_a_gather_over_node_aware_messages_sends_one_message_from_host_to_host(possible, tmp_path):
    need_build()
    rows = write_dataset(tmp_path / "row-4", 4)
    done = parhelion("run", "--on-hosts", "2", "--once", sys.executable, "-m", "parhelion", "bench", "gather", rows, "--quick", "--variants", "node_aware(mpi),hand_isend", "--repetitions", "3",
                     "--per-node", "--json", "out.json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    cases = {case["variant"]: case for case in document(tmp_path)["cases"]}
    assert set(cases) == {"node_aware(mpi)", "hand_isend"} and all(case["verified"] for case in cases.values())
    # Each rank sends its first cell to the one before it: rank 2 to rank 1, rank 0 to rank 3.
    assert cases["hand_isend"]["traffic_by_level"]["other_node"] == {"messages": 2, "bytes": 2 * 4}


def test_the_published_runtimes_and_hybrids_run_by_their_names_between_hosts(possible, tmp_path):
    need_build()
    names = ["mpi", "ucx", "shared+mpi", "shared+ucx", "xpmem+mpi", "xpmem+ucx"]
    done = parhelion("run", "--on-hosts", "2", "--once", sys.executable, "-m", "parhelion", "bench", "halo", "--quick", "--ranks", "4", "--extent", "8", "--halo", "1",
                     "--fields", "1", "--variants", ",".join(names), "--repetitions", "3", "--json", "out.json",
                     cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = document(tmp_path)
    ran = {case["variant"]: case for case in found["cases"]}
    not_run = {each["variant"]: each["skipped"] for each in found["not_run"]}
    assert {*ran, *not_run} == set(names) and {"mpi", "shared+mpi"} <= set(ran)
    assert all(case["verified"] for case in ran.values()) and all(not_run.values())


def test_where_hosts_cannot_be_made_the_reason_is_told(tmp_path):
    done = parhelion("run", "--on-hosts", "2", "--once", "true", cwd=tmp_path, PATH="/nowhere")
    # Administrators' tools may be found all the same.
    assert done.returncode == 0 or (done.returncode == 2 and ("install" in done.stderr or "namespaces" in done.stderr)), done.stderr


def test_what_is_for_hosts_is_refused_without_them(tmp_path):
    done = parhelion("run", "--once", "true", cwd=tmp_path)
    assert done.returncode == 2 and "--on-hosts 2" in done.stderr


@pytest.mark.parametrize(("ranks", "shares"), [(1, {"a": 1}), (2, {"a": 1, "b": 1}), (4, {"a": 2, "b": 2}), (5, {"a": 3, "b": 2})])
def test_ranks_are_spread_evenly(ranks, shares):
    hosts = Hosts.told({"PARHELION_HOSTS": "a:16, b:16"})
    assert hosts.shares(ranks) == shares and hosts.fullest(ranks) == max(shares.values())


def test_hosts_that_are_said_to_take_just_so_many_ranks_get_them():
    hosts = Hosts.told({"PARHELION_HOSTS": "a:1,b:5,c:2"})
    assert hosts.shares(8) == {"a": 1, "b": 5, "c": 2} and hosts.shares(3) == {"a": 1, "b": 1, "c": 1}


def test_hosts_that_are_one_machine_are_crowded_when_they_have_more_ranks_than_it_has_cores():
    told = {"PARHELION_HOSTS": "a,b,c,d"}
    assert not Hosts.told(told).crowded(4, 1) and Hosts.told(told).crowded(5, 1)
    assert Hosts.told({**told, "PARHELION_HOSTS_CORES": "2"}).crowded(4, 1)


def test_three_hosts_are_joined_without_a_bridge_and_take_ranks_as_told(possible, tmp_path):
    need_build()
    done = parhelion("run", "--on-hosts", "3", "--once", "env", "PARHELION_HOSTS=phl1:1,phl2:3,phl3:1", sys.executable, "-m", "parhelion", "bench", "alltoall",
                     "--quick", "--ranks", "5", "--size", "5000", "--variants", "mpi_alltoall", "--repetitions", "3", "--out", "run",
                     cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (launch,) = read_record(tmp_path / "run").launches
    assert launch.hosts == ["phl1", "phl2", "phl2", "phl2", "phl3"]


def test_launchers_are_told_the_hosts(monkeypatch):
    need_build()
    env = {"PARHELION_HOSTS": "a,b", "PARHELION_REMOTE_SHELL": "/shell", "PARHELION_SUBNET": "10.0.0.0/8", "PATH": "/bin"}
    words = default_build().launch(4, "program", env=env).argv
    assert "/shell" in words and any(word in ("a,b", "a:2,b:2") for word in words)
