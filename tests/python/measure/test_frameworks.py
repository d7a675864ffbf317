"""The configurations for JUBE and Ramble, over real runs of phl-bench."""

import csv
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
from measured import need_build
from parhelion import launch

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DIRECTIVES = ("tags", "executable", "workload", "workload_variable", "figure_of_merit_context", "figure_of_merit", "success_criteria")


def ramble_directives(monkeypatch):
    """The positional and named arguments of each directive of application.py, read as Ramble reads it."""
    told = {}
    kit = types.ModuleType("ramble.appkit")
    kit.ExecutableApplication = object
    for name in DIRECTIVES:
        setattr(kit, name, lambda *words, _name=name, **options: told.setdefault(_name, []).append((words, options)))
    monkeypatch.setitem(sys.modules, "ramble", types.ModuleType("ramble"))
    monkeypatch.setitem(sys.modules, "ramble.appkit", kit)
    runpy.run_path(EXAMPLES / "ramble" / "applications" / "parhelion" / "application.py")
    return told


def test_ramble_finds_each_figure_and_each_failure_in_the_output(tmp_path, monkeypatch):
    need_build()
    told = ramble_directives(monkeypatch)
    values = {words[0]: options["default"] for words, options in told["workload_variable"]} | {"extent": "8", "repetitions": "3"}
    build = launch.default_build()

    def output(workload, **changed):
        program, *words = next(words[1] for words, _ in told["executable"] if words[0] == workload).format(**{**values, **changed}).split()
        assert program == "phl-bench"
        lines: list[str] = []
        launch.run(2, build.directory / program, words, build=build, cwd=tmp_path, timeout=120, on_line=lines.append)
        return lines

    def figures(lines):
        context, found = "", {}
        for line in lines:
            for _, options in told["figure_of_merit_context"]:
                if match := re.match(options["regex"], line):
                    context = options["output_format"].format(**match.groupdict())
            for (name,), options in told["figure_of_merit"]:
                if match := re.match(options["fom_regex"], line):
                    found[context, name.format(**match.groupdict())] = match[options["group_name"]]
        return found

    def succeeds(lines):
        for _, options in told["success_criteria"]:
            pattern, wanted = (options["match"], True) if "match" in options else (options["anti_match"], False)
            if any(re.match(pattern, line) for line in lines) != wanted:
                return False
        return True

    halo = output("halo")
    found = figures(halo)
    assert len(found) == 2 * 2 * 3 * 4  # widths, numbers of fields, variants, columns
    assert found["halo 8x8x8 float32 h2 f8 on 2x1x1", "auto values"] == "pass"
    assert 0 < float(found["halo 8x8x8 float32 h1 f1 on 2x1x1", "mpi min"]) <= float(found["halo 8x8x8 float32 h1 f1 on 2x1x1", "mpi median"])
    assert succeeds(halo) and not succeeds(output("halo", variants="auto,planted_fault"))
    assert figures(output("alltoall"))["alltoall 1024 B on 2 ranks", "mpi_alltoall values"] == "pass"


@pytest.mark.skipif(not shutil.which("jube"), reason="skipped: JUBE is not installed (Debian: apt install jube)")
def test_jube_runs_every_case_and_makes_the_table(tmp_path):
    need_build()
    text = (EXAMPLES / "jube" / "halo.yaml").read_text()
    here = {"mpiexec -n 2": f"{sys.executable} -m parhelion run -n 2", "phl-bench": launch.default_build().directory / "phl-bench", "64": 8, "30": 3}
    for old, new in here.items():
        assert f'_: "{old}"' in text
        text = text.replace(f'_: "{old}"', f'_: "{new}"')
    (tmp_path / "halo.yaml").write_text(text)
    subprocess.run(["jube", "run", "halo.yaml"], cwd=tmp_path, capture_output=True, check=True, timeout=200)
    told = subprocess.run(["jube", "result", "-a", "halo_runs"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60).stdout
    rows = list(csv.DictReader(told[told.index("halo,fields,variant"):].splitlines()))
    assert {(row["halo"], row["fields"], row["variant"]) for row in rows} == {(h, f, v) for h in "12" for f in "18" for v in ("auto", "mpi", "hand_persistent")}
    assert all(row["values"] == "pass" and 0 < float(row["min_us"]) <= float(row["median_us"]) for row in rows)
    assert {(row["halo"], row["fields"], row["bytes"]) for row in rows} >= {("1", "1", "512"), ("2", "8", "8192")}
