"""What can move the data."""

from typing import NamedTuple

from .. import _core


class Transport(NamedTuple):
    """A transport that this build knows. `reach` is "anywhere", "node" (neighbors on the own node) or "rank" (a rank's own
    periodic images); `unavailable` is empty where it works, else why it does not."""

    name: str
    description: str
    reach: str
    unavailable: str


def transports() -> list[Transport]:
    """All transports, those that can be used here and the others. Local."""
    return [Transport(*entry) for entry in _core.transports()]
