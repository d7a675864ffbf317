"""``python -m parhelion.launch.bound SONAME…`` says which MPI mpi4py would use here, and which soname it goes by: one line of JSON.

A process of its own, so that a command that only starts ranks has no MPI in it.
"""

import json
import sys

from .mpi_libraries import file_of, symbol_address


def main() -> int:
    """Status 1 and a reason on stderr where mpi4py or its MPI is missing."""
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 1
    address = symbol_address(str(MPI.__file__))
    library = str(file_of(address)) if address else ""
    soname = next((name for name in sys.argv[1:] if address and symbol_address(name) == address), "")
    print(json.dumps({"library": library, "soname": soname, "version": MPI.Get_library_version()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
