import os

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyParhelion(PythonPackage):
    """Halo exchange for structured grids and index maps: the Python package, with the library for one MPI inside."""

    # There is no public address: `make sdist` in a checkout makes the file, which is looked for in the current folder.
    manual_download = True
    license("MIT")
    version("0.1.0")

    variant("bench", default=False, description="Build the measuring program, and have the packages of the command line")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@1.1:", type="build")
    depends_on("py-nanobind@2.12:2", type="build")
    depends_on("nlohmann-json@3.10:", type="build", when="+bench")
    depends_on("mpi")
    depends_on("ucx")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-mpi4py@4.1:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-click@8.1:", type=("build", "run"))
    for requirement in ("msgspec@0.20:", "rich@13:", "scipy@1.11:", "uncertainties@3.2:"):
        depends_on(f"py-{requirement}", type="run", when="+bench")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/parhelion-{version}.tar.gz"

    def setup_build_environment(self, env):
        env.set("MPICXX", self.spec["mpi"].mpicxx)

    def config_settings(self, spec, prefix):
        return {"cmake.define.PARHELION_BUILD_BENCH": "ON" if spec.satisfies("+bench") else "OFF"}
