"""Lists every test that was skipped, with its reason, from the JUnit files of CTest and pytest.

Usage: skips.py [--expected FILE] JUNIT... With FILE, a list of regular expressions, skips that none of them matches fail; so does a
reason that nobody gave. A Python test that ran in one of pytest's files was not skipped, whatever the others say.
Packages that reasons name are listed at the end.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

PACKAGES = re.compile(r"\(Debian: apt install ([^)]+)\)")
WITHIN = re.compile(r"\bskipped: (.+)")  # a part of a program that ran, or all of one with CTest's status for it


class Skip(NamedTuple):
    suite: str
    test: str
    reason: str

    def __str__(self) -> str:
        return f"{self.suite}: {self.test}: {self.reason}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--expected", type=Path)
    parser.add_argument("junit", type=Path, nargs="*")
    options = parser.parse_args()
    files = [file for file in options.junit if file.exists()]
    ran = {test for file in files if file.stem == "pytest" for test in ran_in(file)}
    found = sorted({skip for file in files for skip in skips(file) if file.stem != "pytest" or skip.test not in ran})
    wanted = [] if options.expected is None else patterns(options.expected)
    unexpected = [skip for skip in found if options.expected and not any(each.search(str(skip)) for each in wanted)]
    print_skips("Skipped", [skip for skip in found if skip not in unexpected])
    print_skips(f"Skipped, and not in {options.expected}: install what is missing, or add the reason there", unexpected)
    print_packages(found)
    return 1 if unexpected else 0


def skips(file: Path) -> list[Skip]:
    """Those of one file, `build/<suite>/<tool>.xml`."""
    suite = f"{file.parent.name} {file.stem}"
    return [Skip(suite, name_of(case), reason) for case in ElementTree.parse(file).iter("testcase") for reason in reasons(case)]


def ran_in(file: Path) -> set[str]:
    """Tests of one file that have no reason to be called skipped."""
    return {name_of(case) for case in ElementTree.parse(file).iter("testcase") if not list(reasons(case))}


def name_of(case: ElementTree.Element) -> str:
    place, name = case.get("classname", ""), case.get("name", "")
    return name if place == name or not place else f"{place}.{name}"


def reasons(case: ElementTree.Element) -> list[str]:
    output = "\n".join(case.findtext(tag) or "" for tag in ("system-out", "system-err"))
    told = [" ".join(reason.split()) for reason in WITHIN.findall(output)] if case.find("failure") is None else []
    mark = case.find("skipped")
    if mark is not None and not told:
        told = [(mark.get("message") or "").removeprefix("skipped: ") or "no reason given"]
    return list(dict.fromkeys(told))


def patterns(file: Path) -> list[re.Pattern[str]]:
    lines = (line.strip() for line in file.read_text().splitlines())
    return [re.compile(line) for line in lines if line and not line.startswith("#")]


def print_packages(found: list[Skip]) -> None:
    """The packages of Debian that more tests need, those of the most tests first."""
    wanted = Counter(package for skip in found for told in PACKAGES.findall(skip.reason) for package in told.split())
    if wanted:
        print(f"\n=== More tests run with: apt install {' '.join(package for package, _ in wanted.most_common())}")


def print_skips(title: str, found: list[Skip]) -> None:
    """One line per reason and suite, with the tests that it met."""
    if not found:
        return
    print(f"\n=== {title}")
    met: dict[tuple[str, str], list[str]] = {}
    for skip in found:
        met.setdefault((skip.suite, skip.reason), []).append(skip.test)
    for (suite, reason), tests in met.items():
        more = f" and {len(tests) - 3} more" if len(tests) > 3 else ""
        print(f"{suite}: {', '.join(tests[:3])}{more}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
