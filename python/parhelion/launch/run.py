"""Starting the ranks of a flavor and waiting for them."""

import os
from collections.abc import Callable, Mapping, Sequence

from .flavor import Flavor, default_flavor
from .process import Completed, run_command


def run(
    ranks: int,
    program: str | os.PathLike,
    args: Sequence[str | os.PathLike] = (),
    *,
    flavor: Flavor | None = None,
    bind: bool = True,
    env: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    timeout: float | None = None,
    cwd: str | os.PathLike | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Completed:
    """Start `ranks` ranks of `program` under `flavor` (the default one) and wait.

    Output streams to ours, or line by line to `on_line`. After `timeout` seconds every rank is
    ended and ``Completed.timed_out`` is true. A launcher that failed before it started any rank, by a fault of its own, is
    started again, and stderr says so.
    """
    flavor = flavor or default_flavor()
    launch = flavor.launch(ranks, program, args, bind=bind, env=env, options=options)
    return run_command(launch.argv, launch.env, timeout=timeout, cwd=cwd, on_line=on_line, false_start=launch.false_start)
