"""The energy of exchanges, by counters like those of Linux's powercap."""

import json
import os
import threading
import time

import pytest

from parhelion import launch
from parhelion.analyze.results import entries, results
from parhelion.record.read import read_record
from parhelion.show.results import summary
from parhelion.show import Table

RANGE = 3_000_000  # microjoules: counters go around several times in a second


def zone(folder, name, what):
    made = folder / name
    made.mkdir(parents=True)
    (made / "name").write_text(f"{what}\n")
    (made / "max_energy_range_uj").write_text(f"{RANGE}\n")
    return made / "energy_uj"


def measured(tmp_path, powercap, wrapper=(), **more):
    record = tmp_path / "run" / "record.jsonl"
    record.parent.mkdir()
    words = ["halo", "--extent=8", "--halo=1", "--fields=1", "--variants=mpi,hand_packed", "--repetitions=20", "--min-sample-s=0.005", f"--json={record}"]
    build = launch.default_build()
    env = {**os.environ, "PARHELION_POWERCAP": str(powercap), **more}
    program, *words = [*wrapper, str(build.directory / "phl-bench"), *words]
    assert launch.run(2, program, words, build=build, cwd=tmp_path, timeout=120, env=env).ok
    return read_record(record.parent)


def test_counters_of_packages_become_joules_per_exchange(tmp_path):
    counters = [zone(tmp_path / "powercap", f"intel-rapl:{number}", f"package-{number}") for number in range(2)]
    zone(tmp_path / "powercap", "intel-rapl:0:0", "core").write_text("no number\n")
    zone(tmp_path / "powercap", "intel-rapl-mmio:0", "package-0").write_text("no number\n")  # the same package again
    stop, begun = threading.Event(), time.monotonic()

    def count():  # 40 W and 60 W
        while not stop.is_set():
            for counter, watts in zip(counters, (40e6, 60e6)):
                new = counter.with_suffix(".new")
                new.write_text(f"{int((time.monotonic() - begun) * watts) % RANGE}\n")
                new.replace(counter)
            time.sleep(0.0002)

    thread = threading.Thread(target=count)
    thread.start()
    while not all(counter.exists() for counter in counters):
        time.sleep(0.01)
    try:
        record = measured(tmp_path, tmp_path / "powercap")
    finally:
        stop.set()
        thread.join()
    assert [launch.energy for launch in record.launches] == ["counted"]
    found = entries(results(record.cases))
    assert {entry.variant for entry in found} == {"mpi", "hand_packed"}
    assert all(entry.energy_j > 0 for entry in found)
    assert all(20 < entry.energy_j / entry.summary.mean < 2000 for entry in found)  # 100 W, and what starting a sample takes
    [table] = [block for block in summary(record) if isinstance(block, Table) and block.title == "energy"]
    assert len(table.rows) == 2 and table.head[-2:] == ["µJ per exchange", "W"]


def test_nodes_that_are_parts_of_one_machine_count_its_energy_once(tmp_path):
    zone(tmp_path / "powercap", "intel-rapl:0", "package-0").write_text("1\n")
    others = 'test "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 || export PARHELION_POWERCAP=/nowhere; exec "$0" "$@"'
    record = measured(tmp_path, tmp_path / "powercap", ["/bin/sh", "-c", others], PARHELION_NODE_RANKS="1")
    assert [launch.energy for launch in record.launches] == ["counted"]


@pytest.mark.parametrize("unreadable", [False, True])
def test_without_counters_the_reason_is_told(tmp_path, unreadable):
    folder = tmp_path / "powercap"
    if unreadable:
        zone(folder, "intel-rapl:0", "package-0").write_text("\n")
    record = measured(tmp_path, folder)
    [told] = [launch.energy for launch in record.launches]
    assert told.startswith("not told: ") and ("energy_uj may not be read" if unreadable else "has no counters of RAPL") in told
    assert all(line.energy_j is None for line in record.cases)
    assert not [block for block in summary(record) if isinstance(block, Table) and block.title == "energy"]
    assert json.loads((tmp_path / "run" / "record.jsonl").read_text().splitlines()[1])["energy"] == told
