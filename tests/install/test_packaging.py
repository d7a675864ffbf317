"""Recipes of package managers agree with what they package."""

import ast
import re
import subprocess
import sys
import tomllib

import pytest

from parhelion.errors import EXTRAS, PACKAGES
from snippets import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
VERSION = re.search(r"project\(parhelion VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
CMAKE_OPTIONS = set(re.findall(r"\b(?:option|set)\((PARHELION_\w+)", (ROOT / "cmake" / "ParhelionOptions.cmake").read_text()))
SPACK = sorted((ROOT / "packaging" / "spack").rglob("package.py"))
CONDA = ROOT / "packaging" / "conda" / "recipe.yaml"


def bounds(requirement: str) -> tuple[str, str]:
    """Name and lower bound."""
    name, version = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()
    return name.lower(), version


def test_every_extra_brings_the_modules_that_commands_name():
    brought = {}
    for extra, requirements in PROJECT["optional-dependencies"].items():
        brought[extra] = {bounds(text)[0] for text in requirements if not text.startswith("parhelion[")}
    for module, extra in EXTRAS.items():
        assert PACKAGES.get(module, module).lower() in brought[extra], (module, extra)
    named = {PACKAGES.get(module, module).lower() for module in EXTRAS}
    assert set().union(*brought.values()) - {"mpich", "openmpi"} == named
    assert {text.split(">")[0] for text in PROJECT["dependencies"]} == {"click", "mpi4py", "numpy"}


@pytest.mark.parametrize("recipe", SPACK, ids=lambda path: path.parent.name)
def test_spack_recipes_name_options_and_versions_that_exist(recipe):
    text = recipe.read_text()
    compile(ast.parse(text), str(recipe), "exec")
    assert f'version("{VERSION}")' in text
    assert set(re.findall(r"PARHELION_\w+", text)) <= CMAKE_OPTIONS
    declared, used = set(re.findall(r'variant\("(\w+)"', text)), set(re.findall(r'"[+~](\w+)"', text))
    assert used <= declared
    lower = dict(bounds(text) for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["bench"]])
    for name, version in re.findall(r'"(?:py-)?([\w-]+)@([\d.]+):', text):
        assert lower.get(name, version) == version, name


def test_the_conda_recipe_is_read_and_rendered_by_rattler_build():
    code = f"""
import rattler_build as r
recipe = r.Stage0Recipe.from_yaml(open({str(CONDA)!r}).read())
variants = r.VariantConfig.from_yaml('mpi: [mpich, openmpi]\\npython: ["3.12.*"]\\nc_compiler: [gcc]\\ncxx_compiler: [gxx]\\nfortran_compiler: [gfortran]')
for made in recipe.render(variants):
    print(made.recipe.package.version, *made.recipe.requirements.to_dict()["run"], sep="|")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    if "No module named 'rattler_build'" in done.stderr:
        pytest.skip("skipped: rattler-build is not installed: pip install py-rattler-build")
    rendered = [line.split("|") for line in done.stdout.splitlines()]
    assert [line[-1] for line in rendered] == ["mpich", "openmpi"], done.stderr
    for version, _, *run in rendered:
        assert version == VERSION
        assert {text.replace(" ", "") for text in run[:-1]} == set(PROJECT["dependencies"])
