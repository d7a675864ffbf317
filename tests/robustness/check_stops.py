"""Ranks are stopped (SIGSTOP) and continued at random while they exchange: late values, never wrong ones."""

import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import on_hosts
import ranks

CASES = "*.exchanges in flight*"
ON_HOSTS = [(2, 2), (1, 3), (1, 2, 1), (1, 1, 1, 1)]
# Around each rank, which has a number on its own host alone: stops of some milliseconds until it has ended.
STOPS = """RANDOM=$0; "$@" & while kill -STOP $! 2> /dev/null; do sleep 0.00$((RANDOM % 6)); kill -CONT $!; sleep 0.00$((RANDOM % 9 + 1)); done; wait $!"""


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=250)
    parser.add_argument("--routes", help="transports of the exchanges, separated by commas (default: those of the test)")
    parser.add_argument("--on-hosts", action="store_true", help="on two to four hosts, ranks spread evenly and unevenly")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    if options.on_hosts:
        return stop_on_hosts(options)
    with tempfile.TemporaryDirectory() as directory:
        stopper = Stopper(Path(directory), options.seed)
        env = {"PARHELION_TEST_PIDS": directory, "PARHELION_TEST_SEED": str(options.seed), "PARHELION_TEST_ROUNDS": str(options.rounds)}
        if options.routes:
            env["PARHELION_TEST_ROUTES"] = options.routes
        with stopper:
            completed, lines = ranks.run(options, options.ranks, [f"--gtest_filter={CASES}"], env=env)
    print("\n".join(lines), f"{stopper.stops} stops", sep="\n")
    if completed.returncode == 0 and stopper.stops == 0:
        print("no rank was stopped")
        return 1
    return completed.returncode if completed.returncode is not None else 1


def stop_on_hosts(options) -> int:
    on_hosts.need_hosts()
    env = {"PARHELION_TEST_SEED": str(options.seed), "PARHELION_TEST_ROUNDS": str(options.rounds), "PARHELION_TEST_ROUTES": options.routes}
    wrap = ["bash", "-c", STOPS, str(options.seed)]
    return int(not all(on_hosts.passes(options, spread, CASES, env=env, wrap=wrap) for spread in ON_HOSTS))


class Stopper(threading.Thread):
    """Stops ranks for some milliseconds each, as soon as they have left their process numbers."""

    def __init__(self, directory: Path, seed: int):
        super().__init__()
        self.directory = directory
        self.random = random.Random(seed)
        self.stops = 0
        self.done = threading.Event()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *error):
        self.done.set()
        self.join()

    def run(self):
        while not self.done.wait(self.random.uniform(0, 0.004)):
            files = [file for file in self.directory.iterdir() if file.name.isdigit() and file.read_text().strip()]
            if files:
                self.stop(int(self.random.choice(files).read_text()))

    def stop(self, process: int) -> None:
        try:
            os.kill(process, signal.SIGSTOP)
            time.sleep(self.random.expovariate(1 / 0.003))
            os.kill(process, signal.SIGCONT)
            self.stops += 1
        except ProcessLookupError:
            self.done.wait(0.1)  # it has ended


if __name__ == "__main__":
    sys.exit(main())
