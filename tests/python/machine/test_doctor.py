"""What the doctor says of launchers, and what it finds most worth doing."""

import pytest
from measured import built

from parhelion.launch import Flavor, flavors
from parhelion.tools.machine.doctor.launchers import launchers, why_not
from parhelion.tools.machine.doctor.mpi import network
from parhelion.tools.machine.doctor.probes import Finding
from parhelion.tools.machine.doctor.worth import worth_doing

SRUN = "#!/bin/sh\n[ $1 = --version ] && echo slurm-wlm 22.05.8 || printf 'MPI plugin types are...\\n\\tpmix\\n\\tnone\\n'\n"
SAID = {
    "mpich": ("HYDRA build details:\n    Version:                                 5.0.2", "MPICH 5.0.2", ("mpich", "impi")),
    "openmpi4": ("mpiexec.openmpi (OpenRTE) 4.1.4", "Open MPI 4.1.4", ("openmpi",)),
    "openmpi5": ("mpiexec (Open MPI) 5.0.11", "Open MPI 5.0.11", ("openmpi",)),
    "impi": ("Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 2026", "Intel MPI 2021.18", ("impi", "mpich")),
    "other": ("hello", "of an unknown MPI", ()),
}


def flavor(folder, kind="mpich"):
    return Flavor(kind, kind, folder, folder / "bin/mpiexec", folder, "MPICH Version: 5.0.2", "libmpi.so.12", folder)


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
    assert (why_not(flavor(tmp_path), [found]) is None) == (name in ("mpich", "impi", "other"))


def test_srun_tells_how_it_speaks_to_which_mpi(tmp_path, monkeypatch):
    write(tmp_path / "srun", SRUN)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    srun = next(each for each in launchers() if each.path == f"{tmp_path}/srun")
    assert (srun.whose, srun.starts, srun.offers) == ("Slurm 22.05.8", ("openmpi",), "--mpi=none, --mpi=pmix")
    assert any("needs --mpi=pmi2" in words for words in worth_doing([flavor(tmp_path)], {}, [srun], [], None))
    assert not any("Slurm" in words for words in worth_doing([flavor(tmp_path, "openmpi")], {}, [srun], [], None))


def test_the_three_things_most_worth_doing_come_by_what_they_bring(tmp_path, monkeypatch):
    monkeypatch.delenv("PARHELION_WISDOM", raising=False)
    findings = [Finding(name, False, "why", f"mend {name}", "who") for name in ("XPMEM", "UCX", "/dev/shm")]
    assert worth_doing([flavor(tmp_path)], {}, [], findings, None)[:2] == ["mend /dev/shm (/dev/shm, for who)", "mend UCX (UCX, for who)"]
    assert "PARHELION_WISDOM" in worth_doing([flavor(tmp_path)], {}, [], findings, None)[2]
    assert "make build" in worth_doing([], {}, [], findings, None)[0]
    crowded = worth_doing([flavor(tmp_path)], {"mpich": "it loads another"}, [], findings, "start fewer")
    assert "it loads another" in crowded[0] and crowded[1] == "start fewer" and len(crowded) == 3


@pytest.mark.parametrize("name", built("mpich", "openmpi"))
def test_each_mpi_says_which_network_it_takes(name, monkeypatch):
    monkeypatch.delenv("PARHELION_HOSTS", raising=False)
    told = network(flavors()[name])
    assert any(channel.startswith(("UCX", "Open MPI", "libfabric")) for channel in told), told
