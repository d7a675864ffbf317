"""What the README shows: files to be written, and commands with the output that they must have."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """Texts of all blocks of a language."""
    return [text for name, text in BLOCK.findall(README) if name == language]


def files() -> dict[str, str]:
    """Blocks whose first line is a comment with a file's name."""
    named = ((re.match(r"(?:#|//|!|/\*) ([\w.]+)", text), text) for _, text in BLOCK.findall(README))
    return {match[1]: text for match, text in named if match and "." in match[1]}


def promised_output(program: str) -> list[str]:
    """Lines that the README shows below the command that runs `program`."""
    for text in blocks("console"):
        command, *output = text.splitlines()
        if command.split()[-1].endswith(program):
            return output
    raise LookupError(f"README.md shows no run of {program}")


def write_files(directory: Path, *names: str) -> None:
    for name in names:
        (directory / name).write_text(files()[name])
