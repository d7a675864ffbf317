"""Whether perf can be used here."""

import subprocess


def perf_works():
    try:
        done = subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "--", "true"], capture_output=True, timeout=60
        )
    except OSError:
        return False
    return done.returncode == 0
