"""A folder with more than a few files says at its door what belongs in it and what does not."""

import ast
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_WITHOUT_A_DOOR = 5
LEAST_SENTENCES = 2


def folders() -> list[Path]:
    """Folders of the repository with many files of their own."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in listed.split("\0") if name]
    counts = Counter(file.parent for file in files if (ROOT / file).exists())
    return [folder for folder, count in counts.items() if count > MOST_WITHOUT_A_DOOR and folder.parts]


def door(folder: Path) -> str:
    """What stands at the door: a README, a package's docstring, or the index of the documentation."""
    for name in ("README.md", "index.md"):
        if (folder / name).exists():
            return (folder / name).read_text().partition("\n")[2]
    package = folder / "__init__.py"
    return (ast.get_docstring(ast.parse(package.read_text())) or "") if package.exists() else ""


def test_every_folder_with_many_files_says_what_belongs_in_it():
    many = folders()
    assert len(many) > 30, "git lists the files"
    assert [str(folder) for folder in many if door(ROOT / folder).count(".") < LEAST_SENTENCES] == []


def test_a_folder_without_a_door_is_found(tmp_path):
    assert door(tmp_path) == ""
    (tmp_path / "README.md").write_text("# name\n\nThis belongs here. That does not.\n")
    assert door(tmp_path).count(".") == LEAST_SENTENCES
