# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The layers: a module imports from rooms below its own, never from above or beside."""

import ast
import functools
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("layers")  # one worker reads the sources
ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "hrpsim"
FACADE = "the public names of hrpsim/__init__.py"
MOST_FILES = 20  # in a room, without __init__.py

# From the bottom up; a room within another is a room of its own. Those of one row do not import
# each other. Imports for type checkers count.
LAYERS = [
    {"common"},
    {"common.foreign"},
    {"engine.compile"},
    {"engine.spatial", "model.shapes", "model.readers.urdf"},
    {"model.sensors"},
    {"model.readers"},
    {"model.readers.mjcf", "model.readers.openhrp", "model.readers.gazebo"},
    {"model.readers.sdf", "model.readers.usd"},
    {"model"},
    {"engine.kinematics"},
    {"engine.dynamics"},
    {"engine.actuators"},
    {"engine.collision.primitives"},
    {"engine.collision.solids"},
    {"engine.collision.mesh"},
    {"engine.collision"},
    {"engine.constraints"},
    {"engine.solvers"},
    {"engine.solvers.newton"},
    {"viewer.rendering"},
    {"engine.sensors"},
    {"engine.step.scene"},
    {"engine.step.rows"},
    {"engine.step.motion"},
    {"engine.step.continuous"},
    {"engine.step.impacts"},
    {"engine.step.audit"},
    {"engine.step", "engine.rays"},
    {"engine"},
    {"derivatives"},
    {"world.objects"},
    {"world.arrays"},
    {"world.parts"},
    {"world"},
    {"world.file"},
    {"dynamics", "sensors"},
    {"control.estimation"},
    {"control.framework"},
    {"control.motion"},
    {"control.pattern"},
    {"control.balance", "control.biped"},
    {"control"},
    {"geometry"},
    {"analysis", "bag", "sweeps.framework"},
    {"sweeps.worlds"},
    {"learning.terms"},
    {"learning", "sweeps"},
    {"fitting.signals"},
    {"fitting.recordings"},
    {"fitting"},
    {"fitting.excitation", "fitting.report"},
    {FACADE},
    {"viewer.panels"},
    {"viewer"},
    {"bridges.foreign", "bridges.mujoco", "bridges.unitree"},
    {"bridges"},
    {"explain.runs"},
    {"explain.differences"},
    {"explain", "rollout"},
    {"ros.base"},
    {"ros.robot"},
    {"ros.unitree"},
    {"ros.core"},
    {*("ros.controller", "ros.demo", "ros.recording", "ros.replay", "ros.simulation")},
    {"ros.sweeps"},
    {"ros"},
    {"evidence.crane", "evidence.experiments.framework"},
    {"evidence.experiments.scenes"},
    {"evidence.experiments.studies"},
    {"evidence.experiments"},
    {"commands.parts"},
    {"commands.policies"},
    {"commands"},
    {"__main__"},
]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}

ROS_PACKAGES = {
    "rclpy",
    "launch",
    "launch_ros",
    "tf2_ros",
    "ament_index_python",
    "rosidl_runtime_py",
}
VIEWER_PACKAGES = {"viser", "meshcat", "yourdfpy", "pyvista", "pyglet"}


def part_of(module: str) -> str | None:
    """Return "step.rows" for engine.step.rows.prepare_rows, FACADE for hrpsim.World, else None."""
    root, *names = module.split(".")
    if root not in ("hrpsim", "evidence"):
        return None
    home = ROOT / root
    rooms = [name for k, name in enumerate(names) if home.joinpath(*names[: k + 1]).is_dir()]
    if root == "evidence":
        return ".".join([root, *rooms])
    if rooms:
        return ".".join(rooms)
    return names[0] if names and (PACKAGE / f"{names[0]}.py").is_file() else FACADE


def is_ros(module: str) -> bool:
    root = module.split(".")[0]
    return root in ROS_PACKAGES or root.endswith(("_msgs", "_srvs", "_interfaces"))


@functools.cache
def imports(path: Path, module: str):
    """Return (line, imported module) of every import in a file, those inside functions included."""
    return tuple(_imports(path, module))


def _imports(path: Path, module: str):
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                base = package.split(".")[: len(package.split(".")) - node.level + 1]
                origin = ".".join([*base, origin] if origin else base)
            if origin == "hrpsim":  # from hrpsim import world
                yield from ((node.lineno, f"hrpsim.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, origin


def modules():
    rooms = PACKAGE, ROOT / "evidence/crane", ROOT / "evidence/experiments"
    for path in sorted(file for room in rooms for file in room.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield path, ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def offences(forbidden):
    """Return "file:line imports module" of every import for which `forbidden` gives a reason."""
    found = []
    for path, module in modules():
        for line, imported in imports(path, module):
            if forbidden(part_of(module), imported):
                found.append(f"{path.relative_to(PACKAGE.parent)}:{line} imports {imported}")
    return found


def test_every_part_has_a_layer():
    parts = {part_of(module) for _, module in modules()}
    assert parts <= RANK.keys(), f"add to LAYERS: {parts - RANK.keys()}"


def test_no_import_goes_up_or_sideways():
    def forbidden(part, imported):
        target = part_of(imported)
        return target is not None and target != part and RANK[target] >= RANK[part]

    assert offences(forbidden) == []


def circle(prefix):
    """Return modules below `prefix` that import each other round about, [] where there are none."""
    names = {module for _, module in modules() if module.startswith(prefix)}
    graph = {m: {i for _, i in imports(path, m)} & names - {m} for path, m in modules()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def test_no_files_import_each_other():
    assert circle("hrpsim") == circle("evidence") == []


def test_no_mix_in_uses_another_s_privates():
    """Law: a class without bases makes each private member that its methods use."""
    found = []
    for path, _ in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.bases:
                used, made = _privates(node)
                found += [f"{path.name}: {node.name}.{name}" for name in sorted(used - made)]
    assert found == []


def _privates(node):
    """Return the names of private members that are read of self, and of those that are made."""
    used, made = set(), set()
    for part in ast.walk(node):
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            made.add(part.name)
        elif isinstance(part, ast.Attribute) and getattr(part.value, "id", None) == "self":
            (made if isinstance(part.ctx, ast.Store) else used).add(part.attr)
    used = {name for name in used if name.startswith("_") and not name.startswith("__")}
    return used, made


def test_no_room_is_crowded_and_each_introduces_itself():
    for folder in (path.parent for path in PACKAGE.rglob("__init__.py")):
        files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(files) <= MOST_FILES, folder
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text())), folder


def test_only_ros_and_the_crane_s_joystick_import_ros():
    def forbidden(part, imported):
        return part.split(".")[0] != "ros" and is_ros(imported)

    found = {line.partition(":")[0] for line in offences(forbidden)}
    assert found == {"evidence/crane/joystick.py"}


def test_only_viewer_imports_a_viewer():
    def forbidden(part, imported):
        viewers = "viewer", "evidence.crane"
        return part not in viewers and imported.split(".")[0] in VIEWER_PACKAGES

    assert offences(forbidden) == []


def test_only_the_reader_of_mesh_files_imports_trimesh():
    found = offences(lambda part, imported: imported.split(".")[0] in ("trimesh", "collada"))
    assert {line.partition(":")[0] for line in found} == {
        "hrpsim/model/shapes/mesh_decoding.py",
        "hrpsim/model/shapes/mesh_files.py",  # shapes that it makes, colours
    }


@pytest.mark.parametrize("heavy", ["rclpy", "numba", "scipy", "trimesh", "mujoco", "matplotlib"])
def test_import_hrpsim_is_light(heavy):
    script = f"import hrpsim, sys; sys.exit({heavy!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
