# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Map inputs and forces of MuJoCo's actuators to commands of a robot's joints.

An actuator with several inputs (pid, dcmotor) has one entry in ctrl for each input.
hrpsim/bridges/mujoco/other_forces.py applies the actuators that no joint of hrpsim can represent as
generalised forces.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.bridges.mujoco.native import package
from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.mjcf.servos import KINDS, servo_of, why_not_servo
from hrpsim.model.readers.mjcf.tree import BodyTree
from hrpsim.world.objects.robot import Robot

COMMANDS = ("position", "velocity", "effort")
# index in ctrl, index in COMMANDS, scale and offset of the command, bounds of ctrl
_Input = tuple[int, int, float, float, float, float]
_Part = tuple[tuple[int, float], ...]  # joints and coefficients


def acting_actuators(m) -> list[int]:
    """Return the actuators that are not disabled by a flag or group."""
    if m.opt.disableflags & package().mjtDisableBit.mjDSBL_ACTUATION:
        return []
    groups = np.asarray(m.actuator_group)
    is_off = [(m.opt.disableactuator >> int(g)) & 1 if 0 <= g < 31 else 0 for g in groups]
    return [k for k in range(len(m.actuator_gear)) if not is_off[k]]


def depend_on_state(m) -> bool:
    """Return whether the force of any actuator depends on the state."""
    names = ("biastype", "gaintype", "dyntype", "damping", "dampingpoly")  # constant: all are 0
    return any(np.any(getattr(m, f"actuator_{name}", 0)) for name in names)


def joint_like(m, read: MjcfModel) -> list[int]:
    """Return the actuators that hrpsim's joints can represent.

    Each joint represents one actuator, or a position servo together with a velocity servo that acts
    as damping.

    Args:
        m: a mujoco.MjModel.
        read: the same model, read by the reader of MJCF.
    """
    groups: dict[int, list[int]] = {}
    for k in acting_actuators(m):
        part = _driven_joints(m, k)
        if _is_joint_like(m, read, k, part):
            others = groups.setdefault(part[0][0], [])
            if not others or (len(others) == 1 and _is_damper(m, others[0], k)):
                others.append(k)
    return sorted(k for group in groups.values() for k in group)


def _is_joint_like(m, read: MjcfModel, k: int, part: _Part) -> bool:
    scalar = (package().mjtJoint.mjJNT_HINGE, package().mjtJoint.mjJNT_SLIDE)
    if len(part) != 1 or int(m.jnt_type[part[0][0]]) not in scalar:
        return False
    low, high = m.actuator_forcerange[k]
    if m.actuator_forcelimited[k] and not math.isclose(-low, high):
        return False
    if not m.actuator_gear[k][0] or _has_polynomial(m, k):
        return False
    return why_not_servo(read, k) == "" if _kind(m, k) in KINDS else _is_affine(m, k)


def _has_polynomial(m, k: int) -> bool:
    """Return whether an actuator has polynomial damping, which MuJoCo has since 4.0."""
    return hasattr(m, "actuator_dampingpoly") and bool(np.any(m.actuator_dampingpoly[k]))


def _is_affine(m, k: int) -> bool:
    """Return whether an actuator without state is a motor, or a servo with gains >= 0."""
    sorts, bias = package(), int(m.actuator_biastype[k])
    return (
        m.actuator_gaintype[k] == sorts.mjtGain.mjGAIN_FIXED
        and m.actuator_dyntype[k] == sorts.mjtDyn.mjDYN_NONE
        and bias in (sorts.mjtBias.mjBIAS_NONE, sorts.mjtBias.mjBIAS_AFFINE)
        and not (bias and np.any(m.actuator_biasprm[k][1:3] > 0.0))
    )


def _is_damper(m, servo: int, k: int) -> bool:
    """Return whether actuator k is a velocity servo of gear 1 that damps a position servo.

    servo: an undamped position servo at the same joint.
    """
    kp, no_kd = _plain_gains(m, servo)
    no_kp, kd = _plain_gains(m, k)
    is_pair = min(kp, kd) > 0.0 and no_kp == no_kd == 0.0
    return is_pair and not m.actuator_forcelimited[k] and math.isclose(m.actuator_gainprm[k][0], kd)


def _plain_gains(m, k: int) -> tuple[float, float]:
    """Return position and velocity gain of a servo of gear 1, or NaN for another actuator."""
    if _kind(m, k) in KINDS or not m.actuator_biastype[k] or m.actuator_gear[k][0] != 1.0:
        return math.nan, math.nan
    _, b1, b2 = m.actuator_biasprm[k][:3]
    return -float(b1), -float(b2)


def joint_actuators(m, tree: BodyTree, robot: Robot, taken: list[int]) -> list[tuple]:
    """Return ACTUATOR values for a robot's joints.

    Args:
        m: a mujoco.MjModel.
        tree: the bodies and joints of the robot in the MJCF.
        robot: the robot.
        taken: the actuators that hrpsim's joints represent.
    """
    result, names = [], robot.joint_names
    for k in taken:
        joints = _driven_joints(m, k)
        if joints[0][0] in tree.joints:
            (name,) = tree.joints[joints[0][0]]
            if name in robot.model.command_interfaces:
                inputs = _inputs(m, k, float(m.actuator_gear[k][0]) * joints[0][1])
                result += [(at, names.index(name), *command) for at, *command in inputs]
    return result


def _driven_joints(m, k: int) -> _Part:
    """Return (joint, coefficient) for each joint that an actuator drives.

    The actuator acts on a joint or on a fixed tendon. The result is () for other transmissions.
    """
    sorts = package()
    number, kind = int(m.actuator_trnid[k][0]), int(m.actuator_trntype[k])
    if kind in (sorts.mjtTrn.mjTRN_JOINT, sorts.mjtTrn.mjTRN_JOINTINPARENT):
        return ((number, 1.0),)
    if kind != sorts.mjtTrn.mjTRN_TENDON:
        return ()
    wraps = range(m.tendon_adr[number], m.tendon_adr[number] + m.tendon_num[number])
    if any(m.wrap_type[w] != sorts.mjtWrap.mjWRAP_JOINT for w in wraps):
        return ()
    return tuple((int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in wraps if m.wrap_prm[w])


def _kind(m, k: int) -> str:
    return package().mjtGain(int(m.actuator_gaintype[k])).name.removeprefix("mjGAIN_")


def _inputs(m, k: int, gear: float) -> list[_Input]:
    """Return index in ctrl, field, scale, offset and bounds for each input of an actuator."""
    kind = _kind(m, k)
    spec = _entry(m, "actuator_ctrlspec", k, 0)
    inputs, *_ = servo_of(kind, spec, m.actuator_gainprm[k], m.actuator_biasprm[k])
    first = _entry(m, "actuator_ctrladr", k, k)
    if inputs:
        fields = [COMMANDS.index(name) for name in inputs]
        laws = [(field, gear if field == 2 else 1.0 / gear, 0.0) for field in fields]
    else:
        laws = [_affine_input(m, k, kind, gear)]
    laws = laws[: _entry(m, "actuator_ctrlnum", k, 1)]
    return [(at, *command, *_bounds(m, at)) for at, command in enumerate(laws, first)]


def _affine_input(m, k: int, kind: str, gear: float) -> tuple[int, float, float]:
    """Return the field, scale and offset of the command of an actuator with one input."""
    gain = float(m.actuator_gainprm[k][0])
    if kind == "DCMOTOR":  # gain: the resistance
        return 2, float(m.actuator_gainprm[k][1]) / gain * gear, 0.0
    b0, b1, b2 = (float(b) for b in m.actuator_biasprm[k][:3])
    if m.actuator_biastype[k] == 0:
        b0 = b1 = b2 = 0.0
    kp, kd = -b1 * gear * gear, -b2 * gear * gear
    if kp > 0.0:
        field, divisor = 0, kp
    elif kd > 0.0 and np.isclose(gain, -b2):
        field, divisor = 1, kd
    else:
        field, divisor = 2, 1.0
    return field, gain * gear / divisor, b0 * gear / divisor


def _bounds(m, at: int) -> tuple[float, float]:
    """Return the lower and upper bound of an entry of ctrl."""
    is_free = m.opt.disableflags & package().mjtDisableBit.mjDSBL_CLAMPCTRL
    bounded = m.actuator_ctrllimited[at] and not is_free
    low, high = m.actuator_ctrlrange[at] if bounded else (-np.inf, np.inf)
    return float(low), float(high)


def _entry(m, field: str, k: int, default: int) -> int:
    """Return entry k of a field that exists since MuJoCo 4.0, or `default` if it is missing."""
    return int(getattr(m, field)[k]) if hasattr(m, field) else default


def alone_on_joint(m, taken: list[int]) -> dict[int, tuple[int, float]]:
    """Return {actuator: (index in qvel, gear ratio)} for each actuator that is alone on a joint.

    The joint has no effort limit. The actuator's force therefore follows from the joint's effort.
    """
    parts = {k: _driven_joints(m, k)[0] for k in taken}
    driven = [joint for joint, _ in parts.values()]
    return {
        k: (int(m.jnt_dofadr[joint]), float(m.actuator_gear[k][0]) * coefficient)
        for k, (joint, coefficient) in parts.items()
        if driven.count(joint) == 1 and not m.jnt_actfrclimited[joint]
    }
