"""Coarray contenders of a gather: run after the other contenders of a launch, into the same record.

One that crashes or hangs is stopped, reported and left out from then on; the others go on in a new launch of the program.
"""

from dataclasses import dataclass, field

from ....launch.disk import writing
from ...documents import CaseResult
from ...documents.params import in_order
from ...documents.results import results
from ...measuring.measurement import Group, Measurement
from ...measuring.messages import exit_text, first_words, rank_message
from ...measuring.progress import RunProgress
from ...measuring.ranks import Follower, Ranks
from ...records import RunFolder, read_record
from ...records.model import Case
from .coarrays import WAYS, CoarrayBuild, Way, job_text, words_of

BUDGET_S = 1.0
LIMIT_S = 30.0
MOST_STOPPED = 2  # ways of one build on one case; then its others are not tried there
LOOK_EVERY_S = 0.1
END_S = 2.0  # to leave in order


@dataclass
class CoarrayContenders:
    """What `bench gather` starts beside its own measuring program, once per rank count."""

    builds: list[CoarrayBuild]
    stopped: dict[str, str] = field(default_factory=dict)  # contender → why

    def run(self, folder: RunFolder, what: Measurement, launch: int, group: Group, progress: RunProgress) -> None:
        """Append a case line for every case that the group's ranks have finished, every build and every way."""
        cases = in_order([case for case in results(read_record(folder.path).cases) if case.params["ranks"] == group.ranks])
        for build in self.builds:
            for case in cases:
                progress.starting(launch, group.ranks)
                self._case(folder, what, launch, case, build, progress)

    def _case(self, folder: RunFolder, what: Measurement, launch: int, case: CaseResult, build: CoarrayBuild, progress: RunProgress) -> None:
        ways = [way for way in WAYS if self._keep(folder, launch, case, build, way)]
        while ways:
            done, why = self._start(folder, what, launch, case, build, ways, progress)
            ways = ways[done:]
            if ways:
                self.stopped[build.contender(ways[0])] = why + _place(case)
                folder.append(_line(launch, case, build, ways[0], error=why))
                ways = [way for way in ways[1:] if self._keep(folder, launch, case, build, way)]

    def _keep(self, folder: RunFolder, launch: int, case: CaseResult, build: CoarrayBuild, way: Way) -> bool:
        reason = self._reason(case, build, way)
        if reason:
            folder.append(_line(launch, case, build, way, skipped=reason))
        return reason is None

    def _reason(self, case: CaseResult, build: CoarrayBuild, way: Way) -> str | None:
        if words_of(case.params) is None:
            return "the coarray program has cells of whole 32-bit words"
        if why := self.stopped.get(build.contender(way)):
            return f"left out after: {why}"
        here = _place(case)
        ended = [why for name, why in self.stopped.items() if name in map(build.contender, WAYS) and why.endswith(here)]
        if len(ended) >= MOST_STOPPED:
            return f"{len(ended)} other ways of {build.label} had to be stopped ({ended[-1]})"
        return None

    def _start(
        self, folder: RunFolder, what: Measurement, launch: int, case: CaseResult, build: CoarrayBuild, ways: list[Way], progress: RunProgress
    ) -> tuple[int, str]:
        """How many of the ways were finished in one launch of the program, and how that ended."""
        name = f"{launch}-{build.label}"
        job, log = folder.path / f"job-{name}.nml", folder.path / f"launch-{name}.log"
        text = job_text(folder.record.resolve(), launch, case, build, ways, what.repetitions, what.min_sample_s, BUDGET_S)
        with writing(job):
            job.write_text(text)
        command = build.launch(int(case.params["ranks"]), job.resolve(), what.bind)
        follower = Follower(folder.record)
        done, late = 0, False
        limit = min(what.timeout, LIMIT_S)
        with Ranks(command, log) as ranks:
            while not late and done < len(ways) and ranks.running(LOOK_EVERY_S):
                done += _new_cases(follower, progress)
                late = follower.quiet_s > limit
            ranks.running(END_S)
        done += _new_cases(follower, progress)
        folder.drop_unfinished_line()
        if late:
            return done, f"no result within {limit:g} s"
        return done, f"{exit_text(ranks.returncode)}: {first_words(rank_message(ranks.said), 80)}"


def _place(case: CaseResult) -> str:
    return f" on {case.name.removeprefix('gather ')}"


def _new_cases(follower: Follower, progress: RunProgress) -> int:
    before = progress.done
    for line in follower.new_lines():
        progress.line(line)
    return progress.done - before


def _line(launch: int, case: CaseResult, build: CoarrayBuild, way: Way, skipped: str | None = None, error: str | None = None) -> Case:
    return Case(launch, case.name, build.contender(way), case.params, "peer", verified=False, error=error, skipped=skipped)
