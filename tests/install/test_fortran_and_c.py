"""Programs outside of this tree find an installation through CMake and through pkg-config, and run."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from parhelion import launch

ROOT = Path(__file__).resolve().parents[2]
BUILD = launch.default_build()
TREE = ROOT / "build" / BUILD.name
EXPECTED = "equal to the serial result"

PROJECT = """cmake_minimum_required(VERSION 3.24)
project(outside LANGUAGES Fortran C CXX)
find_package(parhelion REQUIRED COMPONENTS Fortran)
add_executable(heat_disk heat_disk.f90)
target_link_libraries(heat_disk PRIVATE parhelion::Fortran)
add_executable(version version.c)
target_link_libraries(version PRIVATE parhelion::parhelion)
"""

VERSION_IN_C = """#include <parhelion/phl.h>
#include <stdio.h>
int main(void) { return printf("%s\\n", phl_version()) < 0; }
"""


FIRST_CALL = {
    "c": """#include <parhelion/phl.h>
#include <stdio.h>
int main(int argc, char** argv) {
    phl_index_map map = NULL;
    MPI_Init(&argc, &argv);
    phl_index_map_create(MPI_COMM_WORLD, 10, 0, NULL, NULL, &map);
    puts(phl_last_error());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 0);
}
""",
    "f90": """use mpi
use parhelion
type(index_map) :: map
integer :: code
character(900) :: message
call MPI_Init(code)
call map%init(MPI_COMM_WORLD, 10, stat=code, errmsg=message)
print '(a)', trim(message)
flush (6)
stop
end
""",
}


def execute(*command: str | Path, cwd: Path, **env: str) -> str:
    environment = {**os.environ, **env}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def tool(name: str) -> str:
    linked = ROOT / ".venv" / "tools" / name
    return str(linked) if linked.exists() else shutil.which(name) or pytest.skip(f"no {name} here")


def output_of(program: Path, directory: Path, ranks: int) -> str:
    lines: list[str] = []
    done = launch.run(ranks, program, (), build=BUILD, cwd=directory, timeout=120, on_line=lines.append)
    assert done.ok, "\n".join(lines)
    return "\n".join(lines)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    if not (TREE / "fortran" / "modules" / "parhelion.mod").exists():
        pytest.skip(f"{TREE} holds no Fortran interface: it was built without a Fortran compiler (Debian: apt install gfortran)")
    place = tmp_path_factory.mktemp("installed") / "prefix"
    execute(tool("cmake"), "--install", TREE, "--prefix", place, cwd=ROOT)
    return place


def test_cmake_finds_the_fortran_and_c_interfaces(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    (tmp_path / "version.c").write_text(VERSION_IN_C)
    shutil.copy(ROOT / "examples" / "heat_disk.f90", tmp_path)
    ninja = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    execute(tool("cmake"), "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}", *ninja, cwd=tmp_path)
    execute(tool("cmake"), "--build", "build", cwd=tmp_path)
    assert EXPECTED in output_of(tmp_path / "build" / "heat_disk", tmp_path, 3)
    assert output_of(tmp_path / "build" / "version", tmp_path, 1).strip().startswith("0.")


@pytest.mark.parametrize("language", FIRST_CALL)
def test_a_program_of_another_mpi_is_told_both_and_the_remedy(language, tmp_path):
    other, name = ("mpich", "MPICH") if "openmpi" in BUILD.name else ("openmpi", "Open MPI")
    wrapper = shutil.which({"c": "mpicc", "f90": "mpif90"}[language] + f".{other}")
    source = tmp_path / f"empty.{language}"
    source.write_text({"c": "#include <mpi.h>\n", "f90": "use mpi\nend\n"}[language])
    if not wrapper or subprocess.run([wrapper, "-c", source, "-o", tmp_path / "empty.o"], capture_output=True).returncode:
        pytest.skip(f"skipped: no wrapper of {name} that compiles (Debian: apt install lib{other}-dev)")
    source = tmp_path / f"first.{language}"
    source.write_text(FIRST_CALL[language])
    libraries = [*(["-lparhelion_fortran"] if language == "f90" else []), "-lparhelion"]
    execute(wrapper, f"-I{ROOT / 'include'}", f"-I{TREE / 'fortran' / 'modules'}", source, "-o", "first", f"-L{BUILD.directory}", f"-Wl,-rpath,{BUILD.directory}", *libraries,
            cwd=tmp_path)
    under = {"PMIX_RANK": "0", "OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}  # MPICH does not start there
    for more in ({}, under) if language == "f90" and other == "openmpi" else ({},):
        done = subprocess.run([tmp_path / "first"], capture_output=True, text=True, timeout=60, env=os.environ | more)
        said = done.stderr if more else done.stdout
        assert f"this program was linked with {name}" in said and "was built for" in said and "make install MPI=" in said, said


def test_pkg_config_finds_the_fortran_interface(prefix, tmp_path):
    compiler, pkg_config = tool("gfortran"), tool("pkg-config")
    flags = execute(pkg_config, "--cflags", "--libs", "parhelion-fortran", cwd=tmp_path,
                    PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")).split()
    execute(compiler, ROOT / "examples" / "heat_disk.f90", "-o", "heat_disk", *flags, cwd=tmp_path)
    assert EXPECTED in output_of(tmp_path / "heat_disk", tmp_path, 2)
