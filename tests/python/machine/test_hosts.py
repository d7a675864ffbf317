"""Two hosts on one machine: ranks that really meet over a network."""

import os
import sys

import pytest
from measured import document, need_build, parhelion

from parhelion.launch import default_flavor
from parhelion.launch.hosts import Hosts
from parhelion.tools.machine.hosts import reason_against
from parhelion.tools.machine.hosts.sandbox import TUN
from parhelion.tools.records import read_record


@pytest.fixture(scope="module")
def possible():
    """Skip with the reason where hosts cannot be made."""
    reason = reason_against()
    if reason:
        pytest.skip(f"skipped: {reason}")


def test_each_host_has_its_own_name_processes_and_shared_memory(possible, tmp_path):
    told = 'hostname; ls /proc | grep -c "^[0-9]"; touch /dev/shm/mine; $PARHELION_REMOTE_SHELL phl2 "hostname; ls /dev/shm | wc -l"'
    done = parhelion("hosts", "sh", "-c", told, cwd=tmp_path)
    lines = done.stdout.split()
    assert done.returncode == 0, done.stderr
    assert (lines[0], lines[2], lines[3]) == ("phl1", "phl2", "0") and int(lines[1]) < 10


def test_the_exit_status_is_the_commands_and_the_document_says_so(possible, tmp_path):
    done = parhelion("hosts", "--json", "out.json", "sh", "-c", "exit 7", cwd=tmp_path)
    assert done.returncode == 7
    assert document(tmp_path) == {"schema": "parhelion.hosts/1", "hosts": 2, "possible": True, "reason": None, "status": 7}


def test_ranks_are_spread_over_both_hosts_and_every_byte_arrives(possible, tmp_path):
    need_build()
    done = parhelion("hosts", sys.executable, "-m", "parhelion", "bench", "alltoall", "--quick", "--ranks", "4", "--size", "1,5000",
                     "--contenders", "mpi_alltoall,bruck,node_aware", "--repetitions", "3", "--out", "run", "--json", "out.json",
                     cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (launch,) = read_record(tmp_path / "run").launches
    assert launch.hosts == ["phl1", "phl1", "phl2", "phl2"]
    cases = {(case["contender"], case["params"]["size"]): case for case in document(tmp_path)["cases"]}
    assert len(cases) == 6 and all(case["verified"] for case in cases.values())
    assert cases["node_aware", 1]["messages"] == 1 and cases["node_aware", 5000]["bytes"] == 4 * 5000


def test_halos_between_hosts_are_verified_too(possible, tmp_path):
    need_build()
    done = parhelion("hosts", sys.executable, "-m", "parhelion", "bench", "halo", "--quick", "--ranks", "2", "--extent", "8", "--halo", "1",
                     "--fields", "1", "--contenders", "auto,mpi_persistent,shared", "--repetitions", "3", "--json", "out.json",
                     cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = document(tmp_path)
    assert {case["contender"] for case in found["cases"]} == {"auto", "mpi_persistent"}
    assert all(case["verified"] for case in found["cases"])
    assert [each["contender"] for each in found["not_run"]] == ["shared"]


def test_the_published_runtimes_and_hybrids_run_by_their_names_between_hosts(possible, tmp_path):
    need_build()
    names = ["mpi", "ucx", "shared+mpi", "shared+ucx", "xpmem+mpi", "xpmem+ucx"]
    done = parhelion("hosts", sys.executable, "-m", "parhelion", "bench", "halo", "--quick", "--ranks", "4", "--extent", "8", "--halo", "1",
                     "--fields", "1", "--contenders", ",".join(names), "--repetitions", "3", "--json", "out.json",
                     cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found = document(tmp_path)
    ran = {case["contender"]: case for case in found["cases"]}
    not_run = {each["contender"]: each["skipped"] for each in found["not_run"]}
    assert {*ran, *not_run} == set(names) and {"mpi", "shared+mpi"} <= set(ran)
    assert all(case["verified"] for case in ran.values()) and all(not_run.values())


EXCHANGE_TIME = """
import time, parhelion as ph
from mpi4py import MPI
domain = ph.CartesianDomain((8, 8), halo=1, periodic=True)
exchange = ph.Exchange(domain, domain.zeros(dtype="float32"), transport="mpi_persistent", timeout=60)
exchange()
MPI.COMM_WORLD.Barrier()
start = time.perf_counter()
exchange()
print("took", MPI.COMM_WORLD.allreduce(time.perf_counter() - start, MPI.MAX), flush=True)
"""


def test_no_message_arrives_before_the_added_latency_is_over(possible, tmp_path):
    need_build()
    if not os.access(TUN, os.R_OK | os.W_OK):
        pytest.skip(f"skipped: {TUN} may not be opened")
    done = parhelion("hosts", "--latency", "30", sys.executable, "-m", "parhelion", "run", "-n", "2", "--timeout", "50",
                     sys.executable, "-c", EXCHANGE_TIME, cwd=tmp_path)  # fmt: skip
    times = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("took ")]
    assert done.returncode == 0 and len(times) == 2, done.stdout + done.stderr
    assert min(times) >= 0.03


def test_where_hosts_cannot_be_made_the_reason_is_told(tmp_path):
    done = parhelion("hosts", "--possible", "--json", "out.json", cwd=tmp_path, PATH="/nowhere")
    if done.returncode == 0:  # administrators' tools were found all the same
        assert document(tmp_path)["possible"] is True
    else:
        assert done.returncode == 2 and ("install" in done.stderr or "namespaces" in done.stderr)
        assert document(tmp_path)["possible"] is False and document(tmp_path)["reason"]


def test_a_command_is_needed(tmp_path):
    done = parhelion("hosts", cwd=tmp_path)
    assert done.returncode == 2 and "parhelion hosts hostname" in done.stderr


@pytest.mark.parametrize(("ranks", "used", "each"), [(1, ("a",), 1), (2, ("a", "b"), 1), (4, ("a", "b"), 2), (5, ("a", "b"), 3)])
def test_ranks_are_spread_evenly(ranks, used, each):
    hosts = Hosts.told({"PARHELION_HOSTS": "a:16, b:16"})
    assert (hosts.used(ranks), hosts.on_each(ranks)) == (used, each)


def test_launchers_are_told_the_hosts(monkeypatch):
    need_build()
    env = {"PARHELION_HOSTS": "a,b", "PARHELION_REMOTE_SHELL": "/shell", "PARHELION_SUBNET": "10.0.0.0/8", "PATH": "/bin"}
    words = default_flavor().launch(4, "program", env=env).argv
    assert "/shell" in words and any(word in ("a,b", "a:2,b:2") for word in words)
