"""Records that were altered by hand: every command that reads them says what is wrong, or shows what is left."""

import copy
import json
import os
import re
import tempfile
import warnings
from pathlib import Path

import pytest
import synthetic
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parhelion.cli.main import root

pytestmark = pytest.mark.timeout(600)
COMMANDS = [
    ("report", "RUN", "--html", "r.html", "--markdown", "r.md"),
    ("report", "RUN", "--published", "--html", "r.html", "--markdown", "r.md"),
    ("compare", "RUN", "RUN", "--all"),
    ("runs", "list", "--store", "."),
    ("runs", "show", "RUN", "--environment", "--json", "-"),
    ("runs", "tag", "RUN", "a=b"),
    ("runs", "export", "RUN", "--file", "e.parquet"),
    ("runs", "export", "RUN", "--table", "runs", "--file", "e.csv"),
    ("model", "fit", "RUN", "--file", "m.json"),
]
ODD = [None, True, -1, 0, 1, 2**31, 2**63, 10**30, -0.0, 1e-300, 1e300, "", "x", "2", "²", "[bold]", "[/x]", "nan", "a" * 3000,
       "\n", [], [0], [-1], ["x"], [[]], [10**30] * 4, [1.5], {}, {"x": None}, {"first": "x"}, {"max": "x"}]


def ghosts_cases():
    rows = {"rows_claimed": 600, "rows_unique": 500, "rows_moved": 400, "rows_moved_total": 800}
    return [{"grid": [2, 1, 1], "extent": 8, "vdim": 6, "element": "float64", "pattern": "faces"} | rows]


def alltoall_cases():
    return [{"size": 1024}, {"size": 2048, "mpi": "mpich", "network": "tcp"}]


CASES = {
    "halo": lambda: synthetic.halo_cases((1,), (1, 4)),
    "ghosts": ghosts_cases,
    "alltoall": alltoall_cases,
    "gather": lambda: [{"dataset": "/x/casting-2", "element": "int32", "components": 1}],
    "setup": lambda: [case | {"transport": "auto"} for case in synthetic.halo_cases((1,), (1,))],
}


def whole_record(benchmark):
    """The lines of a small record with everything in it."""
    variants = ("mpi_alltoall", "hand_packed") if benchmark == "alltoall" else ("auto", "mpi", "hand_packed")
    lines = [synthetic.run_line(benchmark, labels={"image": "a"}, environment={"cpu": {"usable_cores": 2}, "load": "0.1 0.1"})]
    for launch in range(2):
        lines += synthetic.launch_lines(synthetic.job(benchmark, launch=launch, repetitions=4, cases=CASES[benchmark](), variants=variants))
    for line in lines:
        if line["type"] == "launch":
            line["hosts"] = ["a", "a"]
            line["imports"] = {part: {"max": 0.1} for part in ("interpreter_s", "numpy_s", "mpi4py_and_mpi_init_s", "parhelion_s")}
            line["cold_alltoall"] = {"size": 1024, "first_s": 1e-3, "verified": True}
    return lines


def places(value, path=()):
    """Every place in nested values, the first few of long lists."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield (*path, key)
            yield from places(each, (*path, key))
    elif isinstance(value, list):
        for number, each in list(enumerate(value))[:2]:
            yield (*path, number)
            yield from places(each, (*path, number))


def altered(lines, changes):
    lines = copy.deepcopy(lines)
    for (first, *path), value in changes:
        holder = lines[first]
        try:
            for key in path[:-1]:
                holder = holder[key]
            if value is DELETED:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
    return lines


DELETED = object()


def check_all(lines, commands=COMMANDS):
    """Run every command; anything but an exit status of its own is a traceback."""
    text = "".join(json.dumps(line) + "\n" for line in lines)
    for command in commands:
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            run.mkdir()
            (run / "record.jsonl").write_text(text)
            before = Path.cwd()
            os.chdir(folder)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    done = CliRunner().invoke(root, ["run" if word == "RUN" else word for word in command])
            finally:
                os.chdir(before)
        if done.exception and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code in (0, 1, 2), (command, done.output)


@pytest.mark.parametrize("benchmark", CASES)
def test_the_record_that_is_altered_can_be_read_by_every_command(benchmark):
    lines = whole_record(benchmark)
    check_all(lines)


CHANGE = st.one_of(st.just(DELETED), st.sampled_from(ODD))


@pytest.mark.parametrize("benchmark", CASES)
@settings(max_examples=int(os.environ.get("ALTERED_RECORDS", "8")), deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
@given(st.data())
def test_no_altered_record_ends_in_a_traceback(benchmark, data):
    lines = whole_record(benchmark)
    where = list(places([*lines[:4], lines[-2]]))
    where = [place for place in where if len(place) > 1]
    changes = data.draw(st.lists(st.tuples(st.sampled_from(where), CHANGE), min_size=1, max_size=3))
    check_all(altered(lines, changes), [data.draw(st.sampled_from(COMMANDS)) for _ in range(2)])


@pytest.mark.parametrize(
    ("benchmark", "name", "value"),
    [("ghosts", "grid", "x"), ("ghosts", "rows_claimed", "many"), ("alltoall", "size", "²"), ("halo", "extent", [10**30]), ("halo", "halo", None)],
)
def test_a_parameter_of_another_type_is_named_with_its_line(benchmark, name, value, tmp_path):
    lines = whole_record(benchmark)
    lines[3]["params"][name] = value
    (tmp_path / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    refused = CliRunner().invoke(root, ["runs", "show", str(tmp_path)])
    assert refused.exit_code == 2
    assert re.search(rf"line 4: {name} in params is ", refused.output)


@pytest.mark.parametrize("name", ["ranks", "grid", "vdim", "element", "pattern", "rows_claimed", "rows_unique", "rows_moved", "rows_moved_total"])
def test_what_a_record_of_ghosts_does_not_tell_is_shown_as_missing(name, tmp_path):
    lines = whole_record("ghosts")
    for line in lines:
        line.get("params", {}).pop(name, None)
    (tmp_path / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = CliRunner().invoke(root, ["runs", "show", str(tmp_path)])
    assert shown.exit_code == 0, shown.output
    assert "–" in shown.output
