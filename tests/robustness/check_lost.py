"""A rank is killed by SIGKILL, or ends by itself: every other rank, neighbor or not, is told within seconds who it was."""

import sys
import tempfile
from pathlib import Path

import ranks

RANKS = 4
LOST_PEER = 5  # parhelion::ErrorKind::lost_peer
PROMISED = 2.0  # seconds
ALLOWED = 10.0  # on a machine that is busy with other things
# Options with which a launcher lets the other ranks live. Hydra still ends them at times, depending on what it sees first: a shell
# around each rank stays until the others have written.
WAIT = 'i=0; "$@"; while [ $i -lt 200 ] && [ $(ls "$0" | grep -c "^[0-9]$") -lt 3 ]; do i=$((i+1)); sleep 0.1; done'
LAUNCHER = {"mpich": ["-disable-auto-cleanup"], "openmpi": ["--enable-recovery"]}


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--transport", required=True)
    options = parser.parse_args()
    build = ranks.launch.load_build(options.build_file)
    if build.kind not in LAUNCHER:
        ranks.skip(f"the launcher of {build.kind} ends all ranks when one is killed")
    failures = [
        failure
        for place, victim in [("between", 0), ("amid", 1), ("amid", RANKS - 1), ("first", 1), ("exit", 2), ("early", 2), ("2", 1), ("5", 2)]
        for failure in lose(options, LAUNCHER[build.kind], place, victim)
    ]
    print("\n".join(failures) or "passed")
    return 1 if failures else 0


def lose(options, launcher_options, place: str, victim: int) -> list[str]:
    """What went wrong when `victim` died."""
    names = set(shared_memory())
    with tempfile.TemporaryDirectory() as directory:
        args = (directory, options.transport, place, victim)
        wrap = ["sh", "-c", WAIT, directory]
        completed, lines = ranks.run(options, RANKS, args, launcher_options=launcher_options, wrap=wrap)
        told = {r: read(Path(directory) / str(r)) for r in range(RANKS) if r != victim}
    where = f"{options.transport}, rank {victim} lost {place}"
    if completed.timed_out:
        return [f"{where}: the others waited for ever: {told}", *lines]
    failures = [f"{where}: rank {r} was told {text!r}" for r, text in told.items() if not right(text, victim)]
    if failures:
        failures += lines
    failures += [f"{where}: left in /dev/shm: {name}" for name in set(shared_memory()) - names if "parhelion" in name]
    if not failures:
        slowest = max(float(text.split("\n")[0]) for text in told.values())
        print(f"{where}: all told after {slowest:.2f} s (promised: {PROMISED:g} s on an idle machine)")
    return failures


def right(text: str, victim: int) -> bool:
    seconds, kind, message = (text.split("\n", 2) + ["", ""])[:3]
    return kind == str(LOST_PEER) and f"rank {victim} has ended" in message and float(seconds) < ALLOWED


def read(file: Path) -> str:
    return file.read_text() if file.exists() else "nothing: it wrote nothing"


def shared_memory() -> list[str]:
    return [file.name for file in Path("/dev/shm").iterdir()]


if __name__ == "__main__":
    sys.exit(main())
