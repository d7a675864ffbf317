"""What a build tells of itself: its contenders, and which channels its MPI, UCX and Open MPI's frameworks have chosen."""

import json
import re
import subprocess
from collections.abc import Iterable

from ..launch import Flavor
from ..launch.process import ask, run_command

Listing = dict[str, list[dict[str, str]]]


def built_contenders(flavor: Flavor) -> Listing:
    """Per benchmark, the contenders that the flavor's measuring program knows; empty when it cannot tell."""
    try:
        return json.loads(ask([str(flavor.program), "--list"], flavor.environment(), 30).stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}


def own_transports(listing: Listing) -> dict[str, str]:
    """The names of the library's own contenders over all benchmarks, and why the build cannot use each ("" when it can)."""
    return {entry["name"]: entry.get("unavailable", "") for entries in listing.values() for entry in entries
            if entry.get("role") == "own"}  # fmt: skip


ASK = {"MPIR_CVAR_DEBUG_SUMMARY": "1", "I_MPI_DEBUG": "4", "UCX_LOG_LEVEL": "info", "OMPI_MCA_pml_base_verbose": "10",
       "OMPI_MCA_mtl_base_verbose": "10", "OMPI_MCA_btl_base_verbose": "10", "OMPI_MCA_bml_base_verbose": "10"}  # fmt: skip
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


def providers(flavor: Flavor, ranks: int, program: list[str], bind: bool) -> dict[str, str]:
    """What `program` (a short one) says of its channels; empty where it says nothing."""
    lines: list[str] = []
    launch = flavor.launch(ranks, program[0], program[1:], bind=bind, setting=ASK)
    run_command(launch.argv, launch.env, timeout=TIMEOUT_S, on_line=lines.append, false_start=launch.false_start)
    return told(lines)


def told(lines: Iterable[str]) -> dict[str, str]:
    """Channels by name, out of what many ranks have printed; several values of one are joined."""
    found: dict[str, dict[str, None]] = {}
    for line in lines:
        for name, pattern in TOLD:
            if match := pattern.search(line):
                found.setdefault(name.format(match[1] or "pml"), {})[match[2].strip()] = None
    return {name: ", ".join(sorted(values)) for name, values in sorted(found.items())}
