"""What whole applications spend on their exchanges: the figures of `bench apps` beside its times per step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..style.words import microseconds, ratio
from .params import in_order, text
from .published_form import PublishedForm
from .results import BASELINE, CaseResult, Entry

STEPS = 1000  # over which the set-up is spread

CAPTION = (f"µs, medians; exchange: what all exchanges of a step take once the ranks have come together, mean over ranks; with set-up: and "
           f"1/{STEPS:,} of the set-up; over hand-written: that over that of the hand-written way in which it is least, and the step over the fastest hand-written one; "
           "lines: of exchange code, without blanks and comments")  # fmt: skip
HEAD = ["application", "ranks", "extent", "exchanged by", "step", "step over hand-written", "exchange", "share of step",
        "with set-up", "exchange over hand-written", "lines"]  # fmt: skip


@dataclass(frozen=True)
class Share:
    """What the exchanges of one contender take of a step; seconds."""

    step: float
    exchange: float
    setup: float
    lines: int | None

    @property
    def of_step(self) -> float:
        return self.exchange / self.step

    @property
    def with_setup(self) -> float:
        """With the set-up, spread over so many steps."""
        return self.exchange + self.setup / STEPS


def share(entry: Entry) -> Share | None:
    """Nothing for what is no application, or was not verified."""
    told = [line.exchange_s for line in entry.lines if line.exchange_s]
    if not told or not entry.median:
        return None
    lines = next((line.exchange_lines for line in entry.lines if line.exchange_lines), None)
    setup = sum(seconds for part, seconds in entry.setup_s.items() if part != "first")
    return Share(entry.median, float(np.median(np.concatenate(told))), setup, lines)


def over_hand_written(case: CaseResult, entry: Entry) -> float | None:
    """The exchange's time with its set-up, over that of the hand-written way in which it is least."""
    mine, others = share(entry), [found for found in map(share, case.of_role(BASELINE)) if found]
    least = min((found.with_setup for found in others), default=0.0)
    return mine.with_setup / least if mine and least > 0 else None


def applications(cases: Sequence[CaseResult]) -> PublishedForm | None:
    """A row per application and contender; nothing where no case is one."""
    rows = [_row(case, entry, found) for case in in_order(cases) for entry in case.entries.values() if (found := share(entry))]
    return PublishedForm(CAPTION, HEAD, rows, HEAD.index("step")) if rows else None


def _row(case: CaseResult, entry: Entry, found: Share) -> list[str]:
    where = [text(case.params.get(name, "–")) for name in ("app", "ranks", "extent")]
    return [*where, entry.contender, microseconds(found.step), ratio(case.relative(entry.contender)), microseconds(found.exchange),
            f"{found.of_step:.1%}", microseconds(found.with_setup), ratio(over_hand_written(case, entry)), str(found.lines or "–")]  # fmt: skip
