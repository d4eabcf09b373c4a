# SPDX-License-Identifier: Apache-2.0
import os

from spack_repo.builtin.build_systems.makefile import MakefilePackage

from spack.package import *

# The root of the tree that contains this recipe: `make dist` there writes the tarball.
_TREE = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 6))


class Ringscope(MakefilePackage):
    """Recorder (a NCCL profiler plugin) and analyser for NCCL jobs: which rank is slow, who waits for whom, why a
    job hangs. Also reads traces of other tools."""

    url = f"file://{_TREE}/build/ringscope-0.1.0.tar.gz"

    license("Apache-2.0", checked_by="ringscope")

    version("0.1.0")

    variant("otf2", default=True, description="Export to OTF2")
    variant("serve", default=True, description="The timeline of large runs in a browser, by a local server")
    variant("sqlite", default=True, description="SQL on traces; exports of Nsight Systems")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("xxhash", type="build")
    # The plugin contains its own copy of zstd.
    depends_on("zstd libs=static,shared", type="build")
    depends_on("zlib-api")
    depends_on("sqlite@3.8.3:", when="+sqlite")
    depends_on("libevent@2.1:", when="+serve")
    depends_on("otf2@3:", when="+otf2")

    conflicts("platform=darwin", msg="NCCL is for Linux")
    conflicts("platform=windows", msg="NCCL is for Linux")

    @property
    def build_targets(self):
        return [f"CC={spack_cc}", *self._left_out(), "all"]

    @property
    def install_targets(self):
        return [f"CC={spack_cc}", *self._left_out(), f"PREFIX={self.prefix}", "install"]

    def _left_out(self):
        parts = {"otf2": "OTF2", "serve": "LIBEVENT", "sqlite": "SQLITE"}
        absent = [part for variant, part in parts.items() if f"+{variant}" not in self.spec]
        return [f"WITHOUT={' '.join(absent)}"] if absent else []
