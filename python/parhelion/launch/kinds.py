"""Kinds of MPI: detection, options of ``mpiexec`` and ``srun``, networks.

`KINDS` lists the MPIs, `NETWORKS` the networks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from .jobs import Hosts

if TYPE_CHECKING:
    from .builds import Build

# Open MPI 5's launcher sometimes prints this before it starts anything (a known PMIx fault); a retry succeeds.
FALSE_START = "The PMIx server's listener thread failed to start"


@dataclass(frozen=True)
class Request:
    ranks: int
    cores: int
    bind: bool
    hosts: Hosts = Hosts()

    @property
    def oversubscribed(self) -> bool:
        return self.hosts.crowded(self.ranks, self.cores)

    @property
    def bound(self) -> bool:
        return self.bind and not self.oversubscribed and (self.hosts.given or not self.hosts.names)

    def notes(self) -> list[str]:
        """Return notes about oversubscription and binding."""
        if not self.oversubscribed:
            return [] if self.bound else ["the launcher does not bind ranks to cores"]
        if self.hosts.cores:
            return [f"{self.ranks} ranks share {self.hosts.cores} cores of one machine with simulated hosts, and are not bound"]
        where = f" on each of the hosts {', '.join(self.hosts.names)}" if self.hosts.names else ""
        return [f"{self.hosts.fullest(self.ranks)} ranks share {self.cores} cores{where} and are not bound"]


@dataclass
class Form:
    """Options of ``mpiexec`` before ``-n``, and variables.

    The user's variables override `env`, but not `forced`. `exports`: options must name variables for other hosts.
    """

    options: list[str]
    env: dict[str, str] = field(default_factory=dict)
    forced: dict[str, str] = field(default_factory=dict)
    exports: bool = False

    def words(self, added: Iterable[str]) -> list[str]:
        return self.options + [word for name in sorted(added) if self.exports for word in ("-x", name)]


def _mpich(request: Request, build: Build) -> Form:
    """Hydra forwards the whole environment."""
    options = (["-bind-to", "core"] if request.bound else []) + _hydra_hosts(request)
    # MPICH's shared-memory collectives busy-wait: 30 times slower on shared cores.
    return Form(options, {"MPIR_CVAR_DEVICE_COLLECTIVES": "none"} if request.oversubscribed else {})


def _openmpi(request: Request, build: Build) -> Form:
    """Open MPI 4 and 5, which count only the node's granted cores as slots: `Request` decides about oversubscription."""
    options = ["--map-by", ":OVERSUBSCRIBE"] if request.oversubscribed else ["--map-by", "core"]
    options += ["--bind-to", "core" if request.bound else "none", *_openmpi_hosts(request, build)]
    env = {"OMPI_MCA_mpi_yield_when_idle": "1"} if request.oversubscribed else {}
    if os.geteuid() == 0:  # containers run as root, which Open MPI refuses without both variables
        env |= {f"{part}_ALLOW_RUN_AS_ROOT{twice}": "1" for part in ("OMPI", "PRTE") for twice in ("", "_CONFIRM")}
    return Form(options, env, exports=True)


def _impi(request: Request, build: Build) -> Form:
    env = {"I_MPI_PIN": "1", "I_MPI_PIN_DOMAIN": "core"} if request.bound else {"I_MPI_PIN": "0"}
    return Form(_hydra_hosts(request), env, {"I_MPI_ROOT": str(build.mpi_home)})


def _no_options(request: Request, build: Build) -> Form:
    return Form([])


def _hydra_hosts(request: Request) -> list[str]:
    """Host options of Hydra, the launcher of MPICH and Intel MPI."""
    hosts = request.hosts
    if not hosts.names:
        return []
    shell = ["-launcher", "ssh", "-launcher-exec", hosts.shell] if hosts.shell else []
    shares = hosts.shares(request.ranks)
    if len({*shares.values()}) == 1:
        return [*shell, "-hosts", ",".join(shares), "-ppn", str(hosts.fullest(request.ranks))]
    return [*shell, "-hosts", _listed(shares)]


def _openmpi_hosts(request: Request, build: Build) -> list[str]:
    """Host options of Open MPI; PRRTE's variables have their own option in version 5."""
    hosts = request.hosts
    if not hosts.names:
        return []
    launcher, agent = ("--mca", "plm_rsh_agent") if "v4." in build.library_version else ("--prtemca", "plm_ssh_agent")
    shell = [launcher, agent, hosts.shell] if hosts.shell else []
    subnet = ["--mca", "btl_tcp_if_include", hosts.subnet, launcher, "oob_tcp_if_include", hosts.subnet] if hosts.subnet else []
    return ["--host", _listed(hosts.shares(request.ranks)), *shell, *subnet]


def _listed(shares: dict[str, int]) -> str:
    return ",".join(f"{name}:{number}" for name, number in shares.items())


class Kind(NamedTuple):
    """A kind of MPI.

    `told_by`: words of its version string. `launchers`: names of ``mpiexec``; Debian adds suffixes. `pmi`: PMI type for ``srun``, None if
    its own launcher supports Slurm. `false_start`: the launcher's message when it fails spuriously before starting anything.
    """

    form: Callable[[Request, Build], Form]
    told_by: tuple[str, ...] = ()
    launchers: tuple[str, ...] = ()
    pmi: str | None = None
    false_start: str | None = None


# Order matters: the version strings of Intel and Cray contain MPICH, too.
KINDS = {
    "openmpi": Kind(_openmpi, ("Open MPI", "Spectrum MPI"), ("mpiexec.openmpi", "mpiexec"), "pmix", FALSE_START),
    "impi": Kind(_impi, ("Intel",), ("mpiexec.hydra", "mpiexec")),
    "cray": Kind(_no_options, ("CRAY",), pmi="cray_shasta"),
    "mpich": Kind(_mpich, ("MPICH", "MVAPICH"), ("mpiexec.mpich", "mpiexec.hydra", "mpiexec"), "pmi2"),
    "other": Kind(_no_options),
}


def kind_of(version: str) -> str:
    return next((name for name, kind in KINDS.items() if any(word in version for word in kind.told_by)), "other")


class Network(NamedTuple):
    """Variables that select a network, per kind of MPI, or why it lacks the network."""

    mpich: dict[str, str] | str
    openmpi: dict[str, str] | str
    impi: dict[str, str] | str


_MPICH_OFI = {"MPIR_CVAR_CH4_NETMOD": "ofi"}
_MPICH_UCX = {"MPIR_CVAR_CH4_NETMOD": "ucx"}
_NO_SHM = {"MPIR_CVAR_NOLOCAL": "1"}
_OMPI_OFI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi"}
# Without the last two, Open MPI ignores UCX unless there is InfiniBand.
_OMPI_UCX = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}
_UCX_TCP = {"UCX_TLS": "tcp,self"}
_OFI_TCP = {"FI_PROVIDER": "tcp"}
_OFI_NO_SHM = {"FI_PROVIDER": "^shm,sm2"}
_IMPI_NO_UCX = "Intel MPI reaches UCX only through libfabric's mlx provider, which needs InfiniBand"

NETWORKS = {
    "default": Network({}, {}, {}),
    "shm": Network(
        "MPICH always initializes a network; inside a node ofi and ucx use its shared memory",
        {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^tcp,ofi,uct,openib,usnic"},  # leaves sm or vader, depending on the version
        {"I_MPI_FABRICS": "shm"},
    ),
    "ofi": Network(_MPICH_OFI, _OMPI_OFI, {"I_MPI_FABRICS": "shm:ofi"}),
    "ofi-noshm": Network(
        _MPICH_OFI | _NO_SHM | _OFI_NO_SHM,
        _OMPI_OFI | {"OMPI_MCA_mtl_ofi_provider_exclude": "shm,sm2,udp"},
        {"I_MPI_FABRICS": "ofi", **_OFI_NO_SHM},
    ),
    "ucx": Network(_MPICH_UCX, _OMPI_UCX, _IMPI_NO_UCX),
    "ucx-noshm": Network(_MPICH_UCX | _NO_SHM | _UCX_TCP, _OMPI_UCX | _UCX_TCP, _IMPI_NO_UCX),
    "tcp": Network(
        _MPICH_OFI | _NO_SHM | _OFI_TCP,
        {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"},
        {"I_MPI_FABRICS": "ofi", **_OFI_TCP},
    ),
}


def network_setting(network: str, kind: str) -> tuple[dict[str, str], str | None]:
    """Return the variables of a network for `kind`, and why there are none. Raises KeyError for an unknown network."""
    told = getattr(NETWORKS[network], kind, f"nothing is known about {kind} here")
    return ({}, told) if isinstance(told, str) else (dict(told), None)
