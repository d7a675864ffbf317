"""What a reference says of the names of one source file, whatever its language: entries of declarations that share a comment."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from textwrap import dedent

FOR_MEMBERS = 4  # headings of members would fill the table of contents


@dataclass
class Entry:
    """Declarations without a blank line or a comment between them, and the comment above or beside."""

    names: list[str]
    code: str
    text: str
    line: int
    plain: list[str] = field(default_factory=list)  # values, constructors, questions without arguments: the comment of the class may cover them
    members: list[Entry] = field(default_factory=list)

    def takes(self, other: Entry) -> bool:
        """Whether a declaration right below belongs to this entry."""
        return not (other.text or other.members or self.members)

    def add(self, other: Entry) -> None:
        self.names += other.names
        self.code += "\n" + other.code
        self.plain += other.plain

    def undocumented(self) -> list[str]:
        """Names that no comment says anything of, those of members included."""
        own = [] if self.text else self.names
        inner = [(name, member.plain) for member in self.members for name in member.undocumented()]
        return [*own, *(f"{self.names[0]}::{name}" for name, plain in inner if not (self.text and name in plain))]

    def markdown(self, language: str, level: int) -> str:
        """A heading, unless it is a member; code, text, and members."""
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(self.names))
        title = f"{'#' * level} {names}\n\n" if level < FOR_MEMBERS else ""
        inner = "".join(member.markdown(language, FOR_MEMBERS) for member in self.members)
        return f"{title}```{{.{language} .signature}}\n{dedent(self.code).strip()}\n```\n\n{self.text}\n\n{inner}"


def prose(lines: Iterable[str]) -> str:
    """A comment's lines as Markdown: stars and angles of prose stay what they are; code, indented or between backticks, is left alone."""
    text = "\n".join(line if line.startswith("    ") else re.sub(r"`[^`]*`|[*<]", lambda found: found[0] if len(found[0]) > 1 else f"\\{found[0]}", line)
                     for line in lines)  # fmt: skip
    return text.strip("\n")


@dataclass
class SourceFile:
    """A header or a module, what its first comment says, and its entries."""

    path: str
    text: str
    entries: list[Entry]

    def undocumented(self) -> list[str]:
        return [f"{self.path}:{entry.line} {name}" for entry in self.entries for name in entry.undocumented()]

    def markdown(self, language: str) -> str:
        entries = "".join(entry.markdown(language, 3) for entry in self.entries)
        return f"## {self.path}\n\n{self.text}\n\n{entries}"
