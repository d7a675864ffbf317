"""Each stage of the C++ library includes only stages before it, and no files include each other in a circle."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("core", "domain", "pattern", "plan", "transport", "exchange")  # each includes those before it
ON_TOP = {
    "index_map": STAGES,
    "redistribution": (*STAGES, "index_map"),
    "placement": ("core", "pattern"),
    "c": (*STAGES, "index_map", "redistribution", "placement"),
    "bench": (*STAGES, "index_map", "placement"),
}
MAY_INCLUDE = {stage: STAGES[:k] for k, stage in enumerate(STAGES)} | ON_TOP
FOR_USERS = {"parhelion.hpp", "phl.h"}  # all of C++; what `c` implements
HEADERS_OF_C = {("c", "phl.h"), ("phl.h", "core")}  # the latter for the table of element types and reductions
SEARCHED = ("include", "src", "bench", "bench/libraries", "examples/applications")  # besides the folder of the file that includes
CONFIGURED = {"parhelion/version.hpp": "cmake/version.hpp.in", "environment_names.hpp": "bench/environment_names.hpp.in",
              "exchange_lines.hpp": "bench/apps/count_lines.py", "plan/device/kernel.hip.inc": "src/plan/device/kernel.hip.tar.xz"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<(parhelion/[^>\n]+)>)', re.MULTILINE)
SOURCE = re.compile(r".*\.(c|cpp|h|hpp|inl)")


def includes(root: Path) -> tuple[dict[Path, set[Path]], list[str]]:
    """For every file what it includes of the repository, and includes that lead nowhere."""
    files = [path for top in ("include", "src", "c", "bench") for path in sorted((root / top).rglob("*")) if SOURCE.fullmatch(path.name)]
    found: dict[Path, set[Path]] = {path: set() for path in files}
    lost = []
    for path in files:
        for quoted, angled in INCLUDE.findall(path.read_text(encoding="utf-8")):
            name = quoted or angled
            places = [path.parent, *(root / folder for folder in SEARCHED)]
            target = next((place / name for place in places if (place / name).is_file()), None)
            if target and "examples" not in target.parts:
                found[path].add(target.resolve())
            elif not target and name not in CONFIGURED:
                lost.append(f"{path.relative_to(root)}: {name}")
    return found, lost


def room_of(path: Path, root: Path) -> str:
    """A stage, or what stands on top; headers for users bear their own name."""
    parts = path.relative_to(root).parts
    return parts[{"include": 2, "src": 1}.get(parts[0], 0)]


def against_the_order(found: dict[Path, set[Path]], root: Path) -> list[str]:
    wrong = []
    for path, targets in found.items():
        for target in targets:
            here, there = room_of(path, root), room_of(target, root)
            allowed = here == there or here == "parhelion.hpp" or there in MAY_INCLUDE.get(here, ()) or (here, there) in HEADERS_OF_C
            if not allowed:
                wrong.append(f"{path.relative_to(root)} → {target.relative_to(root)}")
    return wrong


def circle(found: dict[Path, set[Path]]) -> list[str]:
    """One circle of files, if there is any."""
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return [str(path) for path in error.args[1]]
    return []


FOUND, LOST = includes(ROOT)


def test_every_include_of_the_repository_leads_somewhere():
    assert LOST == []
    assert [template for template in CONFIGURED.values() if not (ROOT / template).is_file()] == []


def test_every_file_is_in_a_room():
    rooms = {room_of(path, ROOT) for path in FOUND}
    assert rooms == set(MAY_INCLUDE) | FOR_USERS, "add the room to the table, where it stands in the order"


def test_stages_include_only_those_before_them():
    assert against_the_order(FOUND, ROOT) == []


def test_no_files_include_each_other_in_a_circle():
    assert circle(FOUND) == []


def test_what_is_installed_includes_only_what_is_installed():
    """Headers under include/ go to users, those under src/ stay here."""
    public = ROOT / "include"
    assert [f"{path} → {target}" for path, targets in FOUND.items() if path.is_relative_to(public)
            for target in targets if not target.is_relative_to(public)] == []


@pytest.fixture
def planted(tmp_path):
    """The same folders with a header each; files can be written into them."""

    def write(**files: str) -> dict[Path, set[Path]]:
        for room in MAY_INCLUDE:
            folder = tmp_path / (room if room in ("c", "bench") else f"src/{room}")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "some.hpp").touch()
            (tmp_path / "include" / "parhelion" / room).mkdir(parents=True, exist_ok=True)
            (tmp_path / "include" / "parhelion" / room / "some.hpp").touch()
        for name, text in files.items():
            (tmp_path / f"{name.replace('__', '/')}.hpp").write_text(text)
        return includes(tmp_path)[0]

    return write


@pytest.mark.parametrize(("file", "text"), [
    ("src__plan__a", '#include "exchange/some.hpp"'),
    ("src__core__a", "#include <parhelion/domain/some.hpp>"),
    ("src__domain__a", '#ifdef NEVER\n  #  include "../pattern/some.hpp"\n#endif'),
    ("include__parhelion__exchange__a", '#include "parhelion/placement/some.hpp"'),
    ("src__placement__a", '#include "plan/some.hpp"'),
    ("src__exchange__a", '#include "../../bench/some.hpp"'),
])
def test_a_planted_include_against_the_order_is_found(planted, tmp_path, file, text):
    assert len(against_the_order(planted(**{file: text}), tmp_path)) == 1


def test_a_planted_include_in_the_order_is_not_found(planted, tmp_path):
    assert against_the_order(planted(src__exchange__a='#include "plan/some.hpp"\n// #include "index_map/some.hpp"'), tmp_path) == []


def test_a_planted_circle_is_found(planted):
    assert circle(planted(src__plan__a='#include "b.hpp"', src__plan__b='#include "plan/a.hpp"')) != []
