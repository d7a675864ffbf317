"""What of the environment and of the command line goes into a record: known names, and nothing that smells of a secret."""

import re
import sys
from pathlib import Path

import pytest
import synthetic
from measured import built, parhelion
from perf import NO_SAMPLES, perf_works

from parhelion.record.variables import known, secret_name, variables, without_secrets
from parhelion.record.profile import FILE_NAME
from parhelion.record.read import read_record
from parhelion.record.folder import RunFolder

KNOWN = {
    "MPIR_CVAR_DEVICE_COLLECTIVES": "none", "MPICH_ALLTOALL_SHORT_MSG_SIZE": "512", "OMPI_MCA_pml": "^ucx", "I_MPI_DEBUG": "4",
    "UCX_NET_DEVICES": "mlx5_0:1,lo", "FI_PROVIDER": "tcp;ofi_rxm", "OMP_WAIT_POLICY": "passive", "PARHELION_KERNELS": "sse",
    "SLURM_CPU_BIND": "cores", "LD_LIBRARY_PATH": "/nowhere/lib:/nor/here",
}
UNKNOWN = {
    "SLURM_JOB_COMMENT": "mine", "MY_NOTE": "mine", "MY_UCX_NOTE": "mine", "OMP": "mine", "MALLOC": "mine", "LD_PRELOAD_NOTE": "mine",
    "OMPI_MCA_orte_hnp_note": "mine", "OMPI_MCA_ess_base_jobid": "mine", "PARHELION_JOB": "mine", "OMPI_COMMAND": "mine",
}
ROOT = Path(__file__).resolve().parents[3]
OF_ONE_START = {"PARHELION_JOB", "PARHELION_HOSTS_FOLDER"}  # other values each time, which change nothing
NAMED_SECRETS = {
    "MPICH_API_TOKEN": "planted", "UCX_PASSWORD": "planted", "FI_OPX_AUTH_KEY": "planted", "OMPI_MCA_oob_secret": "planted",
    "PMIX_SERVER_URI": "planted", "SLURM_JWT_TOKEN": "planted", "I_MPI_CREDENTIALS": "planted", "UCX_RC_PKEY": "planted",
}
SECRET_VALUES = [
    "https://planted:word@host/x", "tcp://planted@host", "password=planted", "Authorization: planted", "x --api-key=planted", "bearer plantedplanted",
    "ghp_plantedplanted1", "AKIAPLANTEDPLANTED", "eyJhbGciOiJIUzI1NiIsInR5", "-----BEGIN PLANTED KEY-----",
]


def planted(value):
    """Every kind at once: known names, unknown ones, names of secrets, and a known name with a secret in it."""
    return {**KNOWN, **UNKNOWN, **NAMED_SECRETS, "UCX_LOG_FILE": value}


@pytest.mark.parametrize("value", SECRET_VALUES)
def test_python_keeps_known_names_without_secrets(value):
    assert variables(planted(value)) == KNOWN


def test_what_steers_mpi_is_known_and_what_launchers_set_anew_is_not():
    for name in ("MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM", "OMPI_MCA_btl", "I_MPI_FABRICS", "UCX_TLS", "FI_PROVIDER", "PARHELION_TRANSPORT",
                 "LD_PRELOAD", "OMP_NUM_THREADS", "UCX_OF_A_LATER_VERSION", "SLURM_CPU_BIND"):
        assert known(name), name
    assert not any(map(known, UNKNOWN))


def test_every_variable_of_our_own_is_recorded():
    documented = set(re.findall(r"PARHELION_[A-Z_]+", (ROOT / "docs/environment.md").read_text()))
    assert len(documented) > 10 and all(map(known, documented - OF_ONE_START)) and not any(map(known, OF_ONE_START))


@pytest.mark.parametrize("benchmark", ["halo", "ghosts"])
@pytest.mark.parametrize("name", built() or [pytest.param("none", marks=pytest.mark.skip(reason="nothing is built"))])
def test_no_line_of_a_real_record_holds_a_planted_secret(tmp_path, name, benchmark):
    harmless = {key: KNOWN[key] for key in ("OMP_WAIT_POLICY", "PARHELION_KERNELS")}  # what no MPI stumbles over
    extra = {**{name: UNKNOWN[name] for name in ("SLURM_JOB_COMMENT", "MY_NOTE", "MY_UCX_NOTE")}, **NAMED_SECRETS, **harmless, "UCX_LOG_FILE_FILTER": "https://planted:word@host/x"}
    what = ["--extent", "4"] if benchmark == "ghosts" else ["--extent", "4x4x4", "--halo", "1", "--fields", "1", "--variants", "mpi"]
    done = parhelion("bench", benchmark, "--build", name, "--ranks", "2", "--launches", "1", "--repetitions", "2", *what, "--out", "run",
                     cwd=tmp_path, timeout=200, **extra)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "run" / "record.jsonl").read_text()
    assert "planted" not in text and "MY_NOTE" not in text and "COMMENT" not in text and "MY_UCX_NOTE" not in text
    record = read_record(tmp_path / "run")
    assert harmless.items() <= record.launches[0].cvars.items()
    assert harmless.items() <= record.run.environment["variables"].items()
    assert all(map(known, record.launches[0].cvars))


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["run", "--token", "abc", "--ranks", "2"], ["run", "--token", "(left out)", "--ranks", "2"]),
        (["run", "--api-key=abc", "x"], ["run", "--api-key=(left out)", "x"]),
        (["env", "MY_SECRET=abc", "x=1"], ["env", "MY_SECRET=(left out)", "x=1"]),
        (["get", "https://me:word@host/x"], ["get", "(left out)"]),
        (["--label", "from=https://me:word@host/x"], ["--label", "from=(left out)"]),
        (["--password", "--ranks", "2"], ["--password", "--ranks", "2"]),
        (["bench", "halo", "--extent", "4x4", "--label", "author=me"], ["bench", "halo", "--extent", "4x4", "--label", "author=me"]),
        (["https://me:word@host/?a=1"], ["(left out)"]),
    ],
)
def test_a_command_line_is_kept_without_its_secrets(words, shown):
    assert without_secrets(words) == shown


def test_names_are_secrets_by_their_words():
    for name in ("key", "api-key", "APIKEY", "apiKeys", "MY_SSH_KEY", "KEY_FILE", "UCX_RC_PKEY", "passkey", "creds", "aws.cred", "MONKEY_KEY"):
        assert secret_name(name), name
    for name in ("MONKEY", "monkeys", "turkey", "hockey_team", "keyboard", "keynote", "hotkey", "latchkey", "lackey", "smokey", "malarkey", "sortkey", "tokens_per_s", "sacred", "incredible"):
        assert not secret_name(name), name


def test_a_label_that_is_a_secret_is_refused_before_anything_starts(tmp_path):
    synthetic.write_record(tmp_path / "run")
    before = (tmp_path / "run" / "record.jsonl").read_bytes()
    for label in ("token=planted", "from=https://me:planted@host"):
        for words in (["bench", "halo", "--label", label, "--out", "new"], ["runs", "tag", "run", label, "--store", "."]):
            done = parhelion(*words, cwd=tmp_path)
            assert done.returncode == 2 and "looks like a secret" in done.stderr, done.stdout + done.stderr
            assert "planted" not in done.stderr
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "run" / "record.jsonl").read_bytes() == before


def test_records_and_profiles_keep_the_command_line_without_its_secrets(tmp_path):
    folder = RunFolder.create("halo", ["parhelion", "bench", "--token", "planted"], {}, tmp_path / "run")
    assert b"planted" not in folder.record.read_bytes()


@pytest.mark.skipif(not built() or not perf_works(), reason=f"nothing is built, or {NO_SAMPLES}")
def test_a_profile_names_its_program_without_secrets(tmp_path):
    done = parhelion("profile", "run", "--ranks", "1", "--out", "profile", "--", sys.executable, "-c", "sum(range(10**7))", "--token", "planted",
                     cwd=tmp_path, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "planted" not in (tmp_path / "profile" / FILE_NAME).read_text()
