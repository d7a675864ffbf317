"""Networks between the ranks of a build: the channels that its MPI, UCX and Open MPI's frameworks select."""

import re
from collections.abc import Iterable

from ..launch import Build, BuildError

ASK = {"MPIR_CVAR_DEBUG_SUMMARY": "1", "I_MPI_DEBUG": "4", "UCX_LOG_LEVEL": "info", "OMPI_MCA_pml_base_verbose": "10",
       "OMPI_MCA_mtl_base_verbose": "10", "OMPI_MCA_btl_base_verbose": "10", "OMPI_MCA_bml_base_verbose": "10"}
TOLD = (
    ("UCX {0}", re.compile(r"UCX\s+INFO\s+\S* ?(self|intra-node|inter-node|\S+) cfg#\d+ tag\(([^)]*)\)")),
    ("Open MPI's {0}", re.compile(r"mca:base:select:\(\s*(\w+)\) Selected component \[(\w+)\]")),
    ("Open MPI's {0}", re.compile(r"select: component ()(\w+) selected")),
    ("Open MPI's channels", re.compile(r"bml: Using ()(\w+) btl")),
    ("libfabric's provider", re.compile(r"libfabric provider: ()(\S+)")),
    ("libfabric's provider", re.compile(r"^\s*(?:Provider|provider|provider name):?\s+()([\w;^]+)")),
    ("channel of MPICH", re.compile(r"^==== ()(UCX|OFI) netmod")),
)
TIMEOUT_S = 60.0
SHORTEST = ["alltoall", "--size=64", "--variants=mpi_alltoall", "--repetitions=1", "--min-sample-s=0", "--no-bind", "--json=/dev/null"]


def network(build: Build, ranks: int = 2, bind: bool = False) -> dict[str, str]:
    """Return the channels between ranks by name; empty if there is no launcher or the MPI prints none."""
    lines: list[str] = []
    try:
        build.launch(ranks, build.program, SHORTEST, bind=bind, setting=ASK).run(timeout=TIMEOUT_S, on_line=lines.append)
    except (OSError, BuildError):
        return {}
    return told(lines)


ON_DEVICE = ["halo", "--memory=device", "--variants=hand_device_mpi", "--extent=4", "--halo=1", "--fields=1", *SHORTEST[3:]]


def device_memory(build: Build) -> str:
    """Try an exchange of device memory by MPI between two ranks; return the result as text."""
    lines: list[str] = []
    try:
        done = build.launch(2, build.program, ON_DEVICE, bind=False).run(timeout=TIMEOUT_S, on_line=lines.append)
    except (OSError, BuildError) as error:
        return f"not tried: {error}"
    if done.ok:
        return "moved between two ranks, values verified"
    said = next((line for line in lines if line.strip()), "")
    return f"not moved: the trial {'did not end' if done.timed_out else f'ended with status {done.returncode}'} ({said.strip()})"


def told(lines: Iterable[str]) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for line in lines:
        for name, pattern in TOLD:
            if match := pattern.search(line):
                found.setdefault(name.format(match[1] or "pml"), set()).add(match[2].strip())
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}
