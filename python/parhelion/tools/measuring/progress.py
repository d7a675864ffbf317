"""The progress bar of a run, with the time left."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ..records.model import Case, Line, Plan
from .measurement import Combination


class RunProgress:
    """Counts finished case × contender lines over all launches; a launch that is still to come counts as the last plan."""

    def __init__(self, console: Console, benchmark: str, starts: int) -> None:
        self.starts = starts
        self.now = 0
        self.plans: dict[int, int] = {}
        self.done = 0
        self.bar = Progress(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
            TextColumn("elapsed"), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[now]}"), console=console, transient=True,
        )  # fmt: skip
        self.task: TaskID = self.bar.add_task(f"bench {benchmark}", total=None, now="starting ranks")

    def starting(self, number: int, ranks: int, of: Combination | str | None = None) -> None:
        """A launch begins, of all the one with this number."""
        self.now = number
        under = f", {of}" if of else ""
        self.bar.update(self.task, now=f"launch {number + 1} of {self.starts}, {ranks} ranks{under}")

    def left_out(self, number: int) -> None:
        """A launch will not happen."""
        self.plans[number] = 0
        self.bar.update(self.task, completed=self.done, total=self._total())

    def line(self, line: Line) -> None:
        """A line was added to the record."""
        match line:
            case Plan():
                self.plans[self.now] = line.cases
            case Case():
                self.done += 1
        self.bar.update(self.task, completed=self.done, total=self._total())

    def _total(self) -> int | None:
        if not self.plans:
            return None
        known = list(self.plans.values())
        typical = max(known[-1], round(sum(known) / len(known)))
        return sum(known) + (self.starts - len(known)) * typical
