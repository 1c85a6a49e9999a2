# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators of an MJCF as gains, effort limits and command interfaces of joints."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.model.formats.robot_data import JointData, RobotData
from hrpsim.model.mjcf.notes import Notes
from hrpsim.model.mjcf.read import MjcfModel
from hrpsim.model.mjcf.tree import BodyTree

_SCALAR_JOINTS = ("HINGE", "SLIDE")


def add_actuators(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Let each actuator that is affine in its joint's position and velocity command that joint.

    Its torque g (gain u + b0 + b1 g q + b2 g v) is that of a servo with kp = -b1 g^2 and
    kd = -b2 g^2, of a brake where it has no kp, or of a motor.
    """
    for k in range(m.nu if m.count("nactuator") == 0 else m.nactuator):
        name = m.names["actuator"][k]
        joint = _joint_of(m, tree, robot, notes, k, name)
        if joint is None:
            continue
        why = _why_not_affine(m, k)
        if why:
            notes.add(f"actuator, {why}", "not simulated", name)
            continue
        if joint.name in robot.commanded and not _damps_servo(m, k, joint, robot):
            notes.add("actuator, a second on a joint", "not simulated", name)
        elif joint.name not in robot.commanded:
            _describe(m, k, joint, robot, notes, name)


def _joint_of(
    m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes, k: int, name: str
) -> JointData | None:
    """Return the joint that an actuator moves; None, with a note, where it moves something else."""
    transmission = m.kind("mjtTrn", m.actuator_trntype[k])
    if transmission not in ("JOINT", "JOINTINPARENT"):
        notes.add(f"actuator on a {transmission.lower()}", "not simulated", name)
        return None
    joint = int(m.actuator_trnid[k][0])
    if joint not in tree.joints:  # another robot's
        return None
    if m.kind("mjtJoint", m.jnt_type[joint]) not in _SCALAR_JOINTS:
        notes.add("actuator on a ball or free joint", "not simulated", name)
        return None
    return robot.joints[tree.joints[joint][0]]


def _why_not_affine(m: MjcfModel, k: int) -> str:
    """Return what keeps an actuator from being a servo or motor, or nothing."""
    if m.kind("mjtDyn", m.actuator_dyntype[k]) != "NONE":
        return "with a state of its own"
    gain, bias = (m.actuator_gaintype[k], m.actuator_biastype[k])
    if m.kind("mjtGain", gain) != "FIXED" or m.kind("mjtBias", bias) not in ("NONE", "AFFINE"):
        return "not affine"
    if m.kind("mjtBias", bias) == "AFFINE" and np.any(m.actuator_biasprm[k][1:3] > 0.0):
        return "that pushes away from its target"
    return ""


def _damps_servo(m: MjcfModel, k: int, joint: JointData, robot: RobotData) -> bool:
    """Let a velocity servo be the damping of its joint's position servo; return whether it can."""
    gain, (_, b1, b2) = float(m.actuator_gainprm[k][0]), map(float, m.actuator_biasprm[k][:3])
    is_plain = m.actuator_gear[k][0] == 1.0 and not m.actuator_forcelimited[k]
    if not (is_plain and b1 == 0.0 and gain > 0.0 and math.isclose(gain, -b2)):
        return False
    if robot.commanded[joint.name] != ("position",) or joint.gains is None or joint.gains[1]:
        return False
    joint.gains = (joint.gains[0], gain)
    robot.commanded[joint.name] = ("position", "velocity")
    return True


def _describe(
    m: MjcfModel, k: int, joint: JointData, robot: RobotData, notes: Notes, name: str
) -> None:
    gear, gain = float(m.actuator_gear[k][0]), float(m.actuator_gainprm[k][0])
    is_affine = m.kind("mjtBias", m.actuator_biastype[k]) == "AFFINE"
    b0, b1, b2 = (float(b) for b in m.actuator_biasprm[k][:3]) if is_affine else (0.0, 0.0, 0.0)
    kp, kd = -b1 * gear * gear, -b2 * gear * gear
    if kp > 0.0:
        joint.gains = (kp, kd)
        robot.commanded[joint.name] = ("position",)
        if not (math.isclose(gain, -b1) and gear == 1.0) or b0:
            why = f"the joint's target is {_target(gain, b0, kp, gear)}"
            notes.add("actuator, a servo with a scaled ctrl", why, name)
    elif kd > 0.0 and math.isclose(gain, -b2):
        joint.gains = (0.0, kd)
        robot.commanded[joint.name] = ("velocity",)
        if gear != 1.0:
            notes.add("actuator, a velocity servo with a gear", "ctrl is gear times the rate", name)
    else:
        robot.commanded[joint.name] = ("effort",)
        joint.damping += kd
        if gain * gear != 1.0:
            why = "the joint's effort is gear times gain times ctrl"
            notes.add("actuator, a motor with a gear", why, name)
        if b0:
            notes.add("actuator, a motor with a constant force", "without it", name)
    _limit(m, k, joint, notes, name, abs(gear), abs(gain * gear))
    for array in ("actuator_armature", "actuator_damping"):
        values = getattr(m, array)
        if values is not None:
            value = float(np.ravel(values[k])[0]) * gear * gear
            if array == "actuator_armature":
                joint.rotor_inertia += value
            else:
                joint.damping += value


def _target(gain: float, b0: float, kp: float, gear: float) -> str:
    return f"{gain * gear / kp:.6g} ctrl" + (f" + {b0 * gear / kp:.6g}" if b0 else "")


def _limit(
    m: MjcfModel, k: int, joint: JointData, notes: Notes, name: str, gear: float, scale: float
) -> None:
    """Bound the joint's effort by what the actuator can deliver."""
    at = k if m.actuator_ctrladr is None else int(m.actuator_ctrladr[k])
    is_motor = joint.gains is None
    bounds = []
    if m.actuator_forcelimited[k]:
        bounds.append(gear * m.actuator_forcerange[k])
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
