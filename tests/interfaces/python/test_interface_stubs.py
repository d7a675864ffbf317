"""Stubs and docstrings say what is there."""

import ast
from pathlib import Path

import parhelion
import pytest
from program_runs import python_builds, run_python

PACKAGE = Path(parhelion.__file__).parent

UNDOCUMENTED = """
import inspect
import parhelion as ph

def missing(name, value):
    if not inspect.getdoc(value):
        yield name
    if inspect.isclass(value):
        for key, member in vars(value).items():
            public = not key.startswith("_") and (callable(member) or isinstance(member, (property, classmethod)))
            if public and not inspect.getdoc(getattr(value, key)):
                yield f"{name}.{key}"

print("MISSING", [text for name in ph.__all__ for text in missing(name, getattr(ph, name))])
"""


@pytest.mark.parametrize("build", python_builds(), ids=lambda build: build.name)
def test_a_build_has_a_stub_of_its_native_module(build):
    told = {node.name for node in ast.parse((build.directory / "_core.pyi").read_text()).body if isinstance(node, ast.ClassDef)}
    assert {"Exchange", "IndexMap", "PointSums", "Redistribution", "Step"} <= told


def test_the_stub_of_the_package_names_what_it_exports():
    imports = [node for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body if isinstance(node, ast.ImportFrom)]
    told = {alias.asname: node.module for node in imports for alias in node.names}
    assert told == parhelion._MODULES
    assert (PACKAGE / "py.typed").exists()


def test_every_public_name_can_be_had_and_has_a_docstring():
    _, output = run_python(python_builds()[0], 1, "-c", UNDOCUMENTED)
    assert "MISSING []" in output, output
