"""The commands of docs/install.md run as they stand there, under GCC and Clang; a parent project keeps its own settings."""

import os
import re
import shutil
import subprocess

import pytest
from parhelion import launch

from snippets import ROOT, promised_output, write_files

BUILD = launch.default_build()
TREE = ROOT / "build" / BUILD.name
PAGE = (ROOT / "docs" / "install.md").read_text()
COMPILERS = {"gcc": "g++", "clang": "clang++"}


def block(heading, language, number=0):
    """The text of a block below a heading of the page."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    text = next(part for part in section if part.startswith(heading))
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[number]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home directory with an installation where the page has it, moved there after it was made."""
    if not (TREE / "cmake_install.cmake").exists():
        pytest.skip(f"skipped: {TREE} is not there: the package was not built by make")
    place = tmp_path_factory.mktemp("home")
    cmake = ROOT / ".venv" / "tools" / "cmake"
    subprocess.run([cmake, "--install", TREE, "--prefix", place / "first"], check=True, capture_output=True)
    (place / "first").rename(place / "parhelion")
    return place


@pytest.fixture(params=COMPILERS)
def run(request, home, tmp_path):
    """Runs a block in a folder with the examples, `cc` and `c++` being one of the compilers."""
    names = {"cc": request.param, "c++": COMPILERS[request.param]}
    if not all(map(shutil.which, names.values())):
        pytest.skip(f"skipped: {request.param} is not installed (Debian: apt install clang)")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, compiler in names.items():
        (tools / name).symlink_to(shutil.which(compiler))
    for name in ("cmake", "ninja"):
        (tools / name).symlink_to(ROOT / ".venv" / "tools" / name)
    write_files(tmp_path, "heat.cpp", "ring.c", "ring.f90")

    def execute(text, **variables):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("CMAKE_CXX_COMPILER_L", "CMAKE_C_COMPILER_L"))}
        env |= {"HOME": str(home), "PATH": f"{tools}:{BUILD.mpi_home}/bin:{os.environ['PATH']}", "CMAKE_GENERATOR": "Ninja",
                "CC": "cc", "CXX": "c++", "MPICH_CC": names["cc"], "MPICH_CXX": names["c++"], "OMPI_CC": names["cc"],
                "OMPI_CXX": names["c++"]} | variables
        done = subprocess.run(["bash", "-e", "-c", text], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"
        return done.stdout

    return execute


def check(folder, *programs):
    """Each prints what the README promises, found by nothing but its own run path."""
    for program in programs:
        lines: list[str] = []
        done = launch.run(2, folder / program, (), build=BUILD, cwd=folder, timeout=120, on_line=lines.append)
        assert done.ok and lines == promised_output(program), "\n".join(lines)
        found = subprocess.run(["ldd", folder / program], capture_output=True, text=True, check=True).stdout
        assert "not found" not in found


def need_pkg_config():
    if not shutil.which("pkg-config"):
        pytest.skip("skipped: pkg-config is not installed (Debian: apt install pkg-config)")


def test_pkg_config_with_a_plain_compiler(run, tmp_path):
    need_pkg_config()
    run(block("pkg-config", "sh"))
    check(tmp_path, "ring", "heat")


def test_pkg_config_with_the_compiler_wrappers_of_the_mpi(run, tmp_path):
    need_pkg_config()
    run(block("pkg-config", "sh", 2))
    check(tmp_path, "ring", "heat")


def test_pkg_config_with_a_fortran_compiler(run, home, tmp_path):
    need_pkg_config()
    if not (home / "parhelion" / "include" / "parhelion" / "modules" / "parhelion.mod").exists() or not shutil.which("gfortran"):
        pytest.skip("skipped: no Fortran compiler, or the Fortran interface was not built (Debian: apt install gfortran)")
    run(block("pkg-config", "sh", 1))
    check(tmp_path, "ring_fortran")


def test_cmake_finds_the_installation(run, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(block("CMake", "cmake"))
    run(block("CMake", "sh"))
    check(tmp_path / "build", "ring", "heat")


KEEPS = """
cmake_minimum_required(VERSION 3.24)
project(parent VERSION 9 LANGUAGES C)
set(CMAKE_CXX_STANDARD 17)
get_cmake_property(before CACHE_VARIABLES)
get_cmake_property(plain VARIABLES)
foreach(name IN LISTS before plain)
  set("was_${name}" "${${name}}")
endforeach()
add_subdirectory($ENV{PARHELION_SOURCE} parhelion)
get_cmake_property(after CACHE_VARIABLES)
foreach(name IN LISTS after)
  if(NOT name IN_LIST before AND NOT name MATCHES "^(_?PARHELION_|parhelion_|_?MPI|_?Python|CMAKE_CXX_COMPILER|CMAKE_CXX_FLAGS|FIND_PACKAGE_MESSAGE|CMAKE_HAVE|HAVE_|PKG_CONFIG)")
    message(STATUS "NEW ${name}=${${name}}")
  endif()
endforeach()
foreach(name IN LISTS before plain)
  if(name MATCHES "^(CMAKE_BUILD_TYPE|CMAKE_INSTALL_|BUILD_|CMAKE_(CXX|C)_(STANDARD|FLAGS|EXTENSIONS|VISIBILITY)|CMAKE_POSITION|CMAKE_(LIBRARY|RUNTIME|ARCHIVE)_OUTPUT|CMAKE_MODULE_PATH)"
     AND NOT name MATCHES "COMPILER" AND NOT "${was_${name}}" STREQUAL "${${name}}")
    message(STATUS "CHANGED ${name}: '${was_${name}}' became '${${name}}'")
  endif()
endforeach()
message(STATUS "STANDARD ${CMAKE_CXX_STANDARD} TYPE '${CMAKE_BUILD_TYPE}' PIC '${CMAKE_POSITION_INDEPENDENT_CODE}' LIBDIR '${CMAKE_INSTALL_LIBDIR}'")
"""


def configure(folder, text):
    (folder / "CMakeLists.txt").write_text(text)
    env = {key: value for key, value in os.environ.items() if not key.startswith("CMAKE_")} | {"PARHELION_SOURCE": str(ROOT)}
    tools = ROOT / ".venv" / "tools"
    done = subprocess.run([tools / "cmake", "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", "-S", folder, "-B", folder / "build",
                           f"-DMPI_HOME={BUILD.mpi_home}"], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_parent_project_keeps_its_own_settings(tmp_path):
    told = configure(tmp_path, KEEPS)
    assert "STANDARD 17 TYPE '' PIC '' LIBDIR ''" in told, told
    assert not re.findall(r"-- (?:NEW|CHANGED).*", told)


def test_the_example_of_a_parent_project_configures_and_has_its_targets(tmp_path):
    """Building all of the library again would take minutes: ninja tells what it would run."""
    write_files(tmp_path, "heat.cpp", "ring.c")
    configure(tmp_path, block("As a part", "cmake"))
    ninja = ROOT / ".venv" / "tools" / "ninja"
    planned = subprocess.run([ninja, "-C", tmp_path / "build", "-t", "commands", "ring", "heat"], capture_output=True, text=True, check=True).stdout
    assert "/libparhelion.so" in planned and " -o heat " in planned
    assert "phl-bench" not in planned


def test_the_header_for_all_has_all(home, tmp_path):
    include = home / "parhelion" / "include"
    (tmp_path / "all.cpp").write_text("#include <parhelion/parhelion.hpp>\n")
    wrapper = BUILD.mpi_home / "bin" / "mpicxx" if hasattr(BUILD.mpi_home, "joinpath") else f"{BUILD.mpi_home}/bin/mpicxx"
    read = subprocess.run([wrapper, "-std=c++20", "-MM", f"-I{include}", tmp_path / "all.cpp"], capture_output=True, text=True, check=True).stdout
    missing = [header for header in include.rglob("*.hpp") if str(header) not in read]
    assert not missing
