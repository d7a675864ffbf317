"""The documentation site builds without a warning and without a network, and its reference leaves no public name out."""

import importlib
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import click
import griffe
import pytest
from declarations import declarations, undocumented

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))

import pages  # noqa: E402

LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}
FOR_PEOPLE = {"canonical"}  # relations that no browser follows by itself


class Loads(HTMLParser):
    """What a browser fetches for a page by itself."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("rel") not in FOR_PEOPLE:
            self.found += [value for name, value in attributes if (tag, name) in LOADED and value]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Built with warnings as errors: a link or an anchor that leads nowhere, a page that is in no menu."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder], cwd=ROOT,
                          capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_pages_load_nothing_from_outside(site):
    pages = list(site.rglob("*.html"))
    outside = {(page.name, place) for page in pages for place in Loads(page.read_text()).found if re.match(r"(https?:)?//", place)}
    assert len(pages) > 40 and outside == set()
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )['\"]?(?:https?:)?//", styles) == []


def test_what_pages_load_is_there(site):
    missing = {(page.name, place) for page in site.rglob("*.html") for place in Loads(page.read_text()).found
               if not place.startswith("data:") and not (page.parent / place.partition("?")[0].partition("#")[0]).exists()}
    assert {entry for entry in missing if entry[0] != "404.html"} == set()


def test_the_search_works_on_pages_that_are_read_as_files(site):
    chromium = shutil.which("chromium") or pytest.skip("skipped: chromium is not installed (Debian: apt install chromium)")
    shown = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000", "--dump-dom",
                            f"file://{site}/index.html?q=timeout"], capture_output=True, text=True, timeout=120).stdout
    assert re.search(r"[1-9]\d* matching documents", shown)


@pytest.mark.parametrize(("page", "name"), [("python", "CartesianDomain"), ("cpp", "ExchangeOptions"), ("c", "phl_exchange_forward"),
                                            ("fortran", "halo_exchange"), ("commands", "parhelion bench halo")])
def test_the_reference_of_every_language_is_on_the_site(site, page, name):
    assert name in (site / "reference" / f"{page}.html").read_text()


def documented_in_python():
    """Names on the page, as `::: parhelion.Exchange`; modules among them."""
    return re.findall(r"^::: ([\w.]+)", (ROOT / "docs" / "reference" / "python.md").read_text(), re.MULTILINE)


def test_every_public_name_of_python_is_documented():
    root = griffe.load("parhelion", search_paths=[str(ROOT / "python")], resolve_aliases=True)
    things = {name: root if name == "parhelion" else root[name.removeprefix("parhelion.")] for name in documented_in_python()}
    bare = [name for name, thing in things.items() if thing.docstring is None and not thing.is_attribute]
    methods = {f"{name}.{key}": member for name, thing in things.items() if thing.is_class for key, member in thing.members.items()
               if not key.startswith("_") and member.is_function}
    assert len(things) > 60 and len(methods) > 60 and bare + [name for name, method in methods.items() if method.docstring is None] == []


def test_every_public_name_of_cpp_and_c_is_documented():
    headers = [*(pages.INCLUDE / "parhelion").rglob("*.hpp"), *(pages.INCLUDE / "parhelion" / name for name in ("phl.h", "placement/c_interface.h"))]
    assert len(headers) > 40 and [name for header in headers for name in undocumented(header)] == []


def test_every_public_procedure_of_fortran_is_documented():
    codes = [pages.fortran_interface(pages.FORTRAN / f"{name}.fypp")[1] for name in pages.MODULES]
    public = set(re.findall(r"\w+", " ".join(re.findall(r"^  public :: (.*)$", codes[0], re.MULTILINE))))
    found = {name: above for code in codes for above, name in re.findall(r"^( *!>)?.*\n *(?:pure |elemental |recursive )*(?:subroutine|(?:[\w()=]+ )?function|type ::) (\w+)", code, re.MULTILINE)}
    assert len(public) > 20 and [name for name in public & set(found) if not found[name]] == []


def test_every_command_and_option_has_a_help():
    from parhelion.cli.main import root as root_command

    def bare(context):
        command = context.command
        yield from [context.command_path] * (not command.help)
        yield from (f"{context.command_path} {option.opts[-1]}" for option in command.params
                    if isinstance(option, click.Option) and not option.hidden and not option.help)
        for name in command.list_commands(context) if isinstance(command, click.Group) else ():
            yield from bare(click.Context(command.get_command(context, name), info_name=name, parent=context))

    assert list(bare(click.Context(root_command, info_name="parhelion"))) == []


@pytest.mark.parametrize("package", ["parhelion", "parhelion.placement", "parhelion.launch", "parhelion.mesh"])
def test_the_reference_of_python_has_every_name_that_is_exported(package, site):
    exported = importlib.import_module(package).__all__
    shown = {name.rpartition(".")[2] for name in documented_in_python() if name.startswith(f"{package}.")}
    assert set(exported) <= shown
    page = (site / "reference" / "python.html").read_text()
    assert [name for name in documented_in_python() if f'id="{name}"' not in page] == []


def test_the_reference_of_c_has_every_function_of_the_header():
    header = ROOT / "include" / "parhelion" / "phl.h"
    named = set(re.findall(r"^(?:int|const char\*) (phl_\w+)\(", header.read_text(), re.MULTILINE))
    assert named and named <= {name for entry in declarations(header) for name in entry.names}
    assert [name for name in named if f" {name}(" not in pages.header_interface(header.read_text())[1]] == []


@pytest.mark.parametrize(("text", "missing"), [
    ("int bare();", ["bare"]),
    ("/// Said.\nint told();\n\nint bare();", ["bare"]),
    ("/// Said of both.\nint one();\nint two();", []),
    ("/// A class.\nclass A {\npublic:\n    int plain() const;\n    void act(int x);\nprivate:\n    int hidden(int);\n};", ["A::act"]),
    ("struct B {\n    int x;  ///< said\n};", ["B"]),
    ("namespace detail {\nint inner();\n}", []),
    ("/// Said.\ntemplate <class T>\nT made(int x) { return {}; }\ntemplate <class T> concept Bare = true;", []),
])
def test_names_without_a_comment_are_found(tmp_path, text, missing):
    header = tmp_path / "a.hpp"
    header.write_text(f"// A header.\n#pragma once\n\n{text}\n")
    assert [name.split()[-1] for name in undocumented(header)] == missing


def test_every_environment_variable_is_on_its_page():
    page = (ROOT / "docs" / "environment.md").read_text()
    sources = [path for folder in ("src", "c", "python/parhelion") for path in (ROOT / folder).rglob("*") if path.suffix in {".cpp", ".hpp", ".py"}]
    named = {name for path in sources if "_builds" not in path.parts for name in re.findall(r'"(PARHELION_[A-Z_]+)"', path.read_text())} - {"PARHELION_FLAVOR"}  # in records of before
    assert len(named) > 15 and sorted(name for name in named if f"`{name}`" not in page) == []


@pytest.mark.parametrize(("page", "least"), [("docs/tour.md", 20), ("CONTRIBUTING.md", 2)])
def test_names_of_the_tour_are_in_the_files_that_it_leads_to(page, least):
    found = re.findall(r"\[`([\w:]+)`\]\((?:\.\./)?([\w./]+)\)", (ROOT / page).read_text())
    assert len(found) >= least
    assert [name for name, path in found if not re.search(rf"\b{name.split('::')[-1]}\b", (ROOT / path).read_text() + Path(path).stem)] == []
