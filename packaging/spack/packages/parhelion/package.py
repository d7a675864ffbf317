import os

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Parhelion(CMakePackage):
    """Halo exchange for structured grids and index maps: the library for C++, C and Fortran, and its measuring program."""

    # There is no public address: `make sdist` in a checkout makes the file, which is looked for in the current folder.
    manual_download = True
    license("MIT")
    version("0.1.0")

    variant("shared", default=True, description="Build the shared library, else the static one")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("bench", default=False, description="Build the measuring program phl-bench")
    variant("ucx", default=True, description="Have the transport ucx")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("py-fypp@3:", type="build", when="+fortran")
    depends_on("cmake@3.24:", type="build")
    depends_on("mpi")
    depends_on("ucx", when="+ucx")
    depends_on("nlohmann-json@3.10:", type="build", when="+bench")

    conflicts("%gcc@:11", msg="Parhelion needs C++20 of GCC 12")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/parhelion-{version}.tar.gz"

    def cmake_args(self):
        return [
            self.define("MPI_HOME", self.spec["mpi"].prefix),
            self.define("PARHELION_BUILD_TESTS", False),
            self.define("PARHELION_STATIC", self.spec.satisfies("~shared")),
            self.define_from_variant("PARHELION_BUILD_FORTRAN", "fortran"),
            self.define_from_variant("PARHELION_BUILD_BENCH", "bench"),
            self.define_from_variant("PARHELION_UCX", "ucx"),
        ]
