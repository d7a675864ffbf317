"""Whether perf can be used here."""

import shutil
import subprocess

NO_SAMPLES = "perf is not installed, or the kernel lets it take no samples" + ("" if shutil.which("perf") else " (Debian: apt install linux-perf)")


def perf_works():
    try:
        done = subprocess.run(
            ["perf", "record", "-q", "-e", "cpu-clock", "-o", "/dev/null", "--", "true"], capture_output=True, timeout=60
        )
    except OSError:
        return False
    return done.returncode == 0
