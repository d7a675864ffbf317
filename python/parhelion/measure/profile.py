"""Taking a profile: start the ranks under a tool, read what it wrote, keep one document."""

import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..launch import Completed, Flavor, run_command
from ..launch.ending import Ended
from ..launch.program import program_words
from ..machine.collect import collect
from ..record.variables import without_secrets
from ..record.profile import Frame, How, Profile, ProfileError, RankProfile, SCHEMA, Stack, create_folder, write_profile
from .perf import Sample, Tool, find_tool, read_samples

WATCHER_GRACE_S = 5.0
OWN_BENCH = "phl-bench"


@dataclass(frozen=True)
class Request:
    """What is to run, and how it is looked at. `command` keeps processes of that name alone; empty: all."""

    program: list[str]
    ranks: int
    flavor: Flavor
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
        """Under `parhelion bench …` the ranks are its measuring program; the command line around them is not of interest."""
        return self.command or (OWN_BENCH if Path(self.program[0]).name == "parhelion" else "")


def take_profile(request: Request, on_line: Callable[[str], None] | None = None) -> tuple[Profile, Path, Completed]:
    """Run the program under the tool; returns the profile, its folder and how the program ended."""
    tool = find_tool(request.tool, request.frequency, request.call_graph)
    profile_id, folder = create_folder(request.program[0], request.out)
    words = ["-m", "parhelion.measure.on_rank", folder.resolve(), request.wanted, "--", *tool.argv, "--", *program_words(request.program)]
    launch = request.flavor.launch(request.ranks, sys.executable, words, bind=request.bind)
    environment = collect()
    created = datetime.now(UTC).isoformat(timespec="seconds")
    try:
        completed = run_command(launch.argv, launch.env, timeout=request.timeout, on_line=on_line, false_start=launch.false_start)
    except Ended as ended:
        ended.add_note(f"samples until then lie in {folder}")
        raise
    seen = [_seen(folder / f"rank-{rank}.json", rank) for rank in range(request.ranks)]
    unread: list[str] = []
    frames, stacks = _stacks(request, folder, unread) if tool.name == "perf" else ([], [[] for _ in seen])
    profile = Profile(
        schema=SCHEMA, profile=profile_id, created=created, argv=without_secrets(["parhelion", *sys.argv[1:]]),
        program=without_secrets(request.program),
        tool=How(tool.name, tool.version, "cpu-clock", request.frequency, request.call_graph, request.wanted), frames=frames,
        flavor=request.flavor.name, labels=request.labels,
        environment=environment | {"mpi": request.flavor.library_version},
        ranks=[rank_profile(rank, what, own, frames) for rank, (what, own) in enumerate(zip(seen, stacks, strict=True))],
        notes=[*_ending(completed), *unread, *_elsewhere(tool, folder)],
    )  # fmt: skip
    write_profile(profile, folder)
    return profile, folder, completed


def rank_profile(rank: int, seen: dict[str, Any], stacks: list[Stack], frames: list[Frame]) -> RankProfile:
    """What the watcher saw, and the libraries of the samples: one that was mapped between two looks is in these alone."""
    sampled = {frames[number].library for stack in stacks for number in stack.frames}
    libraries = sorted({*seen["libraries"], *(each for each in sampled if each.startswith("/"))})
    return RankProfile(rank, stacks=stacks, **(seen | {"libraries": libraries}))


def _ending(completed: Completed) -> list[str]:
    if completed.timed_out:
        return ["the program was stopped at the time limit"]
    return [] if completed.ok else [f"the program ended with exit status {completed.returncode}"]


def _elsewhere(tool: Tool, folder: Path) -> list[str]:
    if tool.name == "watch":
        return ["no samples were taken: sleep and libraries alone are told"]
    if tool.name == "perf":
        return []
    return [f"samples lie in {folder}/hpctoolkit-measurements: run hpcprof on them and open the result with hpcviewer; "
            "shares per library and function are told from perf alone"]  # fmt: skip


def _seen(file: Path, rank: int) -> dict[str, Any]:
    """What the watcher of a rank wrote; it ends shortly after its rank."""
    end = time.monotonic() + WATCHER_GRACE_S
    while time.monotonic() < end:
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            time.sleep(0.02)
    raise ProfileError(f"rank {rank} was not started, or its folder is not shared with its host: {file} is not there; "
                       "see what the program printed above")  # fmt: skip


def _stacks(request: Request, folder: Path, unread: list[str]) -> tuple[list[Frame], list[list[Stack]]]:
    """Frames of all ranks, numbered, and the stacks of each."""
    numbers: dict[Frame, int] = {}
    stacks = [_rank_stacks(_samples(folder, rank, unread), request.wanted, numbers) for rank in range(request.ranks)]
    return list(numbers), stacks


def _samples(folder: Path, rank: int, unread: list[str]) -> Iterable[Sample]:
    file = folder / f"rank-{rank}.data"
    if not file.exists():
        raise ProfileError(f"rank {rank} left no samples: {file} is not there; see what the program printed above")
    return read_samples(file, unread)


def _rank_stacks(samples: Iterable[Sample], command: str, numbers: dict[Frame, int]) -> list[Stack]:
    found: dict[tuple[int, ...], Stack] = {}
    for sample in samples:
        if command and sample.command != command[:15]:  # the kernel keeps 15 letters of a name
            continue
        key = tuple(numbers.setdefault(each, len(numbers)) for each in sample.frames)
        stack = found.setdefault(key, Stack(list(key), 0.0))
        stack.seconds += sample.seconds
        stack.samples += 1
    return list(found.values())
