"""The conformance suite over two hosts: MPI and UCX between them, alone and behind transports of the own node."""

import os
import sys

import on_hosts
import ranks

# Ranks, and what of the suite they run: where ranks share cores, the laws alone.
RUNS = {2: "*", 4: "*laws.cpp,*staged.cpp", 8: "*staged.cpp"}


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--routes", required=True, help="as the tests take them, separated by commas")
    options = parser.parse_args()
    on_hosts.need_hosts()
    for count, sources in RUNS.items():
        done = on_hosts.run(options, count, f"-sf={sources}", env={**os.environ, "PARHELION_TEST_ROUTES": options.routes})
        print(done.stdout[-3000:])
        if done.returncode != 0 or f"{count} ranks: passed" not in done.stdout:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
