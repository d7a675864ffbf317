"""Signals, killed command lines and full disks: nothing keeps running, and every finished case is there.

PARHELION_TEST_MOMENTS says at how many random moments a signal is sent (10), PARHELION_TEST_SEED which ones.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import synthetic
from measured import built, parhelion

from parhelion import launch
from parhelion.errors import why
from parhelion.record.model import RecordError
from parhelion.record.read import read_record

PACKAGE = Path(__file__).resolve().parents[3] / "python"
MOMENTS = int(os.environ.get("PARHELION_TEST_MOMENTS", "10"))
SLOW = "time.sleep(0.05)"
SYNTHETIC = """
import parhelion.launch.builds as build, pathlib, sys
build.build_directory = lambda: pathlib.Path("builds")
from parhelion.cli.main import main
sys.argv = ["parhelion", *sys.argv[1:]]
main()
"""


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Starts the bench over a measuring program that makes its figures up."""
    monkeypatch.chdir(tmp_path)
    started = []

    def start(*words, ignored=(), limit=None, kind="mpich", **source):
        synthetic.write_build(tmp_path / "builds" / "synthetic", kind=kind, **({"each": SLOW} | source))
        process = Marked([sys.executable, "-c", SYNTHETIC, "bench", "halo", "--out", "run", *words], ignored, limit)
        started.append(process)
        return process

    yield start
    for process in started:
        process.clear()


class Marked:
    """A command whose processes are known by their environment, wherever they have gone."""

    def __init__(self, argv, ignored=(), limit=None):
        self.mark = f"PARHELION_TEST_MARK={random.SystemRandom().getrandbits(64)}"
        name, value = self.mark.split("=")
        kept = {key: each for key, each in os.environ.items() if not key.startswith(("PARHELION_", "PMI_", "OMPI_COMM"))}

        def prepare():
            # A script's background has SIGINT ignored, and whoever is started there inherits that.
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if limit:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        self.process = subprocess.Popen([str(word) for word in argv], env=kept | {"PYTHONPATH": str(PACKAGE), name: value},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        preexec_fn=prepare, start_new_session=True)

    def send(self, number):
        self.process.send_signal(number)

    def end(self, seconds=60):
        """(return code, everything that was printed)"""
        output, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, output

    def alive(self):
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if self.mark.encode() in (folder / "environ").read_bytes().split(b"\0"):
                        found.append((int(folder.name), (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
                except OSError:
                    pass
        return found

    def gone_within(self, seconds):
        """Who is left after that time."""
        end = time.monotonic() + seconds
        while (left := self.alive()) and time.monotonic() < end:
            time.sleep(0.02)
        return left

    def clear(self):
        for pid, _ in self.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.process.stdout.close()


def wait_for_cases(count, run="run"):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (file := Path(run, "record.jsonl")).is_file() and finished(file) >= count:
            return
        time.sleep(0.02)
    raise AssertionError("no case was written")


def finished(file):
    """Whole lines of cases."""
    return sum(json.loads(line)["type"] == "case" for line in file.read_bytes().split(b"\n")[:-1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_ends_all_ranks_keeps_the_cases_and_is_the_end_of_the_command(bench, number):
    process = bench()
    wait_for_cases(3)
    process.send(number)
    code, output = process.end()
    assert code == -number
    assert not process.alive()
    assert f"parhelion: ended by {number.name}; " in output and "cases are kept in run" in output and "Traceback" not in output
    record = read_record("run")
    assert len(record.cases) >= 3 and [end.status for end in record.ends] == [f"ended by {number.name}"]


def test_a_handler_that_a_preloaded_library_has_set_in_c_is_no_trouble(tmp_path):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    (tmp_path / "early.c").write_text("#include <signal.h>\nstatic void hear(int n) {}\n__attribute__((constructor)) static void set(void) { signal(SIGHUP, hear); }\n")
    subprocess.run(["cc", "-shared", "-fPIC", tmp_path / "early.c", "-o", tmp_path / "libearly.so"], check=True)
    done = parhelion("--version", cwd=tmp_path, LD_PRELOAD=str(tmp_path / "libearly.so"))
    assert (done.returncode, done.stderr) == (0, "")


def test_ranks_are_gone_soon_after_the_command_line_was_killed(bench):
    process = bench()
    wait_for_cases(3)
    process.send(signal.SIGKILL)
    process.process.wait()
    assert not process.gone_within(5)
    assert len(read_record("run").cases) >= 3


def test_ranks_are_gone_soon_after_their_keeper_was_killed(bench):
    process = bench()
    wait_for_cases(3)
    keepers = [pid for pid, words in process.alive() if "keeper.py" in words]
    assert len(keepers) == 1
    os.kill(keepers[0], signal.SIGKILL)
    code, output = process.end()
    assert code == 3 and "SIGKILL" in output
    assert not process.alive()


def test_ranks_that_do_not_heed_sigterm_are_killed_even_when_a_second_signal_comes(bench):
    process = bench(before="import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    wait_for_cases(3)
    for _ in range(3):
        process.send(signal.SIGTERM)
        time.sleep(0.05)
    time.sleep(0.6)
    process.send(signal.SIGINT)
    code, output = process.end()
    assert code == -signal.SIGTERM and not process.alive()
    assert "ended by SIGTERM" in output and "Traceback" not in output
    assert len(read_record("run").cases) >= 3


def test_what_was_ignored_at_the_beginning_stays_ignored(bench):
    process = bench("--halo", "1", "--fields", "1", ignored=(signal.SIGHUP, signal.SIGINT))
    wait_for_cases(2)
    process.send(signal.SIGHUP)
    process.send(signal.SIGINT)
    code, output = process.end()
    assert code == 0, output
    assert [end.status for end in read_record("run").ends] == ["ok"] * 3


def test_a_false_start_of_the_launcher_is_tried_again_in_a_bench(bench, tmp_path):
    process = bench("--launches", "1", "--halo", "1", "--fields", "1", kind="openmpi", before=f"""
tries = open({str(tmp_path / "tries")!r}, "a"); tries.write("x"); tries.close()
if os.path.getsize({str(tmp_path / "tries")!r}) < 3:
    sys.exit("The PMIx server's listener thread failed to start. We cannot")
""")
    code, output = process.end()
    assert code == 0, output
    assert output.count("starting again") == 2 and (tmp_path / "tries").read_text() == "xxx"
    assert [end.status for end in read_record("run").ends] == ["ok"]


def test_a_disk_without_room_for_the_record_is_named_and_finished_cases_are_kept(bench):
    code, output = bench(limit=120_000, each="pass").end()
    assert code == 3, output
    assert "File too large" in output
    assert "ranks of launch 1: " in output
    record = read_record("run")
    assert len(record.cases) >= 1 and not record.notes


def test_the_ranks_reason_is_told_where_the_disk_has_no_room_for_what_they_print(bench):
    Path("run").mkdir()
    Path("run/launch-0.log").symlink_to("/dev/full")
    code, output = bench(before="sys.stderr.write('phl-bench: cannot write: no room here\\n'); sys.exit(3)").end()
    assert code == 3 and "cannot write: no room here" in output


def test_a_disk_that_is_full_from_the_beginning_leaves_no_run(bench):
    code, output = bench(limit=512).end()
    assert code == 2, output
    assert "cannot write run/record.jsonl: File too large (files may have 512 B here: raise it with ulimit -f)" in output
    with pytest.raises(RecordError, match="not a run"):
        read_record("run")


def test_a_full_disk_says_how_much_is_free():
    assert "free); make room" in why(OSError(28, "No space left on device"), "/tmp/file")


LISTS = ["runs", "list", "--json", "-"]


def command(words, redirected, unbuffered=False):
    """Status and standard error of a command whose streams a shell has redirected, in a folder without runs."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"} | {"PYTHONPATH": str(PACKAGE)}
    env |= {"PYTHONUNBUFFERED": "1"} if unbuffered else {}
    done = subprocess.run(["bash", "-c", f'"$@" {redirected}', "-", sys.executable, "-m", "parhelion", *words], env=env,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("words", [LISTS, ["--help"], ["--version"], ["run", "--help"]], ids=lambda words: words[0])
def test_a_full_standard_output_is_told(tmp_path, monkeypatch, words, unbuffered):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    code, said = command(words, ">/dev/full", unbuffered)
    assert code == 2 and said.count("No space left on device") == 1
    assert "standard output" in said and "Traceback" not in said and "Exception ignored" not in said


def test_where_even_standard_error_is_full_the_status_tells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(["runs", "list"], "2>/dev/full")[0] == 2
    assert command(["--help"], ">/dev/full 2>/dev/full")[0] == 2


def test_a_reader_that_has_gone_is_no_fault():
    assert command(["--help"], "> >(exec true)") in ((0, ""), (1, ""))  # it may go before or after


def test_closed_standard_streams_are_told_or_made_up_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    code, said = command(LISTS, ">&-")
    assert code == 2 and said == "Error: standard output is closed: name a file, or /dev/null\n"
    assert command(LISTS, "<&- 2>&-")[0] == 0


@pytest.mark.skipif(not built(), reason="no MPI is built")
def test_the_measuring_program_tells_of_a_full_standard_output():
    build = launch.usable_builds()[built()[0]]
    with open("/dev/full", "w") as full:
        done = subprocess.run([build.program, "--list"], stdout=full, stderr=subprocess.PIPE, text=True, env=build.environment())
    assert done.returncode == 2 and "No space left on device" in done.stderr


SWALLOWED = """
import os, signal
from parhelion.launch.ending import ends_by_signals
from parhelion.launch.process import run_command

class Drops:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)  # what its handler raises, Python prints and forgets

with ends_by_signals("test"):
    Drops()
    run_command(["sleep", "60"])
"""


def test_a_signal_whose_exception_python_has_dropped_still_ends_the_command():
    process = Marked([sys.executable, "-c", SWALLOWED])
    code, output = process.end(30)
    assert code == -signal.SIGTERM and "test: ended by SIGTERM" in output and not process.alive()


DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read():
    time.sleep(0.01)
"""


def test_what_a_command_leaves_in_the_background_ends_with_it(tmp_path):
    done = launch.run_command([sys.executable, "-c", DAEMON, str(tmp_path / "pid")], timeout=60)
    assert done.ok
    assert not Path("/proc", (tmp_path / "pid").read_text()).exists()


@pytest.mark.parametrize("crashes", [False, True])
def test_shared_memory_of_killed_ranks_is_removed_and_that_of_others_is_not(tmp_path, crashes):
    mine, other = (Path("/dev/shm", f"mpich_shm_{name}{os.getpid()}") for name in ("mine", "other"))
    program = f"""
import mmap, os, time
with open({str(mine)!r}, "w+b") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
open({str(tmp_path / "ready")!r}, "w")
time.sleep(2 if {crashes} else 600)
os.kill(os.getpid(), 9)
"""
    other.write_bytes(b"1")
    try:
        job = launch.process.Job([sys.executable, "-c", program])
        while not (tmp_path / "ready").exists():
            assert not job.wait(0.02)
        assert mine.exists()
        if crashes:
            assert job.wait(60) and job.returncode == -signal.SIGKILL
        job.end()
        assert not mine.exists() and other.exists()
    finally:
        other.unlink()


def commands(folder):
    """Real commands that start ranks, several seconds each, for every MPI that is built."""
    program = [sys.executable, "-m"]
    for build in built("mpich", "openmpi"):
        yield [*program, "parhelion", "bench", "halo", "--ranks", "2", "--extent", "8", "--halo", "1", "--fields", "1,2", "--build", build,
               "--launches", "3", "--repetitions", "400", "--out", folder / "run"]
        yield [*program, "parhelion", "run", "-n", "2", "--build", build, "--", "python", "-c", "from mpi4py import MPI\nimport time\ntime.sleep(5)"]
        yield [*program, "parhelion", "demo", "--ranks", "2", "--mesh-cells", "5000", "--build", build, "--out", folder]
        if shutil.which("perf"):
            yield [*program, "parhelion", "profile", "run", "-n", "2", "--build", build, "--out", folder / "profile", "--", "sleep", "5"]


@pytest.mark.every_build
@pytest.mark.timeout(60 + 40 * MOMENTS)
@pytest.mark.skipif(not built("mpich", "openmpi"), reason="no MPI is built")
def test_at_any_moment_any_signal_leaves_no_process_and_a_record_that_opens(tmp_path, monkeypatch):
    seed = int(os.environ.get("PARHELION_TEST_SEED", "1"))
    rng = random.Random(seed)
    for number in range(MOMENTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        argv = rng.choice(list(commands(folder)))
        how = rng.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL])
        twice, moment = rng.random() < 0.3, rng.uniform(0, 6)
        where = f"moment {number} of seed {seed}: {how.name}{' twice' if twice else ''} after {moment:.2f} s: {argv[2:]}"
        process = Marked(argv)
        try:
            time.sleep(moment)
            for _ in range(1 + twice):
                process.send(how)
            code, output = process.end()
            left = process.gone_within(8) if how == signal.SIGKILL else process.alive()
            assert not left, f"{where}\nleft: {left}\n{output}"
            assert code == -how or (moment > 3 and code == 0), f"{where}\nexit {code}\n{output}"
            for file in folder.rglob("record.jsonl"):
                if b"\n" in file.read_bytes():
                    assert len(read_record(file).cases) == finished(file), where
            print(f"ok: {where} -> {code}", flush=True)
        finally:
            process.clear()


WHILE_STARTING = """
import os, signal, subprocess, sys
from parhelion.launch import ending, process
from parhelion.launch.keeper import descendants
starts, method, begin = {"job": (process.Job, "_start", process.Job), "short": (subprocess.Popen, "_execute_child", process.ask)}[sys.argv[1]]
whole = getattr(starts, method)
setattr(starts, method, lambda *words: (whole(*words), os.kill(os.getpid(), signal.SIGTERM)))
with ending.ends_by_signals("it"):
    try:
        begin(["sleep", "60"])
    finally:
        print("left:", len(descendants(os.getpid())), flush=True)
"""


@pytest.mark.parametrize("command", ["job", "short"])
def test_a_signal_while_a_command_is_being_started_ends_it_before_anything_else_happens(command):
    """Who reads what ranks have written, and cuts off what they have not finished, must find that they are gone."""
    done = subprocess.run([sys.executable, "-c", WHILE_STARTING, command], env=os.environ | {"PYTHONPATH": str(PACKAGE)}, capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGTERM and done.stdout == "left: 0\n", done.stdout + done.stderr
