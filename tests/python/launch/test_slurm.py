"""Every way to start ranks under a real Slurm of two nodes: the right number of ranks, or a refusal that says how."""

import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import pytest
from measured import ROOT, built

from parhelion.launch import usable_builds
from parhelion.record.read import read_record

DAEMONS = ("slurmctld", "slurmd", "munged")
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
COMPILERS = {"c": ["gcc"], "cpp": ["g++", "-std=c++20"], "f90": ["gfortran"]}
C = """
#include <mpi.h>
#include <stdio.h>
#include <parhelion/{header}>
int main(int argc, char** argv) {{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    {body}
    MPI_Finalize();
}}
"""
PROGRAMS = {
    "c": C.format(header="phl.h", body="""
        phl_index_map map = NULL;
        if (phl_index_map_create(MPI_COMM_WORLD, 4, 0, NULL, NULL, &map) == PHL_SUCCESS) printf("solves on %d\\n", ranks);
        else return fprintf(stderr, "%s\\n", phl_last_error());
        phl_index_map_free(&map);"""),
    "cpp": C.format(header="parhelion.hpp", body="""{ parhelion::IndexedDomain domain{4, {}}; std::printf("solves on %d\\n", ranks); }"""),
    "f90": """
program solve
  use parhelion
  type(index_map) :: map
  integer :: comm, rank, ranks
  call start_mpi(comm)
  call get_rank(comm, rank, ranks)
  call map%init(comm, 4)
  print '(a, i0)', 'solves on ', ranks
  call map%free()
  call stop_mpi()
end program
""",
}
SOLVE = "import parhelion as ph; d = ph.CartesianDomain((8, 8)); print('solves', d.process_grid, flush=True)"


@pytest.fixture(scope="module")
def slurm():
    """Runs a shell command beside Slurm."""
    if not all(shutil.which(name, path=PATH) for name in DAEMONS):
        pytest.skip("Slurm is not installed (Debian: apt install slurmctld slurmd slurm-client munge libpmix-dev)")
    beside = subprocess.Popen([ROOT / "tests/slurm.sh", "sh", "-c", "echo ready $SLURM_CONF; cat >/dev/null"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ready = beside.stdout.readline().split()
    if not ready:
        pytest.skip(f"Slurm cannot be started here: {beside.stderr.read()}")

    def run(command, **variables):
        env = {"PATH": f"{sys.prefix}/bin:{PATH}", "PYTHONPATH": str(ROOT / "python"), "SLURM_CONF": ready[1], "HOME": "/tmp", **variables}
        done = subprocess.run(["sh", "-c", command], env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    yield run
    beside.stdin.close()
    beside.wait(timeout=30)


@pytest.fixture(params=built("mpich", "openmpi"))
def build(request):
    return usable_builds()[request.param]


def python(build, code):
    return f"env MPI4PY_LIBMPI={build.mpi_library} {sys.executable} -c {shlex.quote(code)}"


def right_mode(build):
    return {"mpich": "pmi2", "openmpi": "pmix"}[build.kind]


@pytest.mark.parametrize("mode", ["pmi2", "pmix", "none"])
def test_python_under_srun_has_all_ranks_or_is_refused(slurm, build, mode):
    status, said = slurm(f"srun -N2 -n2 --mpi={mode} " + python(build, SOLVE))
    if mode == right_mode(build):
        assert status == 0 and said.count("solves (2, 1)") == 2, said
    else:
        assert status != 0 and "solves (" not in said and f"srun --mpi={right_mode(build)} -n 2" in said, said


@pytest.mark.parametrize("mode", ["pmi2", "pmix", "none"])
def test_a_compiled_program_under_srun_has_all_ranks_or_is_refused(slurm, build, mode, tmp_path):
    command = f"{build.program} alltoall --size 64 --repetitions 2 --json {tmp_path}/record"
    status, said = slurm(f"srun -N2 -n2 --mpi={mode} {command}")
    if mode == right_mode(build):
        assert status == 0, said
    else:
        assert status != 0 and f"srun --mpi={right_mode(build)} -n 2 {build.program} alltoall" in said, said


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compiles the program of a language for a build's MPI, once."""
    folder, made = tmp_path_factory.mktemp("programs"), {}

    def program(build, language):
        compiler, *options = COMPILERS[language]
        if not shutil.which(compiler, path=PATH) or not shutil.which("pkg-config", path=PATH):
            pytest.skip(f"{compiler} and pkg-config are needed (Debian: apt install gfortran pkg-config)")
        if (build.name, language) not in made:
            here, source = ROOT / "build" / build.name, folder / f"{build.name}.{language}"
            source.write_text(PROGRAMS[language])
            ask = ["pkg-config", "--variable=mpi_cflags", here / "parhelion.pc"], ["pkg-config", "--variable=mpi_libs", here / "parhelion.pc"]
            cflags, libs = (shlex.split(subprocess.run(words, capture_output=True, text=True, check=True).stdout) for words in ask)
            libs += ["-lparhelion_fortran"] * (language == "f90") + ["-lparhelion"]
            made[build.name, language] = source.with_suffix(f".{language}.out")
            subprocess.run([compiler, *options, *cflags, f"-I{ROOT}/include", f"-I{here}/include", f"-I{here}/fortran/modules", source, "-o",
                            made[build.name, language], f"-L{build.directory}", f"-Wl,-rpath,{build.directory}", *libs], check=True)
        return made[build.name, language]

    return program


@pytest.mark.parametrize("language", PROGRAMS)
def test_programs_of_every_language_have_all_ranks_or_are_refused(slurm, build, compiled, language):
    program = compiled(build, language)
    for mode in ("pmi2", "pmix", "none"):
        status, said = slurm(f"srun -N2 -n2 --mpi={mode} {program}")
        if mode == right_mode(build):
            assert status == 0 and said.count("solves on 2\n") == 2, said
        else:
            assert status != 0 and "solves on" not in said and f"srun --mpi={right_mode(build)} -n 2 {program}" in said, said
    status, said = slurm(f"salloc -Q -N2 -n2 {sys.executable} -m parhelion run {program}")
    assert status == 0 and said.count("solves on 2\n") == 2, said


def test_the_mpis_own_launcher_inside_an_allocation_has_all_ranks(slurm, build):
    root = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " * (build.kind == "openmpi")
    status, said = slurm(f"salloc -Q -N2 -n2 env {root}{build.mpiexec} -n 2 " + python(build, SOLVE))
    assert status == 0 and said.count("solves (2, 1)") == 2, said


def test_another_mpis_launcher_is_refused_with_the_right_one(slurm):
    if len(built("mpich", "openmpi")) < 2:
        pytest.skip("needs builds for two MPIs: make build MPI=mpich and make build MPI=openmpi")
    own, other = usable_builds()["mpich"], usable_builds()["openmpi"]
    status, said = slurm("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                         f"{other.mpiexec} --map-by :OVERSUBSCRIBE -n 2 {python(own, SOLVE)}")
    assert status != 0 and "solves (" not in said and re.search(rf"{own.mpiexec.parent.resolve()}/mpiexec\S* -n 2", said), said


def test_parhelion_run_takes_srun_and_the_jobs_ranks_and_binds_them(slurm, build):
    code = "import os; from mpi4py import MPI; print('rank of', MPI.COMM_WORLD.size, len(os.sched_getaffinity(0)), flush=True)"
    command = f"{sys.executable} -m parhelion run -v --build {build.name} python -c {shlex.quote(code)}"
    status, said = slurm(f"salloc -Q -N2 -n2 sh -c {shlex.quote(command)}")
    assert status == 0 and said.count("rank of 2 1\n") == 2, said
    assert f"srun --overlap --export=ALL --mpi={right_mode(build)} --cpu-bind=cores --nodes=2 -n 2" in said


def test_parhelion_run_inside_a_step_of_several_tasks_says_that_a_launcher_is_there(slurm):
    status, said = slurm(f"srun -N2 -n2 {sys.executable} -m parhelion run -n 2 true")
    assert status != 0 and said.count("already started this as rank 0 of 2") == 1, said


def interactive(mode, command):
    """In a shell that `srun --pty` has started, for which it needs a terminal."""
    step = f"srun --mpi={mode} -N1 -n1 --pty sh -c {shlex.quote(command)}"
    return f"script -qec {shlex.quote(step)} /dev/null </dev/null"


@pytest.mark.parametrize("mode", ["pmi2", "pmix", "none"])
def test_a_shell_of_an_interactive_step_starts_ranks(slurm, build, mode, tmp_path):
    code = "from mpi4py import MPI; print('rank of', MPI.COMM_WORLD.size, flush=True)"
    parhelion = f"{sys.executable} -m parhelion"
    status, said = slurm(interactive(mode, f"{parhelion} run -n 2 --build {build.name} python -c {shlex.quote(code)}"))
    assert status == 0 and said.count("rank of 2") == 2, said
    status, said = slurm(interactive(mode, f"{parhelion} bench alltoall --ranks 2 --size 64 --quick --repetitions 2 --build {build.name} --out {tmp_path}/run"))
    assert status == 0 and read_record(tmp_path / "run").launches[0].ranks == 2, said


@pytest.mark.parametrize("mode", ["pmi2", "none"])
def test_ranks_that_such_a_shell_starts_itself_are_ranks(slurm, mode):
    build = usable_builds()[next(iter(built("mpich")), None) or pytest.skip("needs a build for MPICH")]
    status, said = slurm(interactive(mode, "srun --overlap --overcommit -n2 --mpi=pmi2 " + python(build, SOLVE)))
    assert status == 0 and said.count("solves (2, 1)") == 2, said
    status, said = slurm(interactive(mode, "srun --overlap --overcommit -n2 --mpi=none " + python(build, SOLVE)))
    # With pmi2 the shell's own connection, which is no longer open, makes MPI_Init fail.
    assert status != 0 and "solves (" not in said and ("sees 1 rank" in said or mode == "pmi2"), said


def test_tasks_that_are_meant_to_be_alone_may_be(slurm):
    build = usable_builds()[built("mpich", "openmpi")[0]]
    status, said = slurm("srun -N2 -n2 --mpi=none " + python(build, SOLVE), PARHELION_ALONE="1")
    assert status == 0 and said.count("solves (1, 1)") == 2, said


def test_a_batch_script_measures_on_both_nodes(slurm, build, tmp_path):
    script = tmp_path / "job.sh"
    script.write_text(textwrap.dedent(f"""\
        #!/bin/sh
        #SBATCH --nodes=2
        #SBATCH --ntasks-per-node=1
        {sys.executable} -m parhelion bench alltoall --ranks 2 --size 64 --quick --repetitions 2 --out {tmp_path}/run
        """))
    status, said = slurm(f"cd {tmp_path} && sbatch --wait --output={tmp_path}/said {script}", PARHELION_BUILD=build.name)
    said += (tmp_path / "said").read_text()
    assert status == 0, said
    launch = read_record(tmp_path / "run").launches[0]
    assert launch.ranks == 2 and "of the allocation" not in said, said


def test_srun_starts_the_measuring_program_itself(slurm, tmp_path):
    build = usable_builds()[next(iter(built("mpich")), None) or pytest.skip("needs a build for MPICH")]
    (tmp_path / "run").mkdir()
    status, said = slurm(f"srun -N2 -n2 --mpi=pmi2 {build.program} alltoall --size 64 --repetitions 2 --json {tmp_path}/run/record.jsonl")
    assert status == 0 and read_record(tmp_path / "run").launches[0].ranks == 2, said


def test_place_names_the_hosts_of_the_allocation_and_its_command_starts_ranks_there(slurm, tmp_path):
    file = tmp_path / "ranks"
    place = f"{sys.executable} -m parhelion place --grid 2x1 --ranks-per-node 1 --rank-file slurm:{file}"
    status, said = slurm(f"salloc -Q -N2 -n2 sh -c '{place}'")
    assert status == 0 and file.read_text() == "node1\nnode2\n", said
    start = re.search(r"start with  (.+)", said)[1].replace("PROGRAM", "sh -c 'echo $SLURM_PROCID on $SLURMD_NODENAME'")
    file.write_text("node2\nnode1\n")
    status, said = slurm(f"salloc -Q -N2 -n2 sh -c {shlex.quote(start)}")
    assert status == 0 and "0 on node2" in said and "1 on node1" in said, said
