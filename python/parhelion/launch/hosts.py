"""Ranks on several hosts, where PARHELION_HOSTS names them: `a,b` or `a:16,b:16`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Hosts:
    """`shell` starts a command on a host as ssh does; empty for ssh itself. `subnet` is the one to use, or empty."""

    names: tuple[str, ...] = ()
    shell: str = ""
    subnet: str = ""

    @classmethod
    def told(cls, env: Mapping[str, str]) -> Hosts:
        """What the environment says; no names when it says nothing."""
        words = [word.strip() for word in env.get("PARHELION_HOSTS", "").split(",")]
        names = tuple(word.partition(":")[0] for word in words if word)
        return cls(names, env.get("PARHELION_REMOTE_SHELL", ""), env.get("PARHELION_SUBNET", ""))

    def on_each(self, ranks: int) -> int:
        """Ranks on a host when they are spread evenly, the last host having what remains."""
        return math.ceil(ranks / len(self.names))

    def used(self, ranks: int) -> tuple[str, ...]:
        """The hosts that get at least one rank."""
        return self.names[: math.ceil(ranks / self.on_each(ranks))]
