"""Source archives are unpacked below their own folder, by any Python from 3.11 on, or not at all."""

import importlib.util
import io
import os
import tarfile
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "get_source.py"


@pytest.fixture
def get_source(monkeypatch):
    """The script, under a tarfile that knows no filters, as Debian 12's does not."""
    for name in ("data_filter", "tar_filter", "fully_trusted_filter"):
        monkeypatch.delattr(tarfile, name, raising=False)
    without = tarfile.TarFile.extractall

    def extractall(self, path=".", members=None, *, numeric_owner=False):
        return without(self, path, members, numeric_owner=numeric_owner)

    monkeypatch.setattr(tarfile.TarFile, "extraction_filter", staticmethod(lambda member, path: member), raising=False)  # what newer ones take for none
    monkeypatch.setattr(tarfile.TarFile, "extractall", extractall)
    spec = importlib.util.spec_from_file_location("get_source", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def archive(folder, *members):
    """`pkg-1.tar.gz` with a harmless file and what is given: names, with a kind and what it links to."""
    path = folder / "pkg-1.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name, kind, target, mode in (("pkg-1/a.txt", tarfile.REGTYPE, "", 0o644), *members):
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode, info.uid, info.gid = kind, target, mode, 12345, 12345
            content = b"hello" if kind == tarfile.REGTYPE else b""
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def everything(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_files_and_folders_are_unpacked_as_ordinary_ones(tmp_path, get_source):
    path = archive(tmp_path, ("pkg-1/bin", tarfile.DIRTYPE, "", 0o700), ("pkg-1/bin/run", tarfile.REGTYPE, "", 0o4755))
    get_source.unpack(path, tmp_path / "pkg-1")
    assert everything(tmp_path / "pkg-1") == ["a.txt", "bin", "bin/run"]
    made = os.stat(tmp_path / "pkg-1" / "bin" / "run")
    assert made.st_mode & 0o7777 == 0o755 and made.st_uid == os.getuid()
    assert everything(tmp_path)[-1] == "pkg-1/bin/run" and not (tmp_path / ".pkg-1.part").exists()


@pytest.mark.parametrize("member", [
    ("/tmp/planted", tarfile.REGTYPE, "", 0o644), ("../planted", tarfile.REGTYPE, "", 0o644), ("pkg-1/../../planted", tarfile.REGTYPE, "", 0o644),
    ("other/planted", tarfile.REGTYPE, "", 0o644), ("pkg-1/link", tarfile.SYMTYPE, "/etc", 0o777), ("pkg-1/hard", tarfile.LNKTYPE, "/etc/passwd", 0o644),
    ("pkg-1/near", tarfile.SYMTYPE, "a.txt", 0o777), ("pkg-1/pipe", tarfile.FIFOTYPE, "", 0o644), ("pkg-1/disk", tarfile.BLKTYPE, "", 0o644),
    ("pkg-1/tty", tarfile.CHRTYPE, "", 0o644),
])  # fmt: skip
def test_an_archive_that_reaches_outside_is_refused_as_a_whole(tmp_path, get_source, member):
    (tmp_path / "in").mkdir()
    path = archive(tmp_path / "in", member)
    before = everything(tmp_path)
    with pytest.raises(SystemExit, match="nothing was unpacked"):
        get_source.unpack(path, tmp_path / "in" / "pkg-1")
    assert everything(tmp_path) == before
    assert not Path("/tmp/planted").exists()


def test_what_an_interrupted_call_left_is_replaced(tmp_path, get_source):
    path = archive(tmp_path)
    (tmp_path / ".pkg-1.part" / "pkg-1").mkdir(parents=True)
    (tmp_path / ".pkg-1.part" / "pkg-1" / "left").touch()
    get_source.unpack(path, tmp_path / "pkg-1")
    assert everything(tmp_path / "pkg-1") == ["a.txt"]
