"""Every partition set in FOLDER, and new random ones, through every language: run_all.py FOLDER [--seed N] [--ranks 3,17,144].

Uses the programs that `make test` has built for the build built last. Exit status 1 when a value was wrong.
"""

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))

from parhelion.launch import default_build, run  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))

import random_sets  # noqa: E402


def programs(build):
    built = ROOT / "build" / build.name / "tests" / "interfaces"
    found = {name: [built / f"check_sets_{name}"] for name in ("cpp", "c", "fortran")}
    found["python"] = [ROOT / ".venv/bin/python", Path(__file__).with_name("check_sets.py")]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--ranks", default="1,2,3,7,16,48,144")
    given = parser.parse_args()
    build, failed = default_build(), 0
    with tempfile.TemporaryDirectory() as place:
        sys.argv[1:] = [str(given.seed), place, *given.ranks.split(",")]
        random_sets.main()
        sets = [each for each in sorted([*given.folder.glob("*-*"), *Path(place).iterdir()]) if re.search(r"-\d+$", each.name)]
        for each in sorted(sets, key=lambda folder: int(folder.name.rpartition("-")[2])):
            for language, command in programs(build).items():
                lines: list[str] = []
                done = run(int(each.name.rpartition("-")[2]), command[0], [*command[1:], each], build=build, timeout=400, on_line=lines.append)
                good = done.ok and any(line.endswith(": right") for line in lines)
                failed += not good
                print(f"{each.name:20} {language:8} {'right' if good else 'WRONG: ' + ' | '.join(lines[-3:])} {done.seconds:6.1f} s", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
