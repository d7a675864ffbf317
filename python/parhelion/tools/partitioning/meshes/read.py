"""Reading a mesh file in any format that meshio knows (Gmsh, VTK, VTU, Exodus, Abaqus, …)."""

import contextlib
import io
import resource
from collections.abc import Iterator
from pathlib import Path

from ..errors import MeshError
from .mesh import Mesh, mesh_from_meshio

# A reader may take this many times the file's bytes, and so much more: text and compressed data grow when they are read.
MOST_GROWTH = 200
SPARE_BYTES = 2**30

# meshio carries the readers of some forty formats; it is the reader that the Python side of this
# field already uses. It ends the process when a file is bad, which a library may not pass on.


def read_mesh(path: str | Path, file_format: str | None = None) -> Mesh:
    """Read the mesh in `path`; the format follows from the suffix unless `file_format` names it.

    Local. Raises MeshError when the file is missing, empty, damaged, of an unknown format, or holds
    no cells that can be partitioned.
    """
    path = Path(path)
    _check_file(path)
    return mesh_from_meshio(_read_with_meshio(path, file_format), path.stem, path)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise MeshError(f"{path}: no such mesh file: check the path")
    if not path.is_file():
        raise MeshError(f"{path}: not a regular file: give the mesh file itself")
    if path.stat().st_size == 0:
        raise MeshError(f"{path}: the mesh file is empty: write it again")


def _read_with_meshio(path: Path, file_format: str | None):
    import meshio

    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), _memory_within(path.stat().st_size):
            return meshio.read(path, file_format)
    except MemoryError:
        raise MeshError(f"{path}: the file announces more than its {path.stat().st_size} bytes can hold, or there is not enough "
                        "memory: check that it is whole") from None  # fmt: skip
    except (Exception, SystemExit) as error:
        raise MeshError(f"{path}: {_reason(error, said.getvalue())}: {_remedy(error)}") from error


@contextlib.contextmanager
def _memory_within(file_bytes: int) -> Iterator[None]:
    """A damaged file of some bytes may announce billions of points, and readers make room for them before they look."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _address_space() + SPARE_BYTES + MOST_GROWTH * file_bytes
    limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([most, *limits]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _reason(error: BaseException, said: str) -> str:
    if isinstance(error, SystemExit):
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        return "the file cannot be read" + (f" ({' '.join(lines)})" if lines else "")
    text = " ".join(str(error).split())
    return f"the file cannot be read ({type(error).__name__}{': ' + text if text else ''})"


def _remedy(error: BaseException) -> str:
    if isinstance(error, ImportError):
        return f"install the Python package {getattr(error, 'name', None) or 'that this format needs'}"
    return "check that the file is whole and that its suffix names its format"
