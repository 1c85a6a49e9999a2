# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert the actuators, motors and driven tendons of a compiled MJCF."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.mjcf.tree import BodyTree
from hrpsim.model.readers.robot_data import LONGEST_DELAY, JointData, Notes, RobotData, TendonData

_SCALAR_JOINTS = ("HINGE", "SLIDE")
Commanded: TypeAlias = dict[str, tuple[str, ...]]
_INPUTS = {1: "position", 2: "velocity", 4: "effort"}  # bits of actuator_ctrlspec
_NO_INPUT = 16
KINDS = ("PID", "DCMOTOR")
_OWN = ("stiffness", "damping", "frictionloss", "limited", "armature", "actfrclimited")


def joints_of_tendon(m: MjcfModel, tendon: int) -> list[tuple[int, float]]:
    """Return (joint, coefficient) of a fixed tendon, or nothing for a spatial tendon."""
    first = int(m.tendon_adr[tendon])
    wraps = range(first, first + int(m.tendon_num[tendon]))
    if any(m.kind("mjtWrap", m.wrap_type[k]) != "JOINT" for k in wraps):
        return []
    return [(int(m.wrap_objid[k]), float(m.wrap_prm[k])) for k in wraps if m.wrap_prm[k]]


def note_tendons(m: MjcfModel, notes: Notes) -> None:
    """Note spatial tendons, and other effects of fixed tendons than joining joints."""
    for tendon, name in enumerate(m.names.get("tendon", [])):
        if not joints_of_tendon(m, tendon):
            notes.add("tendon", "not simulated", name)
            continue
        for what in _OWN:
            values = getattr(m, f"tendon_{what}")
            if values is not None and np.any(values[tendon]):
                notes.add(f"tendon {what}", "not simulated", name)


def servo_of(kind: str, spec: int, gain: Any, bias: Any) -> tuple[tuple[str, ...], float, float]:
    """Return the inputs, kp and kd of a PID servo or a DC motor with a controller.

    The force is kp (position - length) + kd (velocity - rate) + effort. A missing input is 0. Other
    actuators, and a DC motor with a voltage input, have no such inputs.

    Args:
        kind: name of the gain's type.
        spec: actuator_ctrlspec.
        gain: actuator_gainprm.
        bias: actuator_biasprm.
    """
    if kind not in KINDS:
        return (), 0.0, 0.0
    inputs = tuple(name for bit, name in _INPUTS.items() if spec & bit)
    kp, kd = (-bias[1], -bias[2]) if kind == "PID" else (gain[4], gain[6])
    return inputs, float(kp), float(kd)


def _servo_states(m: MjcfModel, k: int) -> tuple[float, float, float]:
    """Return integral gain, its bound [rad s] and slew rate of a servo. 0 means none."""
    gain, dynamics = m.actuator_gainprm[k], m.actuator_dynprm[k]
    if m.kind("mjtGain", m.actuator_gaintype[k]) == "PID":
        return float(gain[0]), float(dynamics[0]), float(dynamics[1])
    return float(gain[5]), float(dynamics[8]), float(dynamics[7])


def why_not_servo(m: MjcfModel, k: int) -> str:
    """Return the properties of a PID servo or a DC motor that are not simulated, or ""."""
    kind, spec = m.kind("mjtGain", m.actuator_gaintype[k]), int(m.actuator_ctrlspec[k])
    gain, bias, dynamics = m.actuator_gainprm[k], m.actuator_biasprm[k], m.actuator_dynprm[k]
    inputs, kp, kd = servo_of(kind, spec, gain, bias)
    integral, _, slew = _servo_states(m, k)
    states = {"an integral or a slew rate without kp": kp == 0.0 and (integral or slew)}
    if kind != "PID":
        states |= {
            "a dcmotor with inductance": dynamics[0],
            "a dcmotor with cogging": bias[0],
            "a dcmotor without input": spec & _NO_INPUT,
            "a dcmotor whose resistance changes with its heat": dynamics[2] and gain[2],
        }
    if inputs and ((kp > 0.0 and "position" not in inputs) or (kd > 0.0 and inputs == ("effort",))):
        return "with gains but without their input"
    if kp < 0.0 or kd < 0.0:
        return "that pushes away from its target"
    return next((what for what, value in states.items() if value), "")


def motor_properties(m: MjcfModel, k: int, gear: float) -> dict[str, float]:
    """Return the properties of `hrpsim.Actuator` that a servo or DC motor has, behind a gear.

    LuGre friction is dry friction with Stribeck's curve: the same in steady sliding, without the
    deflection of the bristles.
    """
    kind = m.kind("mjtGain", m.actuator_gaintype[k])
    found: dict[str, float] = {}
    if kind not in KINDS:
        return found
    integral, bound, slew = _servo_states(m, k)
    if integral:
        found["integral_gain"] = integral * gear * gear
        if bound:
            found["integral_limit"] = integral * bound * gear
    if slew:
        found["slew_rate"] = slew / gear
    if kind == "PID":
        return found
    gain, bias, dynamics = m.actuator_gainprm[k], m.actuator_biasprm[k], m.actuator_dynprm[k]
    if gain[7] > 0.0:
        found |= {"voltage": gain[7], "resistance": gain[0], "torque_constant": gain[1]}
        found["gear_ratio"] = gear
    if dynamics[5] > 0.0:
        found |= {"coulomb_friction": bias[3] * gear, "static_friction": bias[4] * gear}
        if bias[5] > 0.0:
            found["stribeck_velocity"] = bias[5] / gear
    return {name: float(value) for name, value in found.items()}


def add_actuators(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Map each actuator that is affine in its joint's position and velocity to that joint.

    The torque g (gain u + b0 + b1 g q + b2 g v) corresponds to a servo with kp = -b1 g^2 and
    kd = -b2 g^2, to a brake if kp is 0, or to a motor. PID servos and DC motors with a controller
    have several inputs.
    """
    tendons: dict[str, tuple[str, ...]] = {}  # as `robot.commanded`
    for k in range(m.nu if m.count("nactuator") == 0 else m.nactuator):
        name = m.names["actuator"][k]
        found = _driven(m, tree, robot, notes, k)
        if found is None:
            continue
        part, gear = found
        why = _why_not_affine(m, k)
        if why:
            notes.add(f"actuator, {why}", "not simulated", name)
            continue
        what, commanded = "tendon", tendons
        if isinstance(part, JointData):
            what, commanded = ("joint", robot.commanded)
        if part.name in commanded and not _damps_servo(m, k, gear, part, commanded):
            notes.add(f"actuator, a second on a {what}", "not simulated", name)
        elif part.name not in commanded:
            _describe(m, k, gear, part, commanded, notes)
            if isinstance(part, TendonData):
                robot.tendons.append(part)
                left_out = [one for one in ("damping", "rotor_inertia") if getattr(part, one)]
                for one in (*left_out, *part.actuator):
                    notes.add("actuator on a tendon", f"without its {one.replace('_', ' ')}", name)


def _driven(
    m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes, k: int
) -> tuple[JointData | TendonData, float] | None:
    """Return the joint or tendon driven by an actuator, and the gear. None, with a note, if none.

    A fixed tendon of one joint is a gear.
    """
    transmission, name = m.kind("mjtTrn", m.actuator_trntype[k]), m.names["actuator"][k]
    number, gear = int(m.actuator_trnid[k][0]), float(m.actuator_gear[k][0])
    if transmission in ("JOINT", "JOINTINPARENT"):
        joints = [(number, 1.0)]
    elif transmission == "TENDON":
        joints = joints_of_tendon(m, number)
    else:
        joints = []
    if len(joints) not in (1, 2):
        what = " but a fixed one of one or two joints" if transmission == "TENDON" else ""
        notes.add(f"actuator on a {transmission.lower()}{what}", "not simulated", name)
        return None
    if any(joint not in tree.joints for joint, _ in joints):  # another robot's
        return None
    if any(m.kind("mjtJoint", m.jnt_type[joint]) not in _SCALAR_JOINTS for joint, _ in joints):
        notes.add("actuator on a ball or free joint", "not simulated", name)
        return None
    parts = [robot.joints[tree.joints[joint][0]] for joint, _ in joints]
    if len(joints) == 1:
        return parts[0], gear * joints[0][1]
    a, b = joints
    label = m.names["tendon"][number] or name or f"tendon{number}"
    known = [tendon for tendon in robot.tendons if tendon.name == label]
    names = parts[0].name, parts[1].name
    return known[0] if known else TendonData(label, names, (a[1], b[1])), gear


def _why_not_affine(m: MjcfModel, k: int) -> str:
    """Return the reason why an actuator is no servo or motor, or ""."""
    if m.kind("mjtGain", m.actuator_gaintype[k]) in KINDS:
        return why_not_servo(m, k)
    if m.kind("mjtDyn", m.actuator_dyntype[k]) != "NONE":
        return "with a state of its own"
    gain, bias = (m.actuator_gaintype[k], m.actuator_biastype[k])
    if m.kind("mjtGain", gain) != "FIXED" or m.kind("mjtBias", bias) not in ("NONE", "AFFINE"):
        return "not affine"
    if m.kind("mjtBias", bias) == "AFFINE" and np.any(m.actuator_biasprm[k][1:3] > 0.0):
        return "that pushes away from its target"
    return ""


def _servo(m: MjcfModel, k: int) -> tuple[tuple[str, ...], float, float]:
    kind = m.kind("mjtGain", m.actuator_gaintype[k])
    spec = 0 if m.actuator_ctrlspec is None else int(m.actuator_ctrlspec[k])
    return servo_of(kind, spec, m.actuator_gainprm[k], m.actuator_biasprm[k])


def _affine(m: MjcfModel, k: int) -> tuple[float, float, float, float]:
    """Return gain, b0, b1 and b2 of an actuator. The ctrl of a DC motor is its voltage."""
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


def _damps_servo(
    m: MjcfModel, k: int, gear: float, joint: JointData | TendonData, commanded: Commanded
) -> bool:
    """Merge a velocity servo into the position servo of its joint as damping. Return success."""
    gain, _, b1, b2 = _affine(m, k)
    is_plain = gear == 1.0 and not m.actuator_forcelimited[k]
    if not (is_plain and b1 == 0.0 and gain > 0.0 and math.isclose(gain, -b2)):
        return False
    if commanded[joint.name] != ("position",) or joint.gains is None or joint.gains[1]:
        return False
    joint.gains = (joint.gains[0], gain)
    commanded[joint.name] = ("position", "velocity")
    return True


def _describe(
    m: MjcfModel,
    k: int,
    gear: float,
    joint: JointData | TendonData,
    commanded: Commanded,
    notes: Notes,
) -> None:
    name, (gain, b0, b1, b2) = m.names["actuator"][k], _affine(m, k)
    kp, kd = -b1 * gear * gear, -b2 * gear * gear
    inputs, *_ = _servo(m, k)
    if inputs and (kp > 0.0 or kd > 0.0):
        joint.gains = (kp, kd)
        commanded[joint.name] = inputs
        if gear != 1.0:
            why = f"targets are ctrl / {gear:.6g}, an effort is {gear:.6g} ctrl"
            notes.add("actuator, a servo with a gear", why, name)
    elif kp > 0.0:
        joint.gains = (kp, kd)
        commanded[joint.name] = ("position",)
        if not (math.isclose(gain, -b1) and gear == 1.0) or b0:
            why = f"the target is {_target(gain, b0, kp, gear)}"
            notes.add("actuator, a servo with a scaled ctrl", why, name)
    elif kd > 0.0 and math.isclose(gain, -b2):
        joint.gains = (0.0, kd)
        commanded[joint.name] = ("velocity",)
        if gear != 1.0:
            notes.add("actuator, a velocity servo with a gear", "ctrl is gear times the rate", name)
    else:
        commanded[joint.name] = ("effort",)
        joint.damping += kd
        if gain * gear != 1.0:
            why = "the joint's effort is gear times gain times ctrl"
            notes.add("actuator, a motor with a gear", why, name)
        if b0:
            notes.add("actuator, a motor with a constant force", "without it", name)
    _limit(m, k, joint, notes, name, abs(gear), abs(gain * gear))
    joint.actuator |= motor_properties(m, k, abs(gear))
    if "coulomb_friction" in joint.actuator:
        notes.add("actuator, a dcmotor with lugre", "dry friction without bristles", name)
    _delay(m, k, joint, notes, name)
    for array in ("actuator_armature", "actuator_damping"):
        values = getattr(m, array)
        if values is not None:
            value = float(np.ravel(values[k])[0]) * gear * gear
            if array == "actuator_armature":
                joint.rotor_inertia += value
            else:
                joint.damping += value


def _delay(m: MjcfModel, k: int, joint: JointData | TendonData, notes: Notes, name: str) -> None:
    """Delay the joint's commands as the actuator's."""
    if m.actuator_delay is None or not m.actuator_delay[k]:
        return
    delay = float(m.actuator_delay[k])
    if delay > LONGEST_DELAY:
        notes.add("actuator delay", f"of {LONGEST_DELAY:g} s at most", name)
    joint.actuator["delay"] = min(delay, LONGEST_DELAY)


def _target(gain: float, b0: float, kp: float, gear: float) -> str:
    return f"{gain * gear / kp:.6g} ctrl" + (f" + {b0 * gear / kp:.6g}" if b0 else "")


def _limit(
    m: MjcfModel,
    k: int,
    joint: JointData | TendonData,
    notes: Notes,
    name: str,
    gear: float,
    scale: float,
) -> None:
    """Limit the joint's effort to the effort that the actuator can deliver."""
    at = k if m.actuator_ctrladr is None else int(m.actuator_ctrladr[k])
    is_motor = joint.gains is None
    bounds = []
    if m.actuator_forcelimited[k]:
        bounds.append(gear * m.actuator_forcerange[k])
        if is_motor and joint.damping:
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
        joint.effort = min(joint.effort, float(max(abs(lower), abs(upper))))
