"""How often `compare` is right, measured on one's own runs; and error rates over launches × noise × effect, also on sides made up with a
known truth.

Launches of a run, or of several, are put into two sides by time. Nothing changed between them, so a difference found is
a false one (A/A). With one side's samples multiplied by a planted factor, the same sides tell how often a change of that size is found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.table import Table

from ...records import RecordError
from ...statistics.verdict import DEFAULT_RULES, DIFFERENT, Rules, Verdict, difference, judge
from ...statistics.states import Launch
from ...style.terminal import table
from ...style.words import percent
from ..comparison import starts as starts_of
from ..sets import RecordSet
from .synthetic import NOISES, Sides, sides, slowed

ONE_AFTER_THE_OTHER, IN_TURN = "one after the other", "in turn, pair by pair"


@dataclass(frozen=True)
class Calibration:
    """Shares over all splits of one design; `launches` is the number on each side."""

    design: str
    splits: int
    launches: int
    cases: int
    planted: float
    false_pairs: float
    false_cases: float
    found_pairs: float
    found_cases: float


def calibrate(
    records: RecordSet, planted: float = 1.05, launches: int | None = None, rules: Rules = DEFAULT_RULES
) -> list[Calibration]:
    """Both designs on all stretches of consecutive launches; raises `RecordError` with fewer than four launches per case."""
    cases = starts_by_case(records)
    available = min(map(len, cases), default=0)
    size = launches or available // 2
    if size < 2 or 2 * size > available:
        raise RecordError(f"{records.name} has {available} launches per case, {max(4, 2 * size)} are needed: use --launches, or measure more")
    return [_calibration(design, cases, size, planted, rules) for design in (ONE_AFTER_THE_OTHER, IN_TURN)]


def starts_by_case(records: RecordSet) -> list[list[Launch]]:
    """The launches of every case and contender whose values were right, in the order of time."""
    return list(starts_of(records).values())


def splits(starts: list[Launch], size: int, design: str) -> list[Sides]:
    """The sides of every stretch of 2 × `size` launches, each with either side as the first."""
    stretches = [starts[first : first + 2 * size] for first in range(len(starts) - 2 * size + 1)]
    return [sides[::order] for each in stretches for sides in [_sides(each, design)] for order in (1, -1)]  # type: ignore[misc]


def _sides(stretch: list[Launch], design: str) -> Sides:
    half = len(stretch) // 2
    if design == ONE_AFTER_THE_OTHER:
        return stretch[:half], stretch[half:]
    numbered = [launch._replace(pair=("pairs", number // 2)) for number, launch in enumerate(stretch)]
    return numbered[::2], numbered[1::2]


def _calibration(design: str, cases: Sequence[list[Launch]], size: int, planted: float, rules: Rules) -> Calibration:
    by_split = list(zip(*(splits(case, size, design) for case in cases), strict=False))  # cases may lack launches
    false = np.array([judged(sides, 1.0, DIFFERENT, rules) for sides in by_split])
    found = np.array([judged(sides, planted, (Verdict.SLOWER,), rules) for sides in by_split])
    shares = (false.any(axis=1).mean(), false.mean(), found.any(axis=1).mean(), found.mean())
    return Calibration(design, len(by_split), size, len(cases), planted, *map(float, shares))


def judged(cases: Sequence[Sides], factor: float, wanted: Sequence[Verdict], rules: Rules = DEFAULT_RULES, probe: float = 1.0) -> list[bool]:
    """Whether each case, with B slowed by that factor, has one of these verdicts; all cases are one family."""
    found = judge([difference(first, slowed(second, factor, probe)) for first, second in cases], rules)
    return [each.verdict in wanted for each in found]


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
    """Cells of one's own launches, each case and contender by itself, for all equal numbers of launches that there are enough for."""
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


def grid_table(title: str, cells: Sequence[Cell]) -> Table:
    """A row per noise, design and number of launches; a column per effect."""
    effects = list(dict.fromkeys(cell.effect for cell in cells))
    shown = table(f"{title}: share called different (A/A) or slower", left=("noise", "measured", "launches"),
                  right=("comparisons", *("A/A" if effect == 0 else f"×{1 + effect:.3g}" for effect in effects)))  # fmt: skip
    rows: dict[tuple, dict[float, Cell]] = {}
    for cell in cells:
        rows.setdefault((cell.noise, cell.design, cell.launches), {})[cell.effect] = cell
    for (noise, design, starts), found in rows.items():
        counts = str(next(iter(found.values())).comparisons)
        shown.add_row(noise, design, " v ".join(map(str, starts)), counts, *(percent(found[effect].share) for effect in effects))
    return shown
