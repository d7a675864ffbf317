"""Running a program's ranks on several hosts made out of this machine (docs/hosts.md)."""

import os
import subprocess
import sys
from pathlib import Path

import ranks


def need_hosts() -> None:
    """Ends the test with the reason where hosts cannot be made."""
    try:
        from parhelion.machine.hosts import run_on_hosts

        run_on_hosts(2, ["true"])
    except ImportError as error:
        ranks.skip(f"the Python package is not there: {error}")
    except ValueError as error:
        ranks.skip(str(error))


def run(options, spread: tuple[int, ...], *args: object, env: dict | None = None, launcher_options=(), wrap=()) -> subprocess.CompletedProcess:
    """The program with so many ranks on each host; ended after the time limit."""
    names = ",".join(f"phl{host}:{ranks_there}" for host, ranks_there in enumerate(spread, start=1))
    launch = ["env", f"PARHELION_HOSTS={names}", sys.executable, str(Path(ranks.__file__).parents[1] / "support" / "mpirun.py"),
              "--build-file", options.build_file, "--ranks", str(sum(spread)), "--timeout", str(options.timeout), *(f"--option={each}" for each in launcher_options),
              *wrap, options.program, *map(str, args)]
    start = "import sys; from parhelion.machine.hosts import run_on_hosts; sys.exit(run_on_hosts(int(sys.argv[1]), sys.argv[2:]))"
    return subprocess.run([sys.executable, "-c", start, str(len(spread)), *launch], env={**os.environ, **(env or {})}, text=True, timeout=options.timeout + 20,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def passes(options, spread: tuple[int, ...], cases: str, **how) -> bool:
    """Whether these cases of a test program pass; says what they printed last."""
    done = run(options, spread, f"--gtest_filter={cases}", **how)
    print(f"ranks on each host: {spread}", done.stdout[-3000:], sep="\n", flush=True)
    return done.returncode == 0 and f"{sum(spread)} ranks: passed" in done.stdout
