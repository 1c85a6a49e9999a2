"""Build this interface package with the rosidl generators of the environment, without cmake.

The generators' Python classes write the sources, a C and a C++ compiler build them, and the wheel
carries the same files at the same places as an interface package of a ROS 2 distribution:

    lib/lib<package>__<part>.so              message structures and type supports
    lib/python*/site-packages/<package>/     Python classes and their conversion module
    share/<package>/, share/ament_index/     the definitions, for tools that look them up

Both the fastrtps and the introspection type support are built: rmw_fastrtps_cpp asks for both.
"""

import os
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_ext import build_ext

PACKAGE = "tf2_msgs"
HERE = Path(__file__).resolve().parent
PREFIX = Path(sys.prefix)
TYPE_SUPPORTS = ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c"]

# One row a shared library: its name, the generator that writes its sources, the libraries it needs.
# Order matters: a library comes after those of this package that it is linked against.
LIBRARIES = [
    (
        "rosidl_generator_c",
        "c",
        [
            "geometry_msgs__rosidl_generator_c",
            "std_msgs__rosidl_generator_c",
            "builtin_interfaces__rosidl_generator_c",
            "rosidl_runtime_c",
            "rcutils",
        ],
    ),
    (
        "rosidl_typesupport_fastrtps_c",
        "fastrtps_c",
        [
            f"{PACKAGE}__rosidl_generator_c",
            "geometry_msgs__rosidl_typesupport_fastrtps_c",
            "rosidl_typesupport_fastrtps_c",
            "rosidl_typesupport_fastrtps_cpp",
            "rosidl_runtime_c",
            "fastcdr",
        ],
    ),
    (
        "rosidl_typesupport_introspection_c",
        "introspection_c",
        [
            f"{PACKAGE}__rosidl_generator_c",
            "geometry_msgs__rosidl_typesupport_introspection_c",
            "rosidl_typesupport_introspection_c",
            "rosidl_runtime_c",
        ],
    ),
    (
        "rosidl_typesupport_c",
        "typesupport_c",
        [f"{PACKAGE}__rosidl_generator_c", "rosidl_typesupport_c", "rosidl_runtime_c"],
    ),
    (
        "rosidl_generator_py",
        "py/msg",
        [
            f"{PACKAGE}__rosidl_generator_c",
            "geometry_msgs__rosidl_generator_c",
            "geometry_msgs__rosidl_generator_py",
            "rosidl_runtime_c",
        ],
    ),
]


def generate(out: Path) -> None:
    """Write all sources below `out`, a folder for each generator: two use the same file names."""
    os.environ.setdefault("AMENT_PREFIX_PATH", str(PREFIX))
    from rosidl_adapter.msg import convert_msg_to_idl
    from rosidl_generator_c.cli import GenerateC
    from rosidl_generator_py.cli import GeneratePython
    from rosidl_generator_type_description.cli import HashTypeDescription
    from rosidl_typesupport_c.cli import GenerateCTypesupport
    from rosidl_typesupport_fastrtps_c.cli import GenerateFastRTPSCTypesupport
    from rosidl_typesupport_introspection_c.cli import GenerateIntrospectionCTypesupport

    def folder(generator: str) -> Path:
        path = out / generator / PACKAGE
        (path / "msg").mkdir(parents=True, exist_ok=True)
        return path

    interfaces = []
    for message in sorted((HERE / "msg").glob("*.msg")):
        relative = message.relative_to(HERE)
        convert_msg_to_idl(HERE, PACKAGE, relative, folder("idl") / "msg")
        interfaces.append(f"{folder('idl')}:{relative.with_suffix('.idl')}")
    known = [str(PREFIX / "share")]

    def run(generator, name: str, **options):
        # Each call gets its own list: the generators append to the one they are given.
        return generator.generate(PACKAGE, list(interfaces), known, folder(name), **options)

    descriptions = HashTypeDescription("hash").generate_type_hashes(
        PACKAGE, list(interfaces), known, folder("description")
    )
    run(GenerateC("c"), "c", type_description_files=[str(path) for path in descriptions])
    run(GenerateFastRTPSCTypesupport("fastrtps_c"), "fastrtps_c")
    run(GenerateIntrospectionCTypesupport("introspection_c"), "introspection_c")
    run(GenerateCTypesupport("c", typesupport_implementations=TYPE_SUPPORTS), "typesupport_c")
    run(GeneratePython("py", typesupport_implementations=["rosidl_typesupport_c"]), "py")
    (folder("py") / "__init__.py").touch()


class BuildInterfaces(build_ext):
    """Generates, compiles and links instead of building listed extension modules."""

    def run(self):
        out = Path(self.build_temp).resolve() / "generated"
        generate(out)
        package_dir = Path(self.build_lib).resolve() / PACKAGE
        library_dir = Path(self.build_temp).resolve() / "lib"
        (package_dir / "msg").mkdir(parents=True, exist_ok=True)
        library_dir.mkdir(parents=True, exist_ok=True)
        python_sources = out / "py" / PACKAGE
        for path in python_sources.rglob("*.py"):
            self.copy_file(str(path), str(package_dir / path.relative_to(python_sources)))
        self._compile(out)
        for name, generator, needed in LIBRARIES:
            folder, _, inner = generator.partition("/")
            self._link(
                library_dir / f"lib{PACKAGE}__{name}.so",
                (out / folder / PACKAGE / inner).rglob("*.o"),
                needed,
                [library_dir, PREFIX / "lib"],
                rpath="$ORIGIN",
            )
        self._link(
            package_dir / f"{PACKAGE}_s__rosidl_typesupport_c.so",
            python_sources.glob("*.o"),
            [
                f"{PACKAGE}__rosidl_{part}"
                for part in ("generator_py", "typesupport_c", "generator_c")
            ],
            [library_dir, PREFIX / "lib"],
            rpath="$ORIGIN/../../..",
        )
        self._list_data_files(out, library_dir)

    def _compile(self, out: Path) -> None:
        """Compile every generated C and C++ file into an object file beside it."""
        import numpy

        headers = PREFIX / "include"
        include_dirs = [headers, *sorted(path for path in headers.iterdir() if path.is_dir())]
        include_dirs += sorted(path for path in out.iterdir() if path.is_dir())
        include_dirs += [numpy.get_include(), sysconfig.get_path("include")]
        include_flags = [f"-I{path}" for path in include_dirs]
        c_compiler = os.environ.get("CC", "cc").split()
        cxx_compiler = os.environ.get("CXX", "c++").split()

        def compile_one(source: Path) -> None:
            language = [*c_compiler, "-std=gnu11"]
            if source.suffix == ".cpp":
                language = [*cxx_compiler, "-std=c++17"]
            flags = ["-O1", "-fPIC", "-DNDEBUG", *include_flags]
            spawn([*language, *flags, "-c", str(source), "-o", str(source.with_suffix(".o"))])

        sources = sorted([*out.rglob("*.c"), *out.rglob("*.cpp")])
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, sources))

    def _link(self, target: Path, objects, libraries, search_dirs, rpath: str) -> None:
        command = [*os.environ.get("CXX", "c++").split(), "-shared", "-o", str(target)]
        command += [str(path) for path in sorted(objects)]
        command += [f"-L{path}" for path in search_dirs] + [f"-l{name}" for name in libraries]
        # What the wheels' own libraries need in turn is found when they are loaded.
        command += [f"-Wl,-rpath,{rpath}", "-Wl,--allow-shlib-undefined"]
        spawn(command)

    def _list_data_files(self, out: Path, library_dir: Path) -> None:
        index = out / "index"
        definitions = [
            *sorted((HERE / "msg").glob("*.msg")),
            *sorted((out / "idl" / PACKAGE / "msg").glob("*.idl")),
            *sorted((out / "description" / PACKAGE / "msg").glob("*.json")),
        ]
        resources = {
            "packages": "",
            "rosidl_interfaces": "".join(f"msg/{path.name}\n" for path in definitions),
        }
        self.distribution.data_files = [
            ("lib", [str(path) for path in sorted(library_dir.glob("*.so"))]),
            (f"share/{PACKAGE}", [str(HERE / "package.xml")]),
            (f"share/{PACKAGE}/msg", [str(path) for path in definitions]),
        ]
        for kind, text in resources.items():
            marker = index / kind / PACKAGE
            marker.parent.mkdir(parents=True, exist_ok=True)
            marker.write_text(text)
            self.distribution.data_files.append(
                (f"share/ament_index/resource_index/{kind}", [str(marker)])
            )


def spawn(command: list[str]) -> None:
    """Run a compiler command; on failure end with its own words."""
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stderr}")


class InterfaceDistribution(Distribution):
    """A platform wheel, although no extension module is listed."""

    def has_ext_modules(self):
        return True


setup(
    distclass=InterfaceDistribution,
    cmdclass={"build_ext": BuildInterfaces},
    data_files=[(f"share/{PACKAGE}", ["package.xml"])],
)
