"""Error rates of `compare` over launches × noise × effect, on sides that are made up with a known truth:
`python tests/python/support/error_rates.py [images | RUN]` prints the rows of docs/error-rates.csv and those of docs/image-error-rates.csv.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from made_up_sides import IN_TURN, NOISES, ONE_AFTER_THE_OTHER, Sides, judged, sides, splits

from parhelion.analyze.statistics import Launch
from parhelion.analyze.statistics import DIFFERENT, IMAGE_RULES, Verdict

STARTS = ((2, 2), (3, 3), (4, 4), (5, 5), (10, 10), (3, 10))
EFFECTS = (0.0, 0.02, 0.05, 0.10, 0.30)
OTHER_MACHINES = (1.3, 4.6)  # times the latency, which the probe and the samples show alike
OTHER_MACHINE = "another machine"


@dataclass(frozen=True)
class Cell:
    """The share of comparisons that found a difference (effect 0) or a slowdown by that effect."""

    noise: str
    design: str
    launches: tuple[int, int]
    effect: float
    share: float
    comparisons: int


def synthetic_grid(comparisons: int, seed: int, starts: Sequence[tuple[int, int]] = STARTS) -> Iterator[Cell]:
    """Cells of every noise, number of launches and effect; drift also with sides that were measured in turn."""
    rng = np.random.default_rng(seed)
    designs = [(noise, ONE_AFTER_THE_OTHER) for noise in NOISES] + [("drift", IN_TURN)]
    for noise, design in designs:
        for counts in starts:
            if design == IN_TURN and counts[0] != counts[1]:
                continue
            made = [sides(rng, noise, counts, design == IN_TURN) for _ in range(comparisons)]
            yield from _cells(noise, design, counts, made)


def other_machines(comparisons: int, seed: int, starts: Sequence[tuple[int, int]] = STARTS) -> Iterator[Cell]:
    """Cells of two machines whose latencies differ, with and without two states of the cores on each."""
    rng = np.random.default_rng(seed)
    for noise in ("equal", "two states"):
        for counts in starts:
            made = [sides(rng, noise, counts) for _ in range(comparisons)]
            for times in OTHER_MACHINES:
                found = [judged([each], times, (Verdict.SLOWER,), probe=times)[0] for each in made]
                name = OTHER_MACHINE if noise == "equal" else f"{OTHER_MACHINE}, {noise}"
                yield Cell(name, ONE_AFTER_THE_OTHER, counts, times - 1, float(np.mean(found)), len(found))


def real_grid(cases: Sequence[list[Launch]]) -> Iterator[Cell]:
    """Cells of one's own launches, each case and variant by itself, for all equal numbers of launches that there are enough for."""
    available = min(map(len, cases), default=0)
    for design in (ONE_AFTER_THE_OTHER, IN_TURN):
        for counts in STARTS:
            if counts[0] == counts[1] and sum(counts) <= available:
                made = [each for case in cases for each in splits(case, counts[0], design)]
                yield from _cells("real", design, counts, made)


def _cells(noise: str, design: str, counts: tuple[int, int], made: Sequence[Sides]) -> Iterator[Cell]:
    for effect in EFFECTS:
        wanted = (Verdict.SLOWER,) if effect else DIFFERENT
        found = [judged([each], 1 + effect, wanted)[0] for each in made]
        yield Cell(noise, design, counts, effect, float(np.mean(found)), len(found))


def lines(cells: Sequence[Cell]) -> Iterator[str]:
    """A line per noise, design and number of launches; a column per effect."""
    rows: dict[tuple, list[Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.noise, cell.design, cell.launches), []).append(cell)
    for (noise, design, starts), found in rows.items():
        rates = "  ".join(f"{'A/A' if cell.effect == 0 else f'×{1 + cell.effect:.3g}'} {cell.share:.1%}" for cell in found)
        yield f"{noise:30} {design:22} {' v '.join(map(str, starts)):8} {rates}"


if __name__ == "__main__":
    if sys.argv[1:] == ["images"]:
        from made_up_machines import image_grid

        print("\n".join(lines([*image_grid(400, 1, IMAGE_RULES)])))
    elif sys.argv[1:]:
        from pathlib import Path

        from parhelion.analyze.comparison import launches, read_set

        print("\n".join(lines([*real_grid(list(launches(read_set(Path(sys.argv[1]))).values()))])))
    else:
        print("\n".join(lines([*synthetic_grid(400, 1), *other_machines(400, 1)])))
