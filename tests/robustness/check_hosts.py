"""A program of tests over several hosts: MPI and UCX between them, alone and behind transports of the own node."""

import sys

import on_hosts
import ranks

# Ranks on each host, and what of the suite they run: where ranks share cores, the laws alone.
USUAL = [((1, 1), "*"), ((2, 2), "laws.*:staged.*"), ((4, 4), "staged.*"), ((1, 2, 1), "laws.*")]
EVERY = [(2, 2), (1, 3), (1, 1, 1), (1, 3, 2), (1, 1, 1, 1), (2, 1, 3, 1)]


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--routes", required=True, help="as the tests take them, separated by commas")
    parser.add_argument("--every", metavar="CASES", help="these cases, on two to four hosts, ranks spread evenly and unevenly")
    options = parser.parse_args()
    on_hosts.need_hosts()
    runs = [(spread, options.every) for spread in EVERY] if options.every else USUAL
    return int(not all(on_hosts.passes(options, spread, cases, env={"PARHELION_TEST_ROUTES": options.routes}) for spread, cases in runs))


if __name__ == "__main__":
    sys.exit(main())
