"""What the doctor says of launchers, and what it finds most worth doing."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from measured import built

from parhelion.launch import Build, usable_builds
from parhelion.machine import doctor as doctor_module
from parhelion.cli.doctor import doctor
from parhelion.machine.launchers import launchers, why_not
from parhelion.machine.installed import version_here
from parhelion.machine.networks import network
from parhelion.machine.probes import Finding
from parhelion.machine.doctor import worth_doing

SRUN = "#!/bin/sh\n[ $1 = --version ] && echo slurm-wlm 22.05.8 || printf 'MPI plugin types are...\\n\\tpmix\\n\\tnone\\n'\n"
SAID = {
    "mpich": ("HYDRA build details:\n    Version:                                 5.0.2", "MPICH 5.0.2", ("mpich", "impi")),
    "openmpi4": ("mpiexec.openmpi (OpenRTE) 4.1.4", "Open MPI 4.1.4", ("openmpi",)),
    "openmpi5": ("mpiexec (Open MPI) 5.0.11", "Open MPI 5.0.11", ("openmpi",)),
    "impi": ("Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 2026", "Intel MPI 2021.18", ("impi", "mpich")),
    "other": ("hello", "of an unknown MPI", ()),
}


def build(folder, kind="mpich"):
    return Build(kind, kind, folder, folder / "bin/mpiexec", folder, "MPICH Version: 5.0.2", "libmpi.so.12", folder)


def write(file, text):
    file.write_text(text)
    file.chmod(0o755)


@pytest.mark.parametrize("name", SAID)
def test_each_launcher_is_known_by_what_it_says(name, tmp_path, monkeypatch):
    said, whose, starts = SAID[name]
    write(tmp_path / "mpiexec", f"#!/bin/sh\nprintf '{said}\\n'\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{tmp_path}")
    (found,) = launchers()
    assert (found.whose, found.starts) == (whose, starts)
    assert (why_not(build(tmp_path), [found]) is None) == (name in ("mpich", "impi", "other"))


def test_srun_tells_how_it_speaks_to_which_mpi(tmp_path, monkeypatch):
    write(tmp_path / "srun", SRUN)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    srun = next(each for each in launchers() if each.path == f"{tmp_path}/srun")
    assert (srun.whose, srun.starts, srun.offers) == ("Slurm 22.05.8", ("openmpi",), "--mpi=none, --mpi=pmix")
    assert any("needs --mpi=pmi2" in words for words in worth_doing([build(tmp_path)], {}, [srun], [], None))
    assert not any("Slurm" in words for words in worth_doing([build(tmp_path, "openmpi")], {}, [srun], [], None))


def test_the_three_things_most_worth_doing_come_by_what_they_bring(tmp_path):
    findings = [Finding(name, False, "why", f"mend {name}", "who") for name in ("XPMEM", "UCX", "/dev/shm")]
    assert worth_doing([build(tmp_path)], {}, [], findings, None)[:2] == ["mend /dev/shm (/dev/shm, for who)", "mend UCX (UCX, for who)"]
    assert worth_doing([build(tmp_path)], {}, [], findings, None)[2] == "mend XPMEM (XPMEM, for who)"
    assert "make build" in worth_doing([], {}, [], findings, None)[0]
    # Another build that mpi4py does not load, such as the one for the standard ABI, is no fault where one fits.
    assert not any("mpi4py" in words for words in worth_doing([build(tmp_path), build(tmp_path)], {"abi": "it loads another"}, [], [], None))
    crowded = worth_doing([build(tmp_path)], {"mpich": "it loads another"}, [], findings, "start fewer")
    assert "it loads another" in crowded[0] and crowded[1] == "start fewer" and len(crowded) == 3


def test_an_installed_package_is_not_told_to_make(monkeypatch):
    monkeypatch.setattr("parhelion.errors.in_checkout", lambda: False)
    told = worth_doing([], {}, [], [], None)
    assert "pip install" in told[0] and "mpich" in told[0] and "make" not in told[0]


@pytest.mark.parametrize(("command", "job", "words", "starts"), [
    (None, {}, [], True),
    ("sbatch", {}, [], False),
    ("qsub", {}, ["--start"], True),
    ("sbatch", {"SLURM_JOB_NODELIST": "a", "SLURM_JOB_ID": "7"}, [], True),
    (None, {}, ["--no-start"], False),
])
def test_no_ranks_are_started_on_a_login_node(tmp_path, monkeypatch, command, job, words, starts):
    if command:
        write(tmp_path / command, "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if not shutil.which("sbatch") else str(tmp_path))
    for name, value in job.items():
        monkeypatch.setenv(name, value)
    started = []
    one = build(tmp_path)
    monkeypatch.setattr(doctor_module, "usable_builds", lambda: {"mpich": one})
    monkeypatch.setattr(doctor_module.os, "access", lambda *_: True)
    monkeypatch.setattr(doctor_module, "network", lambda build: started.append(build) or {"UCX": "shm"})
    monkeypatch.setattr(doctor_module, "launchers", list)
    monkeypatch.setattr(doctor_module, "version_here", lambda build: "Another MPI 7")
    said = CliRunner().invoke(doctor, words)
    assert said.exit_code == 0, said.output
    assert bool(started) == starts and ("no ranks were started" in said.output) != starts
    assert "Another MPI 7" in said.output


@pytest.mark.skipif(not built(), reason="no MPI is built")
def test_the_version_is_that_of_the_mpi_that_is_here():
    here = usable_builds()[built()[0]]
    stale = replace(here, library_version="MPI of another day 1.0")
    assert version_here(stale) == here.library_version
    assert version_here(replace(stale, library_dir=Path("/nowhere"))).startswith("it does not load")


@pytest.mark.parametrize("name", built("mpich", "openmpi"))
def test_each_mpi_says_which_network_it_takes(name, monkeypatch):
    monkeypatch.delenv("PARHELION_HOSTS", raising=False)
    told = network(usable_builds()[name])
    assert any(channel.startswith(("UCX", "Open MPI", "libfabric")) for channel in told), told
