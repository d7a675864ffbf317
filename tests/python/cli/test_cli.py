"""The command line, over a measuring program that makes its figures up."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner
from partition_meshes import bricks
from synthetic import jobs, write_dataset

from parhelion.cli.main import COMMANDS, root
from parhelion.record.read import read_record

PACKAGE = Path(__file__).resolve().parents[3] / "python"
SHARED = PACKAGE.parent.parent / "shared" / "data"


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Builds a synthetic build; what is given is Python source that its measuring program runs."""

    def build(**source):
        synthetic.write_build(tmp_path / "builds" / "synthetic", **source)
        monkeypatch.setattr("parhelion.launch.builds.build_directory", lambda: tmp_path / "builds")

    monkeypatch.chdir(tmp_path)
    for name in ("PARHELION_BUILD", "PMI_RANK", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    build()
    return build


def parhelion(*words):
    """Run the command in this process."""
    result = CliRunner().invoke(root, [str(word) for word in words], prog_name="parhelion")
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    return result


def test_help_names_every_command_and_each_command_has_help():
    listing = parhelion("--help").output
    for name in COMMANDS:
        assert name in listing
        assert parhelion(name, "--help").exit_code == 0


def test_help_loads_nothing_heavy():
    code = "import sys; from parhelion.cli.main import root; root(['bench', '--help'], standalone_mode=False);"
    code += "print([m for m in ('numpy', 'scipy', 'matplotlib', 'mpi4py', 'jinja2') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(PACKAGE)}, capture_output=True,
                          text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


@pytest.mark.parametrize("command", [["bench", "halo"], ["bench", "gather"], ["report"], ["doctor"], ["demo"], ["partition"]])
def test_every_command_takes_json(command):
    assert "--json" in parhelion(*command, "--help").output


def test_bench_halo_measures_the_published_cases(build):
    result = parhelion("bench", "halo", "--quick", "--ranks", "2", "--json", "out.json")
    assert result.exit_code == 0, result.output
    document = json.loads(Path("out.json").read_text())
    assert document["schema"] == "parhelion.bench/1"
    places = {(case["params"]["halo"], case["params"]["fields"]) for case in document["cases"]}
    assert places == {(halo, fields) for halo in (1, 2, 4, 5) for fields in (1, 2, 4, 8)}
    assert document["cases"][0]["params"]["extent"] == [64, 64, 64]
    assert document["cases"][0]["params"]["grid"] == [2, 1, 1]
    assert "hand_packed" in result.output and re.search(r"^(│ geo|)mean ", result.output, re.MULTILINE)


def test_json_on_standard_output_stands_alone(build):
    result = parhelion("bench", "halo", "--quick", "--halo", "1", "--fields", "1", "--json", "-")
    assert json.loads(result.stdout)["benchmark"] == "halo"
    assert "hand_packed" in result.stderr


def test_every_launch_is_a_start_of_the_ranks(build):
    parhelion("bench", "halo", "--halo", "1", "--fields", "1,2", "--out", "run")
    record = read_record("run")
    assert [launch.launch for launch in record.launches] == [0, 1, 2]
    assert record.run.environment["cpu"]["usable_threads"] >= 1


def test_variants_repetitions_seed_and_labels_reach_the_ranks(build):
    parhelion("bench", "halo", "--variants", "auto,hand_packed", "--repetitions", "7", "--launches", "1", "--seed", "9",
              "--halo", "1", "--fields", "1", "--label", "image=v1", "--out", "run")
    record, (job,) = read_record("run"), jobs("run")
    assert {case.variant for case in record.cases} == {"auto", "hand_packed"}
    assert all(len(case.samples) == 7 for case in record.cases)
    assert (job["seed"], record.labels) == (9, {"image": "v1"})


def test_work_to_overlap_with_reaches_the_ranks(build):
    result = parhelion("bench", "halo", "--halo", "1", "--fields", "1", "--launches", "1", "--overlap", "50", "--uneven", "0.5", "--out", "run")
    assert result.exit_code == 0, result.output
    (case,) = jobs("run")[0]["cases"]
    assert (case["work_us"], case["uneven"]) == (50, 0.5)


def test_the_case_of_comb_has_its_defaults_and_names_and_divides_the_whole_grid(build):
    comb = ("bench", "halo", "--case", "comb", "--launches", "1")
    result = parhelion(*comb, "--divide", "2x1x1", "--cells", "64", "--ghost", "2", "--vars", "3", "--cycles", "7", "--out", "run")
    assert result.exit_code == 0, result.output
    assert jobs("run")[0]["repetitions"] == 7
    (case,) = jobs("run")[0]["cases"]
    assert (case["grid"], case["extent"], case["halo"], case["fields"], case["element"], case["phases"]) == ([2, 1, 1], [32, 64, 64], 2, 3, "float64", True)
    parhelion(*comb, "--ranks", "2", "--element", "float32", "--out", "usual")
    (case,) = jobs("usual")[0]["cases"]
    assert (case["halo"], case["fields"], case["element"], case["extent"]) == (1, 1, "float32", [64, 64, 64])
    for words, why in ((("--grid", "2x1x1", "--cells", "65"), "cannot be divided evenly"), (("--cells", "64", "--extent", "8"), "give one of them"),
                       (("--cycles", "2", "--repetitions", "3"), "give one of them")):
        refused = parhelion(*comb, *words, "--out", "refused")
        assert refused.exit_code == 2 and why in refused.output and not Path("refused").exists()


def test_each_case_is_measured_without_a_seam_and_with_it_and_the_ratio_is_told(build):
    parhelion("bench", "halo", "--halo", "1,2", "--fields", "1", "--seam", "fold", "--seed", "2", "--out", "run")
    asked = {(case["halo"], case.get("seam")) for case in jobs("run")[0]["cases"]}
    assert asked == {(1, None), (1, "fold"), (2, None), (2, "fold")}
    record = Path("run/record.jsonl")
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    for case in (line for line in lines if line["type"] == "case" and "seam" in line["params"]):
        case["samples"] = [(1 + case["params"]["halo"]) * seconds for seconds in case["samples"]]
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = parhelion("runs", "show", "run").output.partition("cost of the seam")[2]
    for halo in (1, 2):
        row = " ".join(re.findall(rf"^│ +{halo} +│( +×.*)$", table, re.MULTILINE))  # of as many tables as the terminal asks for
        assert [round(float(ratio), 1) for ratio in re.findall(r"×(\S+)", row)] == [pytest.approx(1 + halo, rel=0.1)] * 14, table  # cores near, then far


def test_the_same_seed_gives_the_same_order_of_cases(build):
    orders = []
    for run, seed in (("a", 3), ("b", 3), ("c", 4)):
        parhelion("bench", "halo", "--launches", "1", "--repetitions", "2", "--variants", "auto", "--seed", seed, "--out", run)
        orders.append(jobs(run)[0]["cases"])
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bench", "halo", "--halo", "0"], "from 1 to"),
        (["bench", "halo", "--halo", "one"], "is not a whole number"),
        (["bench", "halo", "--halo", "65"], "exceeds the local extent 64"),
        (["bench", "halo", "--halo", "99999999999999999999"], "from 1 to"),
        (["bench", "halo", "--grid", "2x2", "--ranks", "3"], "needs 4 ranks"),
        (["bench", "halo", "--grid", "1x1x1x1x1"], "at most 4"),
        (["bench", "halo", "--extent", "8,8", "--grid", "1x1x2"], "give one, or one for each"),
        (["bench", "halo", "--extent", "2000000,2000000,2000000"], "GiB"),
        (["bench", "halo", "--element", "quad"], "unknown element type"),
        (["bench", "halo", "--build", "nope"], "not built"),
        (["bench", "halo", "--variants", "nope"], "build synthetic has auto"),
        (["bench", "halo", "--label", "image"], "KEY=VALUE"),
        (["bench", "halo", "--json", "/nowhere/out.json"], "cannot write --json"),
        (["bench", "halo", "--out", "/dev/null/run"], "cannot make the run folder"),
        (["bench", "halo", "--launches", "-1"], "--launches"),
        (["bench", "halo", "--overlap", "0"], "--overlap"),
        (["bench", "halo", "--uneven", "0.5"], "--uneven sets the imbalance"),
        (["bench", "halo", "--seam", "fold", "--periodic", "no"], "leave out --periodic"),
        (["bench", "halo", "--seam", "fold", "--extent", "64,8", "--grid", "2x1", "--halo", "4"], "than two halos"),
        (["bench", "halo", "--seam", "fold", "--grid", "2"], "two dimensions or more"),
        (["bench", "gather", "nowhere"], "nowhere"),
        (["bench", "gather"], "DATASET"),
        (["report", "nowhere"], "nowhere is not a run"),
        (["partition", "nowhere.msh", "--parts", "2"], "nowhere.msh"),
        (["bench", "halos"], "No such command"),
    ],
)
def test_bad_input_ends_with_one_message_and_status_2(build, words, message):
    result = parhelion(*words)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output


def test_bench_gather_starts_the_rank_count_of_each_set(build, tmp_path):
    sets = [write_dataset(tmp_path / "sets" / name, ranks) for name, ranks in (("a-3", 3), ("b-2", 2), ("c-2", 2), ("d-1", 1))]
    result = parhelion("bench", "gather", *sets, "--quick", "--out", "run", "--json", "out.json")
    assert result.exit_code == 0, result.output
    assert [launch.ranks for launch in read_record("run").launches] == [1, 2, 3]
    params = [case["params"] for case in json.loads(Path("out.json").read_text())["cases"]]
    assert {(Path(each["dataset"]).name, each["ranks"]) for each in params} == {("a-3", 3), ("b-2", 2), ("c-2", 2), ("d-1", 1)}


def test_surplus_files_of_a_set_are_ignored(build, tmp_path):
    folder = write_dataset(tmp_path / "mesh-2", 2)
    (folder / "data003").write_bytes(b"left over")
    assert parhelion("bench", "gather", folder, "--quick", "--out", "run").exit_code == 0
    assert read_record("run").launches[0].ranks == 2


@pytest.mark.parametrize("damage", ["missing", "truncated", "own id", "negative", "absurd"])
def test_a_damaged_set_is_refused_by_name_before_anything_starts(build, tmp_path, damage):
    folder = write_dataset(tmp_path / "mesh-2", 2)
    file = folder / "data002"
    match damage:
        case "missing":
            file.unlink()
        case "truncated":
            file.write_bytes(file.read_bytes()[:6])
        case "own id":
            file.write_bytes(b"".join(word.to_bytes(4, "little") for word in (10, 1, 11)))
        case "negative":
            file.write_bytes(b"\xff\xff\xff\xff" + file.read_bytes()[4:])
        case "absurd":
            file.write_bytes(file.read_bytes()[:4] + b"\xff\xff\xff\x7f" + file.read_bytes()[8:])
    result = parhelion("bench", "gather", folder)
    assert result.exit_code == 2
    assert "data002" in result.output
    assert not Path("runs").exists()


def test_a_rank_count_that_does_not_match_the_set_is_refused(build, tmp_path):
    result = parhelion("bench", "gather", write_dataset(tmp_path / "mesh-2", 2), "--ranks", "3")
    assert result.exit_code == 2 and "mesh-2" in result.output


def test_a_wrong_value_gives_status_1(build):
    build(each="if line.get('variant') == 'auto': line.update(verified=False, error='7 elements were wrong')",
           after="sys.exit(1)")
    result = parhelion("bench", "halo", "--quick", "--halo", "1", "--fields", "1", "--json", "out.json")
    assert result.exit_code == 1
    assert "FAILED" in result.output and result.output.count("7 elements were wrong") == 1
    cases = json.loads(Path("out.json").read_text())["cases"]
    assert [case["variant"] for case in cases if not case["verified"]] == ["auto"]


def test_what_the_ranks_refuse_is_said_once_and_gives_status_2(build):
    build(before="for rank in range(4): print(f'[{rank}] phl-bench: halo 9 is too wide: use 4', file=sys.stderr)\nsys.exit(2)")
    result = parhelion("bench", "halo", "--halo", "1", "--fields", "1")
    assert result.exit_code == 2
    assert result.output.count("halo 9 is too wide: use 4") == 1
    assert result.output.count("Error") == 1


def test_a_command_that_fails_leaves_no_empty_document(build):
    Path("older.json").write_text("{}")
    Path("linked.json").symlink_to("new.json")
    for name in ("out.json", "older.json", "linked.json"):
        assert parhelion("bench", "halo", "--build", "nope", "--json", name).exit_code == 2
    assert sorted(path.name for path in Path().glob("*.json")) == ["linked.json", "older.json"]
    assert Path("older.json").read_text() == "{}" and not Path("linked.json").exists()


def test_a_crash_keeps_every_finished_case_and_gives_status_3(build):
    build(each="if line.get('variant') == 'mpi_neighbor': record.write('{\"type'); record.flush(); os.kill(os.getpid(), 11)")
    result = parhelion("bench", "halo", "--halo", "1", "--fields", "1", "--out", "run", "--json", "out.json")
    assert result.exit_code == 3
    assert "SIGSEGV" in result.output
    record = read_record("run")
    assert [case.variant for case in record.cases] == ["auto", "mpi"]
    assert not record.notes
    assert json.loads(Path("out.json").read_text())["failures"][0]["status"] == "killed by SIGSEGV"


def test_ranks_that_hang_are_stopped_and_finished_cases_kept(build):
    build(each="if line.get('variant') == 'mpi_neighbor': time.sleep(100)")
    start = time.monotonic()
    result = parhelion("bench", "halo", "--halo", "1", "--fields", "1", "--quick", "--timeout", "3", "--out", "run")
    assert time.monotonic() - start < 60
    assert result.exit_code == 3 and "no case finished for 3 s" in result.output
    assert len(read_record("run").cases) == 2


def start_command(tmp_path, *words):
    code = f"""
import parhelion.launch.builds as build, pathlib, sys
build.build_directory = lambda: pathlib.Path({str(tmp_path / "builds")!r})
from parhelion.cli.main import main
sys.argv = ["parhelion", *{[str(word) for word in words]!r}]
main()
"""
    env = os.environ | {"PYTHONPATH": str(PACKAGE)}
    return subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, preexec_fn=usual_signals)


def usual_signals():
    """As in the foreground of a shell: started from a script's background, a process has SIGINT ignored."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def wait_for_cases(run, count):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if (run / "record.jsonl").is_file() and (run / "record.jsonl").read_text().count('"type": "case"') >= count:
            return
        time.sleep(0.02)
    raise AssertionError("no case was written")


def test_a_run_killed_in_the_middle_leaves_a_record_that_opens(build, tmp_path):
    build(each="time.sleep(0.05)")
    process = start_command(tmp_path, "bench", "halo", "--out", "run")
    wait_for_cases(tmp_path / "run", 3)
    process.kill()
    process.communicate(timeout=30)
    assert len(read_record(tmp_path / "run").cases) >= 3


def test_an_interrupt_stops_the_ranks_and_keeps_what_is_there(build, tmp_path):
    build(each="time.sleep(0.05)", before="open('pid', 'w').write(str(os.getpid()))")
    process = start_command(tmp_path, "bench", "halo", "--out", "run")
    wait_for_cases(tmp_path / "run", 3)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT and "Traceback" not in output
    assert "parhelion: ended by SIGINT; " in output and "finished cases are kept in run" in output
    record = read_record(tmp_path / "run")
    assert len(record.cases) >= 3 and [end.status for end in record.ends] == ["ended by SIGINT"]
    assert not Path("/proc", (tmp_path / "pid").read_text()).exists()


def test_the_demo_ends_with_tables_and_a_report(build, monkeypatch):
    def small_mesh(folder, cells):
        folder.mkdir(parents=True)
        bricks(8, 8, 8).write(folder / "small.vtu")
        return folder / "small.vtu"

    monkeypatch.setattr("parhelion.mesh.demo.demo_mesh", small_mesh)
    result = parhelion("demo", "--mesh-cells", "5000", "--json", "out.json")
    assert result.exit_code == 0, result.output
    document = json.loads(Path("out.json").read_text())
    assert [run["benchmark"] for run in document["runs"]] == ["halo", "gather"]
    assert str(Path("report.html").resolve()) in result.output
    assert Path("report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(("width", "transports", "tables"), [(200, 1, 1), (140, 4, 2), (90, 20, 1)])
def test_a_table_is_split_or_shortened_where_the_terminal_is_narrow(tmp_path, width, transports, tables):
    from rich.console import Console

    from parhelion.show import terminal
    from parhelion.show.results import summary

    names = ("auto", *(f"transport_{number}" for number in range(transports)), *synthetic.BASELINES)
    record = read_record(synthetic.write_record(tmp_path / "run", variants=names))
    console = Console(width=width, record=True, file=io.StringIO())
    terminal.show(console, summary(record, lambda table: terminal.width(console, table) <= console.width))
    shown = console.export_text()
    assert shown.count("halo: ranks 2") == 2 * tables
    assert re.findall(r"cores +(\w+) +\((\d+) +ns\)", shown) == [("near", "50")] * tables + [("far", "210")] * tables
    assert ("fastest" in shown) == (transports == 20)
    assert "…" not in shown


def test_80_columns_hold_the_floor_ours_the_fastest_by_hand_and_the_fastest_library_with_intervals(tmp_path):
    from rich.console import Console

    from parhelion.show import terminal
    from parhelion.show.results import summary

    names = (*synthetic.OWN, *synthetic.BASELINES, *synthetic.FLOORS, *synthetic.LIBRARIES)
    record = read_record(synthetic.write_record(tmp_path / "run", variants=names))
    console = Console(width=80, record=True, file=io.StringIO())
    terminal.show(console, summary(record, lambda table: terminal.width(console, table) <= console.width))
    table = console.export_text().partition("µs per")[0]
    assert max(map(len, table.splitlines())) <= 80 and "…" not in table
    # Once for each case; a name's end may stand in the next line.
    assert [len(re.findall(name, table)) for name in ("floor_", "hand_", "ghex|petsc")] == [4, 4, 4]
    assert len(re.findall(r"\d–1\.\d\d ", table)) >= 5  # four cases and their mean


def test_80_columns_hold_the_longest_name_whole(tmp_path):
    from rich.console import Console

    from parhelion.analyze.results import results
    from parhelion.show.results import short_table
    from parhelion.show.terminal import rich_table

    names = ("auto", "mpi_neighbor", "hand_persistent_merged", "floor_packed")
    record = read_record(synthetic.write_record(tmp_path / "run", variants=names))
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(rich_table(short_table("halo", results(record.cases))))
    assert console.export_text().count("hand_persistent_merged") == 4


def test_what_makes_figures_doubtful_is_said(tmp_path):
    from parhelion.analyze.results import results
    from parhelion.analyze.results import remarks

    run = synthetic.write_record(tmp_path / "run", spread=2.0, ranks=4, environment={"cpu": {"usable_cores": 2}})
    record = read_record(run)
    words = " ".join(remarks(record, results(record.cases)))
    assert "4 ranks shared 2 cores" in words and "wider than 25%" in words and "two states" in words


UNKNOWN = "unknown (too few launches or samples) in"


@pytest.mark.parametrize(("launches", "samples", "spread", "said"), [(1, 30, 0.01, UNKNOWN), (3, 1, 0.01, UNKNOWN), (3, 30, 2.0, "wider than 25%"), (3, 30, 0.01, None)])
def test_an_interval_that_is_not_known_is_not_a_narrow_one(tmp_path, launches, samples, spread, said):
    from parhelion.analyze.results import results
    from parhelion.analyze.results import remarks

    record = read_record(synthetic.write_record(tmp_path / "run", launches, spread=spread, samples=samples))
    told = " ".join(remarks(record, results(record.cases)))
    assert (said in told) if said else "interval is" not in told


@pytest.mark.parametrize("environment", [{}, {"cpu": "x", "load": ""}, {"cpu": {"usable_cores": "two"}, "load": 3}])
def test_a_strange_environment_keeps_nobody_from_the_figures(tmp_path, environment):
    from parhelion.analyze.results import results
    from parhelion.analyze.results import remarks

    record = read_record(synthetic.write_record(tmp_path / "run", launches=1, spread=2.0, environment=environment))
    assert remarks(record, results(record.cases))


def test_the_doctor_tries_out_what_transports_need(build):
    result = parhelion("doctor", "--ranks", "100", "--json", "out.json")
    assert result.exit_code == 0, result.output
    document = json.loads(Path("out.json").read_text())
    assert document["schema"] == "parhelion.doctor/1"
    told = {finding["name"]: finding for finding in document["transports"]}
    assert all(finding["works"] or finding["detail"] for finding in told.values())
    assert told["xpmem"]["works"] == os.access("/dev/xpmem", os.R_OK | os.W_OK)
    assert 1 <= len(document["worth_doing"]) <= 3 and any("share cores" in words for words in document["worth_doing"])
    assert [build["network"] for build in document["builds"]] == [{}]  # this one's program says nothing


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published partitions are not beside the checkout")
def test_published_sets_are_grouped_by_their_rank_counts():
    from parhelion.measure.measurement import gather

    sets = sorted(folder for folder in SHARED.iterdir() if folder.is_dir())
    groups = gather(tuple(sets), None, ("int32",), (1,))
    assert [group.ranks for group in groups] == sorted({int(folder.name.rpartition("-")[2]) for folder in sets})
    assert sum(len(group.cases) for group in groups) == len(sets)


@pytest.mark.parametrize(("ranks", "dimensions", "grid"), [(1, 3, [1, 1, 1]), (2, 3, [2, 1, 1]), (12, 3, [3, 2, 2]),
                                                           (7, 2, [7, 1]), (64, 3, [4, 4, 4]), (5, 1, [5])])
def test_a_process_grid_is_as_cubic_as_it_gets(ranks, dimensions, grid):
    from parhelion.measure.measurement import balanced_grid

    assert balanced_grid(ranks, dimensions) == grid


def test_there_are_twelve_commands_and_the_common_ones_come_first():
    assert len(COMMANDS) <= 12 and list(COMMANDS)[:4] == ["run", "bench", "compare", "report"]


def test_options_of_a_measurement_stand_in_panels():
    text = parhelion("bench", "halo", "--help").output
    panels = dict(zip(re.findall(r"^(\w[\w ]+):$", text, re.MULTILINE), re.split(r"^\w[\w ]+:$", text, flags=re.MULTILINE)[1:], strict=True))
    assert list(panels) == ["Cases", "Work between begin and end", "As in Comb", "Variants and samples", "Builds and ranks", "Output", "Help"]
    assert "--fields" in panels["Cases"] and "--repetitions" in panels["Variants and samples"] and "--json" in panels["Output"]
    assert max(panel.count("\n  --") for panel in panels.values()) <= 12


def test_the_shell_completes_commands_and_options():
    for words, expected in (("parhelion comp", "compare"), ("parhelion bench ", "halo"), ("parhelion bench halo --ov", "--overlap")):
        env = os.environ | {"PYTHONPATH": str(PACKAGE), "_PARHELION_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
        done = subprocess.run([sys.executable, "-c", "from parhelion.cli.main import root; root(prog_name='parhelion')"], env=env,
                              capture_output=True, text=True, timeout=60)
        assert f"plain,{expected}" in done.stdout, done.stderr
