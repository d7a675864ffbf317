"""Profile ranks under Linux perf, or under `watch`, which takes no samples; collect the results in one document."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ..launch import Build
from ..launch.process import Completed, ask, child
from ..launch.ending import Ended
from ..launch.builds import program_words
from ..machine.collect import collect
from ..record.profile import Frame, How, KERNEL, Profile, ProfileError, RankProfile, SCHEMA, Stack, UNKNOWN, create_folder, write_profile
from ..record.variables import without_secrets

WATCHER_GRACE_S = 5.0
OWN_BENCH = "phl-bench"
CALL_GRAPHS = {"dwarf": ["--call-graph", "dwarf,16384"], "fp": ["--call-graph", "fp"], "none": []}
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


class Sample(NamedTuple):
    """One sample: command, PID, the time that it represents, and frames, outermost first."""

    command: str
    process: int
    seconds: float
    frames: tuple[Frame, ...]


@dataclass(frozen=True)
class Request:
    """Program and tool of a profile. `command` restricts samples to processes of that name; empty: all."""

    program: list[str]
    ranks: int
    build: Build
    tool: str = "perf"
    frequency: int = 499
    call_graph: str = "dwarf"
    command: str = ""
    bind: bool = True
    timeout: float | None = None
    out: Path | None = None
    labels: dict[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> str:
        """Name of the processes to keep: under `parhelion bench` the measuring program, without the command line around it."""
        return self.command or (OWN_BENCH if Path(self.program[0]).name == "parhelion" else "")


def take_profile(request: Request, on_line: Callable[[str], None] | None = None) -> tuple[Profile, Path, Completed]:
    """Run the program under the tool; return the profile, its folder and the program's result. Raises `ProfileError`."""
    perf = request.tool == "perf"
    version, tool = perf_words(request.frequency, request.call_graph) if perf else ("", [])
    profile_id, folder = create_folder(request.program[0], request.out)
    words = ["-m", "parhelion.measure.on_rank", str(folder.resolve()), request.wanted, "--", *tool, "--", *program_words(request.program)]
    launch = request.build.launch(request.ranks, sys.executable, words, bind=request.bind)
    environment = collect() | {"mpi": request.build.library_version}
    created = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        completed = launch.run(timeout=request.timeout, on_line=on_line)
    except Ended as ended:
        ended.add_note(f"samples until then are in {folder}")
        raise
    notes = ["the program was stopped at the time limit"] if completed.timed_out else []
    notes += [f"the program ended with exit status {completed.returncode}"] if completed.returncode else []
    numbers: dict[Frame, int] = {}
    looks = [_seen(folder / f"rank-{rank}.json", rank) for rank in range(request.ranks)]
    stacks = [_stacks(folder / f"rank-{rank}.data", request.wanted, numbers, notes) if perf else [] for rank in range(request.ranks)]
    frames = list(numbers)
    profile = Profile(
        schema=SCHEMA, profile=profile_id, created=created, argv=without_secrets(["parhelion", *sys.argv[1:]]),
        program=without_secrets(request.program), frames=frames, build=request.build.name, labels=request.labels, environment=environment,
        tool=How(request.tool, version, "cpu-clock", request.frequency, request.call_graph, request.wanted),
        ranks=[rank_profile(rank, *found, frames) for rank, found in enumerate(zip(looks, stacks, strict=True))],
        notes=notes if perf else [*notes, "no samples were taken: only sleep and libraries are shown"],
    )
    write_profile(profile, folder)
    return profile, folder, completed


def rank_profile(rank: int, seen: dict[str, Any], stacks: list[Stack], frames: list[Frame]) -> RankProfile:
    """Combine the watcher's data with the libraries of the samples, as the watcher misses short-lived mappings."""
    sampled = {frames[number].library for stack in stacks for number in stack.frames}
    libraries = sorted({*seen["libraries"], *(each for each in sampled if each.startswith("/"))})
    return RankProfile(rank, stacks=stacks, **(seen | {"libraries": libraries}))


def _seen(file: Path, rank: int) -> dict[str, Any]:
    """Read the watcher's file, which appears shortly after its rank ends. Raises `ProfileError` if there is none."""
    end = time.monotonic() + WATCHER_GRACE_S
    while time.monotonic() < end:
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            time.sleep(0.02)
    raise ProfileError(f"rank {rank} was not started, or its folder is not shared with its host: {file} is missing; "
                       "see what the program printed above")


def _stacks(file: Path, command: str, numbers: dict[Frame, int], unread: list[str]) -> list[Stack]:
    """Return one rank's stacks; `numbers` numbers the frames of all ranks."""
    if not file.exists():
        raise ProfileError(f"a rank left no samples: {file} is missing; see what the program printed above")
    found: dict[tuple[int, ...], Stack] = {}
    for sample in read_samples(file, unread):
        if command and sample.command != command[:15]:  # the kernel truncates names to 15 bytes
            continue
        key = tuple(numbers.setdefault(each, len(numbers)) for each in sample.frames)
        stack = found.setdefault(key, Stack(list(key), 0.0))
        stack.seconds += sample.seconds
        stack.samples += 1
    return list(found.values())


def perf_words(frequency: int, call_graph: str) -> tuple[str, list[str]]:
    """Return perf's version and command line. Raises `ProfileError` if perf cannot take samples here."""
    program = shutil.which("perf")
    if program is None:
        raise ProfileError("perf is not installed: install it (Debian: linux-perf; Ubuntu: linux-tools-generic), or use --tool watch")
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = ask([program, "record", "-q", "-e", "cpu-clock", "-o", os.path.join(folder, "data"), "--", "true"], seconds=60)
        except subprocess.TimeoutExpired:
            raise ProfileError("perf takes no sample of /bin/true within 60 s: see what it waits for, or use --tool watch") from None
    if done.returncode:
        told = next((line.strip() for line in done.stderr.splitlines() if line.strip()), "it failed")
        level = PARANOID.read_text().strip() if PARANOID.exists() else "absent"
        raise ProfileError(f"perf cannot take samples here: {told} (kernel.perf_event_paranoid is {level}: it must be 2 or less, "
                           "and a container must allow perf_event_open)")
    version = ask([program, "--version"], seconds=30).stdout.removeprefix("perf version").strip()
    # cpu-clock is a software event: virtual machines often lack hardware counters.
    options = ["record", "-q", "-e", "cpu-clock", "-F", str(frequency), *CALL_GRAPHS[call_graph]]
    return version, [program, *options, "-o", "{folder}/rank-{rank}.data", "--"]


SAMPLE = re.compile(r"^\s*(?P<command>.*\S)\s+(?P<pid>\d+)/(?P<tid>\d+)\s+(?P<time>[\d.]+):\s+(?P<period>\d+)")
FRAME = re.compile(r"^\s+[0-9a-f]+ (?P<rest>.*\))$")
READ_S = 600.0


def read_samples(file: Path, notes: list[str], limit_s: float = READ_S) -> Iterator[Sample]:
    """Yield one rank's samples while perf prints them; appends to `notes` if some cannot be read."""
    # Resolving inlined functions is slow and does not change the library.
    words = [shutil.which("perf") or "perf", "script", "--no-inline", "-i", str(file), "-F", "comm,pid,tid,time,period,ip,sym,dso"]
    count = 0
    with tempfile.TemporaryFile("w+", errors="replace") as errors, child(words, stdout=subprocess.PIPE, stderr=errors) as perf:
        timer = threading.Timer(limit_s, perf.kill)
        timer.start()
        try:
            for sample in parse_script(perf.stdout or ()):
                count += 1
                yield sample
            status, in_time = perf.wait(), timer.is_alive()
        finally:
            timer.cancel()
        if not status:
            return
        errors.seek(0)
        said = [line.strip() for line in errors if line.strip()] or [f"perf script failed with status {status}"]
    told = said[-1] if in_time else f"perf script takes longer than {limit_s:g} s"
    if not count:
        raise ProfileError(f"{file} cannot be read: {told}")
    notes.append(f"{file.name}: the first {count} samples are used, the others cannot be read: {told}")


def parse_script(lines: Iterable[str]) -> Iterator[Sample]:
    """Parse samples from the output of `perf script`; ignores other lines."""
    head, frames = None, list[Frame]()
    for line in lines:
        if found := FRAME.match(line):
            frames.append(_frame(found["rest"]))
        elif not line.strip():
            if head:
                yield _sample(head, frames)
            head, frames = None, []
        elif found := SAMPLE.match(line):
            head, frames = found, []
    if head:
        yield _sample(head, frames)


@lru_cache(maxsize=10_000)  # frames repeat
def _frame(text: str) -> Frame:
    """Parse e.g. `operator()(int) (/a/b (1).so)`: the library is in the last parentheses. Merges the names of the kernel."""
    depth, place = 1, len(text) - 1
    while depth and place:
        place -= 1
        depth += {")": 1, "(": -1}.get(text[place], 0)
    symbol, library = text[:place].rstrip(), text[place + 1 : -1]
    if library.startswith(("[kernel", "[guest.kernel")) or library.endswith(".ko"):
        library = KERNEL
    elif library.startswith(("[", "//anon")) and library not in ("[vdso]", "[vsyscall]"):
        library = UNKNOWN  # callers guessed without unwind tables
    # The kernel marks a library that was replaced or removed.
    return Frame(library.removesuffix(" (deleted)"), symbol.partition("+0x")[0] or UNKNOWN)


def _sample(head: re.Match[str], frames: list[Frame]) -> Sample:
    outwards = frames or [Frame(UNKNOWN, UNKNOWN)]
    return Sample(head["command"], int(head["pid"]), int(head["period"]) * 1e-9, tuple(reversed(outwards)))
