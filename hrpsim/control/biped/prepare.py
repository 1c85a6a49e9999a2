# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Complete the description of any robot on two legs so that the robot can walk.

The result is a URDF with everything needed for walking: a base link that faces along x, sole
frames, sensors, gains, and the posture of half-sitting. A report lists the parts that were found
and the parts that were added.
"""

import math
import os
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from lxml import etree

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError, ModelWarning
from hrpsim.common.typed_values import Positive, check_arguments, check_fields
from hrpsim.control.biped.anatomy import Biped, biped_of
from hrpsim.control.biped.crosswise_feet import lie_crosswise, turn_meshes
from hrpsim.control.biped.servos import StaticHold, default_gains, static_hold
from hrpsim.control.biped.urdf_parts import (
    add,
    add_bushes,
    add_joint,
    add_link,
    add_origin,
    bush_set,
    free_name,
    name_files_wholly,
)
from hrpsim.control.motion.leg_kinematics import LegKinematics
from hrpsim.control.motion.numerical_leg import leg_of
from hrpsim.control.motion.posture import half_sitting
from hrpsim.control.pattern.whole_body_zmp import HALF_SITTING
from hrpsim.model.load import load_model
from hrpsim.model.model import Model
from hrpsim.model.readers.urdf.resolve_uris import PackagePaths, Resources
from hrpsim.model.readers.urdf_writer import exact_text, read_urdf
from hrpsim.model.system import FREE

_ALIGNED = 1e-9
_MIDDLE = 1e-4  # [m]
_THICKNESS = 0.02  # thickness of a sole that replaces a foot's shapes [m]


@dataclass(frozen=True)
class BipedOptions:
    """Properties of a robot that the description does not contain.

    left_foot, right_foot: links. sole: (behind the ankle, before the ankle, width) [m], a box that
    replaces all collision shapes of each foot. bush_set: a name of BUSH_SETS, or None.
    """

    left_foot: str | None = None
    right_foot: str | None = None
    sole: tuple[Positive, Positive, Positive] | None = None
    bush_set: str | None = None
    accept_nonphysical_inertia: bool = False

    def __post_init__(self) -> None:
        check_fields(self, ModelError)
        if (self.left_foot is None) != (self.right_foot is None):
            raise ModelError("name both feet, or none (--left-foot, --right-foot)")


class PreparationFinding(NamedTuple):
    """One line of the report. made: whether a missing element was added."""

    what: str
    text: str
    made: bool = False


@dataclass(frozen=True)
class PreparedBiped:
    """A robot that can walk: URDF text, model, sole links, findings, and the static posture."""

    urdf: str
    model: Model
    soles: tuple[str, str]  # left, right
    findings: tuple[PreparationFinding, ...]
    hold: StaticHold  # static posture under the weight at the start of a walk

    @property
    def start(self) -> np.ndarray:
        """The configuration in which a walk begins, above the world's origin (nq,)."""
        return self.model.keyframes[HALF_SITTING]


def prepare_biped(
    source: str | os.PathLike,
    options: BipedOptions | None = None,
    *,
    package_paths: PackagePaths | None = None,
    xacro_arguments=None,
) -> PreparedBiped:
    """Complete the description of a robot for walking.

    `load_model` must be able to read the format.

    Args:
        source: path or text of the description.
        options: properties of the robot that the description does not have.
        package_paths: as for `load_model`.
        xacro_arguments: as for `load_model`.

    Raises:
        ModelError: if the robot does not have two legs of six joints, has no soles, or has joints
            that cannot reach half-sitting.
    """
    check_arguments(prepare_biped, locals(), ModelError)
    options = options or BipedOptions()
    source_model = load_model(
        source,
        base="free",
        package_paths=package_paths,
        xacro_arguments=xacro_arguments,
        accept_nonphysical_inertia=options.accept_nonphysical_inertia,
    )
    label = source_model.source
    root = read_urdf(source_model.urdf, label, False).root
    folder = Path(source).absolute().parent if os.path.exists(source) else None
    name_files_wholly(root, Resources(folder, package_paths), label)
    source_model, biped, findings = _find_parts(root, source_model, options)
    findings += _hold_followers(root, source_model, biped)
    base = _add_base(root, source_model, biped)
    soles = _add_feet(root, biped, options)
    findings += [_add_force_sensors(root, source_model, biped), _add_imu(root, source_model, base)]
    findings.append(_add_servos(root, base, _loaded(root, label, "none"), biped, soles))
    model = _loaded(root, label, "hull")
    findings += _leg_findings(model, biped, soles)
    hold = static_hold(model, model.keyframes[HALF_SITTING], soles)
    findings.append(PreparationFinding("hold", f"{', '.join(hold.joints)} {hold}"))
    etree.indent(root)
    urdf = etree.tostring(root, encoding="unicode")
    return PreparedBiped(urdf, model, soles, tuple(findings), hold)


def _find_parts(
    root, given: Model, options: BipedOptions
) -> tuple[Model, Biped, list[PreparationFinding]]:
    """Return the model, the biped and the findings.

    Meshes of feet that lie crosswise are turned.
    """
    feet = options.left_foot, options.right_foot
    biped = biped_of(given, feet, options.sole)
    turned = turn_meshes(root) if options.sole is None and lie_crosswise(biped) else 0
    if not turned:
        return given, biped, _describe_parts(given, biped)
    given = _loaded(root, given.source, "hull")
    biped = biped_of(given, feet)
    text = f"{turned} turned as their files' up_axis says: the feet lay crosswise"
    return given, biped, [*_describe_parts(given, biped), PreparationFinding("meshes", text, True)]


def _hold_followers(root, model: Model, biped: Biped) -> list[PreparationFinding]:
    """Fix mimic joints, and joints between the base and the legs, at zero. Report the joints."""
    followers = model.system.mimic_dof >= 0
    names = [j.name for j in model.joints if j.joint_type != FREE and followers[j.v_index]]
    held_joints = _hold(root, [*biped.above, *names])
    return [PreparationFinding("held", ", ".join(held_joints), True)] if held_joints else []


def _add_servos(
    root, base: str, model: Model, biped: Biped, soles: tuple[str, str]
) -> PreparationFinding:
    """Add the posture of half-sitting, and gains of servos that hold the robot in this posture."""
    outlines, heights = zip(*((leg.outline, leg.ankle_height) for leg in biped.legs))
    q = half_sitting(model, soles, outlines, heights)
    _add_posture(root, base, model, q)
    legs = tuple((sole, leg.joints) for sole, leg in zip(soles, biped.legs))
    gains = default_gains(model, q, legs)
    for name, (kp, kd) in gains.items():
        add(add(root, "hrpsim", reference=name), "gains", kp=kp, kd=kd)
    return _gains_finding(model, gains)


def _loaded(root, label: str, meshes: str) -> Model:
    """Return the model of the present URDF, without repeating the warnings of the source."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_model(
            etree.tostring(root, encoding="unicode"),
            base="free",
            meshes=meshes,
            accept_nonphysical_inertia=True,
        )
    return replace(model, source=label)


def _describe_parts(model: Model, biped: Biped) -> list[PreparationFinding]:
    left, right = biped.legs
    size = left.outline.max(axis=0) - left.outline.min(axis=0)
    ahead = biped.R[:, 0].round(3).tolist()
    return [
        PreparationFinding("mass", f"{model.mass:.1f} kg, {len(model.joint_names)} joints"),
        PreparationFinding("feet", f"{left.foot}, {right.foot}"),
        PreparationFinding("legs", f"{', '.join(left.joints)}; {', '.join(right.joints)}"),
        PreparationFinding("faces", f"along {ahead} of {model.base_link!r}, {biped.facing}"),
        PreparationFinding(
            "ankles",
            f"pitch {left.ankle_axes[0]}, roll {left.ankle_axes[1]}, "
            f"{left.ankle_height:.3f} m above the sole",
        ),
        PreparationFinding(
            "soles",
            f"{size[0]:.3f} m long, {-left.outline[:, 0].min():.3f} m of it behind the ankle, "
            f"{size[1]:.3f} m wide",
        ),
    ]


def _hold(root, names) -> list[str]:
    """Fix joints at zero, and return the fixed joints."""
    for joint in root.iter("joint"):
        if joint.get("name") in names and joint.getparent().tag == "robot":
            joint.set("type", "fixed")
            for tag in ("mimic", "limit", "axis", "dynamics"):
                for element in joint.findall(tag):
                    joint.remove(element)
    for element in list(root.iter("hrpsim")):
        if element.get("reference") in names:
            root.remove(element)
    for control in list(root.iter("ros2_control")):
        root.remove(control)
    return list(names)


def _add_base(root, model: Model, biped: Biped) -> str:
    """Return the base link of the walk: the robot's own base link, or a new link above it.

    The base link faces along x. The middle of the legs lies in its x-z plane.
    """
    for keyframe in list(root.iter("keyframe")):
        keyframe.getparent().remove(keyframe)
    if np.abs(biped.R - np.eye(3)).max() < _ALIGNED and abs(biped.aside) < _MIDDLE:
        return model.base_link
    name = free_name(root, "walking_base")
    add(root, "link", name=name)
    joint = add_joint(root, f"{name}_fixed", "fixed", name, model.base_link)
    add_origin(joint, np.array([0.0, -biped.aside, 0.0]), biped.R.T)
    return name


def _add_feet(root, biped: Biped, options: BipedOptions) -> tuple[str, str]:
    """Add sole links and the soles' material. Add bushes and boxes if requested."""
    soles = []
    for leg in biped.legs:
        if options.sole is not None:
            _put_box(root, leg)
        if options.bush_set is not None:
            add_bushes(root, leg, bush_set(options.bush_set))
        sole = free_name(root, f"{leg.side[0]}_sole")
        add_link(root, sole, leg.foot, leg.sole_p, leg.sole_R)
        _set_material(root, leg.links)
        soles.append(sole)
    return soles[0], soles[1]


def _set_material(root, links) -> None:
    for element in root.iterchildren("hrpsim"):
        if element.get("reference") in links:
            for material in element.findall("material"):
                element.remove(material)
    for link in links:
        add(add(root, "hrpsim", reference=link), "material", name="sole")


def _put_box(root, leg) -> None:
    """Put a box below a foot in place of the foot's collision shapes."""
    links = {link.get("name"): link for link in root.iterchildren("link")}
    for name in leg.links:
        for element in links[name].findall("collision"):
            links[name].remove(element)
    link = links[leg.foot]
    low, high = leg.outline.min(axis=0), leg.outline.max(axis=0)
    collision = add(link, "collision")
    middle = np.array([*(0.5 * (low + high)), 0.5 * _THICKNESS])
    add_origin(collision, leg.sole_p + leg.sole_R @ middle, leg.sole_R)
    size = (*(high - low), _THICKNESS)
    add(add(collision, "geometry"), "box", size=exact_text(size))


def _add_force_sensors(root, model: Model, biped: Biped) -> PreparationFinding:
    """Add tared force sensors in the soles of feet that have none."""
    feet = [model.frame(leg.foot).body for leg in biped.legs]
    in_feet = (sensor for sensor in model.sensors if sensor.body in feet)
    own = [
        sensor for sensor in in_feet if (sensor.kind, sensor.reversed) == ("force_torque", False)
    ]
    tared = {sensor.body for sensor in own if sensor.tare}
    names = []
    for leg, body in zip(biped.legs, feet):
        if body in tared:
            continue
        names.append(_free_sensor_name(model, f"{leg.side[0]}fsensor"))
        element = add(root, "hrpsim", reference=leg.foot)
        sensor = add(element, "sensor", name=names[-1], type="force_torque", tare="true")
        add_origin(sensor, leg.sole_p, leg.sole_R)
    text = ", ".join(sensor.name for sensor in own) or "none in the feet"
    if names:
        text += f"; at the soles, the feet's weight tared: {', '.join(names)}"
    return PreparationFinding("force sensors", text, bool(names))


def _free_sensor_name(model: Model, name: str) -> str:
    """Return `name`, with underscores appended until no sensor has the name."""
    taken = {sensor.name for sensor in model.sensors}
    while name in taken:
        name += "_"
    return name


def _add_imu(root, model: Model, base: str) -> PreparationFinding:
    """Add an IMU in the base if the base has none."""
    on_base = model.frame(model.base_link).body
    for sensor in model.sensors:
        if sensor.kind == "imu" and sensor.body == on_base:
            return PreparationFinding("IMU", sensor.name)
    name = "walking_imu"
    add(add(root, "hrpsim", reference=base), "sensor", name=name, type="imu")
    return PreparationFinding("IMU", f"none on {model.base_link!r}: {name}", True)


def _add_posture(root, base: str, model: Model, q) -> None:
    extension = add(root, "hrpsim", reference=base)
    keyframe = add(extension, "keyframe", name=HALF_SITTING, xyz=exact_text(q[:3]), rpy="0 0 0")
    for joint in model.joints:
        if joint.joint_type != FREE and q[joint.q_index] != 0.0:
            add(keyframe, "joint", name=joint.name, position=float(q[joint.q_index]))


def _gains_finding(model: Model, gains) -> PreparationFinding:
    own = len(model.gains)
    if not gains:
        return PreparationFinding("gains", f"those of the description, {own} joints")
    stiffest = max(gains, key=lambda name: gains[name][0])
    kp, kd = gains[stiffest]
    return PreparationFinding(
        "gains",
        f"none for {len(gains)} of {own + len(gains)} joints: from inertias, "
        f"at most {kp:.0f} Nm/rad and {kd:.0f} Nms/rad ({stiffest})",
        True,
    )


def _leg_findings(model: Model, biped: Biped, soles) -> list[PreparationFinding]:
    """Report the largest efforts of the legs' servos, and the kind of inverse kinematics."""
    bounds = {
        name: float(model.system.effort_limit[model.joint(name).v_index])
        for leg in biped.legs
        for name in leg.joints
    }
    weakest = min(bounds, key=bounds.__getitem__)
    weight = model.mass * STANDARD_GRAVITY
    text = "none stated for the legs: unlimited"
    if math.isfinite(bounds[weakest]):
        text = f"{bounds[weakest]:g} Nm at least ({weakest}); the robot weighs {weight:.0f} N"
    closed = all(isinstance(leg_of(model, sole), LegKinematics) for sole in soles)
    kind = "in closed form" if closed else "by iteration"
    return [
        PreparationFinding("inverse", f"of the legs {kind}"),
        PreparationFinding("efforts", text),
    ]
