"""What an allocation of Slurm tells, and the `srun` that follows from it. Slurm itself: `tests/python/launch/test_slurm.py`."""

import re
from pathlib import Path

import pytest

from parhelion.launch import jobs
from parhelion.launch.jobs import SlurmJob
from parhelion.launch.kinds import KINDS

OLD = "srun: MPI types are...\nsrun: pmi2\nsrun: none\n"
NEW = "MPI plugin types are...\n\tpmix\n\tnone\n\tpmi2\nspecific pmix plugin versions available: pmix_v4\n"


@pytest.fixture
def offered(monkeypatch):
    monkeypatch.setattr(jobs, "offered", lambda: frozenset({"pmi2", "pmix"}))
    monkeypatch.setattr(jobs, "usable_cores", lambda: 2)
    monkeypatch.setattr(jobs.os, "sched_getaffinity", lambda process: {0, 1})


@pytest.mark.parametrize(("text", "cpus"), [("16(x2),8", 40), ("2", 2), ("1,1", 2), ("", 0), ("two", 0)])
def test_numbers_by_node_are_added_up(text, cpus):
    assert jobs.counted(text) == cpus


@pytest.mark.parametrize(("text", "kinds"), [(OLD, ["pmi2", "none"]), (NEW, ["pmix", "none", "pmi2"]), ("", [])])
def test_kinds_of_mpi_are_read_from_what_srun_prints(text, kinds):
    assert jobs.kinds_in(text) == kinds


def test_without_an_allocation_there_is_no_job():
    assert SlurmJob.told({"SLURM_PROCID": "0"}) is None


def test_an_allocation_tells_nodes_tasks_and_cpus():
    env = {"SLURM_JOB_ID": "7", "SLURM_JOB_NUM_NODES": "2", "SLURM_NTASKS": "4", "SLURM_CPUS_PER_TASK": "2", "SLURM_JOB_CPUS_PER_NODE": "4(x2)"}
    assert SlurmJob.told(env) == SlurmJob(2, 8, 4, 2)


def test_each_mpi_gets_the_srun_that_it_understands(offered):
    job = SlurmJob(2, 4)
    assert "--mpi=pmi2" in job.srun(KINDS["mpich"].pmi, 4, True)[0]
    assert "--mpi=pmix" in job.srun(KINDS["openmpi"].pmi, 4, True)[0]
    assert job.srun(KINDS["impi"].pmi, 4, True) == (None, [])


def test_where_srun_does_not_speak_to_the_mpi_its_own_launcher_is_used_and_that_is_told(monkeypatch):
    monkeypatch.setattr(jobs, "offered", lambda: frozenset({"none"}))
    words, notes = SlurmJob(1, 4).srun("pmi2", 4, True)
    assert words is None and "srun offers no pmi2 (none)" in notes[0]


def test_ranks_with_cores_are_bound_and_others_are_not(offered):
    bound, none = SlurmJob(2, 4).srun("pmi2", 4, True)
    assert "--cpu-bind=cores" in bound and "--nodes=2" in bound and "--overcommit" not in bound and none == []
    crowded, notes = SlurmJob(2, 4).srun("pmi2", 5, True)
    assert "--cpu-bind=none" in crowded and "--overcommit" in crowded and "5 ranks share 4 cores" in notes[0]
    assert "--cpu-bind=none" in SlurmJob(2, 4).srun("pmi2", 4, False)[0]


def test_cpus_per_task_count(offered):
    words, _ = SlurmJob(2, 4, 2, 2).srun("pmi2", 2, True)
    assert "--cpus-per-task=2" in words and "--cpu-bind=cores" in words
    assert "--overcommit" in SlurmJob(2, 4, 2, 2).srun("pmi2", 3, True)[0]


def test_ranks_of_a_launcher_that_srun_has_started_are_not_sruns():
    step = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1"}
    assert jobs.by_srun(jobs.Rank(1, 2, "slurm"), step)
    assert not jobs.by_srun(jobs.Rank(3, 4, "hydra"), step)


def test_the_library_knows_the_same_launchers_in_the_same_order():
    text = (Path(__file__).resolve().parents[3] / "src/core/launched.cpp").read_text()
    table = text.partition("launchers[] = {")[2].partition("};")[0]
    assert re.findall(r'\{"(\w+)", "(\w+)", "(\w+)"\}', table) == list(jobs.LAUNCHERS)
