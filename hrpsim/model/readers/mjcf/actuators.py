# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert the actuators, motors and driven tendons of a compiled MJCF."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.mjcf.servos import (
    INPUTS,
    KINDS,
    motor_properties,
    servo_of,
    why_not_servo,
)
from hrpsim.model.readers.mjcf.tree import BodyTree
from hrpsim.model.readers.robot_data import LONGEST_DELAY, JointData, Notes, RobotData, TendonData

_SCALAR_JOINTS = ("HINGE", "SLIDE")
_FILTERS = ("FILTER", "FILTEREXACT")
_LINEAR = {"delay", "time_constant"}  # properties with which efforts add up
_OWN = ("stiffness", "damping", "frictionloss", "limited", "armature", "actfrclimited")


def joints_of_tendon(m: MjcfModel, tendon: int) -> list[tuple[int, float]]:
    """Return (joint, coefficient) pairs of a fixed tendon, or [] for a spatial tendon."""
    first = int(m.tendon_adr[tendon])
    wraps = range(first, first + int(m.tendon_num[tendon]))
    if any(m.kind("mjtWrap", m.wrap_type[k]) != "JOINT" for k in wraps):
        return []
    return [(int(m.wrap_objid[k]), float(m.wrap_prm[k])) for k in wraps if m.wrap_prm[k]]


def note_tendons(m: MjcfModel, notes: Notes) -> None:
    """Note tendons that are not simulated.

    These are spatial tendons, and limits, springs and friction of fixed tendons.
    """
    for tendon, name in enumerate(m.names.get("tendon", [])):
        if not joints_of_tendon(m, tendon):
            notes.add("tendon", "not simulated", name)
            continue
        for attribute in _OWN:
            values = getattr(m, f"tendon_{attribute}")
            if values is not None and np.any(values[tendon]):
                notes.add(f"tendon {attribute}", "not simulated", name)


@dataclass
class Drive:
    """The sum of all actuators of one joint or tendon. `JointData` explains the fields."""

    name: str  # name of the last actuator
    inputs: tuple[str, ...]
    gains: tuple[float, float] | None = None
    effort: float = math.inf
    damping: float = 0.0
    rotor_inertia: float = 0.0
    actuator: dict[str, float] = field(default_factory=dict)


def add_actuators(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Map each actuator that is affine in a joint's position and velocity to that joint.

    The torque is g (gain u + b0 + b1 g q + b2 g v) with the gear ratio g, the control u, and the
    position q and velocity v of the joint. This torque corresponds to a servo with kp = -b1 g^2 and
    kd = -b2 g^2. If kp is 0, the torque corresponds to a brake. If kd is 0 too, the torque
    corresponds to a motor. PID servos and DC motors with a controller have several inputs. The
    torques of several actuators on a joint add up.
    """
    drives: dict[tuple[type, str], tuple[JointData | TendonData, Drive]] = {}
    for k in range(m.nu if m.count("nactuator") == 0 else m.nactuator):
        name = m.names["actuator"][k]
        driven = _driven(m, tree, robot, notes, k)
        if driven is None:
            continue
        part, gear = driven
        why = _why_not_affine(m, k)
        if why:
            notes.add(f"actuator, {why}", "not simulated", name)
            continue
        key = type(part), part.name
        drive = _describe(m, k, gear, notes)
        if key in drives:
            part, first = drives[key]
            joined = _joined(first, drive, notes)
            if joined is None:
                kind = "tendon" if isinstance(part, TendonData) else "joint"
                why = "that differs from the first in more than gains"
                notes.add(f"actuator, a second on a {kind}, {why}", "not simulated", name)
                continue
            drive = joined
        drives[key] = part, drive
    for part, drive in drives.values():
        _fit(part, drive, robot, notes)


def _joined(a: Drive, b: Drive, notes: Notes) -> Drive | None:
    """Return the sum of two drives of one joint, or None if a single drive cannot express the sum.

    Gains add up. If only one drive has a velocity input, the kd of the other becomes damping.
    """
    if a.actuator != b.actuator or not _LINEAR.issuperset(a.actuator):
        return None
    inputs = tuple(filter((a.inputs + b.inputs).__contains__, INPUTS.values()))
    gains, damping = _summed_gains(a, b, inputs)
    feature = "actuator, a second on a joint"
    for name in set(a.inputs).intersection(b.inputs):
        how = "sum of both" if name == "effort" else "mean of both by their gains"
        notes.add(feature, f"the {name} is the {how}", b.name)
    effort = a.effort + b.effort
    if min(a.effort, b.effort) < math.inf and not a.inputs == b.inputs == ("effort",):
        notes.add(feature, "the sum of their bounds limits their sum", b.name)
    inertia = a.rotor_inertia + b.rotor_inertia
    return Drive(b.name, inputs, gains, effort, damping, inertia, a.actuator)


def _summed_gains(
    a: Drive, b: Drive, inputs: tuple[str, ...]
) -> tuple[tuple[float, float] | None, float]:
    """Return the sum of two drives.

    Returns:
        (kp and kd, or None if neither drive has gains; damping).
    """
    sums, damping = np.zeros(2), a.damping + b.damping
    for drive in (a, b):
        kp, kd = drive.gains or (0.0, 0.0)
        if "velocity" in inputs and "velocity" not in drive.inputs:
            kd, damping = 0.0, damping + kd
        sums += (kp, kd)
    if a.gains is None and b.gains is None:
        return None, damping
    return (float(sums[0]), float(sums[1])), damping


def _fit(part: JointData | TendonData, drive: Drive, robot: RobotData, notes: Notes) -> None:
    """Write the properties of a drive to its joint or tendon."""
    part.gains, part.effort = drive.gains, min(part.effort, drive.effort)
    part.damping += drive.damping
    part.rotor_inertia += drive.rotor_inertia
    part.actuator |= drive.actuator
    if isinstance(part, JointData):
        robot.commanded[part.name] = drive.inputs
        return
    robot.tendons.append(part)
    left_out = [attribute for attribute in ("damping", "rotor_inertia") if getattr(part, attribute)]
    for attribute in (*left_out, *part.actuator):
        notes.add("actuator on a tendon", f"without its {attribute.replace('_', ' ')}", drive.name)


def _transmission(m: MjcfModel, k: int) -> tuple[str, list[tuple[int, float]]]:
    """Find the joints on which an actuator acts.

    Returns:
        (kind of the transmission, (joint, ratio) for each joint). An unsupported kind has no
        joints.
    """
    kind, number = m.kind("mjtTrn", m.actuator_trntype[k]), int(m.actuator_trnid[k][0])
    if kind == "TENDON":
        return "tendon but a fixed one of one or two joints", joints_of_tendon(m, number)
    return kind.lower(), [(number, 1.0)] if kind in ("JOINT", "JOINTINPARENT") else []


def _driven(
    m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes, k: int
) -> tuple[JointData | TendonData, float] | None:
    """Return the joint or tendon driven by an actuator, and the gear ratio.

    Return None and add a note if hrpsim does not support the transmission.

    A fixed tendon of one joint is a gear.
    """
    name = m.names["actuator"][k]
    number, gear = int(m.actuator_trnid[k][0]), float(m.actuator_gear[k][0])
    kind, joints = _transmission(m, k)
    if len(joints) not in (1, 2):
        notes.add(f"actuator on a {kind}", "not simulated", name)
        return None
    if any(joint not in tree.joints for joint, _ in joints):  # another robot's
        return None
    if any(m.kind("mjtJoint", m.jnt_type[joint]) not in _SCALAR_JOINTS for joint, _ in joints):
        notes.add("actuator on a ball or free joint", "not simulated", name)
        return None
    parts = [robot.joints[tree.joints[joint][0]] for joint, _ in joints]
    if len(joints) == 1:
        return parts[0], gear * joints[0][1]
    names, ratios = (parts[0].name, parts[1].name), (joints[0][1], joints[1][1])
    return TendonData(m.names["tendon"][number] or name or f"tendon{number}", names, ratios), gear


def _why_not_affine(m: MjcfModel, k: int) -> str:
    """Return the reason why an actuator is not a servo or motor, or ""."""
    if m.kind("mjtGain", m.actuator_gaintype[k]) in KINDS:
        return why_not_servo(m, k)
    dynamics = m.kind("mjtDyn", m.actuator_dyntype[k])
    if dynamics not in ("NONE", "INTEGRATOR", *_FILTERS):
        return "with an internal state"
    gain, bias = (m.actuator_gaintype[k], m.actuator_biastype[k])
    if m.kind("mjtGain", gain) != "FIXED" or m.kind("mjtBias", bias) not in ("NONE", "AFFINE"):
        return "not affine"
    if m.kind("mjtBias", bias) == "AFFINE" and np.any(m.actuator_biasprm[k][1:3] > 0.0):
        return "that pushes away from its target"
    if dynamics == "INTEGRATOR" and (_affine(m, k)[2] == 0.0 or m.actuator_gear[k][0] == 0.0):
        return "an integrator without a servo"
    return ""


def _servo(m: MjcfModel, k: int) -> tuple[tuple[str, ...], float, float]:
    kind = m.kind("mjtGain", m.actuator_gaintype[k])
    spec = 0 if m.actuator_ctrlspec is None else int(m.actuator_ctrlspec[k])
    return servo_of(kind, spec, m.actuator_gainprm[k], m.actuator_biasprm[k])


def _affine(m: MjcfModel, k: int) -> tuple[float, float, float, float]:
    """Return gain, b0, b1 and b2 of an actuator. The ctrl of a DC motor is the voltage."""
    inputs, kp, kd = _servo(m, k)
    if inputs:
        return kp if "position" in inputs else 1.0, 0.0, -kp, -kd
    gain = float(m.actuator_gainprm[k][0])
    if m.kind("mjtGain", m.actuator_gaintype[k]) == "DCMOTOR":
        constant = float(m.actuator_gainprm[k][1])
        return constant / gain, 0.0, 0.0, -constant * constant / gain  # gain: the resistance
    if m.kind("mjtBias", m.actuator_biastype[k]) != "AFFINE":
        return gain, 0.0, 0.0, 0.0
    b0, b1, b2 = map(float, m.actuator_biasprm[k][:3])
    return gain, b0, b1, b2


def _describe(m: MjcfModel, k: int, gear: float, notes: Notes) -> Drive:
    """Return inputs, gains, limits and other properties of an actuator, with its gear ratio."""
    name, gain = m.names["actuator"][k], _affine(m, k)[0]
    drive = _drive_of(m, k, gear, notes)
    _limit(m, k, drive, notes, abs(gear), abs(gain * gear))
    drive.actuator |= motor_properties(m, k, abs(gear))
    if "coulomb_friction" in drive.actuator:
        notes.add("actuator, a dcmotor with lugre", "dry friction without bristles", name)
    _add_state(m, k, gear, drive, notes)
    if m.actuator_delay is not None and m.actuator_delay[k]:
        delay = float(m.actuator_delay[k])
        if delay > LONGEST_DELAY:
            notes.add("actuator delay", f"of {LONGEST_DELAY:g} s at most", name)
        drive.actuator["delay"] = min(delay, LONGEST_DELAY)
    for array, attribute in (
        ("actuator_armature", "rotor_inertia"),
        ("actuator_damping", "damping"),
    ):
        values = getattr(m, array)
        if values is not None:
            value = float(np.ravel(values[k])[0]) * gear * gear
            setattr(drive, attribute, getattr(drive, attribute) + value)
    return drive


def _drive_of(m: MjcfModel, k: int, gear: float, notes: Notes) -> Drive:
    """Return the gains and inputs of an affine actuator: servo, brake or motor."""
    name, (gain, b0, b1, b2) = m.names["actuator"][k], _affine(m, k)
    kp, kd = 0.0 - b1 * gear * gear, 0.0 - b2 * gear * gear
    inputs, *_ = _servo(m, k)
    if inputs and max(kp, kd) > 0.0:
        why = f"targets are ctrl / {gear:.6g}, an effort is {gear:.6g} ctrl"
        notes.add("actuator, a servo with a gear", why, name, times=gear != 1.0)
        return Drive(name, inputs, (kp, kd))
    if kp > 0.0:
        integrates = m.kind("mjtDyn", m.actuator_dyntype[k]) == "INTEGRATOR"
        if not (math.isclose(gain, -b1) and gear == 1.0) or b0:
            why = _scale(gain, b0, kp, gear, integrates)
            notes.add("actuator, a servo with a scaled ctrl", why, name)
        return _position_servo(name, kp, kd, integrates)
    if kd > 0.0 and math.isclose(gain, -b2):
        if gear != 1.0:
            notes.add("actuator, a velocity servo with a gear", "ctrl is gear times the rate", name)
        return Drive(name, ("velocity",), (0.0, kd))
    _note_motor(name, b0, gain * gear, notes)
    return Drive(name, ("effort",), damping=kd)


def _scale(gain: float, b0: float, kp: float, gear: float, integrates: bool) -> str:
    """Return the text of a note on the target of a position servo as a function of `ctrl`.

    integrates: whether `ctrl` is the velocity of the target instead of the target.
    """
    if integrates:
        return f"the velocity is {_target(gain, 0.0, kp, gear)}"
    return f"the target is {_target(gain, b0, kp, gear)}"


def _position_servo(name: str, kp: float, kd: float, integrates: bool) -> Drive:
    if integrates:
        return Drive(name, ("velocity",), (kp, 0.0), damping=kd)
    return Drive(name, ("position",), (kp, kd))


def _note_motor(name: str, b0: float, ratio: float, notes: Notes) -> None:
    if ratio != 1.0:
        why = "the joint's effort is gear times gain times ctrl"
        notes.add("actuator, a motor with a gear", why, name)
    if b0:
        notes.add("actuator, a motor with a constant force", "without it", name)


def _add_state(m: MjcfModel, k: int, gear: float, drive: Drive, notes: Notes) -> None:
    """Write the filter or integrator of an actuator to its drive."""
    name, dynamics = drive.name, m.kind("mjtDyn", m.actuator_dyntype[k])
    if dynamics not in ("INTEGRATOR", *_FILTERS):
        return
    why = "begins with the command at the start, not at 0"
    notes.add("actuator act, the state of a filter or integrator", why, name)
    if m.actuator_actearly[k]:
        notes.add("actuator actearly", "the mean of the state in a step acts", name)
    limited, bounds = bool(m.actuator_actlimited[k]), m.actuator_actrange[k]
    if dynamics in _FILTERS:
        if m.actuator_dynprm[k][0] > 0.0:
            drive.actuator["time_constant"] = float(m.actuator_dynprm[k][0])
        if limited:
            notes.add("actuator actrange of a filter", "its state is not cut off", name)
        return
    assert drive.gains is not None
    kp, (gain, b0, *_) = drive.gains[0], _affine(m, k)
    drive.actuator["velocity_integral_gain"] = kp
    if limited:
        ends = sorted(float(gain * end + b0) * gear / kp for end in bounds)
        drive.actuator["velocity_integral_lower"] = ends[0]
        drive.actuator["velocity_integral_upper"] = ends[1]


def _target(gain: float, b0: float, kp: float, gear: float) -> str:
    return f"{gain * gear / kp:.6g} ctrl" + (f" + {b0 * gear / kp:.6g}" if b0 else "")


def _limit(m: MjcfModel, k: int, drive: Drive, notes: Notes, gear: float, scale: float) -> None:
    """Limit the effort of a drive by `forcerange`, and by `ctrlrange` of a motor."""
    at = k if m.actuator_ctrladr is None else int(m.actuator_ctrladr[k])
    is_motor, name = drive.gains is None, drive.name
    bounds = []
    if m.actuator_forcelimited[k]:
        bounds.append(gear * m.actuator_forcerange[k])
        if drive.damping:
            notes.add("actuator forcerange of a motor", "its damping is not bounded", name)
    if 0 <= at < len(m.actuator_ctrllimited) and m.actuator_ctrllimited[at]:
        if is_motor:
            bounds.append(scale * m.actuator_ctrlrange[at])
        else:
            notes.add("actuator ctrlrange of a servo", "targets are not cut off", name)
    for lower, upper in bounds:
        if not math.isclose(-lower, upper):
            why = "the larger bound holds both ways"
            notes.add("actuator forcerange, ctrlrange, lopsided", why, name)
        drive.effort = min(drive.effort, float(max(abs(lower), abs(upper))))
