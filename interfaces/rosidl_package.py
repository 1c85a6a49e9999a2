# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Builds a ROS interface package with the rosidl generators of the environment, without cmake.

The `setup.py` of a package beside this file calls `build(name, uses=...)`. The generators' Python
classes write the sources, a C and a C++ compiler build them, and the wheel carries the same files
at the same places as an interface package of a ROS 2 distribution:

    lib/lib<package>__<part>.so              message structures and type supports
    lib/python*/site-packages/<package>/     Python classes and their conversion module
    share/<package>/, share/ament_index/     the definitions, for tools that look them up

Both the fastrtps and the introspection type support are built: rmw_fastrtps_cpp asks for both.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_ext import build_ext


def ros_prefix() -> Path | None:
    """Return where the generators, headers and libraries of ROS are installed, None if nowhere.

    First where Python finds them. pip builds in an environment of its own, in which sys.prefix is
    still the one that is installed into: the package must fit the ROS that is there.
    """
    generator = importlib.util.find_spec("rosidl_generator_c")
    if generator is None:
        sys.path.append(sysconfig.get_path("purelib"))
        importlib.invalidate_caches()
        generator = importlib.util.find_spec("rosidl_generator_c")
    if generator is None:
        return None
    return Path(generator.origin).parents[4]  # PREFIX/lib/python*/site-packages/package/file


PREFIX = ros_prefix()
# The wheels to build with, and for, where there is no ROS yet.
DISTRIBUTION = os.environ.get("ROS_DISTRO") or "jazzy"
ROS_WHEELS = [f"ros-{DISTRIBUTION}-common-interfaces", f"ros-{DISTRIBUTION}-rclpy[fastrtps]"]
TYPE_SUPPORTS = ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c"]
KINDS = ("msg", "srv", "action")


def build(package: str, uses: list[str]) -> None:
    """Run setuptools for `package`, whose definitions refer to types of the packages `uses`."""

    class BuildThis(BuildInterfaces):
        interfaces = Interfaces(package, uses)

    setup(
        distclass=InterfaceDistribution,
        setup_requires=[] if PREFIX else ROS_WHEELS,
        cmdclass={"build_ext": BuildThis},
        data_files=[(f"share/{package}", ["package.xml"])],
    )


class Interfaces:
    """The definitions of a package, and what their libraries are linked against."""

    def __init__(self, package: str, uses: list[str]):
        self.package = package
        self.uses = uses
        self.here = Path.cwd()
        self.definitions = sorted(
            path for kind in KINDS for path in (self.here / kind).glob(f"*.{kind}")
        )
        self.kinds = sorted({path.suffix[1:] for path in self.definitions})

    def libraries(self) -> list[tuple[str, str, list[str]]]:
        """Return name, generator of its sources and needed libraries of each library to link.

        Order matters: a library comes after those of this package that it is linked against.
        """
        own = f"{self.package}__rosidl_generator_c"

        def of_used(part: str) -> list[str]:
            return [f"{used}__{part}" for used in self.uses]

        fastrtps, introspection = TYPE_SUPPORTS
        runtime = "rosidl_runtime_c"
        return [
            ("rosidl_generator_c", "c", [*of_used("rosidl_generator_c"), runtime, "rcutils"]),
            (
                fastrtps,
                "fastrtps_c",
                [
                    *(own, *of_used(fastrtps), fastrtps, "rosidl_typesupport_fastrtps_cpp"),
                    *(runtime, "fastcdr"),
                ],
            ),
            (
                introspection,
                "introspection_c",
                [own, *of_used(introspection), introspection, runtime],
            ),
            (
                "rosidl_typesupport_c",
                "typesupport_c",
                [own, *of_used("rosidl_typesupport_c"), "rosidl_typesupport_c", runtime],
            ),
            (
                "rosidl_generator_py",
                "py",
                [own, *of_used("rosidl_generator_c"), *of_used("rosidl_generator_py"), runtime],
            ),
        ]

    def _folder(self, out: Path, generator: str) -> Path:
        """Return where a generator writes, made with a folder for each kind of definition."""
        path = out / generator / self.package
        for kind in self.kinds:
            (path / kind).mkdir(parents=True, exist_ok=True)
        return path

    def _write_idl(self, folder: Path) -> list[str]:
        """Write the definitions as IDL; return what the generators call them, "folder:path"."""
        from rosidl_adapter.action import convert_action_to_idl
        from rosidl_adapter.msg import convert_msg_to_idl
        from rosidl_adapter.srv import convert_srv_to_idl

        convert = {
            "msg": convert_msg_to_idl,
            "srv": convert_srv_to_idl,
            "action": convert_action_to_idl,
        }
        interfaces = []
        for definition in self.definitions:
            relative = definition.relative_to(self.here)
            kind = definition.suffix[1:]
            convert[kind](self.here, self.package, relative, folder / kind)
            interfaces.append(f"{folder}:{relative.with_suffix('.idl')}")
        return interfaces

    def generate(self, out: Path) -> list[Path]:
        """Write all sources below `out`, a folder for each generator: two use the same file names.

        Return what is installed beside the definitions themselves.
        """
        os.environ.setdefault("AMENT_PREFIX_PATH", str(PREFIX))
        from rosidl_generator_c.cli import GenerateC
        from rosidl_generator_py.cli import GeneratePython
        from rosidl_generator_type_description.cli import HashTypeDescription
        from rosidl_typesupport_c.cli import GenerateCTypesupport
        from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
        from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

        folder = partial(self._folder, out)
        interfaces = self._write_idl(folder("idl"))
        known = [str(PREFIX / "share")]

        descriptions = HashTypeDescription("hash").generate_type_hashes(
            self.package, list(interfaces), known, folder("description")
        )
        jobs = {
            "fastrtps_c": GenerateFastRTPSCTypesupport("fastrtps_c"),
            "introspection_c": GenerateIntrospectionCTypesupport("introspection_c"),
            "typesupport_c": GenerateCTypesupport("c", typesupport_implementations=TYPE_SUPPORTS),
            "py": GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"]),
        }
        with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as pool:
            running = [
                pool.submit(job.generate, self.package, interfaces, known, folder(name))
                for name, job in jobs.items()
            ]
            # A kind at a time: the generator finds descriptions by name alone, and a message and
            # a service may have the same.
            running += [
                pool.submit(
                    GenerateC("c").generate,
                    self.package,
                    [path for path in interfaces if f":{kind}/" in path],
                    known,
                    folder("c"),
                    type_description_files=[
                        str(path) for path in descriptions if Path(path).parent.name == kind
                    ],
                )
                for kind in self.kinds
            ]
            for generator in running:
                generator.result()
        (folder("py") / "__init__.py").touch()
        return [*folder("idl").rglob("*.idl"), *folder("description").rglob("*.json")]


class BuildInterfaces(build_ext):
    """Generates, compiles and links instead of building listed extension modules."""

    interfaces: Interfaces

    def run(self):
        """Build everything in the folders that setuptools made."""
        if PREFIX is None:
            sys.exit(f"no ROS 2 to build for: pip install {' '.join(ROS_WHEELS)} first")
        package = self.interfaces.package
        out = Path(self.build_temp).resolve() / "generated"
        shutil.rmtree(out, ignore_errors=True)  # what an earlier build has left
        installed = [*self.interfaces.definitions, *self.interfaces.generate(out)]
        package_dir = Path(self.build_lib).resolve() / package
        library_dir = Path(self.build_temp).resolve() / "lib"
        library_dir.mkdir(parents=True, exist_ok=True)
        python_sources = out / "py" / package
        for path in python_sources.rglob("*.py"):
            target = package_dir / path.relative_to(python_sources)
            target.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(path), str(target))
        objects = compile_all(out)
        module = [path for path in objects["py"] if path.parent.name == package]
        for name, generator, needed in self.interfaces.libraries():
            link(
                library_dir / f"lib{package}__{name}.so",
                [path for path in objects[generator] if path not in module],
                needed,
                [library_dir, PREFIX / "lib"],
                rpath="$ORIGIN",
            )
        link(
            package_dir / f"{package}_s__rosidl_typesupport_c.so",
            module,
            [
                f"{package}__rosidl_{part}"
                for part in ("generator_py", "typesupport_c", "generator_c")
            ],
            [library_dir, PREFIX / "lib"],
            rpath="$ORIGIN/../../..",
        )
        self._list_data_files(out, library_dir, installed)

    def _list_data_files(self, out: Path, library_dir: Path, installed: list[Path]) -> None:
        package = self.interfaces.package
        by_kind: dict[str, list[str]] = {}
        for path in sorted(installed):
            by_kind.setdefault(path.parent.name, []).append(str(path))
        names = [f"{kind}/{Path(path).name}" for kind in by_kind for path in by_kind[kind]]
        resources = {"packages": "", "rosidl_interfaces": "".join(f"{name}\n" for name in names)}
        self.distribution.data_files = [
            ("lib", [str(path) for path in sorted(library_dir.glob("*.so"))]),
            (f"share/{package}", [str(self.interfaces.here / "package.xml")]),
            *((f"share/{package}/{kind}", paths) for kind, paths in by_kind.items()),
        ]
        for kind, text in resources.items():
            marker = out / "index" / kind / package
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.write_text(text)
            self.distribution.data_files.append(
                (f"share/ament_index/resource_index/{kind}", [str(marker)])
            )


def compile_all(out: Path) -> dict[str, list[Path]]:
    """Compile the generated C and C++ files of each folder; return object files by generator.

    What takes long is reading headers, not the code, so files are compiled many at a time.
    """
    import numpy

    headers = PREFIX / "include"
    include_dirs = [headers, *sorted(path for path in headers.iterdir() if path.is_dir())]
    include_dirs += sorted(path for path in out.iterdir() if path.is_dir())
    include_dirs += [numpy.get_include(), sysconfig.get_path("include")]
    include_flags = [f"-I{path}" for path in include_dirs]
    c_compiler = os.environ.get("CC", "cc").split()
    cxx_compiler = os.environ.get("CXX", "c++").split()

    def compile_one(source: Path) -> Path:
        language = [*c_compiler, "-std=gnu11"]
        if source.suffix == ".cpp":
            language = [*cxx_compiler, "-std=c++17"]
        flags = ["-O1", "-fPIC", "-DNDEBUG", *include_flags]
        target = source.with_suffix(f"{source.suffix}.o")
        spawn([*language, *flags, "-c", str(source), "-o", str(target)])
        return target

    generators, sources = [], []
    for folder in sorted(path for path in out.iterdir() if path.is_dir()):
        for source in joined_sources(folder):
            generators.append(folder.name)
            sources.append(source)
    objects: dict[str, list[Path]] = {name: [] for name in generators}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for generator, target in zip(generators, pool.map(compile_one, sources)):
            objects[generator].append(target)
    return objects


def joined_sources(folder: Path) -> list[Path]:
    """Return the sources of a generator, files of one sort included in one that is written here.

    Descriptions each define static data of the same name; the conversion module stands alone.
    """
    alone, together = [], {}
    for source in sorted([*folder.rglob("*.c"), *folder.rglob("*.cpp")]):
        if source.stem.endswith("__description") or source.parent.parent == folder:
            alone.append(source)
        else:
            sort = source.stem.rpartition("__")[2] + source.suffix
            together.setdefault(sort if "__" in source.stem else source.suffix, []).append(source)
    for number, sources in enumerate(together.values()):
        path = folder / f"joined_{number}{sources[0].suffix}"
        path.write_text("".join(f'#include "{source}"\n' for source in sources))
        alone.append(path)
    return alone


def link(target: Path, objects, libraries, search_dirs, rpath: str) -> None:
    """Link a shared library."""
    command = [*os.environ.get("CXX", "c++").split(), "-shared", "-o", str(target)]
    command += [str(path) for path in sorted(objects)]
    command += [f"-L{path}" for path in search_dirs] + [f"-l{name}" for name in libraries]
    # What the wheels' own libraries need in turn is found when they are loaded.
    command += [f"-Wl,-rpath,{rpath}", "-Wl,--allow-shlib-undefined"]
    spawn(command)


def spawn(command: list[str]) -> None:
    """Run a compiler command; on failure end with its own words."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")


class InterfaceDistribution(Distribution):
    """A platform wheel, although no extension module is listed."""

    def has_ext_modules(self):
        """Return that the wheel is for one platform only."""
        return True
