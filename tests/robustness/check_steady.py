"""While neighbors are on time, an exchange makes no system call: counted by strace between marks.

On a machine that does other things too, a neighbor is not always on time: batches without any call must be among the many.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import ranks

RANKS = 2
MARK = re.compile(r"^(?:\d+ +)?lseek\(-1, ")
WANTED = 3  # batches in a hundred; a single call per exchange would leave none


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--transport", required=True)
    options = parser.parse_args()
    check_strace()
    with tempfile.TemporaryDirectory() as directory:
        wrap = ["strace", "-f", "-qq", "-e", "signal=none", "-ff", "-o", f"{directory}/trace"]
        completed, lines = ranks.run(options, RANKS, [options.transport], wrap=wrap, bind=True)
        traces = [text for text in map(Path.read_text, Path(directory).iterdir()) if MARK.search(text, re.M) or "lseek(-1, " in text]
    if not completed.ok or len(traces) != RANKS:
        print("\n".join(lines), f"{len(traces)} traces with marks, {completed}", sep="\n")
        return 1
    shares = [quiet_share(text) for text in traces]
    print(f"{options.transport}: batches without a system call, by rank: " + ", ".join(f"{share:.0%}" for share in shares))
    return 0 if min(shares) * 100 >= WANTED else 1


def check_strace() -> None:
    if shutil.which("strace") is None:
        ranks.skip("strace is not installed (Debian: apt install strace)")
    if subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        ranks.skip("this machine does not allow processes to be traced")


def quiet_share(text: str) -> float:
    """Share of the batches, the first apart, in which nothing stands between two marks."""
    lines = text.splitlines()
    marks = [i for i, line in enumerate(lines) if MARK.match(line)][1:]
    quiet = sum(after == before + 1 for before, after in zip(marks, marks[1:]))
    return quiet / (len(marks) - 1)


if __name__ == "__main__":
    sys.exit(main())
