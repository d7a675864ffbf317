"""A rank on another host is killed by SIGKILL: its neighbor here is told within the time limit who it was, and where another rank of its
host is left, every rank on all hosts at once. Over node_aware one is stopped, too: ranks on each host name it when the time limit is over."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import on_hosts
import ranks
from check_lost import LAUNCHER

LIMIT = 3.0  # seconds, of the exchange
SLACK = 15.0  # on a machine that is busy with other things
TIMEOUT, LOST = "4", "5"  # parhelion::ErrorKind::timeout, lost_peer
NO_LIMIT = 60.0  # of an exchange
# Ranks on each host, and the victim, which another one shares its host with.
USUAL = [((2, 2), 2)]
EVERY = [((1, 3), 2), ((1, 2, 1), 1), ((1, 1, 2), 3), ((2, 1, 1, 2), 0)]
# And where both its neighbors in the row are, on as many hosts as there are.
STOPPED, STOPPED_EVERYWHERE = [((2, 2), 2)], [((1, 3), 1), ((1, 1, 1), 1), ((2, 1, 2), 2)]
# Open MPI ends a rank that sees a neighbor's connection closed, unless it is told to tolerate faults.
SURVIVING = {"openmpi": ["--with-ft", "ulfm"]}
# A shell around each rank stays until the survivor has written: launchers end all ranks when they see one end.
WAIT = 'i=0; "$@"; while [ $i -lt 200 ] && [ $(ls "$0" | grep -c "^[0-9]$") -lt SURVIVORS ]; do i=$((i+1)); sleep 0.1; done'


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--every", action="store_true", help="on two to four hosts, ranks spread evenly and unevenly")
    options = parser.parse_args()
    on_hosts.need_hosts()
    build = ranks.launch.load_build(options.build_file)
    if build.kind not in LAUNCHER:
        ranks.skip(f"the launcher of {build.kind} ends all ranks when one is killed")
    launcher = [*LAUNCHER[build.kind], *SURVIVING.get(build.kind, [])]
    failures = []
    # MPICH 5.0 crashes in MPI_Start of a message to a rank on another host that has ended.
    for place in ("between", "amid", *(["early"] if build.kind != "mpich" else [])):
        failures += lose_alone(options, launcher, place)
    if options.transport.startswith(("mpi", "node_aware")):
        for spread, victim in EVERY if options.every else USUAL:
            failures += [failure for place in ("between", "amid") for failure in lose(options, launcher, place, spread, victim)]
    if options.transport.startswith("node_aware"):
        for spread, victim in STOPPED_EVERYWHERE if options.every else STOPPED:
            failures += stop(options, launcher, spread, victim)
    print("\n".join(failures) or "passed")
    return 1 if failures else 0


def told(options, launcher_options, spread: tuple[int, ...], place: str, victim: int, limit: float) -> tuple[dict[int, str], str]:
    """What each survivor wrote, and what the run said."""
    count = sum(spread)
    with tempfile.TemporaryDirectory() as directory:
        try:
            said = on_hosts.run(options, spread, directory, options.transport, place, victim, limit, launcher_options=launcher_options,
                                wrap=["sh", "-c", WAIT.replace("SURVIVORS", str(count - 1)), directory]).stdout
        except subprocess.TimeoutExpired as expired:
            said = f"did not end: {expired.stdout}"
        files = {rank: Path(directory) / str(rank) for rank in range(count) if rank != victim}
        return {rank: file.read_text() if file.exists() else "nothing: it wrote nothing" for rank, file in files.items()}, said


def lose_alone(options, launcher_options, place: str) -> list[str]:
    """What went wrong when the only rank on the other host died."""
    texts, said = told(options, launcher_options, (1, 1), place, 1, LIMIT)
    where = f"{options.transport}, rank 1 on another host killed {place}"
    return report(where, texts, said, [0] if names(texts[0], 1, (TIMEOUT, LOST), LIMIT + SLACK) else [])


def lose(options, launcher_options, place: str, spread: tuple[int, ...], victim: int) -> list[str]:
    """What went wrong when one of several ranks on a host died: nobody waits for the time limit."""
    texts, said = told(options, launcher_options, spread, place, victim, NO_LIMIT)
    where = f"{options.transport}, rank {victim} of {spread} on hosts killed {place}"
    return report(where, texts, said, [rank for rank, text in texts.items() if names(text, victim, (LOST,), SLACK)])


def stop(options, launcher_options, spread: tuple[int, ...], victim: int) -> list[str]:
    """What went wrong when a rank was stopped: its neighbors, on all hosts, must name it, others whom they waited for."""
    texts, said = told(options, launcher_options, spread, "stopped", victim, LIMIT)
    where = f"{options.transport}, rank {victim} of {spread} on hosts stopped"
    missed = {rank: victim if abs(rank - victim) == 1 else None for rank in texts}
    return report(where, texts, said, [rank for rank, text in texts.items() if names(text, missed[rank], (TIMEOUT,), LIMIT + SLACK)])


def report(where: str, texts: dict[int, str], said: str, right: list[int]) -> list[str]:
    wrong = [f"{where}: rank {rank} was told {text!r}" for rank, text in texts.items() if rank not in right]
    if not wrong:
        print(f"{where}: all told after {max(float(text.split(chr(10))[0]) for text in texts.values()):.2f} s")
    return [*wrong, said] if wrong else []


def names(text: str, victim: int | None, kinds: tuple[str, ...], limit: float) -> bool:
    seconds, kind, message = (text.split("\n", 2) + ["", ""])[:3]
    return kind in kinds and (victim is None or re.search(rf"rank {victim}\b", message) is not None) and float(seconds) < limit


if __name__ == "__main__":
    sys.exit(main())
