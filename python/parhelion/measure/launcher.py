"""How ranks come to be: by our own `mpiexec`, or because a launcher has started this command once per rank."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from ..launch import Flavor, Launch, find_flavor, inside_launcher
from ..launch.inside import Rank
from ..launch.process import run_command
from ..launch.remedies import build_for
from ..launch.program import single_threaded
from ..cli.errors import BAD_INPUT, BadInput
from ..machine.builds import built_contenders
from .measurement import Group, Measurement
from .ranks import Ranks

RELEASED_S = 60.0
SPEAKS = {"openmpi": {"openmpi"}, "hydra": {"mpich", "impi", "cray", "other"}}


class Starter(Protocol):
    """Starts the measuring program once."""

    def start(self, group: Group, arguments: list[str], record: Path, log: Path) -> Ranks: ...

    def notes(self, group: Group) -> list[str]:
        """What the user should know of how so many ranks are started."""
        ...


class OwnLauncher:
    """Starts the ranks with the flavor's `mpiexec`, or with that of the group's combination. `package`: the folder of another
    checkout's Python package, which its ranks are to use where they are Python's."""

    def __init__(self, flavor: Flavor | None, measurement: Measurement, package: Path | None = None) -> None:
        self.flavor, self.measurement, self.package = flavor, measurement, package

    def start(self, group: Group, arguments: list[str], record: Path, log: Path) -> Ranks:
        return Ranks(self._launch(group, [*arguments, f"--json={record.resolve()}"]), log)

    def notes(self, group: Group) -> list[str]:
        runs = group.combination is None or group.combination.flavor is not None
        return self._launch(group, []).notes if runs else []

    def _launch(self, group: Group, arguments: list[str]) -> Launch:
        here = group.combination
        flavor = here.flavor if here else self.flavor
        assert flavor is not None
        program, *words = measuring_program(flavor, self.measurement, group)
        setting = {**(here.variables if here else {}), **self._of_python(flavor, group)}
        return flavor.launch(group.ranks, program, (*words, *arguments), bind=self.measurement.bind, setting=setting)

    def _of_python(self, flavor: Flavor, group: Group) -> dict[str, str]:
        """Several builds may fit the MPI that a rank in Python loads."""
        if self.measurement.module_of(group) is None:
            return {}
        paths = [str(self.package), os.environ.get("PYTHONPATH", "")] if self.package else []
        return {"PARHELION_FLAVOR": flavor.name} | ({"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONSAFEPATH": "1"} if paths else {})


class OuterLauncher:
    """Rank 0 of ranks that mpiexec or srun has started: its child inherits the connection to the launcher."""

    def __init__(self, program: list[str], environment: dict[str, str], measurement: Measurement) -> None:
        self.program, self.environment, self.measurement = program, environment, measurement
        self.started = False

    def start(self, group: Group, arguments: list[str], record: Path, log: Path) -> Ranks:
        argv = [*self.program, *arguments, f"--json={record.resolve()}"]
        added, notes = single_threaded(os.environ)
        self.started = True
        return Ranks(Launch(argv, {**self.environment, **added}, notes), log, own_session=False)

    def notes(self, group: Group) -> list[str]:
        return single_threaded(os.environ)[1]

    def release(self) -> None:
        """The other ranks wait in MPI_Init since they were started. A record that cannot be written ends all of them."""
        if not self.started:
            refused = [*self.measurement.arguments(0, self.measurement.groups[0]), f"--json={os.devnull}/refused"]
            run_command([*self.program, *refused], self.environment, timeout=RELEASED_S, on_line=lambda line: None, own_session=False)


def prepare(measurement: Measurement) -> tuple[Starter, Measurement]:
    """How to start the ranks, and what can be measured so. Under a launcher, ranks other than 0 do not return."""
    here = inside_launcher()
    if any(group.combination for group in measurement.groups):
        return _prepare_matrix(measurement, here), measurement
    flavor = find_flavor(measurement.flavor, measuring=True)
    check_contenders(flavor, measurement)
    if here is None:
        _check_mpi(flavor, measurement)
        return OwnLauncher(flavor, measurement), measurement
    _check_kind(flavor, here)
    fitting = _fit(measurement, here)
    program = measuring_program(flavor, measurement, fitting.groups[0])
    if here.rank > 0:
        _become_rank(program, flavor.environment(), fitting)
    return OuterLauncher(program, flavor.environment(), fitting), fitting


def measuring_program(flavor: Flavor, measurement: Measurement, group: Group) -> list[str]:
    """What runs on every rank, without its options."""
    module = measurement.module_of(group)
    return [str(flavor.program)] if module is None else [sys.executable, "-m", module]


def _prepare_matrix(measurement: Measurement, here: Rank | None) -> Starter:
    if here is not None:
        _refuse(here, "a matrix starts the ranks itself, under several MPIs: run it without mpiexec or srun")
    for flavor in {group.combination.flavor.name: group.combination.flavor for group in measurement.groups
                   if group.combination and group.combination.flavor}.values():  # fmt: skip
        check_contenders(flavor, measurement)
        _check_mpi(flavor, measurement)
    return OwnLauncher(None, measurement)


def launched_ranks() -> int | None:
    """The rank count that an outer launcher has decided, if one has."""
    here = inside_launcher()
    return here.size if here else None


def check_contenders(flavor: Flavor, measurement: Measurement) -> None:
    """Refuse unknown names before a run folder is made; a build that cannot tell refuses them itself."""
    known = [entry["name"] for entry in built_contenders(flavor).get(measurement.benchmark, [])]
    named = [name for group in measurement.groups if group.module is None for name in measurement.contenders_of(group)]
    unknown = [name for name in named if known and name not in [*known, "all"]]
    if unknown:
        raise BadInput(f"--contenders {unknown[0]}: flavor {flavor.name} has {', '.join(known)}")


def _check_mpi(flavor: Flavor, measurement: Measurement) -> None:
    """mpi4py loads the MPI by its path on every rank: refused here, where it is told once, not rank by rank with a traceback."""
    if any(map(measurement.module_of, measurement.groups)) and not flavor.mpi_library.exists():
        raise BadInput(f"flavor {flavor.name} is built for {flavor.mpi_library}, which is not there any more: {build_for(flavor.name, again=True)}")


def _check_kind(flavor: Flavor, here: Rank) -> None:
    if flavor.kind not in SPEAKS.get(here.kind, {flavor.kind}):
        _refuse(here, f"this launcher is of kind {here.kind}, but flavor {flavor.name} is built for {flavor.kind}: "
                      f"start it with {flavor.launcher}, or choose another build with --flavor")  # fmt: skip


def _fit(measurement: Measurement, here: Rank) -> Measurement:
    fitting = [group for group in measurement.groups if here.size in (None, group.ranks)]
    if len(fitting) != 1 or len(measurement.groups) != 1:
        needed = ", ".join(str(group.ranks) for group in measurement.groups)
        _refuse(here, f"started with {here.size} ranks, but the cases need {needed}: start that many, "
                      "one count at a time, or let parhelion start them itself")  # fmt: skip
    return replace(measurement, groups=fitting, launches=1)


def _refuse(here: Rank, message: str) -> None:
    if here.rank > 0:
        sys.exit(BAD_INPUT)  # rank 0 has said it
    raise BadInput(message)


def _become_rank(program: list[str], environment: dict[str, str], measurement: Measurement) -> None:
    """Replace this process by the measuring program. Rank 0 alone writes a record."""
    environment |= single_threaded(os.environ)[0]
    os.execve(program[0], [*program, *measurement.arguments(0, measurement.groups[0]), f"--json={os.devnull}"], environment)
