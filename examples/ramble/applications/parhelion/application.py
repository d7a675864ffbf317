"""Ramble: `phl-bench halo` and `phl-bench alltoall`; each case is a context, each row of its table a figure of merit."""

from ramble.appkit import *

NUMBER = r"[0-9.]+"
ROW = rf"^(?P<variant>[a-z]\S*)\s+(?P<median>{NUMBER})\s+(?P<min>{NUMBER})\s+(?P<max>{NUMBER})\s.*\s(?P<values>pass|FAIL)\s*$"


class Parhelion(ExecutableApplication):
    """Halo exchanges of the Parhelion library beside hand-written MPI."""

    name = "parhelion"
    tags("benchmark-app", "mpi", "halo-exchange")

    executable("halo", "phl-bench halo --extent {extent} --halo {halo} --fields {fields} --variants {variants} --repetitions {repetitions}", use_mpi=True)
    executable("alltoall", "phl-bench alltoall --size {size} --repetitions {repetitions}", use_mpi=True)
    workload("halo", executable="halo")
    workload("alltoall", executable="alltoall")

    workload_variable("extent", default="64", description="Cells of each rank in each dimension", workloads=["halo"])
    workload_variable("halo", default="1,2", description="Halo widths", workloads=["halo"])
    workload_variable("fields", default="1,8", description="Numbers of fields", workloads=["halo"])
    workload_variable("variants", default="auto,mpi,hand_persistent", description="What is measured", workloads=["halo"])
    workload_variable("size", default="1,1024,65536", description="Bytes for each rank", workloads=["alltoall"])
    workload_variable("repetitions", default="30", description="Samples of each variant", workloads=["halo", "alltoall"])

    figure_of_merit_context("case", regex=r"^# (?P<case>(halo|alltoall) .+)$", output_format="{case}")
    for column, unit in (("median", "us"), ("min", "us"), ("max", "us"), ("values", "")):
        figure_of_merit("{variant} " + column, fom_regex=ROW, group_name=column, units=unit, contexts=["case"])
    success_criteria("verified", mode="string", match=r".*\spass$", file="{log_file}")
    success_criteria("nothing failed", mode="string", anti_match=r"# \S+\s+failed:.*|.*\sFAIL$", file="{log_file}")
