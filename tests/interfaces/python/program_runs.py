"""Runs a program of tests on some ranks of a build, once, and keeps what each of its tests said."""

import ast
import functools
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from parhelion import launch

PROGRAMS = Path(__file__).parent / "programs"
TIME_LIMIT = 240
# Open MPI looks for networks at each start, which one machine does not need.
ENVIRONMENT = {"OMPI_MCA_btl": "^ofi"}


def python_builds() -> list[launch.Build]:
    """The builds that are built with their Python module."""
    return [build for build in launch.usable_builds().values() if list(build.directory.glob("_core*.so"))]


def run(build: launch.Build, ranks: int, program: str, *args: str, time_limit: float = TIME_LIMIT, **env: str):
    """(Completed, output) of `program` on `ranks` ranks."""
    lines: list[str] = []
    environment = {**os.environ, **ENVIRONMENT, **env}
    done = launch.run(ranks, program, args, build=build, env=environment, timeout=time_limit, on_line=lines.append)
    return done, "\n".join(lines)


def run_python(build: launch.Build, ranks: int, *args: str, **env: str):
    return run(build, ranks, sys.executable, *args, **env)


def cases() -> Iterator[tuple[str, str, int, str]]:
    """(program, build, ranks, test) for every test of every program: on each of its rank counts under the first MPI, on three ranks under others."""
    for path in sorted(PROGRAMS.glob("[a-z]*.py")):
        ranks_of_program, tests = declared(path)
        for number, build in enumerate(python_builds()):
            for ranks in ranks_of_program if number == 0 or os.environ.get("PARHELION_TEST_MATRIX") else sorted({3} & {*ranks_of_program} or {2}):
                yield from ((path.stem, build.name, ranks, test) for test in tests)


def declared(path: Path) -> tuple[tuple[int, ...], list[str]]:
    """RANKS and the names of the tests, without importing the program."""
    body = ast.parse(path.read_text()).body
    assigned = {node.targets[0].id: node.value for node in body if isinstance(node, ast.Assign)}
    tests = [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    return ast.literal_eval(assigned["RANKS"]), tests


@functools.cache
def failures(program: str, build_name: str, ranks: int, **env: str) -> tuple[dict[str, str], str]:
    """What each test that came to its end said (empty: passed), and why the others did not."""
    done, output = run_python(launch.usable_builds()[build_name], ranks, str(PROGRAMS / f"{program}.py"), **env)
    results = [json.loads(line.partition("RESULT ")[2]) for line in output.splitlines() if "RESULT {" in line]
    end = f"ended by the time limit of {TIME_LIMIT} s" if done.timed_out else f"exit status {done.returncode}"
    return {result["test"]: result["failure"] for result in results}, f"{end} before this test was done:\n{output[-6000:]}"
