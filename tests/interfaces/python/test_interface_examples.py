"""The examples: their parallel results equal the serial ones bit for bit."""

import re
import subprocess
from pathlib import Path

import pytest
from program_runs import python_builds, run, run_python

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"


@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_heat_in_python_equals_the_serial_run(build, ranks):
    done, output = run_python(build, ranks, str(EXAMPLES / "heat_cartesian.py"))
    assert done.ok and f"{ranks} ranks" in output and "equal to the serial result" in output, output


@pytest.mark.parametrize("ranks", [1, 2, 3, 6])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_advection_on_triangles_equals_the_serial_run(build, ranks):
    done, output = run_python(build, ranks, str(EXAMPLES / "advection.py"))
    assert done.ok and f"{ranks} ranks: equal to the serial result" in output, output


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_waves_across_a_fold_equal_the_serial_run(build, ranks):
    for pivot in ("corner", "center"):
        done, output = run_python(build, ranks, str(EXAMPLES / "tripolar.py"), "--hours", "1", "--pivot", pivot)
        assert done.ok and f"fold about a {pivot}: equal to the serial result" in output, output
        assert abs(float(output.split("volume ")[1].split(",")[0])) < 1e-15, output


@pytest.mark.parametrize("mistake", ["pivot='center'", "Field(u)", "Field(v)"])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_waves_across_a_fold_show_a_mistake_in_its_exchange(build, mistake, tmp_path):
    source = (EXAMPLES / "tripolar.py").read_text()
    right = "pivot=pivot" if "pivot" in mistake else mistake.replace(")", ", sign=-1)")
    assert source.count(right) == 1
    (tmp_path / "tripolar.py").write_text(source.replace(right, mistake))
    done, output = run_python(build, 2, str(tmp_path / "tripolar.py"), "--hours", "1")
    assert not done.ok and "DIFFERENT FROM the serial result" in output, output


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_a_tracer_on_a_cubed_sphere_equals_the_serial_run(build, ranks):
    done, output = run_python(build, ranks, str(EXAMPLES / "cubed_sphere.py"), "--degrees", "60")
    assert done.ok and f"{ranks} ranks" in output and "equal to the serial result" in output, output


@pytest.mark.parametrize("name, changing", [("tripolar", "volume"), ("cubed_sphere", "mass")])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_the_page_on_seams_shows_what_its_examples_print_and_draw(build, name, changing, tmp_path):
    pytest.importorskip("matplotlib")
    shown = (ROOT / "docs" / "seams.md").read_text().split(f"--picture docs/{name}.png\n")[1].split("\n```")[0].splitlines()[-1]
    done, output = run_python(build, 2, str(EXAMPLES / f"{name}.py"), "--picture", str(tmp_path / "picture.png"))
    before, change, after = re.split(rf"(?<={changing} )(\S+)(?=,)", output.splitlines()[-1])
    assert done.ok and shown.startswith(before) and shown.endswith(after) and abs(float(change)) < 1e-15, output
    assert 50_000 < (tmp_path / "picture.png").stat().st_size < 150_000


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_vectors_beyond_turned_ends_equal_those_of_the_whole_ring(build, ranks):
    done, output = run_python(build, ranks, str(EXAMPLES / "turned_ends.py"))
    assert done.ok and f"{ranks} ranks: equal to the serial result" in output, output


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_finite_volumes_and_elements_on_a_disk_give_the_serial_result(build, ranks):
    for program, words in (("heat_disk.py", "equal to"), ("heat_elements.py", "within 1e-12 of")):
        done, output = run_python(build, ranks, str(EXAMPLES / program))
        assert done.ok and f"{ranks} ranks: {words} the serial result" in output, output


@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_saved_rows_come_back_to_whoever_owns_them(build, ranks):
    done, output = run_python(build, ranks, str(EXAMPLES / "saved_rows.py"))
    assert done.ok and f"{ranks} ranks: equal to what was saved" in output, output


def test_the_advection_solver_is_as_short_as_it_is_said_to_be():
    assert len((EXAMPLES / "advection.py").read_text().splitlines()) <= 60


@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_the_page_on_row_arrays_shows_what_its_program_prints(build, tmp_path):
    page = (ROOT / "docs" / "ghost-arrays.md").read_text()
    (tmp_path / "rows.py").write_text(page.split("```python\n")[1].split("```")[0])
    shown = page.split("```console\n")[1].split("```")[0].splitlines()[1:]
    done, output = run_python(build, 2, str(tmp_path / "rows.py"))
    assert done.ok and [line.rstrip() for line in output.splitlines()] == shown, output


def compile_example(build, source, program):
    compiler = next((path for path in (build.mpi_home / "bin").glob("mpi[c+][x+][x+]") if path.is_file()), None)
    if compiler is None:
        pytest.skip(f"{build.mpi_home}/bin has no mpicxx")
    made = ROOT / "build" / build.name / "include"  # version.hpp
    command = [compiler, "-std=c++20", "-O2", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", f"-I{ROOT / 'include'}", f"-I{made}", source]
    command += ["-o", program, f"-L{build.directory}", "-lparhelion", "-Wl,--as-needed"]
    command += [f"-Wl,-rpath,{build.directory}", f"-Wl,-rpath,{build.library_dir}"]
    subprocess.run(command, check=True, timeout=200)


@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_heat_in_cpp_equals_the_serial_run(build, tmp_path):
    program = tmp_path / "heat"
    compile_example(build, EXAMPLES / "heat_cartesian.cpp", program)
    for ranks in (1, 2, 3, 6):
        done, output = run(build, ranks, str(program))
        assert done.ok and output.strip().startswith("equal to the serial result"), f"{ranks} ranks: {output}"


@pytest.mark.parametrize("problem", ["poisson", "finite_volume", "multigrid_cg", "hydrodynamics"])
@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_an_application_has_the_same_bits_over_every_exchange(build, problem):
    program = ROOT / "build" / build.name / "bench" / "applications" / "solve"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    for ranks in (1, 3):
        done, output = run(build, ranks, str(program), problem, "3")
        assert done.ok and output.count("equal to the reference") >= 4, f"{ranks} ranks: {output}"
