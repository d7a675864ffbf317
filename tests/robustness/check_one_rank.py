"""One rank's set-up sends, receives and keeps the same among real ranks and beside messages that are made up, of which a million ranks need no more."""

import re
import sys

import ranks

WORDS = "messages and bytes sent, received, collective calls, bytes of memory at most and kept"


def main() -> int:
    options = ranks.parser(__doc__).parse_args()
    wrong = 0
    for case, rounds in (("grid", 0), ("blocks", 2 * (19 - 4)), ("rows", None)):  # of sums and maxima, among twice as many ranks each
        real, alone, million = (measure(options, *each, case) for each in ((27, "3x3x3"), (1, "3x3x3"), (1, "100x100x100")))
        print(f"{case}, {WORDS}: {real} among real ranks, {alone} alone, {million} of a million ranks")
        wrong += real[:5] != alone[:5] or not near(alone[5:], real[5:], 0.01)
        wrong += million[4] != alone[4] or not near(million[5:], alone[5:], 0.03)
        wrong += rounds is not None and million[0] != alone[0] + rounds
    return wrong


def near(these: list[int], those: list[int], within: float) -> bool:
    return all(abs(a - b) <= within * b for a, b in zip(these, those, strict=True))


def measure(options, count: int, grid: str, case: str) -> list[int]:
    completed, lines = ranks.run(options, count, [grid, 4, 1, case])
    found = [[int(number) for number in re.findall(r"\d+", line)] for line in lines if line.startswith("sends ")]
    if not completed.ok or len(found) != 1:
        sys.exit("\n".join([*lines, str(completed)]))
    return found[0]


if __name__ == "__main__":
    sys.exit(main())
