# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Elements of SDF that are read, and reasons why other elements have no effect."""

from __future__ import annotations

from typing import Any

from hrpsim.model.readers.gazebo.gazebo_sensors import FRAME_TAGS, kind_of
from hrpsim.model.readers.gazebo.part_notes import (
    SENSOR_CHECKS,
    SENSOR_HARMLESS,
    SENSOR_PARTS,
    SENSOR_WHY_VALUES,
    KnownParts,
)
from hrpsim.model.readers.robot_data import Notes
from hrpsim.model.readers.sdf.frames import Scope

_FORMATS = ("euler_rpy", "quat_xyzw")
_CONTENTS = "link joint frame model include"
_READ = {
    **SENSOR_PARTS,
    "pose": ("relative_to frame degrees rotation_format", ""),
    "world": ("name", f"{_CONTENTS} gravity physics"),
    "physics": ("name type default", "max_step_size gravity real_time_factor"),
    "model": (
        "name canonical_link placement_frame",
        f"{_CONTENTS} pose static self_collide allow_auto_disable",
    ),
    "include": ("merge", "uri name pose static placement_frame"),
    "frame": ("name attached_to", "pose"),
    "link": ("name", "pose inertial visual collision sensor gravity must_be_base_link"),
    "inertial": ("auto", "pose mass inertia"),
    "inertia": ("", "ixx ixy ixz iyy iyz izz"),
    "visual": ("name", "pose geometry material"),
    "collision": ("name", "pose geometry surface"),
    "geometry": ("", "box sphere cylinder capsule ellipsoid cone mesh plane"),
    "box": ("", "size"),
    "sphere": ("", "radius"),
    **dict.fromkeys(("cylinder", "capsule", "cone"), ("", "radius length")),
    "ellipsoid": ("", "radii"),
    "plane": ("", "normal size"),
    "mesh": ("", "uri scale submesh"),
    "material": ("", "diffuse"),
    "surface": ("", "friction bounce contact"),
    "surface/friction": ("", "ode bullet"),
    "friction/ode": ("", "mu mu2"),
    "friction/bullet": ("", "friction friction2"),
    "bounce": ("", "restitution_coefficient"),
    "surface/contact": ("", "ode bullet collide_bitmask"),
    **dict.fromkeys(("contact/ode", "contact/bullet"), ("", "kp kd")),
    "joint": ("name type", "parent child pose axis axis2 sensor screw_thread_pitch thread_pitch"),
    **dict.fromkeys(
        ("axis", "axis2"), ("", "xyz limit dynamics mimic initial_position use_parent_model_frame")
    ),
    "xyz": ("expressed_in", ""),
    "limit": ("", "lower upper effort velocity"),
    "dynamics": ("", "damping friction spring_stiffness spring_reference"),
    "mimic": ("joint axis", "multiplier offset reference"),
}
_ONE_WAY = "friction is the same in all directions: that of <mu>, <friction>"
_NOT_DRAWN = ("ambient", "specular", "emissive", "script", "shader", "pbr", "lighting")
_WHY = {
    **dict.fromkeys(("plugin", "gripper"), "not run"),
    **dict.fromkeys(("light", "projector", "particle_emitter"), "not drawn"),
    **dict.fromkeys(("gui", "scene", "atmosphere", "state", "actor", "population"), "not read"),
    **dict.fromkeys(_NOT_DRAWN, "not drawn: the diffuse colour is"),
    **dict.fromkeys(("cast_shadows", "transparency", "laser_retro", "meta"), "not drawn"),
    **dict.fromkeys(("wind", "enable_wind", "magnetic_field"), "not simulated"),
    **dict.fromkeys(("fdir1", "slip1", "slip2", "torsional", "rolling_friction"), _ONE_WAY),
    "velocity_decay": "bodies lose no speed to the air",
    "self_collide": "the robot's links collide with each other, or none: <self_collide> of a model",
    "kinematic": "the link moves by the laws of motion",
    "sensor": "not simulated",
    "dissipation": "limits are rigid: Robot.set_constraint makes them yield",
    "stiffness": "limits are rigid: Robot.set_constraint makes them yield",
    "density": "not used: <mass> and <inertia> are",
    "fluid_added_mass": "fluids are not simulated",
    "physics": "constraints are rigid",
    "soft_cfm": "contacts yield by <kp> and <kd>",
    "soft_erp": "contacts yield by <kp> and <kd>",
    "threshold": "World has the threshold of restitution",
    "max_contacts": "contacts are not limited in number",
    "audio_source": "not heard",
    "audio_sink": "not heard",
}
_WHY_VALUES = {
    **SENSOR_WHY_VALUES,
    "mu2": _ONE_WAY,
    "friction2": _ONE_WAY,
    "sensor": _WHY["sensor"],
    **dict.fromkeys(FRAME_TAGS, "the frame is the sensor's own"),
}
_ZERO = ("0", "0.0", "0 0 0")
_HARMLESS = {
    **SENSOR_HARMLESS,
    **dict.fromkeys(("slip1", "slip2", "fdir1", "velocity_decay", "kinematic"), ("false", *_ZERO)),
    **dict.fromkeys(("laser_retro", "transparency", "enable_wind"), ("false", *_ZERO)),
    "self_collide": ("false", "0"),
    "dissipation": ("1", "1.0"),
    "stiffness": ("100000000", "100000000.0", "1e8", "1e+08"),
    "cast_shadows": ("1", "true"),
    "threshold": ("100000", "1e5", "1e+06", "1000000"),
}


def _same_as_mu(mu2: Any, text: str) -> bool:
    first = "mu" if mu2.tag == "mu2" else "friction"
    return text == (mu2.getparent().findtext(first) or "1").strip()


def _is_only_collision(collision: Any, text: str) -> bool:
    """Return whether the <collision> of a contact sensor is the only <collision> of the link."""
    link = collision.getparent().getparent().getparent()
    names = [sibling.get("name") for sibling in link.iterchildren("collision")]
    return len(names) == 1 and text.split("::")[-1] == names[0]


def _is_simulated(sensor: Any, at_joint: bool) -> bool:
    kind = kind_of(sensor)
    return kind is not None and kind.at_joint == at_joint


def _odd_values(element: Any) -> dict[str, str]:
    """Return the attributes of a <pose> with an unknown value, and why."""
    known = element.get("rotation_format", _FORMATS[0]) in _FORMATS
    if element.tag != "pose" or known:
        return {}
    return {"rotation_format": f"read as {_FORMATS[0]}; {', '.join(_FORMATS)} are known"}


_KNOWN = KnownParts(
    read=_READ,
    checks={
        **SENSOR_CHECKS,
        "link/sensor": lambda sensor, _: _is_simulated(sensor, at_joint=False),
        "joint/sensor": lambda sensor, _: _is_simulated(sensor, at_joint=True),
        "contact/collision": _is_only_collision,
        **dict.fromkeys(FRAME_TAGS, lambda *_: False),
        **dict.fromkeys(("mu2", "friction2"), _same_as_mu),
    },
    harmless=_HARMLESS,
    why=_WHY,
    why_values=_WHY_VALUES,
    is_entered=lambda element: element.tag != "model",  # each is looked at by itself
    odd_values=_odd_values,
)


def note_parts(scope: Scope, notes: Notes) -> None:
    """Note the parts of a model or world without effect, including merged models."""
    for element in scope.sources:
        _KNOWN.note(element, notes)


def note_model(model: Scope, notes: Notes) -> None:
    """Note the parts without effect of a model and of all models inside."""
    for scope in model.all_scopes():
        note_parts(scope, notes)
