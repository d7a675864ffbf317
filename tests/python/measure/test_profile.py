"""Profiles of real ranks: planted changes are named; and of made-up ones: nothing is lost, nothing is trusted."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from perf import NO_SAMPLES, perf_works

from parhelion.launch import default_build
from parhelion.cli.main import root
from parhelion.record.profile import Profile, ProfileError, read_profile
from parhelion.analyze.profile import compare_profiles
from parhelion.record.profile import Frame, How, RankProfile, SCHEMA, Stack
from parhelion.analyze.profile import Key, charged_shares, naming, own_shares, part_of
from parhelion.measure.profile import parse_script, rank_profile, read_samples
from parhelion.analyze.profile import stacks as stacks_of

PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
void work(void);
int main(int count, char** words) {
    MPI_Init(&count, &words);
    int rank = 0, bytes = atoi(words[1]), sleep_us = atoi(words[3]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *from = calloc(8, bytes), *to = calloc(8, bytes);
    for (int i = 0; i < atoi(words[2]); ++i) {
        if (sleep_us && rank == 1) usleep(sleep_us);
        work();
        MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
"""
WORK = "void work(void) { for (volatile int i = 0; i < %d; ++i) {} }"


needs_perf = pytest.mark.skipif(not perf_works(), reason=NO_SAMPLES)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The program, and the library that it calls, in two folders; the second one's works a hundred times as long, so that
    it is seen on cores that are shared, too."""
    folder = tmp_path_factory.mktemp("program")
    compiler = default_build().mpi_home / "bin" / "mpicc"
    if not compiler.exists() or not shutil.which("cc"):
        pytest.skip("no mpicc beside the embedded MPI, or no C compiler")
    for place, rounds in (("here", 2000), ("elsewhere", 200_000)):
        (folder / place).mkdir()
        (folder / place / "work.c").write_text(WORK % rounds)
        subprocess.run(
            ["cc", "-g", "-O1", "-shared", "-fPIC", folder / place / "work.c", "-o", folder / place / "libwork.so"], check=True
        )
    (folder / "solver.c").write_text(PROGRAM)
    subprocess.run(
        [compiler, "-g", "-O1", folder / "solver.c", "-o", folder / "solver", f"-L{folder / 'here'}", "-lwork"], check=True
    )
    return folder


def parhelion(*words):
    """Run the command in this process."""
    result = CliRunner().invoke(root, [str(word) for word in words], prog_name="parhelion")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def take(built, out, *words, library="here", **variables):
    """A profile of the solver, as a user takes it."""
    env = {"LD_LIBRARY_PATH": str(built / library), **variables}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        result = parhelion("profile", "run", "-n", 2, "--frequency", 199, "--out", out, "--", built / "solver", *words)
    assert result.exit_code == 0, result.output
    return read_profile(out)


@pytest.fixture(scope="module")
def plain(built, tmp_path_factory):
    if not perf_works():
        pytest.skip("perf cannot take samples here")
    return take(built, tmp_path_factory.mktemp("plain") / "profile", 4096, 20000, 0)


@needs_perf
@pytest.mark.timeout(120)
def test_time_is_told_by_library_and_function_and_rank(plain):
    assert [rank.rank for rank in plain.ranks] == [0, 1]
    symbols = own_shares(plain, lambda frame: Key("", Path(frame.library).name, frame.symbol))
    assert any(key.library == "libwork.so" and key.symbol == "work" for key in symbols)
    for rank in plain.ranks:
        assert rank.samples and any("libmpi" in library for library in rank.libraries)
        assert rank.cpu_s + rank.waiting_s + sum(rank.asleep.values()) == pytest.approx(rank.wall_s, rel=0.5)


def test_libraries_that_only_the_samples_show_are_kept():
    frames = [Frame("/lib/a.so", "f"), Frame("[kernel]", "g"), Frame("/lib/b.so", "h")]
    seen = {"host": "h", "wall_s": 1.0, "waiting_s": 0.0, "asleep": {}, "libraries": ["/lib/c.so"]}
    assert rank_profile(0, seen, [Stack([0, 1], 1.0)], frames).libraries == ["/lib/a.so", "/lib/c.so"]


@needs_perf
@pytest.mark.timeout(120)
def test_a_sleep_in_one_rank_is_named_with_the_rank(built, plain, tmp_path):
    found = compare_profiles(plain, take(built, tmp_path / "b", 4096, 400, 3000))
    first = next(each for each in found.ranks if each.key.part == "asleep")
    assert first.rank == 1 and "sleep" in first.key.symbol and first.change > 0.3
    assert not any(each.rank == 0 and "nanosleep" in each.key.symbol for each in found.ranks)


@needs_perf
@pytest.mark.timeout(120)
def test_a_library_that_was_loaded_from_elsewhere_is_named(built, plain, tmp_path):
    found = compare_profiles(plain, take(built, tmp_path / "b", 4096, 3000, 0, library="elsewhere"))
    change = next(each for each in found.changes if each.name == "library libwork")
    assert change.first == str(built / "here/libwork.so") and change.second == str(built / "elsewhere/libwork.so")
    more = next(each for each in found.libraries if each.key.library == "libwork")
    assert more.shown and more.change > 0.1


@needs_perf
@pytest.mark.timeout(120)
def test_another_algorithm_and_another_network_are_named(built, tmp_path):
    if default_build().kind != "mpich":
        pytest.skip("the variables are MPICH's")
    network = {"MPIR_CVAR_NOLOCAL": "1"}
    first = take(
        built, tmp_path / "a", 4096, 40_000, 0, UCX_TLS="sm,self", MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM="pairwise", **network
    )
    second = take(
        built, tmp_path / "b", 4096, 40_000, 0, UCX_TLS="tcp,self", MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM="brucks", **network
    )
    found = compare_profiles(first, second)
    changed = {each.name: (each.first, each.second) for each in found.changes}
    assert changed["variables UCX_TLS"] == ("sm,self", "tcp,self")
    assert changed["variables MPIR_CVAR_ALLTOALL_INTRA_ALGORITHM"] == ("pairwise", "brucks")
    assert any("tcp" in each.key.symbol and each.shown and each.change > 0 for each in found.totals)


@needs_perf
@pytest.mark.timeout(120)
def test_a_program_that_fails_gives_status_3_and_keeps_its_profile(tmp_path):
    result = parhelion(
        "profile", "run", "-n", 2, "--out", tmp_path / "p", "--json", tmp_path / "p.json", "--", "sh", "-c", "sleep 0.1; exit 7"
    )
    assert result.exit_code == 3, result.output
    assert any("exit status" in note for note in json.loads((tmp_path / "p.json").read_text())["notes"])


def test_a_tool_that_is_not_there_is_named(monkeypatch, tmp_path):
    program = shutil.which("true")
    (tmp_path / "ldd").symlink_to(shutil.which("ldd"))
    monkeypatch.setenv("PATH", str(tmp_path))
    result = parhelion("profile", "run", "--out", tmp_path / "p", "--", program)
    assert result.exit_code == 2 and "perf is not installed" in result.output
    assert not (tmp_path / "p").exists()


def made_up(name="a", slow=False, ranks=2, stacks=30):
    """A profile that nobody took."""
    rng = random.Random(name)
    libraries = ["/x/solver", "/usr/lib/libmpi.so.12", "/usr/lib/libuct.so.0", "/usr/lib/libc.so.6", "[kernel]"]
    frames = [Frame(library, f"f{number}") for number, library in enumerate(libraries * 3)]

    def rank(number):
        made = [Stack([0, *(rng.randrange(len(frames)) for _ in range(rng.randint(0, 9)))], 0.01, 5) for _ in range(stacks)]
        return RankProfile(number, "here", 1.0, 0.1, {"futex_wait": 0.2, **({"hrtimer_nanosleep": 0.3} if slow and number == 1 else {})}, made)

    tool = How("perf", "6.1", "cpu-clock", 499, "dwarf")
    return Profile(SCHEMA, name, "2026-01-01", [], ["./solver"], tool, frames, [rank(number) for number in range(ranks)])


def test_shares_sum_to_what_is_accounted_for():
    profile = made_up()
    for shares in (own_shares(profile, naming(profile, 1)), charged_shares(profile, naming(profile, 1))):
        assert sum(shares.values()) == pytest.approx((0.3 + 0.2) / 0.9 + 0.1)
    assert set(charged_shares(profile, naming(profile, 1))) <= {
        Key(part) for part in ("own code", "MPI", "UCX", "asleep", "waiting for a core")
    }


def test_a_profile_does_not_differ_from_itself():
    found = compare_profiles(made_up(), made_up())
    assert not any(
        each.shown for table in (found.parts, found.libraries, found.symbols, found.totals, found.ranks) for each in table
    )
    assert found.changes == []


def test_stacks_for_speedscope_hold_all_time_on_cores_and_asleep():
    profiles = [made_up(), made_up("b")]
    found = stacks_of(profiles)
    assert found["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    names = [each["name"] for each in found["profiles"]]
    assert names == ["a, rank 0", "a, rank 1", "b, rank 0", "b, rank 1"]
    frames = found["shared"]["frames"]
    assert len({(frame["name"], frame["file"]) for frame in frames}) == len(frames)
    for each, rank in zip(found["profiles"], [rank for profile in profiles for rank in profile.ranks], strict=True):
        assert each["type"] == "sampled" and each["unit"] == "seconds" and len(each["samples"]) == len(each["weights"])
        assert sum(each["weights"]) == pytest.approx(each["endValue"]) == pytest.approx(rank.cpu_s + sum(rank.asleep.values()))
        assert all(0 <= number < len(frames) for stack in each["samples"] for number in stack)
    first = profiles[0].ranks[0].stacks[0]
    assert [frames[n]["name"] for n in found["profiles"][0]["samples"][0]] == [profiles[0].frames[n].symbol for n in first.frames]


@pytest.mark.parametrize(
    ("library", "part"),
    [("/a/libmpi.so.12", "MPI"), ("/a/mca_btl_sm.so", "MPI"), ("/a/libuct_ib.so.0", "UCX"), ("/a/libucp-1a2b.so.0", "UCX"),
     ("/a/libfabric.so.1", "libfabric"), ("/a/libtcp-fi.so", "libfabric"), ("/lib/libc.so.6", "libc"), ("/lib/libm-2.31.so", "libc"),
     ("[vdso]", "libc"), ("[kernel]", "kernel"), ("/home/solver", "own code"), ("/a/libcgns.so", "other libraries"),
     ("/a/libucmystery.so", "other libraries"), ("/b/libparhelion.so.0", "Parhelion")],
)
def test_libraries_belong_to_parts(library, part):
    assert part_of(library, ["./solver"]) == part


def test_perf_output_is_read_with_commands_and_paths_of_all_kinds():
    text = """
my solver 12/13   10.5:    2004008 
\tffffffff81 do_it+0x1f ([kernel.kallsyms])
\t      1a2b operator()(int) const (/a b/libx (1).so)
\t      1a2c [unknown] (/tmp/gone.so (deleted))

x 1/1 1.0: 1000000000 
"""
    first, second = parse_script(text.splitlines())
    assert first.command == "my solver" and first.seconds == pytest.approx(0.002004008)
    assert first.frames == (
        Frame("/tmp/gone.so", "[unknown]"),
        Frame("/a b/libx (1).so", "operator()(int) const"),
        Frame("[kernel]", "do_it"),
    )
    assert second.seconds == 1.0


def stand_in_for_perf(folder, monkeypatch, script):
    """A `perf` whose `perf script` prints what a script of the shell does."""
    program = folder / "perf"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


TWO = r"printf 'x 1/1 1.0: 1000000 \n\t1a f (/lib/a.so)\n\nx 1/1 1.1: 2000000 \n\t1b g (/lib/a.so)\n\n'"
LONG = r"""awk 'BEGIN { for (n = 0; n < 400; ++n) name = name "x"; for (n = 0; n < 50000; ++n)
printf "x 1/1 %d.0: 1000000 \n\t1a %s%d (/lib/a.so)\n\t1b g (/lib/a.so)\n\n", n, name, n % 100; exit }'"""
WITHIN = """
import resource, sys
from pathlib import Path
from parhelion.measure.profile import read_samples
whole = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (whole + 12 * 2**20,) * 2)
print(sum(len(sample.frames) for sample in read_samples(Path("rank-0.data"), [])))
"""


def test_samples_are_read_as_a_stream_in_little_memory(tmp_path, monkeypatch):
    stand_in_for_perf(tmp_path, monkeypatch, LONG)  # 23 MB, which may take no more than 12
    done = subprocess.run([sys.executable, "-c", WITHIN], capture_output=True, text=True, timeout=120)
    assert done.stdout == "100000\n", done.stderr


@pytest.mark.parametrize(("then", "says"), [("exec sleep 60", "longer than 1 s"), ("echo a broken block >&2; exit 3", "a broken block")])
def test_samples_that_were_read_are_kept_where_the_others_cannot_be(tmp_path, monkeypatch, then, says):
    stand_in_for_perf(tmp_path, monkeypatch, f"{TWO}\n{then}")
    notes = []
    samples = list(read_samples(tmp_path / "rank-0.data", notes, limit_s=1.0))
    assert [sample.seconds for sample in samples] == [0.001, 0.002]
    assert len(notes) == 1 and "first 2 samples" in notes[0] and says in notes[0]
    stand_in_for_perf(tmp_path, monkeypatch, then)
    with pytest.raises(ProfileError, match=says):
        list(read_samples(tmp_path / "rank-0.data", notes, limit_s=1.0))


def test_a_program_that_is_stopped_at_the_time_limit_keeps_its_profile(tmp_path):
    result = parhelion("profile", "run", "-n", 2, "--tool", "watch", "--timeout", 6, "--out", tmp_path / "p", "--", "sleep", "100")
    profile = read_profile(tmp_path / "p")
    assert result.exit_code == 3 and "the program was stopped at the time limit" in profile.notes, result.output
    assert len(profile.ranks) == 2


@pytest.mark.parametrize("content", [b"", b"hello", b"{}", b"[]", b'{"schema": "parhelion.record/1"}', b"\xff\xfe"])
def test_a_foreign_file_is_refused_by_name_and_left_alone(tmp_path, content):
    file = tmp_path / "profile.json"
    file.write_bytes(content)
    with pytest.raises(ProfileError, match=r"profile.json is not a Parhelion profile"):
        read_profile(file)
    assert file.read_bytes() == content
    assert parhelion("profile", "show", tmp_path).exit_code == 2


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_done_to_the_bytes_ends_in_a_profile_or_in_one_message(tmp_path, data):
    content = bytearray(msgspec.json.encode(made_up(stacks=3)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 20))] = data.draw(st.binary(max_size=20))
    (tmp_path / "profile.json").write_bytes(content)
    try:
        profile = read_profile(tmp_path)
    except ProfileError as error:
        assert "profile.json" in str(error)
    else:
        stacks_of([profile, made_up()])


def test_the_command_line_compares_shows_and_draws(tmp_path):
    for name, slow in (("a", False), ("b", True)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "profile.json").write_bytes(msgspec.json.encode(made_up(name, slow)))
    result = parhelion(
        "compare", tmp_path / "a", tmp_path / "b", "--speedscope", tmp_path / "both.json", "--json", tmp_path / "x.json"
    )
    assert result.exit_code == 0 and "rank 1 changed more" in result.output, result.output
    ranks = json.loads((tmp_path / "x.json").read_text())["ranks"]
    assert ranks[0]["rank"] == 1 and ranks[0]["symbol"] == "hrtimer_nanosleep"
    assert len(json.loads((tmp_path / "both.json").read_text())["profiles"]) == 4
    assert parhelion("compare", tmp_path / "a", tmp_path / "b", "--fail-on", "different").exit_code == 1
    shown = parhelion("profile", "show", tmp_path / "b", "--rank", "1", "--speedscope", tmp_path / "one.json")
    (one,) = json.loads((tmp_path / "one.json").read_text())["profiles"]
    assert shown.exit_code == 0 and one["name"] == "b, rank 1" and 0.3 in one["weights"]
    assert parhelion("profile", "show", tmp_path / "b", "--rank", "2").exit_code == 2


def test_without_samples_sleep_and_libraries_are_told(tmp_path):
    result = parhelion("profile", "run", "-n", 2, "--tool", "watch", "--out", tmp_path / "p", "--", "sleep", "0.5")
    assert result.exit_code == 0 and "no samples were taken" in result.output, result.output
    for rank in read_profile(tmp_path / "p").ranks:
        assert rank.asleep["hrtimer_nanosleep"] > 0.3 and any("libc" in library for library in rank.libraries)
