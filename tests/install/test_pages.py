"""Programs, fragments and commands that the pages of the documentation show: they run as they stand there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from parhelion import launch
from parhelion.cli.main import root as command_line

from snippets import BEFORE, BLOCK, NAMED, ROOT, blocks, files, runs

BUILD = launch.default_build()
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
WITH_PROGRAMS = ("docs/mesh-to-ghosts.md", "docs/tutorial-grid.md", "docs/tutorial-mesh.md", "docs/from-your-loop.md")
# Run elsewhere, with what they need around them: test_readme.py, test_install_page.py, test_interface_examples.py, test_interface_device.py.
ELSEWHERE = ("docs/start.md", "docs/install.md", "docs/ghost-arrays.md", "docs/gpu.md")
# Whole programs that a page shows in pieces, and ends of programs that would teach nothing there, with what they print.
EXAMPLES = {"docs/tutorial-mesh.md": [ROOT / "examples" / name for name in ("poisson.cpp", "poisson.f90", "volumes.py")]}
ENDS = {"docs/from-your-loop.md": ("after.cpp", "parhelion run -n 2 build/after", ["right: 1 1 1 1 1 1"])}
COMPILED = {".cpp": ("mpicxx", "-std=c++20"), ".c": ("mpicc", "-std=c99"), ".f90": ("gfortran", "-std=f2018")}
TREE = ROOT / "build" / BUILD.name

# What fragments of a page need that it speaks of and does not show.
AROUND = {
    "README.md": "def update(u): pass",
    "docs/transports.md": "",
    "docs/gather.md": "",
    "docs/seams.md": "",
    "docs/python.md": """comm = MPI.COMM_WORLD
def update_interior(u): pass
wanted = [1000 * ((comm.rank + 1) % comm.size) + 7, 1000 * ((comm.rank + 1) % comm.size)] if comm.size > 1 else []
my_ids, ghost_ids, ids, cells = [comm.rank], [(comm.rank + 1) % comm.size], [0], [0]
owned_array, ghost_array = np.zeros(1000), np.zeros(len(wanted))
if comm.rank == 0:
    import os
    os.mkdir("opencalc-B0-2")
    for rank in range(2):
        np.array([5, 1, 6 - 5 * rank], "<i4").tofile(f"opencalc-B0-2/data00{rank + 1}")
comm.barrier()
""",
    "docs/placement.md": "comm = MPI.COMM_WORLD",
    "docs/checks.md": "domain = ph.CartesianDomain((16, 12)); exchange = ph.Exchange(domain, domain.zeros()); exchange()",
    "docs/how-to.md": "",
    "docs/partition.md": """if MPI.COMM_WORLD.rank:
    raise SystemExit
import meshio
from scipy.spatial import Delaunay
places = np.indices((9, 9)).reshape(2, -1).T + 0.0
meshio.write_points_cells("casting.msh", np.column_stack([places, 0 * places[:, 0]]), [("triangle", Delaunay(places).simplices)], file_format="gmsh")
temperature = np.zeros(500)
""",
}
BEGIN = "import numpy as np\nimport parhelion as ph\nfrom mpi4py import MPI\n"


def around_python(page, text):
    """The page's grids of 768³ cells need 2 GB a rank where there are few ranks: fragments run with fewer cells."""
    return BEGIN + AROUND[page] + "\n" + text.replace("(768, 768, 768)", "(48, 48, 48)")


def start(words, folder):
    """Output of a command as a page shows it: ranks by the launcher of the build, Python and `parhelion` those that run the tests."""
    lines: list[str] = []
    if Path(words[0]).name == "mpiexec":
        ranks, program, *arguments = int(words[2]), *words[3:]
        program = sys.executable if Path(program).name == "python" else str(folder / program)
        done = launch.run(ranks, program, arguments, build=BUILD, cwd=folder, timeout=120, on_line=lines.append)
        assert done.ok, "\n".join(lines)
        return lines
    command = {"python": [sys.executable], "parhelion": [sys.executable, "-m", "parhelion"]}[words[0]]
    done = subprocess.run([*command, *words[1:]], cwd=folder, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def compile_all(folder, sources):
    """Programs of a page into `build/`, named as the page runs them."""
    (folder / "build").mkdir()
    for source in sources:
        compiler, standard = COMPILED[source.suffix]
        program = f"{source.stem}_fortran" if (source.with_suffix(".cpp") in sources and source.suffix == ".f90") else source.stem
        path = compiler if compiler == "gfortran" else f"{BUILD.mpi_home}/bin/{compiler}"
        library = ["-lparhelion_fortran", "-lparhelion", "-lmpi"] if source.suffix == ".f90" else ["-lparhelion"]
        folders = [f"-I{ROOT / 'include'}", f"-I{TREE / 'include'}", f"-I{TREE / 'fortran' / 'modules'}", f"-L{BUILD.directory}", f"-L{BUILD.library_dir}",
                   f"-Wl,-rpath,{BUILD.directory}", f"-Wl,-rpath,{BUILD.library_dir}"]
        done = subprocess.run([path, standard, "-O1", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", source, "-o", folder / "build" / program, *folders, *library],
                              capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", WITH_PROGRAMS)
def test_the_programs_of_a_page_print_what_it_says(page, tmp_path):
    shown = files(page)
    shown |= {source.name: source.read_text() for source in EXAMPLES.get(page, ())}
    commands = runs(page)
    if page in ENDS:
        name, *run = ENDS[page]
        shown[name] += (Path(__file__).parent / name).read_text()
        commands.append(tuple(run))
    for name, text in shown.items():
        (tmp_path / name).write_text(text)
    compiled = [tmp_path / name for name in shown if Path(name).suffix in COMPILED]
    if compiled and not (TREE / "include" / "parhelion" / "version.hpp").exists():
        pytest.skip(f"skipped: {TREE} is not there: the package was not built by make")
    fortran = (BUILD.directory / "libparhelion_fortran.so").exists()
    compile_all(tmp_path, [source for source in compiled if fortran or source.suffix != ".f90"])
    for command, expected in commands:
        program = tmp_path / command.split()[-1]
        if "build/" in command and not program.exists():
            continue  # no Fortran here
        printed = start(shlex.split(command), tmp_path)
        assert printed == expected or not expected, command
    assert commands, "nothing would have been run"


@pytest.mark.parametrize("page", AROUND)
def test_python_fragments_of_a_page_run_one_after_the_other(page, tmp_path):
    (tmp_path / "fragments.py").write_text(around_python(page, "".join(blocks(page, "python"))))
    start(["mpiexec", "-n", "2", "python", "fragments.py"], tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_language_is_a_file_or_run_or_marked_as_shown_alone(page):
    known = page in (*WITH_PROGRAMS, *ELSEWHERE)
    bare = [text for name, text in BLOCK.findall((ROOT / page).read_text()) if name in {"python", "cpp", "c", "fortran"} and not NAMED.match(text)]
    assert known or page in (*AROUND, *COMPILED_FRAGMENTS) or bare == []
    whole = "".join(source.read_text() for source in EXAMPLES.get(page, ()))
    assert page not in WITH_PROGRAMS or all(BEFORE.match(text) or text in whole for text in bare)


@pytest.mark.parametrize("page", PAGES)
def test_the_first_screen_of_a_page_has_something_to_look_at(page):
    first = "\n".join((ROOT / page).read_text().splitlines()[:30])
    assert re.search(r"^```|!\[|<img ", first, re.MULTILINE), "begin with the commonest use, its output or a picture"


# What each fragment in Fortran speaks of without declaring it.
FORTRAN_NAMES = {"README.md": (
    "integer :: comm, first(3), last(3), step\ntype(cartesian_domain) :: domain\ntype(halo_exchange) :: exchange\nreal, allocatable, target :: u(:, :, :)\nexternal :: update",
), "docs/gather.md": (
    "integer :: comm, nx, ny, bx, by, nblocks, b, i, j, y, x_first(9), y_first(9)\ninteger, allocatable, dimension(:, :, :) :: id, place\n"
    "logical, allocatable, dimension(:, :, :) :: owned, ghost\ntype(index_map) :: cells, map",
), "docs/fortran.md": (
    "",
    "integer :: comm, kind(20), count(20)\ntype(index_map) :: map\nreal, target :: density(20), velocity(3, 20), force(20)",
    "integer :: comm, all_nodes_of_cells(8, 10), nodes(8, 5)\ntype(index_map) :: cells, points",
    "integer :: comm\nreal, allocatable, target :: u(:, :, :), u_new(:, :, :)",
    "integer :: comm, first(2), last(2), nx, ny, px, py, cells_x(2), cells_y(2)\ntype(cartesian_domain) :: domain\ntype(halo_exchange) :: exchange\n"
    "real, target :: p(4, 4), u(5, 4), w(5, 5)",
    "integer :: comm, nx, ny\ntype(cartesian_domain) :: domain\ntype(halo_exchange) :: exchange\ntype(field_list) :: list\nreal, target :: v(4, 5)",
    "integer :: comm, nx, ny, b, first(2), last(2)\ntype(cartesian_domain) :: domain\ntype(halo_exchange) :: exchange\ntype(field_list) :: list\n"
    "type block_type\nreal, allocatable :: values(:, :)\nend type\ntype(block_type), target :: u(2)",
    "integer :: comm\ntype(cartesian_domain) :: cells\ntype(index_map) :: nodes\ntype(halo_exchange) :: exchange\n"
    "real, target :: p(4, 4), q(4, 4), x(9), p_new(4, 4), q_new(4, 4), x_new(9)",
    "integer :: comm, i\ntype(cartesian_domain) :: domain\ntype(halo_exchange) :: exchange\n"
    "type species_type\nreal, allocatable :: values(:, :)\nend type\ntype(species_type), target :: species(40)",
    "integer :: comm\ntype(halo_exchange) :: exchange",
    "integer :: comm\ntype(cartesian_domain) :: domain\nreal, dimension(5, 5, 5), target :: fx, fy, fz, gx, gy, gz, dt_x, dt_y, dt_z",
    "integer :: comm\ntype(cartesian_domain) :: rows, columns\ntype(field_list) :: list, other\nreal, target :: u(4, 4), v(4, 4)",
    "integer :: comm, n, count, ranks(9), from(9)\nreal, allocatable :: x(:, :)\ninteger, allocatable :: ids(:)",
    "integer :: comm, rank, nx, ny\ntype(cartesian_domain) :: domain\ntype(field_list) :: list\nreal :: u(4, 4)",
    "integer :: comm\ntype(halo_exchange) :: exchange\nreal, target :: hits(4)\nexternal :: nearer",
    "integer :: comm\ntype(cartesian_domain) :: domain\ntype(halo_exchange) :: exchange\nreal, target :: u(4, 4), v(4, 4)",
)}
COMPILED_FRAGMENTS = {
    "README.md": ("cpp", "template <class Array> void update(Array&);\nvoid fragment() {{ {body} }}"),
    "docs/ghost-arrays.md": ("cpp", "void update_interior(std::vector<std::array<double, 5>>&);\n{includes}\nvoid fragment() {{ {body} }}"),
    "docs/placement.md": ("cpp", "void fragment() {{ {body} }}"),
    "docs/tour.md": ("cpp", "using namespace parhelion; void fragment(CartesianDomain domain, double* u) {{ {body} }}"),
    "docs/gather.md": ("cpp", "void fragment(const parhelion::IndexMap& map) {{ {body} }}"),
    "docs/c.md": ("c", "#include <stdio.h>\n#include <stdlib.h>\nvoid fragment(MPI_Comm comm, const int64_t* extents, phl_cartesian domain, phl_exchange exchange, double* p, double* u,\n"
                  "    double* fx, double* fy, phl_point_sums sums, phl_redistribution move, phl_cartesian rows, phl_cartesian columns,\n"
                  "    const phl_field* before, const phl_field* after, const phl_field* field, double* whole,\n"
                  "    phl_migration migration, int64_t n, int64_t came, const int32_t* to, double* position, int64_t* name, int32_t* senders) {{ {body} }}"),
    "docs/fortran.md": ("f90", ""),
    "docs/gpu.md": ("cpp", "template <class Array> int cudaMalloc(Array**, std::size_t);\nvoid fill(double*);\nvoid update(double*);\n"
                    "void fragment(void* stream, std::size_t bytes) {{ {body} }}"),
}


@pytest.mark.parametrize("page", [page for page, (kind, _) in COMPILED_FRAGMENTS.items() if kind != "f90"])
def test_compiled_fragments_of_a_page_are_right_for_a_compiler(page, tmp_path):
    if not (TREE / "include" / "parhelion" / "version.hpp").exists():
        pytest.skip(f"skipped: {TREE} is not there: the package was not built by make")
    kind, around = COMPILED_FRAGMENTS[page]
    header = '#include <parhelion/parhelion.hpp>\n' if kind == "cpp" else "#include <parhelion/phl.h>\n"
    text = header
    for number, block in enumerate(blocks(page, kind)):
        includes = "\n".join(re.findall(r"^using namespace.*$", block, re.MULTILINE))
        body = re.sub(r"^(#include|using namespace).*$|<<<.*>>>", "", block, flags=re.MULTILINE)
        text += around.format(includes=includes, body=body).replace("fragment(", f"fragment_{number}(") + "\n"
    source = tmp_path / f"fragments.{kind}"
    source.write_text(text)
    compiler, standard = COMPILED[f".{kind}"]
    done = subprocess.run([f"{BUILD.mpi_home}/bin/{compiler}", standard, "-fsyntax-only", "-fopenmp", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX",
                           f"-I{ROOT / 'include'}", f"-I{TREE / 'include'}", source], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", FORTRAN_NAMES)
def test_fortran_fragments_are_right_for_a_compiler(page, tmp_path):
    if not (TREE / "fortran" / "modules" / "parhelion.mod").exists():
        pytest.skip(f"skipped: {TREE} holds no Fortran interface (Debian: apt install gfortran)")
    text = ""
    for number, block in enumerate(blocks(page, "fortran")):
        lines = [line for line in block.splitlines() if line.strip() and not line.startswith("use ")]
        declared = [line for line in lines if "::" in line.split("!")[0]]
        body = [line for line in lines if line not in declared]
        text += "\n".join([f"subroutine fragment_{number}(comm)", "use parhelion", "use, intrinsic :: iso_c_binding, only: c_funloc", "implicit none", *declared, FORTRAN_NAMES[page][number], *body, "end subroutine\n"])
    source = tmp_path / "fragments.f90"
    source.write_text(text)
    done = subprocess.run(["gfortran", "-ffree-line-length-none", "-fsyntax-only", f"-I{TREE / 'fortran' / 'modules'}", source], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, f"{source.read_text()}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_a_page_have_the_options_that_it_shows(page):
    for text in blocks(page, "sh", "console", "bash"):
        for line in text.replace("\\\n", " ").splitlines():
            for part in re.findall(r"(?:^|\s)parhelion ([a-z].*?)(?:$|→)", line.removeprefix("$ ").split(" #")[0]):
                check_command(part, f"{page}: {line}")


def check_command(text, where):
    """Commands exist, and each has the options that stand behind it."""
    command, words = command_line, shlex.split(text.replace("…", ""), comments=True)
    while isinstance(command, click.Group):
        context = click.Context(command)
        name = next((word for word in words if word in command.list_commands(context)), None)
        assert name or not words or command.no_args_is_help is False, f"{where}: {words[0]} is no command"
        if name is None:
            return
        check_options(command, words[: words.index(name)], where)
        words = words[words.index(name) + 1 :]
        command = command.get_command(context, name)
    if "--once" in words:  # what follows the options is a command of its own
        inner = words[words.index("parhelion") + 1 :] if "parhelion" in words else []
        words = words[: words.index("parhelion")] if inner else words[: words.index("--once") + 1]
        check_command(shlex.join(inner), where)
    if not command.context_settings.get("allow_interspersed_args", True):  # a program has options of its own
        words = words[: next((at for at, word in enumerate(words) if word.endswith(".py")), len(words))]
    check_options(command, words[: words.index("--")] if "--" in words else words, where)


def check_options(command, words, where):
    known = {option for param in command.params for option in (*param.opts, *param.secondary_opts)} | {"--help"}
    assert {word.split("=")[0] for word in words if word.startswith("--")} <= known, where


def test_targets_of_make_that_pages_name_exist():
    targets = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {(page, word) for page in PAGES for text in blocks(page, "sh", "bash") for line in text.splitlines()
             if line.startswith("make ") for word in line.split("#")[0].split()[1:2]}
    assert len(named) > 10 and {(page, word) for page, word in named if word not in targets} == set()
