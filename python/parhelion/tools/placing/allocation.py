"""What a job's allocation says of the machine, where the options of `parhelion place` leave it open."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...launch.scheduled import given


def with_allocation(options: dict[str, Any], env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The options with the number of nodes and their names from Slurm, PBS or LSF.

    Names are taken where there are as many nodes as the options say; options that describe another machine are left as they are.
    """
    hosts = given(os.environ if env is None else env).hosts
    told = options["nodes"] or options["blocks"] or len(options["ranks_per_node"] or ()) > 1 or _counts_nodes(options["topology"] or "")
    nodes = options["nodes"] or (None if told else len(hosts) or None)
    fitting = nodes == len(hosts) and not options["hosts"]
    return {**options, "nodes": nodes, "hosts": hosts if fitting else options["hosts"]}


def _counts_nodes(topology: str) -> bool:
    return any(f"{name}:" in topology for name in ("node", "machine", "host"))
