"""Lists every test that was skipped, with its reason, from the JUnit files of CTest and pytest.

Usage: skips.py [--expected FILE] JUNIT... With FILE, a list of regular expressions, skips that none of them matches fail. A Python test that ran
in one of pytest's files was not skipped, whatever the others say. Packages that reasons name are listed at the end.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

PACKAGES = re.compile(r"\(Debian: apt install ([^)]+)\)")
WITHIN = re.compile(r"\bskipped: (.+)")  # a part of a program that ran, or all of one with CTest's status for it


class Skip(NamedTuple):
    """One test of a suite, `build/<suite>/<tool>.xml`; without a reason it ran."""

    suite: str
    test: str
    reason: str

    def __str__(self) -> str:
        return ": ".join(self)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--expected", type=Path)
    parser.add_argument("junit", type=Path, nargs="*")
    options = parser.parse_args()
    tests = {test for file in options.junit if file.exists() for test in tests_in(file)}
    ran = {each.test for each in tests if not each.reason and each.suite.endswith("pytest")}
    found = sorted(each for each in tests if each.reason and not (each.suite.endswith("pytest") and each.test in ran))
    lines = options.expected.read_text().splitlines() if options.expected else []
    wanted = [re.compile(line.strip()) for line in lines if line.strip() and not line.startswith("#")]
    unexpected = [skip for skip in found if options.expected and not any(each.search(str(skip)) for each in wanted)]
    print_skips("Skipped", [skip for skip in found if skip not in unexpected])
    print_skips(f"Skipped, and not in {options.expected}: install what is missing, or add the reason there", unexpected)
    packages = Counter(package for skip in found for told in PACKAGES.findall(skip.reason) for package in told.split())
    if packages:
        print(f"\n=== More tests run with: apt install {' '.join(package for package, _ in packages.most_common())}")
    return 1 if unexpected else 0


def tests_in(file: Path) -> Iterator[Skip]:
    for case in ElementTree.parse(file).iter("testcase"):
        place, name = case.get("classname", ""), case.get("name", "")
        for reason in reasons(case) or [""]:
            yield Skip(f"{file.parent.name} {file.stem}", name if place in ("", name) else f"{place}.{name}", reason)


def reasons(case: ElementTree.Element) -> list[str]:
    output = "\n".join(case.findtext(tag) or "" for tag in ("system-out", "system-err"))
    told = [" ".join(reason.split()) for reason in WITHIN.findall(output)] if case.find("failure") is None else []
    mark = case.find("skipped")
    if mark is not None and not told:
        told = [(mark.get("message") or "").removeprefix("skipped: ") or "no reason given"]
    return told


def print_skips(title: str, found: list[Skip]) -> None:
    met: dict[tuple[str, str], list[str]] = {}
    for skip in found:
        met.setdefault((skip.suite, skip.reason), []).append(skip.test)
    if met:
        print(f"\n=== {title}")
    for (suite, reason), tests in met.items():
        more = f" and {len(tests) - 3} more" if len(tests) > 3 else ""
        print(f"{suite}: {', '.join(tests[:3])}{more}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
