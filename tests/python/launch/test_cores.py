"""Usable cores on a made-up machine: what a process may run on, and what its control groups grant. The same cases as in
tests/unit/test_cores.cpp, for the command line and the library must agree."""

import pytest

from parhelion.launch.cores import cpu_quota, physical_cores, usable_cores

ALL = set(range(8))


@pytest.fixture
def system(tmp_path):
    """A /proc and /sys in which hardware threads 0 and 4, 1 and 5, … share a core."""

    def write(file, text):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)

    for cpu in ALL:
        write(f"sys/devices/system/cpu/cpu{cpu}/topology/core_cpus_list", f"{cpu % 4},{cpu % 4 + 4}\n")
    return write, tmp_path


@pytest.fixture
def grants(system):
    """Writes limits of version 2 as {group: text of cpu.max}."""
    write, root = system
    write("proc/self/cgroup", "0::/slurm/job/step\n")

    def grant(limits):
        for group, text in limits.items():
            write(f"sys/fs/cgroup/{group}/cpu.max", text + "\n")
        return root

    return grant


def test_hardware_threads_of_one_core_are_one_core(system):
    _, root = system
    assert [usable_cores(cpus, root) for cpus in (ALL, {0, 4}, {0, 1, 4}, {8, 9}, set())] == [4, 1, 2, 2, 1]
    assert physical_cores(set(), root) == 0


@pytest.mark.parametrize(("limits", "quota", "cores"), [
    ({}, None, 4),
    ({"slurm/job": "150000 100000", "slurm": "max 100000", "slurm/job/step": "300000 100000"}, 1.5, 2),
    ({"slurm/job": "300000 100000", "other": "10000 100000"}, 3.0, 3),
    ({"": "50000 100000"}, 0.5, 1),
    ({"": "", "slurm": "many 100000"}, None, 4),
])
def test_what_the_control_groups_grant_limits_the_cores(grants, limits, quota, cores):
    root = grants(limits)
    assert (cpu_quota(root), usable_cores(ALL, root)) == (quota, cores)


def test_control_groups_of_version_1_limit_by_their_controller_cpu_alone(system):
    write, root = system
    write("proc/self/cgroup", "5:cpuset:/a\n4:cpu,cpuacct:/docker/a\n0::/\n")
    for name, quota in (("cpuset/a", 1), ("cpu,cpuacct", -1)):
        write(f"sys/fs/cgroup/{name}/cpu.cfs_quota_us", f"{quota}\n")
        write(f"sys/fs/cgroup/{name}/cpu.cfs_period_us", "100000\n")
    assert usable_cores(ALL, root) == 4
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n")
    assert usable_cores(ALL, root) == 3
