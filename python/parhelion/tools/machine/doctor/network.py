"""Which network an MPI really takes here: two ranks send a little, and the MPI says what it has chosen."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from ....launch import Flavor
from ..providers import providers

JOB = {"schema": "parhelion.job/1", "benchmark": "alltoall", "ranks": 2, "launch": 0, "seed": 1, "repetitions": 1, "min_sample_s": 0.0,
       "bind": False, "contenders": ["mpi_alltoall"], "cases": [{"size": 64}]}  # fmt: skip


def network(flavor: Flavor) -> dict[str, str]:
    """Channels by name, such as libfabric's provider or UCX's transports; empty where the MPI does not tell."""
    with tempfile.TemporaryDirectory(prefix="parhelion-doctor-") as folder:
        job = Path(folder) / "job.json"
        job.write_text(json.dumps(JOB))
        try:
            return providers(flavor, 2, [str(flavor.program), str(job), "/dev/null"], bind=False)
        except OSError:
            return {}
