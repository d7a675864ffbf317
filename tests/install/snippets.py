"""What pages show: files to be written, commands with the output that they must have, and fragments that go on from each other.

A block that begins with a comment that is a file's name is that file; `NAME, continued` goes on with it. A block that begins with the comment
`before:` is what readers have, and is shown alone.
"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"(?:#|//|!|/\*) ([\w.]+\.\w+)(, continued)?(?: \*/)?\n")
BEFORE = re.compile(r"(?:#|//|!) before: ")
WITH_EXAMPLES = ("docs/start.md",)  # the first programs that one sees


def blocks(page: str, *languages: str) -> list[str]:
    """Texts of all blocks of some languages."""
    return [text for name, text in BLOCK.findall((ROOT / page).read_text()) if name in languages]


def files(*pages: str) -> dict[str, str]:
    """Files that pages show, in pieces or whole; where two pages show the same one, it is equal."""
    found: dict[str, str] = {}
    for page in pages or WITH_EXAMPLES:
        here: dict[str, str] = {}
        for _, text in BLOCK.findall((ROOT / page).read_text()):
            if match := NAMED.match(text):
                assert bool(match[2]) == (match[1] in here), f"{page}: {match[0].strip()}"
                here[match[1]] = here.get(match[1], "") + text
        for name, text in here.items():
            assert found.setdefault(name, text) == text, f"{page} shows another {name}"
    return found


def runs(page: str) -> list[tuple[str, list[str]]]:
    """Commands of a page, and the lines that it shows below each."""
    shown: list[tuple[str, list[str]]] = []
    for line in "".join(blocks(page, "console")).splitlines():
        if line.startswith("$ "):
            shown.append((line[2:], []))
        else:
            shown[-1][1].append(line)
    return shown


def promised_output(program: str) -> list[str]:
    """Lines that a page shows below the command that runs `program`."""
    found = [output for page in WITH_EXAMPLES for command, output in runs(page) if command.endswith(program)]
    if not found:
        raise LookupError(f"no page shows a run of {program}")
    assert all(output == found[0] for output in found)
    return found[0]


def write_files(directory: Path, *names: str) -> None:
    for name in names:
        (directory / name).write_text(files()[name])
