"""Images' folders made up for tests: the figures mean nothing."""

import json
from pathlib import Path

import msgspec
import synthetic

from parhelion.record.image import Image, LoadedFile, RAN, SCHEMA, profile_folder, write_image
from parhelion.record.profile import Frame, How, Profile, RankProfile, SCHEMA as PROFILE_SCHEMA, Stack

MPICH = "MPICH Version:      5.0.2\nMPICH Device:  ch4"
OPEN_MPI = "Open MPI v5.0.11, package: somebody's"
VARIANTS = ("mpi", "hand_packed", "shared")
FILES = {"/usr/lib/libmpi.so.12": LoadedFile(1000, "aa"), "/usr/lib/libucp.so.0": LoadedFile(10, "bb"), "/usr/lib/libc.so.6": LoadedFile(20, "cc")}


def image(folder, *, scale=1.0, seed=1, mpi=MPICH, build="mpich", variables=None, ranks_variables=None, libraries=(), own=None, files=None,
          environment=None, providers=None, sleeping=0.0, shares=None, name=None, launches=8):
    """An image with the benchmark halo and its profile; the rest is what differs."""
    surroundings = {"host": "here", "cpu": {"model": "Some CPU"}, "variables": variables or {}, **(environment or {})}
    run = synthetic.write_record(folder / "halo", launches=launches, variants=VARIANTS, seed=seed, scale=scale, environment=surroundings)
    launch = {"mpi": {"library_version": mpi}, "build": build, "libraries": [*FILES, *libraries], "mpi_cvars": own or {},
              "cvars": {**(variables or {}), **(ranks_variables or {})}, "binding": [[0], [1]]}
    lines = [json.loads(line) for line in (run / "record.jsonl").read_text().splitlines()]
    told = [line | launch if line["type"] == "launch" else line for line in lines]
    (run / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))
    write_profile(folder, sleeping, shares or {"/usr/lib/libmpi.so.12": 0.8, "/usr/lib/libc.so.6": 0.2})
    write_image(Image(SCHEMA, name or folder.name, "2026-01-01T00:00:00+00:00", ["parhelion"], 2, build, {}, surroundings, providers or {},
                      FILES | (files or {}), {"halo": RAN}), folder)
    return folder


def write_profile(folder: Path, sleeping: float, shares: dict[str, float]) -> None:
    """A profile of two ranks of which the second sleeps for a share of its time."""
    frames = [Frame(library, "f") for library in shares]
    ranks = []
    for rank, asleep in enumerate((0.0, sleeping)):
        stacks = [Stack([number], share * (1 - asleep), int(2000 * share)) for number, share in enumerate(shares.values())]
        ranks.append(RankProfile(rank, "here", 1.0, 0.0, {"hrtimer_nanosleep": asleep} if asleep else {}, stacks, list(shares)))
    found = Profile(PROFILE_SCHEMA, "p", "2026-01-01T00:00:00+00:00", [], ["phl-bench"], How("perf", "6", "cpu-clock", 499), frames, ranks)
    place = profile_folder(folder, "halo")
    place.mkdir()
    (place / "profile.json").write_bytes(msgspec.json.encode(found))
