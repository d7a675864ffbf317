"""The link between two hosts is cut in mid-exchange: both ranks are told within the time limit which neighbor they miss."""

import subprocess
import sys
import tempfile
from pathlib import Path

import on_hosts
import ranks

LIMIT = 3.0  # seconds, of the exchange
SLACK = 15.0  # on a machine that is busy with other things
TOLD = ("4", "5")  # parhelion::ErrorKind::timeout, lost_peer


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--transport", required=True)
    options = parser.parse_args()
    on_hosts.need_hosts()
    with tempfile.TemporaryDirectory() as directory:
        try:
            said = on_hosts.run(options, (1, 1), directory, options.transport, LIMIT).stdout
        except subprocess.TimeoutExpired as expired:
            said = f"did not end: {expired.stdout}"
        told = {rank: read(Path(directory) / str(rank)) for rank in (0, 1)}
    failures = [f"{options.transport}: rank {rank} was told {text!r}" for rank, text in told.items() if not right(text, 1 - rank)]
    print("\n".join([*failures, said] if failures else [f"{options.transport}: rank {r}: {t}" for r, t in told.items()]))
    return 1 if failures else 0


def right(text: str, neighbor: int) -> bool:
    seconds, kind, message = (text.split("\n", 2) + ["", ""])[:3]
    return kind in TOLD and f"rank {neighbor}" in message.replace(f"of rank {1 - neighbor}", "") and float(seconds) < LIMIT + SLACK


def read(file: Path) -> str:
    return file.read_text() if file.exists() else "nothing: it wrote nothing"


if __name__ == "__main__":
    sys.exit(main())
