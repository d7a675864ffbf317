"""The conformance suite over several hosts: MPI and UCX between them, alone and behind transports of the own node."""

import os
import sys

import on_hosts
import ranks

# Hosts, ranks, and what of the suite they run: where ranks share cores, the laws alone.
RUNS = [(2, 2, "*"), (2, 4, "laws.*:staged.*"), (2, 8, "staged.*"), (3, 3, "laws.*")]


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--routes", required=True, help="as the tests take them, separated by commas")
    options = parser.parse_args()
    on_hosts.need_hosts()
    env = {**os.environ, "PARHELION_TEST_ROUTES": options.routes}
    for hosts, count, cases in RUNS:
        done = on_hosts.run(options, count, f"--gtest_filter={cases}", env=env, hosts=hosts)
        print(done.stdout[-3000:])
        if done.returncode != 0 or f"{count} ranks: passed" not in done.stdout:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
