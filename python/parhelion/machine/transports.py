"""Which transports work on this machine, out of what they need from it."""

from collections.abc import Iterable, Mapping

from ..errors import remedy_of_no_build
from .probes import Finding

# What each transport needs from the machine, by names of checks; over MPI nothing is needed but a build.
NEEDS = {
    "shared": ("memfd", "futex"),
    "staged_shared": ("memfd", "futex"),
    "xpmem": ("XPMEM",),
    "ucx": ("UCX",),
}
OVER_MPI = ("mpi", "mpi_neighbor")


def transports(findings: list[Finding], built: Mapping[str, str]) -> list[Finding]:
    """What follows for each transport from the machine, and from the builds: name → why none can use it, or ""."""
    by_name = {finding.name: finding for finding in findings}
    loopback = Finding("loopback", True, "a rank that is its own neighbor copies within its memory")
    over_mpi = [Finding(name, True, "needs nothing but MPI") for name in OVER_MPI]
    others = [_from_needs(name, [by_name[need] for need in needs]) for name, needs in NEEDS.items()]
    return [loopback, *(_if_built(finding, built) for finding in (*over_mpi, *others))]


def _if_built(finding: Finding, built: Mapping[str, str]) -> Finding:
    why_not = built.get(finding.name)
    if finding.name == "ucx" and why_not == "":  # most MPIs bring a UCX of their own
        return Finding("ucx", True, "a build found its library")
    if why_not == "" or not finding.works:
        return finding
    if not built:
        return Finding(finding.name, False, f"no build is there ({finding.detail})", remedy_of_no_build())
    if why_not:
        return Finding(finding.name, False, why_not)
    return Finding(finding.name, False, f"the machine allows it, but no build has it ({finding.detail})")


def usable_by_any(builds: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Name → "" where one of the builds can use a transport, else why the last cannot."""
    together: dict[str, str] = {}
    for build in builds:
        for name, why_not in build.items():
            together[name] = "" if together.get(name) == "" else why_not
    return together


def _from_needs(name: str, needs: list[Finding]) -> Finding:
    missing = [need for need in needs if not need.works]
    if not missing:
        return Finding(name, True, f"{', '.join(need.name for need in needs)} tried and found working")
    first = missing[0]
    return Finding(name, False, f"{first.name}: {first.detail}", first.remedy)
