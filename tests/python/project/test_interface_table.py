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
                                      "    PHL_COMPLEX128 == int(parhelion::Scalar::complex128) && PHL_PROD == parhelion::Reduction::prod);\n")  # fmt: skip
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-I", tmp_path, tmp_path / "all.cpp"], check=True)
    write.C = "\n".join(path.read_text() for path in (tmp_path / "parhelion" / "phl.h", table))
    assert write.names("phl_reduction")[:3] == ["phl_xor", "phl_replace", "phl_sum"]
    assert write.names("phl_scalar")[:3] == ["phl_bytes = 0", "phl_int128", "phl_int8"]


def test_structures_and_interfaces_are_those_of_the_header(write):
    assert re.findall(r":: (\w+) = ", write.structure("phl_exchange_options")) == re.findall(
        r"(\w+);", re.search(r"typedef struct phl_exchange_options \{(.*?)\}", write.C, flags=re.S)[1]
    )
    assert "integer(c_int64_t), intent(inout) :: lower(*)" in write.bind("phl_cartesian_owned", "lower upper")
    assert "type(*), dimension(..), optional :: ghosts" in write.bind("phl_f_map_call")
