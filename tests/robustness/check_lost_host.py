"""A rank on another host is killed by SIGKILL: its neighbor here is told within the time limit who it was."""

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
# Open MPI ends a rank that sees a neighbor's connection closed, unless it is told to tolerate faults.
SURVIVING = {"openmpi": ["--with-ft", "ulfm"]}
# A shell around each rank stays until the survivor has written: launchers end all ranks when they see one end.
WAIT = 'i=0; "$@"; while [ $i -lt 200 ] && [ ! -e "$0/0" ]; do i=$((i+1)); sleep 0.1; done'


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
    print("\n".join(failures) or "passed")
    return 1 if failures else 0


def lose(options, launcher_options, place: str) -> list[str]:
    """What went wrong when the rank on the other host died."""
    with tempfile.TemporaryDirectory() as directory:
        try:
            said = on_hosts.run(options, 2, directory, options.transport, place, VICTIM, LIMIT, env=dict(os.environ),
                                launcher_options=launcher_options, wrap=["sh", "-c", WAIT, directory]).stdout  # fmt: skip
        except subprocess.TimeoutExpired as expired:
            said = f"did not end: {expired.stdout}"
        file = Path(directory) / "0"
        told = file.read_text() if file.exists() else "nothing: it wrote nothing"
    where = f"{options.transport}, rank {VICTIM} on another host killed {place}"
    if right(told):
        print(f"{where}: told {told!r}")
        return []
    return [f"{where}: rank 0 was told {told!r}", said]


def right(text: str) -> bool:
    seconds, kind, message = (text.split("\n", 2) + ["", ""])[:3]
    return kind in TOLD and f"rank {VICTIM}" in message and float(seconds) < LIMIT + SLACK


if __name__ == "__main__":
    sys.exit(main())
