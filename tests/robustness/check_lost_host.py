"""A rank on another host is killed by SIGKILL: its neighbor here is told within the time limit who it was, and where another rank of its
host is left, every rank on both hosts at once."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import on_hosts
import ranks
from check_lost import LAUNCHER

LIMIT = 3.0  # seconds, of the exchange
SLACK = 15.0  # on a machine that is busy with other things
TOLD = ("4", "5")  # parhelion::ErrorKind::timeout, lost_peer
VICTIM = 1
# Two ranks on each host, the victim on the second, no limit but this one.
RANKS_OF_TWO, VICTIM_OF_TWO, NO_LIMIT = 4, 2, 60.0
# Open MPI ends a rank that sees a neighbor's connection closed, unless it is told to tolerate faults.
SURVIVING = {"openmpi": ["--with-ft", "ulfm"]}
# A shell around each rank stays until the survivor has written: launchers end all ranks when they see one end.
WAIT = 'i=0; "$@"; while [ $i -lt 200 ] && [ $(ls "$0" | grep -c "^[0-9]$") -lt SURVIVORS ]; do i=$((i+1)); sleep 0.1; done'


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--transport", required=True)
    options = parser.parse_args()
    on_hosts.need_hosts()
    flavor = ranks.launch.load_flavor(options.flavor_file)
    if flavor.kind not in LAUNCHER:
        ranks.skip(f"the launcher of {flavor.kind} ends all ranks when one is killed")
    launcher = [*LAUNCHER[flavor.kind], *SURVIVING.get(flavor.kind, [])]
    failures = [failure for place in ("between", "amid") for failure in lose(options, launcher, place)]
    if options.transport.startswith(("mpi_persistent", "node_aware")):
        failures += [failure for place in ("between", "amid") for failure in lose_one_of_two(options, launcher, place)]
    print("\n".join(failures) or "passed")
    return 1 if failures else 0


def told(options, launcher_options, count: int, place: str, victim: int, limit: float) -> tuple[dict[int, str], str]:
    """What each survivor wrote, and what the run said."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            said = on_hosts.run(options, count, directory, options.transport, place, victim, limit, env=dict(os.environ),
                                launcher_options=launcher_options,
                                wrap=["sh", "-c", WAIT.replace("SURVIVORS", str(count - 1)), directory]).stdout  # fmt: skip
        except subprocess.TimeoutExpired as expired:
            said = f"did not end: {expired.stdout}"
        files = {rank: Path(directory) / str(rank) for rank in range(count) if rank != victim}
        return {rank: file.read_text() if file.exists() else "nothing: it wrote nothing" for rank, file in files.items()}, said


def lose(options, launcher_options, place: str) -> list[str]:
    """What went wrong when the only rank on the other host died."""
    texts, said = told(options, launcher_options, 2, place, VICTIM, LIMIT)
    where = f"{options.transport}, rank {VICTIM} on another host killed {place}"
    if right(texts[0]):
        print(f"{where}: told {texts[0]!r}")
        return []
    return [f"{where}: rank 0 was told {texts[0]!r}", said]


def lose_one_of_two(options, launcher_options, place: str) -> list[str]:
    """What went wrong when one of two ranks on the other host died: nobody waits for the time limit."""
    texts, said = told(options, launcher_options, RANKS_OF_TWO, place, VICTIM_OF_TWO, NO_LIMIT)
    where = f"{options.transport}, rank {VICTIM_OF_TWO} of two on another host killed {place}"
    wrong = [f"{where}: rank {rank} was told {text!r}" for rank, text in texts.items() if not named(text)]
    if not wrong:
        print(f"{where}: all told after {max(float(text.split(chr(10))[0]) for text in texts.values()):.2f} s")
    return [*wrong, said] if wrong else []


def named(text: str) -> bool:
    seconds, kind, message = (text.split("\n", 2) + ["", ""])[:3]
    return kind == TOLD[1] and f"rank {VICTIM_OF_TWO}" in message and float(seconds) < SLACK


def right(text: str) -> bool:
    seconds, kind, message = (text.split("\n", 2) + ["", ""])[:3]
    return kind in TOLD and f"rank {VICTIM}" in message and float(seconds) < LIMIT + SLACK


if __name__ == "__main__":
    sys.exit(main())
