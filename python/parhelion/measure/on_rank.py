"""Wrapper of each profiled rank: `python -m parhelion.measure.on_rank FOLDER COMMAND -- TOOL... -- PROGRAM...`.

This process execs the tool (perf), or the program if there is no tool, so that signals and exit status need no forwarding. A detached
watcher records what samples of a core cannot show: where and how long the rank sleeps, and its mapped libraries. It reads /proc about 100
times a second and needs no privileges.
"""

import json
import os
import random
import socket
import sys
import time

from ..launch.jobs import inside_launcher
from ..record.profile import INTERVAL_S

MAPS_ALWAYS = 50  # ticks; most programs load their libraries early and may end soon
MAPS_EVERY = 25  # ticks, after MAPS_ALWAYS
WRITTEN_S = 0.5  # interval; a killed watcher loses at most this much


def watch(root: int, command: str, file: str, becomes: bool = False) -> None:
    """Watch the processes below `root` until it ends; rewrite `file` each half second. `becomes`: `root` itself becomes the rank."""
    seen = Seen()
    written = last = time.monotonic()
    ticks = 0
    while os.path.exists(f"/proc/{root}"):
        now = time.monotonic()
        if (rank := rank_process(root, command, becomes)) is not None:
            seen.add(rank, now - last, maps=ticks < MAPS_ALWAYS or ticks % MAPS_EVERY == 0)
            ticks += 1
        if ticks == 1 or now - written > WRITTEN_S:
            seen.write(file)
            written = now
        last = now
        # Random intervals avoid synchronizing with a rank that sleeps periodically.
        time.sleep(INTERVAL_S * random.uniform(0.5, 1.5))
    seen.write(file)


class Seen:
    def __init__(self) -> None:
        self.wall = 0.0
        self.looks: dict[str, int] = {}
        self.began: dict[int, tuple[float, float]] = {}
        self.ended: dict[int, tuple[float, float]] = {}
        self.libraries: set[str] = set()

    def add(self, process: int, seconds: float, maps: bool) -> None:
        self.wall += seconds
        if where := sleeps_in(process):
            self.looks[where] = self.looks.get(where, 0) + 1
        if now := scheduled(process):
            # Exclude time before exec, such as a shell's.
            self.began.setdefault(process, now)
            self.ended[process] = now
        if maps:
            self.libraries |= mapped_files(process)

    def write(self, file: str) -> None:
        """Write atomically: the watcher may be killed with its rank."""
        with open(f"{file}.part", "w") as out:
            json.dump(self._document(), out)
        os.replace(f"{file}.part", file)

    def _document(self) -> dict[str, object]:
        """Divide the time that the scheduler does not account for by the sampled kernel functions."""
        running, waiting = (sum(end[place] - self.began[rank][place] for rank, end in self.ended.items()) for place in (0, 1))
        looks = sum(self.looks.values())
        asleep = max(0.0, self.wall - running - waiting)
        counts = self.looks if looks or asleep <= 0.01 * self.wall else {"unknown": 1}
        divided = {where: asleep * count / (looks or 1) for where, count in counts.items()}
        return {"host": socket.gethostname(), "wall_s": self.wall, "waiting_s": waiting, "asleep": divided,
                "libraries": sorted(self.libraries)}


def rank_process(root: int, command: str, becomes: bool = False) -> int | None:
    """Return the process below `root` without children: the rank, not a shell around it."""
    tool, found = None if becomes else _program(root), None
    for process in [root, *_below(root)]:
        # A child that still runs the tool's binary has not yet called exec.
        if _program(process) == tool or (command and _read(f"/proc/{process}/comm").strip() != command):
            continue
        if command or not _children(process):
            found = process
    return found


def scheduled(process: int) -> tuple[float, float] | None:
    """Return the seconds that the main thread ran and that it waited for a core."""
    words = _read(f"/proc/{process}/schedstat").split()
    return (int(words[0]) * 1e-9, int(words[1]) * 1e-9) if len(words) >= 2 else None


def sleeps_in(process: int) -> str | None:
    """Return the kernel function in which the main thread sleeps, None if it is runnable."""
    asleep = _read(f"/proc/{process}/stat").rpartition(")")[2].split()[:1] in (["S"], ["D"])
    where = _read(f"/proc/{process}/wchan").strip()
    return where if asleep and where not in ("", "0") else None


def _program(process: int) -> str:
    try:
        return os.readlink(f"/proc/{process}/exe")
    except OSError:
        return ""


def mapped_files(process: int) -> set[str]:
    fields = (line.split(None, 5) for line in _read(f"/proc/{process}/maps").splitlines())
    return {part[5] for part in fields if len(part) == 6 and "x" in part[1] and part[5].startswith("/")}


def _below(root: int) -> list[int]:
    found, to_do = [], [root]
    while to_do:
        children = _children(to_do.pop())
        found += children
        to_do += children
    return found


def _children(process: int) -> list[int]:
    return [int(word) for word in _read(f"/proc/{process}/task/{process}/children").split()]


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def main(arguments: list[str]) -> None:
    folder, command = arguments[:2]
    place = arguments.index("--", 3)
    tool, program = arguments[3:place], arguments[place + 1 :]
    here = inside_launcher()
    rank = here.rank if here else 0
    _start_watcher(os.getpid(), command, os.path.join(folder, f"rank-{rank}.json"), not tool)
    argv = [word.replace("{rank}", str(rank)).replace("{folder}", folder) for word in tool] + program
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.exit(f"parhelion: cannot start {argv[0]}: {error.strerror}")


def _start_watcher(root: int, command: str, file: str, becomes: bool) -> None:
    """Fork the watcher as a grandchild: perf waits for all its children."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork() == 0:
        _leave_all_files()
        watch(root, command, file, becomes)
    os._exit(0)


def _leave_all_files() -> None:
    """Close all descriptors: a launcher waits until its pipes are closed."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.closerange(3, 4096)


if __name__ == "__main__":
    main(sys.argv[1:])
