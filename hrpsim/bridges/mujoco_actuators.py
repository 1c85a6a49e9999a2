# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Map inputs and forces of MuJoCo's actuators to commands of a robot's joints and tendons.

An actuator with several inputs (pid, dcmotor) has the same number of entries in ctrl.
"""

from __future__ import annotations

import numpy as np

from hrpsim.model.readers.mjcf.actuators import servo_of
from hrpsim.world.objects.robot import Robot

COMMANDS = ("position", "velocity", "effort")
# index in ctrl, index in COMMANDS, scale and offset of the command, bounds of ctrl
_Input = tuple[int, int, float, float, float, float]


def joint_actuators(m, robot: Robot) -> list[tuple]:
    """Return ACTUATOR values of a robot's joints: hrpsim's servos, dampers and motors."""
    found, names, interfaces = [], robot.joint_names, robot.model.command_interfaces
    for k in range(len(m.actuator_gear)):
        joints = _driven_joints(m, k)
        if len(joints) == 1 and joints[0][0] in interfaces:
            name, joint = joints[0][0], names.index(joints[0][0])
            gear = float(m.actuator_gear[k][0]) * joints[0][1]
            gains = robot.model.gains.get(name, (0.0, 0.0))
            inputs = _inputs(m, k, gear, gains)
            simulated = [one for one in inputs if COMMANDS[one[1]] in interfaces[name]]
            found += [(at, joint, *law) for at, *law in simulated]
    return found


def tendon_actuators(m, robot: Robot) -> list[tuple]:
    """Return (number, tendon, gear, inputs) of each actuator on a tendon of two joints."""
    found = []
    for k in range(len(m.actuator_gear)):
        if len(_driven_joints(m, k)) == 2:
            name, gear = m.tendon(int(m.actuator_trnid[k][0])).name, float(m.actuator_gear[k][0])
            tendon = robot.tendons.get(name or m.actuator(k).name)
            if tendon is not None and gear:
                found.append((k, tendon, gear, _inputs(m, k, gear)))
    return found


def _driven_joints(m, k: int) -> list[tuple[str, float]]:
    """Return (name, coefficient) of the joints of an actuator, by a fixed tendon or without."""
    import mujoco

    number, kind = int(m.actuator_trnid[k][0]), m.actuator_trntype[k]
    if kind == mujoco.mjtTrn.mjTRN_JOINT:
        return [(m.joint(number).name, 1.0)]
    if kind != mujoco.mjtTrn.mjTRN_TENDON:
        return []
    wraps = range(m.tendon_adr[number], m.tendon_adr[number] + m.tendon_num[number])
    if any(m.wrap_type[w] != mujoco.mjtWrap.mjWRAP_JOINT for w in wraps):
        return []
    driven = [w for w in wraps if m.wrap_prm[w]]
    return [(m.joint(int(m.wrap_objid[w])).name, float(m.wrap_prm[w])) for w in driven]


def _inputs(m, k: int, gear: float, gains: tuple[float, float] = (0.0, 0.0)) -> list[_Input]:
    """Return the inputs of an actuator as commands.

    gains: kp and kd of all actuators of the joint, 0 for those of this one.
    """
    import mujoco

    kind = mujoco.mjtGain(int(m.actuator_gaintype[k])).name.removeprefix("mjGAIN_")
    spec = _entry(m, "actuator_ctrlspec", k, 0)
    inputs, *_ = servo_of(kind, spec, m.actuator_gainprm[k], m.actuator_biasprm[k])
    first = _entry(m, "actuator_ctrladr", k, k)
    if inputs:
        fields = [COMMANDS.index(name) for name in inputs]
        laws = [(field, gear if field == 2 else 1.0 / gear, 0.0) for field in fields]
    else:
        laws = [_affine_input(m, k, kind, gear, gains)]
    laws = laws[: _entry(m, "actuator_ctrlnum", k, 1)]
    return [(at, *law, *_bounds(m, at)) for at, law in enumerate(laws, first)]


def _affine_input(
    m, k: int, kind: str, gear: float, gains: tuple[float, float]
) -> tuple[int, float, float]:
    """Return field, scale and offset of the command of an actuator with one input."""
    gain = float(m.actuator_gainprm[k][0])
    if kind == "DCMOTOR":  # gain: the resistance
        return 2, float(m.actuator_gainprm[k][1]) / gain * gear, 0.0
    b0, b1, b2 = (float(b) for b in m.actuator_biasprm[k][:3])
    if m.actuator_biastype[k] == 0:
        b0 = b1 = b2 = 0.0
    kp, kd = -b1 * gear * gear, -b2 * gear * gear
    if kp > 0.0 and m.actuator_dyntype[k] == 1:  # an integrator
        field, unit, b0 = 1, kp, 0.0
    elif kp > 0.0:
        field, unit = 0, gains[0] or kp
    elif kd > 0.0 and np.isclose(gain, -b2):
        field, unit = 1, gains[1] or kd
    else:
        field, unit = 2, 1.0
    return field, gain * gear / unit, b0 * gear / unit


def _bounds(m, at: int) -> tuple[float, float]:
    """Return the bounds of an entry of ctrl."""
    low, high = m.actuator_ctrlrange[at] if m.actuator_ctrllimited[at] else (-np.inf, np.inf)
    return float(low), float(high)


def _entry(m, field: str, k: int, default: int) -> int:
    """Return an entry of a field that MuJoCo has since 4.0."""
    return int(getattr(m, field)[k]) if hasattr(m, field) else default


def alone_on_joint(m) -> dict[int, tuple[int, float]]:
    """Return the index in qvel and the gear ratio of each actuator that is alone on its joint."""
    joints = [
        int(m.actuator_trnid[k][0]) if m.actuator_trntype[k] == 0 else -1
        for k in range(len(m.actuator_gear))
    ]
    return {
        k: (int(m.jnt_dofadr[joint]), float(m.actuator_gear[k][0]))
        for k, joint in enumerate(joints)
        if joint >= 0 and joints.count(joint) == 1 and m.actuator_gear[k][0]
    }
