"""Networks by name, and the variables that make each kind of MPI use them; or why it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Network(NamedTuple):
    """`by_kind` gives the variables to set, or the reason why this kind of MPI does not have it."""

    about: str
    by_kind: Mapping[str, dict[str, str] | str]


_MPICH_OFI = {"MPIR_CVAR_CH4_NETMOD": "ofi"}
_MPICH_UCX = {"MPIR_CVAR_CH4_NETMOD": "ucx"}
_NO_SHM = {"MPIR_CVAR_NOLOCAL": "1"}
_OMPI_OFI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi"}
# Without these two, Open MPI leaves UCX alone where there is no InfiniBand.
_OMPI_UCX = {"OMPI_MCA_pml": "ucx", "OMPI_MCA_pml_ucx_tls": "any", "OMPI_MCA_pml_ucx_devices": "any"}
_UCX_TCP = {"UCX_TLS": "tcp,self"}
_OFI_TCP = {"FI_PROVIDER": "tcp"}
_OFI_NO_SHM = {"FI_PROVIDER": "^shm,sm2"}
_IMPI_NO_UCX = "Intel MPI reaches UCX only through libfabric's mlx provider, which needs InfiniBand"

NETWORKS: dict[str, Network] = {
    "default": Network("what the MPI chooses by itself", {"mpich": {}, "openmpi": {}, "impi": {}}),
    "shm": Network(
        "shared memory and nothing else",
        {
            "mpich": "MPICH always brings a network up; inside a node ofi and ucx use its shared memory",
            "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "^tcp,ofi,uct,openib,usnic"},  # sm or vader, by version
            "impi": {"I_MPI_FABRICS": "shm"},
        },
    ),
    "ofi": Network(
        "libfabric; inside a node shared memory, as the MPI or libfabric chooses",
        {"mpich": _MPICH_OFI, "openmpi": _OMPI_OFI, "impi": {"I_MPI_FABRICS": "shm:ofi"}},
    ),
    "ofi-noshm": Network(
        "libfabric inside a node too, over the provider that it chooses",
        {
            "mpich": {**_MPICH_OFI, **_NO_SHM, **_OFI_NO_SHM},
            "openmpi": {**_OMPI_OFI, "OMPI_MCA_mtl_ofi_provider_exclude": "shm,sm2,udp"},
            "impi": {"I_MPI_FABRICS": "ofi", **_OFI_NO_SHM},
        },
    ),
    "ucx": Network(
        "UCX; shared memory inside a node", {"mpich": _MPICH_UCX, "openmpi": _OMPI_UCX, "impi": _IMPI_NO_UCX}
    ),
    "ucx-noshm": Network(
        "UCX inside a node too, over TCP",
        {
            "mpich": {**_MPICH_UCX, **_NO_SHM, **_UCX_TCP},
            "openmpi": {**_OMPI_UCX, **_UCX_TCP},
            "impi": _IMPI_NO_UCX,
        },
    ),
    "tcp": Network(
        "TCP inside a node too: Open MPI's own channel; libfabric's for the others, which have none",
        {
            "mpich": {**_MPICH_OFI, **_NO_SHM, **_OFI_TCP},
            "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"},
            "impi": {"I_MPI_FABRICS": "ofi", **_OFI_TCP},
        },
    ),
}


def network_setting(network: str, kind: str) -> tuple[dict[str, str], str | None]:
    """Variables for a kind of MPI, and why they cannot be had; raises KeyError for an unknown network."""
    told = NETWORKS[network].by_kind.get(kind, f"nothing is known about {kind} here")
    return ({}, told) if isinstance(told, str) else (dict(told), None)
