"""Ranks on several hosts: those that PARHELION_HOSTS names, `a,b` or `a:16,b:16`, or those that PBS or LSF has given to the job."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from .scheduled import given_without_launcher


@dataclass(frozen=True)
class Hosts:
    """`shell` starts a command on a host as ssh does; empty for ssh itself. `subnet` is the one to use, or empty. `given`: by a scheduler,
    so that their cores are this job's to bind ranks to."""

    names: tuple[str, ...] = ()
    shell: str = ""
    subnet: str = ""
    given: bool = False

    @classmethod
    def told(cls, env: Mapping[str, str]) -> Hosts:
        """What the environment says; no names when it says nothing."""
        words = [word.strip() for word in env.get("PARHELION_HOSTS", "").split(",")]
        names = tuple(word.partition(":")[0] for word in words if word)
        shell, subnet = env.get("PARHELION_REMOTE_SHELL", ""), env.get("PARHELION_SUBNET", "")
        scheduled = given_without_launcher(env)
        if not names and len(scheduled.hosts) > 1:
            return cls(scheduled.hosts, shell or scheduled.shell, subnet, given=True)
        return cls(names, shell, subnet)

    def on_each(self, ranks: int) -> int:
        """Ranks on a host when they are spread evenly, the last host having what remains."""
        return math.ceil(ranks / len(self.names))

    def used(self, ranks: int) -> tuple[str, ...]:
        """The hosts that get at least one rank."""
        return self.names[: math.ceil(ranks / self.on_each(ranks))]
