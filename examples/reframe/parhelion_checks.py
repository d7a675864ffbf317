"""ReFrame checks: every value of a benchmark is right, medians are reported, and none is slower than in a baseline.

    reframe -c FOLDER -r
    reframe -c FOLDER -r -S baseline=/project/baselines -S launches=10
    reframe -c FOLDER -r -S ranks=128 --system cluster:compute

Needs ReFrame 4. On a partition whose launcher is `local`, Parhelion starts the ranks itself; under `srun`, `mpirun` and
their like every started process becomes a rank.
"""

import json
import os
import shlex

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_after, run_before, sanity_function, variable

DOCUMENT, COMPARISON = "bench.json", "compare.json"


class ParhelionBenchmark(rfm.RunOnlyRegressionTest):
    """One benchmark of Parhelion; a derived class gives its name and its options."""

    #: How many ranks, and how often they are started.
    ranks = variable(int, value=2)
    launches = variable(int, value=3)
    #: Which variants; empty: all.
    variants = variable(str, value="auto,hand_packed,hand_persistent")
    #: A folder with runs of earlier days, one folder per check, to compare with; empty: none.
    baseline = variable(str, value="")

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "parhelion"
    benchmark = ""
    options = []
    maintainers = ["parhelion"]
    tags = {"parhelion", "mpi", "halo"}

    @run_after("setup")
    def start_ranks(self):
        own = self.job.launcher.registered_name == "local"
        self.job.num_tasks = 1 if own else self.ranks
        words = ["bench", self.benchmark, *self.options, "--out", "run"]
        words += ["--json", DOCUMENT, "--label", self.label] if own else []
        words += ["--variants", self.variants] if self.variants else []
        words += ["--launches", str(self.launches)] if own else []
        # Data sets choose their own numbers of ranks.
        words += ["--ranks", str(self.ranks)] if own and self.benchmark != "gather" else []
        self.executable_opts = list(map(shlex.quote, words))
        self.keep_files = [DOCUMENT, COMPARISON, "run/record.jsonl"]

    @property
    def label(self):
        return f"system={self.current_system.name}"

    @run_before("run")
    def after_the_ranks(self):
        if self.job.launcher.registered_name != "local":  # ranks of a launcher write only the record
            self.postrun_cmds = [f"parhelion runs tag run {shlex.quote(self.label)}", f"parhelion runs show run --json {DOCUMENT}"]
        before = self.earlier
        if before:
            # Its status is judged below, together with what it says.
            self.postrun_cmds += [f"parhelion compare {shlex.quote(before)} run --json {COMPARISON} --markdown compare.md || true"]

    @property
    def earlier(self):
        """The baseline of this check, if there is one."""
        folder = os.path.join(self.baseline, self.name.split()[0]) if self.baseline else ""
        return folder if os.path.isdir(folder) else ""

    @sanity_function
    def every_value_is_right(self):
        found = _read(os.path.join(self.stagedir, DOCUMENT))
        wrong = [f"{case['variant']} on {case['params']}" for case in found["cases"] if not case["verified"]]
        checks = [sn.assert_true(found["cases"], msg="nothing was measured"),
                  sn.assert_false(wrong, msg=f"wrong values: {', '.join(wrong)}"),
                  sn.assert_false(found["failures"], msg=f"ranks failed: {found['failures']}")]
        if self.earlier:
            slower = _slower(os.path.join(self.stagedir, COMPARISON))
            checks.append(sn.assert_false(slower, msg=f"slower than the baseline: {', '.join(slower)}"))
        return sn.all(checks)

    @run_before("performance")
    def medians(self):
        if self.is_dry_run():
            return
        found = _read(os.path.join(self.stagedir, DOCUMENT))
        self.perf_variables = {
            _label(case): sn.make_performance_function(sn.defer(case["median_s"] * 1e6), "us")
            for case in found["cases"]
            if case["median_s"] and case.get("cores") == found.get("cores")  # the state of the cores with the most samples
        }


@rfm.simple_test
class ParhelionHalo(ParhelionBenchmark):
    """Halo exchange of a structured grid, 64³ cells of float32 per rank."""

    benchmark = "halo"
    halo = parameter([1, 5])
    fields = parameter([1, 8])

    @run_after("init")
    def choose(self):
        self.descr = f"halo exchange, width {self.halo}, {self.fields} fields"
        self.options = ["--halo", str(self.halo), "--fields", str(self.fields)]


@rfm.simple_test
class ParhelionGather(ParhelionBenchmark):
    """Index-map gather on partitioned meshes; `datasets` names their folders, separated by commas."""

    benchmark = "gather"
    datasets = variable(str, value="")
    variants = ""

    @run_after("init")
    def choose(self):
        self.skip_if(not self.datasets, "no data sets: give -S datasets=/path/mesh-4, such as parhelion partition writes")
        self.descr = f"index-map gather on {self.datasets}"
        self.options = self.datasets.split(",")


def _label(case):
    told = [
        f"{name}{os.path.basename(str(case['params'][name]))}"
        for name in ("dataset", "element", "halo", "fields")
        if name in case["params"]
    ]
    return "_".join([*told, case["variant"]])


def _slower(path):
    if not os.path.exists(path):
        return ["the baseline cannot be compared with this run, see rfm_job.err"]
    return [f"{case['variant']} ×{case['ratio']:.3f}" for case in _read(path)["cases"] if case["verdict"] == "slower"]


def _read(path):
    with open(path) as file:
        return json.load(file)
