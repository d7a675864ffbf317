"""Ranks on several hosts: those that PARHELION_HOSTS names, `a,b` or `a:16,b:16`, or those that PBS or LSF has given to the job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .schedulers import given_without_launcher


@dataclass(frozen=True)
class Hosts:
    """`shell` starts a command on a host as ssh does; empty for ssh itself. `subnet` is the one to use, or empty. `given`: by a scheduler,
    so that their cores are this job's to bind ranks to. `room` is how many ranks each one was said to take, empty where it was not said.
    `cores`: what all hosts have between them where they are one machine, else 0."""

    names: tuple[str, ...] = ()
    shell: str = ""
    subnet: str = ""
    given: bool = False
    room: tuple[int, ...] = ()
    cores: int = 0

    @classmethod
    def told(cls, env: Mapping[str, str]) -> Hosts:
        """What the environment says; no names when it says nothing."""
        words = [word.strip().partition(":") for word in env.get("PARHELION_HOSTS", "").split(",") if word.strip()]
        names = tuple(name for name, _, _ in words)
        room = tuple(int(number) for _, _, number in words if number.isdigit())
        shell, subnet = env.get("PARHELION_REMOTE_SHELL", ""), env.get("PARHELION_SUBNET", "")
        scheduled = given_without_launcher(env)
        if not names and len(scheduled.hosts) > 1:
            return cls(scheduled.hosts, shell or scheduled.shell, subnet, given=True)
        cores = env.get("PARHELION_HOSTS_CORES", "")
        return cls(names, shell, subnet, room=room if len(room) == len(names) else (), cores=int(cores) if cores.isdigit() else 0)

    def shares(self, ranks: int) -> dict[str, int]:
        """How many ranks each host gets that gets any: as many as it was said to take where these are `ranks` in all, else evenly, the first
        ones having one more."""
        each, more = divmod(ranks, len(self.names))
        even = [each + (number < more) for number in range(len(self.names))]
        return {name: number for name, number in zip(self.names, self.room if sum(self.room) == ranks else even) if number}

    def fullest(self, ranks: int) -> int:
        """Ranks on the host that has the most of them."""
        return max(self.shares(ranks).values())

    def crowded(self, ranks: int, cores: int) -> bool:
        """Whether a host has more ranks than `cores`, or all hosts more than the machine that they are."""
        return self.fullest(ranks) > cores or ranks > (self.cores or ranks)
