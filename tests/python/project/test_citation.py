"""What cites the project and what packages it agree with what it is."""

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_citation_has_what_the_format_asks_for():
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)
    assert CITATION["authors"] == PROJECT["authors"] and CITATION["license"] == PROJECT["license"]


def test_the_version_is_that_of_the_build_and_of_the_changelog():
    version = re.search(r"project\(parhelion VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert CITATION["version"] == version
    assert re.search(rf"^## .*\b{re.escape(version.removesuffix('.0'))}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_classifiers_name_the_pythons_that_it_needs():
    least = PROJECT["requires-python"].removeprefix(">=")
    named = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if name.startswith("Programming Language :: Python :: 3.")]
    assert min(named, key=lambda name: tuple(map(int, name.split(".")))) == least
