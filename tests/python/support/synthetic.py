"""Records and a measuring program made up for tests: the figures mean nothing and are never kept."""

import json
import random
import stat
import sys
from pathlib import Path

import numpy as np

OWN = ("auto", "mpi", "mpi_neighbor")
BASELINES = ("hand_packed", "hand_persistent", "hand_datatypes", "hand_neighbor_alltoallv")
FLOORS, LIBRARIES = ("floor_packed", "floor_get"), ("ghex_comm_cma", "petsc")
SPEED = dict.fromkeys(FLOORS, 0.8) | dict.fromkeys(LIBRARIES, 1.35) | {
    name: first + 0.1 * place for first, names in ((1.0, OWN), (1.4, BASELINES)) for place, name in enumerate(names)
}

ROLES = dict.fromkeys(OWN, "own") | dict.fromkeys(FLOORS, "floor") | dict.fromkeys(LIBRARIES, "library")


def run_line(benchmark="halo", run="20260101T000000-halo-000000", **more):
    """The first line of a record."""
    return {"type": "run", "schema": "parhelion.record/1", "run": run, "benchmark": benchmark} | more


def halo_cases(halo=(1, 2), fields=(1, 4)):
    """Cases as the command line writes them into a job."""
    fixed = {"grid": [2, 1, 1], "extent": [64, 64, 64], "element": "float32", "components": 1}
    return [fixed | {"halo": h, "fields": f} for h in halo for f in fields]


def case_lines(job, samples=None, spread=0.05, scale=1.0, drift=0.0):
    """All case lines that a measuring program would write for `job`."""
    rng = np.random.default_rng([job["seed"], job["launch"]])
    number = samples or job["repetitions"]
    shift = np.exp(rng.normal(0, drift))
    for case in job["cases"]:
        sizes = [case.get(name, 1) for name in ("halo", "fields")]
        cost = 20e-6 * np.prod([size if isinstance(size, int) else 1 for size in sizes]) ** 0.9
        for variant in job["variants"] or (*OWN, *BASELINES):
            ranks = cost * scale * shift * SPEED.get(variant, 1.5) * np.exp(rng.normal(0, spread, (job["ranks"], number)))
            yield case_line(job, case, variant, ranks, rng)


def case_line(job, case, variant, by_rank, rng):
    """One case line."""
    return {
        "type": "case", "launch": job["launch"], "name": job["benchmark"], "params": case | {"ranks": job["ranks"]} | job.get("params", {}),
        "variant": variant, "role": ROLES.get(variant, "baseline"), "verified": True,
        "error": None, "skipped": None, "setup_s": {"pattern": 4e-4, "plan": 1e-4, "first": 9e-5}, "iterations": 8,
        "samples": by_rank.max(axis=0).tolist(), "samples_by_rank": by_rank.tolist(),
        "probe_ns": rng.choice([50.0, 210.0], by_rank.shape[1]).tolist(), "bytes": 196608, "messages": 26,
        "explain": "transport xpmem, chosen automatically; 26 messages" if variant == "auto" else None,
    }


def launch_lines(job, **how):
    """Everything that one launch adds to a record."""
    mpi = {"library_version": "Synthetic MPI 1.0", "standard": "5.0", "thread_level": "multiple"}
    cases = list(case_lines(job, **how))
    yield {"type": "launch", "launch": job["launch"], "ranks": job["ranks"], "mpi": mpi, "mpi_init_s": 0.05,
           "libraries": ["/usr/lib/libmpi.so.12"], "binding": [[0], [1]], "hosts": ["here"], "cvars": {"A": "1"},
           "build": "synthetic", "arguments": job.get("arguments")}
    yield {"type": "plan", "launch": job["launch"], "cases": len(cases)}
    yield from cases
    yield {"type": "end", "launch": job["launch"], "status": "ok"}


def job(benchmark="halo", ranks=2, launch=0, seed=1, repetitions=30, cases=None, variants=()):
    """A job as the command line writes it."""
    return {"benchmark": benchmark, "ranks": ranks, "launch": launch, "seed": seed, "repetitions": repetitions,
            "variants": list(variants), "cases": halo_cases() if cases is None else cases}


LISTS = ("grid", "extent", "variants")


def asked(words):
    """The job that the options of phl-bench tell, and the file of the record."""
    job, file, section, common = {"benchmark": words[0], "variants": [], "cases": [], "params": {}, "arguments": words}, None, {}, None
    for word in words[1:]:
        name, _, text = word.removeprefix("--").partition("=")
        key = "work_us" if name == "overlap" else name.replace("-", "_")
        if name == "json":
            file = text
        elif name == "param":
            job["params"] |= [text.split("=", 1)]
        elif name == "case":
            common = section if common is None else common
            section = {**common}
            job["cases"].append(section)
        else:
            parts = [_value(part) for part in text.split(",")]
            into = job if key in ("ranks", "launch", "seed", "repetitions", "variants", "pair", "precision", "min_sample_s", "turns") else section
            into[key] = parts if name in LISTS or len(parts) > 1 else parts[0]
    job["cases"] = job["cases"] or [section]
    random.Random(f"{job['seed']}/{job['launch']}").shuffle(job["cases"])
    return job, file


def _value(text):
    try:
        return json.loads(text)
    except ValueError:
        return {"yes": True, "no": False}.get(text, text)


def jobs(folder):
    """What the launches of a run were asked for."""
    lines = map(json.loads, (Path(folder) / "record.jsonl").read_text().splitlines())
    return [asked(line["arguments"])[0] for line in lines if line["type"] == "launch"]


def write_record(folder: Path, launches=3, benchmark="halo", run=None, environment=None, **how) -> Path:
    """A whole run folder; `how` goes to `case_lines` and `job`."""
    asked = {key: how.pop(key) for key in ("ranks", "seed", "repetitions", "cases", "variants") if key in how}
    lines = [run_line(benchmark, run or folder.name, environment=environment or {}, created="2026-01-01T00:00:00+00:00")]
    for launch in range(launches):
        lines += launch_lines(job(benchmark, launch=launch, **asked), **how)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def write_two_states(folder: Path, near: float, launches=4, samples=40) -> Path:
    """A run whose `auto` takes half as long as by hand with near cores, a share of the samples, and twice as long with far ones."""
    write_record(folder, launches=launches, samples=samples, variants=("auto", "hand_packed"), cases=halo_cases((1,), (1, 4)))
    lines = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]
    rng = np.random.default_rng(1)
    for case in (line for line in lines if line["type"] == "case"):
        far = rng.permutation(samples) >= near * samples
        case["probe_ns"] = np.where(far, 210.0, 50.0).tolist()
        factor = np.where(far, 2.0, 0.5) if case["variant"] == "auto" else 1.0
        case["samples"] = (20e-6 * factor * np.exp(rng.normal(0, 0.02, samples))).tolist()
    (folder / "record.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def write_dataset(folder, ranks, owned=10):
    """A published-format set in which every rank reads its next neighbor's first cell."""
    folder.mkdir(parents=True)
    for rank in range(ranks):
        ghost = (rank + 1) % ranks * owned + 1
        words = (owned, 1, ghost) if ranks > 1 else (owned, 0)
        (folder / f"data{rank + 1:03d}").write_bytes(b"".join(word.to_bytes(4, "little") for word in words))
    return folder


PROGRAM = """#!{python}
import json, os, sys, time
if sys.argv[1] == "--list":
    print({listing!r})
    sys.exit()
sys.path.insert(0, {here!r})
import synthetic
job, file = synthetic.asked(sys.argv[1:])
{before}
with open(file, "a") as record:
    for line in synthetic.launch_lines(job):
        {each}
        record.write(json.dumps(line) + "\\n")
        record.flush()
{after}
"""


def write_build(folder: Path, before="", each="pass", after="", kind="mpich"):
    """A build whose measuring program makes its figures up; Python source is put in before, between and after them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [{"name": name, "role": "own"} for name in (*OWN, *BASELINES, "xpmem")]
    listing = json.dumps({"halo": names, "gather": names})
    text = PROGRAM.format(python=sys.executable, here=str(Path(__file__).parent), listing=listing, before=before, each=each, after=after)
    _write_program(folder / "phl-bench", text)
    _write_program(folder / "mpiexec", '#!/bin/sh\nwhile [ "$1" != -n ]; do shift; done\nshift 2\nexec "$@"\n')
    description = {"name": "synthetic", "kind": kind, "mpi_home": ".", "mpiexec": "mpiexec", "library_dir": ".",
                   "library_version": "Synthetic MPI", "soname": "libmpi.so"}
    (folder / "build.json").write_text(json.dumps(description))
    (folder.parent / "default").write_text("synthetic")
    return folder


def _write_program(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
