"""Running a program's ranks on several hosts made out of this machine (docs/hosts.md)."""

import subprocess
import sys
from pathlib import Path

import ranks


def need_hosts() -> None:
    """Ends the test with the reason where hosts cannot be made."""
    try:
        from parhelion.tools.machine.hosts import reason_against
    except ImportError as error:
        ranks.skip(f"the Python package is not there: {error}")
    if reason := reason_against():
        ranks.skip(reason)


def run(options, count: int, *args: object, env: dict[str, str], launcher_options=(), wrap=(), hosts: int = 2) -> subprocess.CompletedProcess:
    """`count` ranks of the program, spread over so many hosts; ended after the time limit."""
    launch = [sys.executable, str(Path(ranks.__file__).parents[2] / "scripts" / "mpirun.py"), "--flavor-file", options.flavor_file,
              "--ranks", str(count), "--timeout", str(options.timeout), *(f"--option={each}" for each in launcher_options),
              *wrap, options.program, *map(str, args)]  # fmt: skip
    start = "import sys; from parhelion.tools.machine.hosts import run_on_hosts; sys.exit(run_on_hosts(int(sys.argv[1]), sys.argv[2:]))"
    return subprocess.run([sys.executable, "-c", start, str(hosts), *launch], env=env, text=True, timeout=options.timeout + 20,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
