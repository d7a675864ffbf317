"""What the ``mpiexec`` of each kind of MPI wants: options, environment, remarks."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from .hosts import Hosts

# Open MPI 5's launcher says so now and then, before it has started anything (a known fault of its PMIx): another try works.
FALSE_START = "The PMIx server's listener thread failed to start"


class Installation(Protocol):
    """The part of a flavor that decides about options."""

    @property
    def mpi_home(self) -> Path: ...

    @property
    def library_version(self) -> str: ...


@dataclass(frozen=True)
class Request:
    """What is to be started: how many ranks on how many cores, bound if possible."""

    ranks: int
    cores: int
    bind: bool
    hosts: Hosts = Hosts()

    @property
    def oversubscribed(self) -> bool:
        """On the fullest host."""
        return self.hosts.crowded(self.ranks, self.cores) if self.hosts.names else self.ranks > self.cores

    @property
    def bound(self) -> bool:
        return self.bind and not self.oversubscribed and (self.hosts.given or not self.hosts.names)

    def notes(self) -> list[str]:
        """What the user should know: ranks that share cores, and that they are not bound."""
        if not self.oversubscribed:
            return [] if self.bound else ["the launcher does not bind ranks to cores"]
        if self.hosts.cores:
            return [f"{self.ranks} ranks share {self.hosts.cores} cores, on hosts that are one machine, and are not bound"]
        where = f" on each of the hosts {', '.join(self.hosts.names)}" if self.hosts.names else ""
        ranks = self.hosts.fullest(self.ranks) if self.hosts.names else self.ranks
        return [f"{ranks} ranks share {self.cores} cores{where} and are not bound"]


@dataclass
class Form:
    """Options before ``-n`` and variables for one kind; `export` passes variables to other hosts.

    The user's own setting wins over `env`; nothing wins over `forced`. `false_start`: what this launcher says when it fails by
    its own fault before it starts anything.
    """

    fixed: list[str]
    env: dict[str, str]
    notes: list[str]
    forced: dict[str, str] = field(default_factory=dict)
    export: Callable[[dict[str, str]], list[str]] = field(default=lambda added: [])
    false_start: str | None = None

    def options(self, added: dict[str, str]) -> list[str]:
        return self.fixed + self.export(added)


def mpich(request: Request, installation: Installation) -> Form:
    """Hydra passes the whole environment on by itself."""
    options = (["-bind-to", "core"] if request.bound else []) + _hydra_hosts(request)
    env = {}
    if request.oversubscribed:
        # The collectives built for shared memory spin on each other: 30 times slower on shared cores.
        env["MPIR_CVAR_DEVICE_COLLECTIVES"] = "none"
    return Form(options, env, request.notes())


def openmpi(request: Request, installation: Installation) -> Form:
    """Open MPI 4 and 5. Counting slots is left to us: both count only what the node grants."""
    options = ["--map-by", ":OVERSUBSCRIBE"] if request.oversubscribed else ["--map-by", "core"]
    options += ["--bind-to", "core" if request.bound else "none", *_openmpi_hosts(request, installation)]
    env = {}
    if request.oversubscribed:
        env["OMPI_MCA_mpi_yield_when_idle"] = "1"
    if os.geteuid() == 0:
        # Containers have no other user; Open MPI refuses root unless told twice.
        env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        env |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return Form(options, env, request.notes(), export=_export_each, false_start=FALSE_START)


def impi(request: Request, installation: Installation) -> Form:
    """Intel MPI finds its parts by I_MPI_ROOT; its pinning is set by variables, not options."""
    env = {"I_MPI_PIN": "1" if request.bound else "0"}
    if request.bound:
        env["I_MPI_PIN_DOMAIN"] = "core"
    return Form(_hydra_hosts(request), env, request.notes(), {"I_MPI_ROOT": str(installation.mpi_home)})


def no_options(request: Request, installation: Installation) -> Form:
    """A launcher whose options are not known: srun's, or the one that the user names."""
    return Form([], {}, request.notes())


def _hydra_hosts(request: Request) -> list[str]:
    """MPICH and Intel MPI have the same launcher."""
    hosts = request.hosts
    if not hosts.names:
        return []
    shell = ["-launcher", "ssh", "-launcher-exec", hosts.shell] if hosts.shell else []
    shares = hosts.shares(request.ranks)
    if len({*shares.values()}) == 1:
        return [*shell, "-hosts", ",".join(shares), "-ppn", str(hosts.fullest(request.ranks))]
    return [*shell, "-hosts", ",".join(f"{name}:{number}" for name, number in shares.items())]


def _openmpi_hosts(request: Request, installation: Installation) -> list[str]:
    """Version 5 has its own name for the variables of the launcher, which version 4 takes with the others."""
    hosts = request.hosts
    if not hosts.names:
        return []
    launcher, agent = ("--mca", "plm_rsh_agent") if "v4." in installation.library_version else ("--prtemca", "plm_ssh_agent")
    options = ["--host", ",".join(f"{name}:{number}" for name, number in hosts.shares(request.ranks).items())]
    options += [launcher, agent, hosts.shell] if hosts.shell else []
    if hosts.subnet:
        options += ["--mca", "btl_tcp_if_include", hosts.subnet, launcher, "oob_tcp_if_include", hosts.subnet]
    return options


def _export_each(added: dict[str, str]) -> list[str]:
    return [word for key in sorted(added) for word in ("-x", key)]


KINDS: dict[str, Callable[[Request, Installation], Form]] = {
    "mpich": mpich,
    "openmpi": openmpi,
    "impi": impi,
    "cray": no_options,
    "other": no_options,
}
