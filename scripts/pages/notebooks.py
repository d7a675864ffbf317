"""Executed notebooks as pages: cells as they are, what came out of them below."""

import json
from pathlib import Path
from typing import Any


def pages(root: Path) -> dict[str, str]:
    """The page of every notebook under docs/notebooks, by its name."""
    return {file.stem: page(file) for file in sorted((root / "docs" / "notebooks").glob("*.ipynb"))}


def page(file: Path) -> str:
    """A notebook in Markdown; a link to itself stands below its title."""
    parts: list[str] = []
    for cell in json.loads(file.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else _fenced(source, "bash" if source.startswith("%%bash") else "python"))
        parts += [_output(each) for each in cell.get("outputs", ())]
    title, _, rest = parts[0].partition("\n")
    link = f"This page is an executed notebook: [{file.name}]({file.name})."
    return "\n\n".join([title, rest.strip(), link, *filter(None, parts[1:])]) + "\n"


def _output(output: dict[str, Any]) -> str:
    shown = output.get("data", {})
    if "text/html" in shown:
        return "".join(shown["text/html"])
    text = "".join(output.get("text") or shown.get("text/plain") or ())
    return _fenced(text.rstrip("\n"), "text") if text.strip() else ""


def _fenced(text: str, language: str) -> str:
    return f"````{language}\n{text}\n````"
