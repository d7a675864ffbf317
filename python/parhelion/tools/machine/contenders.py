"""Which contenders a build has."""

import json
import subprocess

from ...launch import Flavor

Listing = dict[str, list[dict[str, str]]]


def built_contenders(flavor: Flavor) -> Listing:
    """Per benchmark, the contenders that the flavor's measuring program knows; empty when it cannot tell."""
    env = flavor.launch(1, flavor.program).env
    try:
        done = subprocess.run(
            [str(flavor.program), "--list"], env=env, capture_output=True, text=True, timeout=30, check=True
        )
        return json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}


def own_transports(listing: Listing) -> dict[str, str]:
    """The names of the library's own contenders over all benchmarks, and why the build cannot use each ("" when it can)."""
    return {entry["name"]: entry.get("unavailable", "") for entries in listing.values() for entry in entries
            if entry.get("role") == "own"}  # fmt: skip
