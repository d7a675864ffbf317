"""Where a command writes: tables for people, one JSON document for scripts."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..launch.disk import why, writing
from . import Block, Table
from ..cli.errors import BadInput
from ..cli.lazy import options_of


class Output:
    """With `--json -` the document owns standard output, and everything for people goes to standard error."""

    def __init__(self, json_file: str | None) -> None:
        from . import terminal

        self.json_file, self._terminal = json_file, terminal
        stream = sys.stderr if json_file == "-" else sys.stdout
        self.console = terminal.console(stream)
        self.errors = terminal.console(sys.stderr)
        self._check_writable()

    def show(self, blocks: Sequence[Block]) -> None:
        """Print blocks for people."""
        self._terminal.show(self.console, blocks)

    def fits(self, table: Table) -> bool:
        """Whether a table is no wider than the terminal."""
        return self._terminal.width(self.console, table) <= self.console.width

    def paths(self, files: Sequence[Path]) -> None:
        """Say which files were written."""
        for file in files:
            self.console.print(str(file), markup=False, soft_wrap=True)

    def document(self, document: dict[str, Any]) -> None:
        """Write the JSON document where `--json` said, if it was given."""
        if self.json_file is None:
            return
        import msgspec

        text = msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=1)
        if self.json_file == "-":
            sys.stdout.write(text.decode() + "\n")
            sys.stdout.flush()
        else:
            with writing(self.json_file):
                Path(self.json_file).write_bytes(text + b"\n")

    def _check_writable(self) -> None:
        if self.json_file in (None, "-"):
            return
        file = Path(self.json_file)
        new = not file.exists()
        try:
            file.open("ab").close()
            if new:
                file.resolve().unlink()  # what fails from here on leaves no empty document behind
        except OSError as error:
            raise BadInput(f"cannot write --json {self.json_file}: {why(error, self.json_file)}") from None


# The option that every command takes.
json_option = options_of("Output")("--json", "json_file", metavar="FILE", help="Also write one JSON document; - for standard output.")
