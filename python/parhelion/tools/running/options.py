"""The options of `parhelion run`, of which click makes the command, and argparse where click is not installed. Needs nothing besides this package."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...base.numbers import shortened, whole_number
from ...launch.flavor import MOST_RANKS

MOST_SECONDS = 10_000_000


class Option(NamedTuple):
    """One option: a flag where it has no `metavar`; numbers have bounds, whole ones in `int`; texts may be given again."""

    words: str
    about: str
    metavar: str | None = None
    bounds: tuple[float, float] | None = None
    again: bool = False
    panel: str = "Ranks"  # the heading in the help

    @property
    def name(self) -> str:
        """As the program has it."""
        return self.words.split()[-1].strip("-").replace("-", "_")

    def value(self, text: str) -> Any:
        """What `text` says; ValueError where that cannot be used."""
        if not text:
            raise ValueError("nothing is given: name one, or leave the option out")
        if self.bounds is None:
            return text
        low, high = self.bounds
        if isinstance(low, int):
            return whole_number(text, low, int(high))
        try:
            number = float(text) if text.isascii() else math.nan
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise ValueError(f"{shortened(text)} is not a number from {low:g} to {high:.0f}")
        return number


# In the order of the help.
OPTIONS = (
    Option("-n -np --ranks", "Ranks [tasks of the Slurm job].", "N", (1, MOST_RANKS)),
    Option("--flavor", "Which build [the one for the program's own MPI; for Python the one built last].", "FLAVOR"),
    Option("--launcher", "What starts the ranks, as it is, such as 'srun --mpi=cray_shasta': sets PARHELION_LAUNCHER.", "COMMAND"),
    Option("--transport", "What moves the data: such as shared+mpi; sets PARHELION_TRANSPORT.", "NAME", panel="Exchanges"),
    Option("--timeout", "Stop ranks after so long: exit status 124.", "SECONDS", (1.0, MOST_SECONDS)),
    Option("--neighbor-timeout", "A longer wait for neighbors is an error that says who did not answer: sets PARHELION_TIMEOUT.",
           "SECONDS", (0.001, MOST_SECONDS), panel="Exchanges"),
    Option("--check", "Neighbors compare their calls: sets PARHELION_CHECK.", panel="Exchanges"),
    Option("--profile", "Sample the ranks, as `parhelion profile run` does, and say where the time went.", panel="Output"),
    Option("--on-hosts", "On so many hosts that this machine pretends to be, as `parhelion hosts` makes them.", "N", (2, 16)),
    Option("--no-bind", "Leave the ranks unbound."),
    Option("--option", "For the launcher as it is, such as --option=-l; may be repeated.", "WORD", again=True),
    Option("-v --verbose", "Show the launcher's command line, and what was set.", panel="Output"),
)  # fmt: skip
