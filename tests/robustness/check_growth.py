"""Memory, mappings and descriptors of a rank grow with its neighbors, not with the number of ranks."""

import sys

import ranks

NAMES = ("mappings", "bytes", "descriptors")


def main() -> int:
    parser = ranks.parser(__doc__)
    parser.add_argument("--transport", required=True)
    options = parser.parse_args()
    taken = {count: measure(options, count) for count in (4, 8)}
    for count, values in taken.items():
        print(f"{options.transport}, {count} ranks: " + ", ".join(f"{v} {name}" for v, name in zip(values, NAMES)))
    return 0 if taken[4] == taken[8] and taken[4][0] > 0 else 1


def measure(options, count: int) -> list[int]:
    completed, lines = ranks.run(options, count, [options.transport])
    found = [line.split()[1:] for line in lines if line.startswith("taken ")]
    if not completed.ok or len(found) != 1:
        sys.exit("\n".join([*lines, str(completed)]))
    return [int(word) for word in found[0]]


if __name__ == "__main__":
    sys.exit(main())
