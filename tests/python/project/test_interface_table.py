"""Element types and reductions have one table, and Fortran's side of the C interface is written from it and from phl.h."""

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HEADERS = ROOT / "include" / "parhelion"
PLANTED = {"#define PHL_SCALARS(X)": 'X(int128, INT128, 16, "?")', "#define PHL_REDUCTIONS(X)": "X(bit_xor, XOR)"}


@pytest.fixture
def write():
    spec = importlib.util.spec_from_file_location("write", ROOT / "fortran" / "write.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_new_row_reaches_c_cpp_and_fortran(write, tmp_path):
    shutil.copytree(HEADERS, tmp_path / "parhelion")
    table = tmp_path / "parhelion" / "core" / "kinds.h"
    text = table.read_text()
    for head, row in PLANTED.items():
        text = re.sub(rf"({re.escape(head)}\s*\\\n)", rf"\1    {row} \\\n", text)
    table.write_text(text)
    (tmp_path / "mpi.h").write_text("typedef int MPI_Comm;\n")
    (tmp_path / "all.cpp").write_text('#include "parhelion/phl.h"\n#include "parhelion/core/reduction.hpp"\n'
                                      "static_assert(PHL_INT128 == int(parhelion::Scalar::int128) && PHL_XOR == parhelion::Reduction::bit_xor &&\n"
                                      "    PHL_COMPLEX128 == int(parhelion::Scalar::complex128) && PHL_PROD == parhelion::Reduction::prod);\n")
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-I", tmp_path, tmp_path / "all.cpp"], check=True)
    write.C = "\n".join(path.read_text() for path in (tmp_path / "parhelion" / "phl.h", table))
    assert write.names("phl_reduction")[:3] == ["phl_xor", "phl_replace", "phl_sum"]
    assert write.names("phl_scalar")[:3] == ["phl_bytes = 0", "phl_int128", "phl_int8"]


def test_a_new_option_reaches_c_cpp_and_fortran(write, tmp_path):
    shutil.copytree(HEADERS, tmp_path / "parhelion")
    table = tmp_path / "parhelion" / "core" / "options.h"
    text, planted = re.subn(r"(X\(COUNT, threads\)\s*\\\n)", r"\1    /* Planted. */ \\\n    X(SECONDS, planted_s) \\\n", table.read_text())
    assert planted == 1
    table.write_text(text)
    (tmp_path / "mpi.h").write_text("typedef int MPI_Comm;\n")
    (tmp_path / "all.cpp").write_text('#include <string>\n#include "parhelion/phl.h"\nstruct Options { PHL_EXCHANGE_OPTIONS(PHL_CPP_OPTION) };\n'
                                      "const phl_exchange_options all{.planted_s = 1, .check = 1};\n"
                                      "const Options same{.planted_s = 1, .check = true};\n")
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-I", tmp_path, tmp_path / "all.cpp"], check=True)
    write.HEADERS = tmp_path / "parhelion"
    assert "!> Planted.\n    real(real64) :: planted = 0" in write.option_members()
    assert "all%planted_s = options%planted" in write.option_copies()
    assert re.findall(r":: (\w+) = ", write.structure("phl_exchange_options")) == [name for _, _, name in write.options()]


def test_structures_and_interfaces_are_those_of_the_header(write):
    interfaces = {re.search(r"function (\w+)", each)[1]: each for each in write.interfaces().split("    end function")[:-1]}
    assert "integer(c_int64_t), intent(inout), optional :: lower(*)" in interfaces["phl_cartesian_owned"]
    assert "type(*), dimension(..), optional :: ghosts" in interfaces["phl_f_map_call"]
