# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load a project of Choreonoid (.cnoid) as a world: its bodies, materials and simulator."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from hrpsim.common.errors import ModelWarning, WorldError, shown_value
from hrpsim.common.file_names import is_file
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.model.load import load_model
from hrpsim.model.model import Model
from hrpsim.model.placed import put_at
from hrpsim.model.readers.openhrp.body_values import Values
from hrpsim.model.readers.robot_data import WORLD_LINK, Notes, free_name
from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.world.file.cnoid_materials import DEFAULT, CnoidMaterials
from hrpsim.world.file.imported import finish
from hrpsim.world.world import World

SHARE_VARIABLE = "CHOREONOID_SHARE"  # environment variable with Choreonoid's folder `share`
_TIME_STEP = 0.001  # time step of a project that names none [s]
_INSTALLED = ("/usr/share", "/usr/local/share")
_TO_RADIAN = np.pi / 180.0
_READ_OF_BODY = {
    *("file", "model_file", "format", "root_translation", "root_position", "root_rotation"),
    *("root_attitude", "joint_displacements", "joint_positions", "fix_root", "static_model"),
    *("collision_detection", "self_collision_detection"),
}
_OF_THE_PAGE = {  # keys for Choreonoid's windows and kinematics
    *("current_base_link", "initial_root_translation", "initial_root_position"),
    *("initial_root_rotation", "initial_root_attitude", "initial_joint_displacements"),
    *("initial_joint_positions", "lock_location", "location_editable", "is_editable"),
    *("scene_sensitive", "link_kinematics", "zmp", "is_scene_body_draggable", "transparency"),
    *("visible_link_selection_mode", "linked_body_items", "parent_link", "enable_joint_limits"),
}
_READ_OF_SIMULATOR = {
    *("time_step", "timestep", "frame_rate", "framerate", "gravity", "integration_mode")
}
_OF_THE_RUN = {  # keys for Choreonoid's windows, logs and threads
    *("recording", "recording_mode", "realtime_sync", "realtime_sync_mode", "time_range_mode"),
    *("time_length", "is_active_control_time_range_mode", "active_control_time_range_mode"),
    *("all_link_position_output_mode", "output_all_link_positions", "device_state_output"),
    *("output_device_states", "record_collision_data", "controller_threads", "time_sync_items"),
    *("use_controller_threads", "controller_options", "block_scene_view_edit_mode"),
    *("scene_view_edit_mode_blocking", "collision_seq_item", "num_collision_detection_threads"),
}
_RUNGE_KUTTA = ("runge-kutta", "Runge Kutta")


class _Item(NamedTuple):
    """An item of a project, and the types of the items that enclose this item."""

    name: str
    kind: str  # class of the item
    data: Values
    above: tuple[str, ...]  # classes of the parent items
    owner: str  # name of the parent item


def load_cnoid_world(path: Path, time_step: float | None, integrator: str | None) -> World:
    """Return the world of a project of Choreonoid.

    A ModelWarning lists elements that are not simulated, such as controllers. ModelError or
    WorldError is raised if the project, or a file that the project names, is invalid.
    """
    content = read_yaml(path, WorldError, "project").data
    if not isinstance(content, dict) or not isinstance(content.get("items"), dict):
        raise WorldError(
            f"{path}: is not a project of Choreonoid, because it has no mapping `items`"
        )
    notes = Notes()
    items = [item for item in _items(path, content["items"], (), "") if item.kind]
    bodies, simulator, tables = _sorted(items, notes)
    table = CnoidMaterials()
    for name in tables:
        table.read(_located(path, name))
    if time_step is None:
        time_step = _time_step(path, simulator, content)
    world = _new_world(path, simulator, time_step, integrator, notes)
    materials: set[str] = set()
    for item in bodies:
        materials |= _add_body(world, path, item, notes)
    table.note_unread(materials, notes)
    for a, b, law in table.pairs(materials):
        world.set_friction(a, b, law.static, law.kinetic, restitution=law.restitution)
    return finish(world, path, notes.lines(), stacklevel=4)


def _items(path: Path, entry: dict, above: tuple[str, ...], owner: str) -> Iterator[_Item]:
    """Yield an item and all items below it, each as an _Item."""
    name, kind = str(entry.get("name", "")), str(entry.get("class", ""))
    data = entry.get("data")

    def fail(cause: str) -> NoReturn:
        raise WorldError(f"{path}: item {shown_value(name)}: {cause}")

    if data is not None and not isinstance(data, dict):
        fail("data: must be a mapping")
    yield _Item(name, kind, Values(data or {}, fail), above, owner)
    children = entry.get("children") or []
    if not isinstance(children, list):
        fail("children: must be a list")
    for child in children:
        if not isinstance(child, dict):
            fail(f"{shown_value(child)}: an item must be a mapping")
        yield from _items(path, child, (*above, kind), name)


def _sorted(items: list[_Item], notes: Notes) -> tuple[list[_Item], _Item | None, list[str]]:
    """Return the bodies, the simulator and the tables of materials.

    All other items become notes.
    """
    bodies: list[_Item] = []
    simulators: list[_Item] = []
    tables: list[str] = []
    for item in items:
        if item.kind == "WorldItem":
            keys = ("default_material_table_file", "material_table_file")
            tables += [item.data.text(key, "") for key in filter(item.data.given, keys)]
        elif item.kind == "BodyItem" and "WorldItem" in item.above:
            bodies.append(item)
        elif item.kind.endswith("SimulatorItem") and not item.kind.startswith("GLVision"):
            simulators.append(item)
        elif item.kind not in ("RootItem", "FolderItem"):
            _note_left_out(item, notes)
    simulators.sort(key=lambda item: not item.kind.startswith("AIST"))
    for item in simulators[1:]:
        notes.add(item.kind, f"{simulators[0].name} holds", item.name)
    return bodies, next(iter(simulators), None), tables


def _note_left_out(item: _Item, notes: Notes) -> None:
    if item.kind == "BodyItem":
        notes.add("BodyItem", "left out: the item is in no world", item.name)
    elif "Controller" in item.kind or "Script" in item.kind:
        name = item.data.text("controller", default="") or item.name
        notes.add(f"{item.kind} of {item.owner}", "not run", name)
    else:
        notes.add(item.kind, "not read", item.name)


def _time_step(path: Path, simulator: _Item | None, content: dict) -> float:
    """Return the time step [s] of the simulator, of the time bar, or the default, in this order."""

    def fail(cause: str) -> NoReturn:
        raise WorldError(f"{path}: TimeBar: {cause}")

    places = [] if simulator is None else [simulator.data]
    bars = content.get("toolbars")
    bar = bars.get("TimeBar") if isinstance(bars, dict) else None
    places += [Values(bar, fail)] if isinstance(bar, dict) else []
    for data in places:
        step = data.number("time_step", data.number("timestep", 0.0))
        rate = data.number("frame_rate", data.number("framerate", 0.0))
        if step or rate:
            return step or 1.0 / rate
    return _TIME_STEP


def _new_world(
    path: Path, simulator: _Item | None, time_step: float, integrator: str | None, notes: Notes
) -> World:
    """Return an empty world with the settings of a simulator."""
    data = Values({}, lambda cause: None) if simulator is None else simulator.data  # type: ignore[arg-type,return-value]
    if simulator is not None:
        known = _READ_OF_SIMULATOR | _OF_THE_RUN | {key for key in data.keys if not data.get(key)}
        data.note_unread(known, notes, simulator.kind, simulator.name)
    gravity = data.numbers("gravity", 3)
    is_runge_kutta = data.text("integration_mode", default="") in _RUNGE_KUTTA
    settings: dict[str, Any] = {} if gravity is None else {"gravity": gravity}
    try:
        return World(
            time_step=time_step,
            integrator=integrator or ("rk4" if is_runge_kutta else "semi_implicit"),
            **settings,
        )
    except WorldError as cause:
        raise WorldError(f"{path}: simulator: {cause}") from cause


def _located(path: Path, name: str) -> Path:
    """Return the path of a file named in a project. WorldError lists the searched folders."""
    head, _, relative = name.partition("/")
    if head == "${SHARE}":
        folders = [folder / "share" for folder in path.absolute().parents]
        if share_folder := os.environ.get(SHARE_VARIABLE):
            folders.insert(0, Path(share_folder))
        for installed in map(Path, _INSTALLED):
            folders += sorted(installed.glob("choreonoid*"), reverse=True)
    elif head == "${HOME}":
        folders = [Path.home()]
    else:
        relative = name.removeprefix("${PROJECT_DIR}/")
        folders = [path.absolute().parent]
    for folder in folders:
        if is_file(folder / relative):
            return folder / relative
    cure = f". Name Choreonoid's folder `share` in {SHARE_VARIABLE}" if head == "${SHARE}" else ""
    listed = ", ".join(map(str, folders[:4]))
    raise WorldError(f"{path}: there is no file {shown_value(name)} in {listed}{cure}")


def _add_body(world: World, path: Path, item: _Item, notes: Notes) -> set[str]:
    """Add the robot or the scenery of an item. Return its materials."""
    data = item.data
    file = data.text("file", default="") or data.text("model_file", default="")
    if not file:
        notes.add("BodyItem", "left out: the item names no file", item.name)
        return set()
    data.note_unread(_READ_OF_BODY | _OF_THE_PAGE, notes, "a BodyItem", item.name)
    is_fixed = data.get("fix_root") is True or data.get("static_model") is True
    model = _model(_located(path, file), is_fixed, notes)
    position, orientation = _place(data, model)
    name = free_name(item.name, world.entities)
    if model.nv == 0:
        _add_scenery(world, model, item, position, orientation)
    else:
        robot = world.add_robot(
            model,
            q=_posture(model, item, notes),
            name=name,
            self_collision=data.get("self_collision_detection") is True,
            position=position,
            orientation=orientation,
        )
        robot.keep_as_initial()
        if data.get("collision_detection") is False and model.shapes:
            world.disable_collisions(name, "*")
    return {shape.material for shape in model.shapes} or {DEFAULT}


def _model(file: Path, is_fixed: bool, notes: Notes) -> Model:
    """Return the model of a body. Nonphysical inertias are accepted, as in Choreonoid."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        base = "fixed" if is_fixed else None
        model = load_model(file, base=base, accept_nonphysical_inertia=True)
    for line in model.not_simulated:
        feature, _, why = line.partition(": ")
        notes.add(f"{file.name}: {feature}", why)
    for warning in caught:
        if "not simulated as it says" not in str(warning.message):
            warnings.warn(warning.message, stacklevel=6)
    return model


def _place(data: Values, model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return position (3,) and quaternion (4,) for `put_at` of the base link of a model.

    The item gives the pose of the root link of its file. If the base link of the model is the
    world, the pose is converted to the world link.
    """
    is_below_world = model.base_link == WORLD_LINK
    root = model.frames[model.link_names[1] if is_below_world else model.base_link]
    position = data.numbers("root_translation", 3)
    if position is None:
        position = data.numbers("root_position", 3)
    R, rows = root.R, data.numbers("root_attitude", 9)
    if data.given("root_rotation"):
        R = data.rotation("root_rotation", _TO_RADIAN)
    elif rows is not None:
        R = rows.reshape(3, 3)
    at = Placement(R, root.p if position is None else position)
    if is_below_world:
        at = at.then(Placement(root.R, root.p).inverse())
    return at.p, quaternion_of(at.R)


def _add_scenery(
    world: World, model: Model, item: _Item, position: np.ndarray, orientation: np.ndarray
) -> None:
    """Add the shapes of a model that does not move as fixed shapes."""
    if item.data.get("collision_detection") is False:
        return
    model, _ = put_at(model, None, position, orientation)
    for shape in model.shapes:
        names = {name for _, name in world.link_names}
        name = free_name(f"{item.name}_{shape.name}", names)
        at = Placement(shape.R, shape.p)
        world.add_static(shape.geometry, at.p, quaternion_of(at.R), shape.material, name)


def _posture(model: Model, item: _Item, notes: Notes) -> np.ndarray:
    """Return q (nq,) with the joint positions of an item, in the order of the joint ids."""
    q, data = model.starting(), item.data
    degrees, radians = data.numbers("joint_displacements"), data.numbers("joint_positions")
    positions = degrees * _TO_RADIAN if degrees is not None else radians
    if positions is None:
        return q
    order = () if model.robot is None else model.robot.joint_order
    order = order or model.joint_names
    if len(positions) != len(order):
        why = f"the robot has {len(order)}: they hold in the order of joint_id"
        notes.add(f"joint_displacements of {len(positions)} joints", why, item.name)
    for name, position in zip(order, positions):
        if name:
            q[model.joint(name).q_index] = position
    return q
