"""The started ranks, which can always be stopped."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from ...launch.tree import descendants, kill_remaining
from ..cli.errors import BadInput

GRACE_S = 5.0


class Ranks:
    """Ranks under a launcher; what they print goes to `log`. A context: leaving it stops what still runs."""

    def __init__(self, argv: list[str], env: dict[str, str], log: Path, own_group: bool = True) -> None:
        with log.open("ab") as output:
            try:
                self.process = subprocess.Popen(
                    argv, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                    start_new_session=own_group, close_fds=own_group,
                )  # fmt: skip
            except OSError as error:
                raise BadInput(f"cannot start {argv[0]}: {error.strerror}") from None
        self.own_group = own_group

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def running(self, wait_s: float) -> bool:
        """Wait for up to `wait_s` and tell whether the ranks still run."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(wait_s)
        return self.process.returncode is None

    def stop(self) -> None:
        """Ask the ranks to end; after a grace time, make them."""
        if not self.running(0):
            return
        # Ranks may sit in sessions of their own, so the tree is listed before its root is gone.
        family = descendants(self.process.pid)
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal(number)
            if not self.running(GRACE_S):
                break
        kill_remaining(family)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            if self.own_group:
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
