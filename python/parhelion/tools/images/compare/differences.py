"""What differs around the figures of two images, gathered from records, loaded files and channels, as a pool that causes are taken from."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath

from ...comparing.changes import Change, changes, differing
from ..folder import MeasuredImage

VARIABLE = ("variables ", "control variable ")  # of the command line's environment, and of the ranks'
OWN = "MPI's own "


@dataclass(frozen=True)
class Difference:
    """One fact that differs. `kind`: environment, ranks, libraries, files, channels or behavior."""

    kind: str
    change: Change

    @property
    def name(self) -> str:
        return self.change.name

    @property
    def sides(self) -> tuple[str | None, str | None]:
        return self.change.first, self.change.second

    @property
    def variable(self) -> str | None:
        """The environment variable that this tells of."""
        return next((self.name.removeprefix(each) for each in VARIABLE if self.name.startswith(each)), None)

    @property
    def one_sided(self) -> bool:
        """Only one of the images has it."""
        return None in self.sides


class Pool:
    """Differences that no cause has been found for yet."""

    def __init__(self, found: Iterable[Difference]) -> None:
        self.left = list(found)

    def take(self, wanted: Callable[[Difference], bool]) -> list[Difference]:
        """Those that `wanted` tells, which then belong to one cause and to no other."""
        taken = [each for each in self.left if wanted(each)]
        self.left = [each for each in self.left if each not in taken]
        return taken


def differences(first: MeasuredImage, second: MeasuredImage) -> list[Difference]:
    """Everything that was recorded and differs."""
    found = changes(first.all, second.all)
    kinds = {"environment": found.environment, "ranks": [*found.ranks, *_binding(first, second)], "libraries": found.libraries,
             "files": _contents(first, second), "channels": _channels(first, second),
             "behavior": found.behavior}  # fmt: skip
    return [Difference(kind, each) for kind, listed in kinds.items() for each in listed]


def _channels(first: MeasuredImage, second: MeasuredImage) -> list[Change]:
    """Channels that differ, where both told any: an MPI that is silent, or a run that was cut short, has not changed them."""
    told = [side.image.providers for side in (first, second)]
    return differing(*told) if all(told) else []


def _contents(first: MeasuredImage, second: MeasuredImage) -> list[Change]:
    """Files of one name and another content."""
    shared = [path for path in first.image.files if path in second.image.files]
    told = [{path: f"{side.image.files[path].bytes} bytes, SHA-256 {side.image.files[path].sha256}…" for path in shared} for side in (first, second)]
    return differing(*told)


def _binding(first: MeasuredImage, second: MeasuredImage) -> list[Change]:
    return differing(*({"binding of ranks": bindings} if (bindings := _bindings(side)) else {} for side in (first, second)))


def _bindings(side: MeasuredImage) -> str:
    """The hardware threads of every rank, in each of the ways in which starts had them."""
    return " | ".join(sorted({", ".join(f"{rank}: {each}" for rank, each in enumerate(launch.binding)) for record in side.records.values() for launch in record.launches if launch.binding}))


def base_name(path: str | None) -> str:
    """A file's name without its folder and what follows `.so`."""
    return PurePath(path or "").name.partition(".so")[0]
