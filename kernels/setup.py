"""Builds the kernels once for each level of the processor; one of them is chosen at the import."""

import os
import platform
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

X86 = platform.machine() in ("x86_64", "AMD64")
BUILDS = {"v2": ["-march=x86-64-v2"], "v3": ["-march=x86-64-v3"],
          "v4": ["-march=x86-64-v4", "-mprefer-vector-width=512"]} if X86 else {"portable": []}
# No -ffast-math: NaN, infinities and signed zeros are what they are. Only errno and traps, which
# nobody looks at, are given up, so that square roots and choices are vectorised.
FLAGS = ["-std=c++17", "-O3", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=fast", "-g0", "-fvisibility=hidden", "-pthread", "-Wall", "-Wextra",
         "-Wno-unknown-pragmas"]
# Where steps are taken together, each is rounded as if it were alone.
OWN_FLAGS = {f"src/{name}.cpp": ["-ffp-contract=off"] for name in ("in_place", "pairs")}
# Some of them by name, or "here": the one for this processor alone, in a third of the time.
WANTED = os.environ.get("RETROGRAD_KERNELS_BUILDS", " ".join(BUILDS)).split()
EXTRA = os.environ.get("RETROGRAD_KERNELS_FLAGS", "").split()  # sanitizers
SOURCES = sorted(str(path) for path in Path("src").glob("*.cpp") if path.name != "cpu.cpp")
PROCESSOR = "retrograd_kernels._cpu"
HEADERS = sorted(map(str, Path("src").glob("*.hpp")))


class Build(build_ext):
    """Compiles all files of all builds side by side; the objects of each build lie apart."""

    def build_extensions(self) -> None:
        if WANTED == ["here"]:
            wanted = f"retrograd_kernels._{self.best()}"
            self.extensions = [ext for ext in self.extensions if ext.name in (PROCESSOR, wanted)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [(ext, pool.submit(self.compiled, ext, source))
                    for source in self.longest_first()
                    for ext in self.extensions if source in ext.sources]
            for ext, objects in jobs:
                ext.extra_objects += objects.result()
        for ext in self.extensions:
            ext.sources = []
        self.force = True  # without sources, whatever was linked before would seem to be up to date
        super().build_extensions()

    def best(self) -> str:
        """The build for this processor, as the import will choose it."""
        self.build_extension(next(ext for ext in self.extensions if ext.name == PROCESSOR))
        spec = spec_from_file_location("_cpu", self.get_ext_fullpath(PROCESSOR))
        return module_from_spec(spec).variant()

    def longest_first(self) -> list[str]:
        return sorted({source for ext in self.extensions for source in ext.sources},
                      key=lambda source: -os.path.getsize(source))

    def compiled(self, ext: Extension, source: str) -> list[str]:
        return copy(self.compiler).compile(
            [source], os.path.join(self.build_temp, ext.name.rpartition("_")[2]),
            ext.define_macros, depends=ext.depends,
            extra_postargs=[*ext.extra_compile_args, *OWN_FLAGS.get(source, ())])


def extension(name: str, sources: list[str], flags: list[str]) -> Extension:
    return Extension(f"retrograd_kernels._{name}", sources, depends=HEADERS, language="c++",
                     define_macros=[("VARIANT", name)], py_limited_api=True,
                     extra_compile_args=[*FLAGS, *flags, *EXTRA],
                     extra_link_args=["-pthread", *EXTRA])


setup(cmdclass={"build_ext": Build},
      options={"bdist_wheel": {"py_limited_api": "cp311"}},
      ext_modules=[extension("cpu", ["src/cpu.cpp"], []),
                   *[extension(name, SOURCES, BUILDS[name])
                     for name in (BUILDS if WANTED == ["here"] else WANTED)]])
