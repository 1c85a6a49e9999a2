# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller's model of a foot: leg, sole, force sensor, and the springs above the sole.

A rotation of the ankle link relative to the sole (the lean) deflects the springs, which exert the
desired torques about x and y of the sole. The deflection a of springs with stiffness K and damping
C follows from K a + C da/dt = torque. The integral of the torque error is added to the torque,
because the floor may be inclined. The integral decays while the foot is in the air.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NewType

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.control.motion.leg_kinematics import JOINT_COUNT, LegKinematics
from hrpsim.control.motion.numerical_leg import NumericalLeg, leg_of
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.kernel_types import Record
from hrpsim.model.model import Model, Sensor
from hrpsim.model.system import PRISMATIC, REVOLUTE

FOOT = np.dtype(
    [
        ("ankle_body", "i8"),
        ("bodies", "i8", (JOINT_COUNT,)),  # bodies that the leg's joints move
        ("joints", "i8", (JOINT_COUNT,)),  # indices of the leg's joints among the controlled joints
        ("sole_R", "f8", (3, 3)),
        ("pivot", "f8", (3,)),
        ("pivot_height", "f8"),
        ("sensor_R", "f8", (3, 3)),
        ("sensor_p", "f8", (3,)),
        ("slide_stiffness", "f8"),
        ("lowest", "f8", (2,)),  # corners of the rectangle around the sole [m]
        ("highest", "f8", (2,)),
    ]
)
FootRecord = NewType("FootRecord", Record)


@dataclass(frozen=True)
class Foot:
    """One foot of a model, in the frame of its sole link: z points up from the floor in stance.

    The pivot is the point on the ankle link about which the sole turns when its springs (rubber
    bushes) yield. If the foot has no springs, the pivot is the sole's origin and the stiffness is
    infinite.
    """

    leg: LegKinematics | NumericalLeg
    sole: str  # link of the sole
    ankle_body: int  # body of the ankle's last joint
    sole_R: np.ndarray  # rotation from sole to ankle body without deflection of the springs (3, 3)
    ankle_turns: np.ndarray  # rates of the sole about x and y for unit rates of the ankle (2, 2)
    pivot: np.ndarray  # in the frame of the ankle body (3,) [m]
    pivot_height: float  # above the sole's origin [m]
    outline: np.ndarray  # corners of the sole, counter-clockwise (k, 2) [m]
    sensor: Sensor  # force and torque between sole and ankle
    sensor_R: np.ndarray  # R_sole_sensor (3, 3)
    sensor_p: np.ndarray  # (3,) [m]
    turn_stiffness: np.ndarray  # about x and y of the sole (2,) [Nm/rad]
    turn_damping: np.ndarray  # (2,) [Nms/rad]
    slide_stiffness: float  # along z of the sole [N/m]


def foot_of(model: Model, sole: str) -> Foot:
    """Return the foot that ends in the link `sole`.

    Raises ModelError if the leg does not have six joints, if the sole has no shape or no force
    sensor, or if springs between ankle and sole do not lie along the sole's axes.
    """
    system, frame = model.system, model.frame(sole)
    leg = leg_of(model, sole)
    last = model.joint(leg.joint_names[JOINT_COUNT - 1]).body
    below = []
    body = frame.body
    while body != last:
        below.append(body)
        body = int(system.parent[body])
    R, p = np.eye(3), np.zeros(3)
    springs = []
    for body in reversed(below):
        p = p + R @ system.placement_p[body]
        R = R @ system.placement_R[body]
        if system.joint_type[body] in (REVOLUTE, PRISMATIC):
            springs.append((body, p, R[:, 2]))
    sole_R, sole_p = R @ frame.R, p + R @ frame.p
    turn_stiffness, turn_damping = np.full(2, np.inf), np.zeros(2)
    slide_stiffness, pivot = math.inf, sole_p
    for body, at, axis in springs:
        k = int(system.v_index[body])
        along = np.abs(sole_R.T @ axis)
        axis_index = int(np.argmax(along))
        revolute = system.joint_type[body] == REVOLUTE
        if along[axis_index] < 1.0 - 1e-6 or (axis_index == 2) == revolute:
            raise ModelError(
                f"{model.source}: a spring between ankle and {sole!r} must turn about x or y of "
                "the sole, or slide along z. The axis of one spring is "
                f"{np.round(along, 3).tolist()}"
            )
        if revolute:
            turn_stiffness[axis_index] = system.stiffness[k]
            turn_damping[axis_index] = system.damping[k]
            pivot = at
        else:
            slide_stiffness = float(system.stiffness[k])
    sensor = _force_sensor(model, sole, [*below, last])
    if sensor.body != frame.body:
        raise ModelError(
            f"{model.source}: force sensor {sensor.name!r} is not above the sole {sole!r}"
        )
    return Foot(
        leg=leg,
        sole=sole,
        ankle_body=last,
        sole_R=sole_R,
        ankle_turns=_ankle_turns(model, last, sole_R),
        pivot=pivot,
        pivot_height=float((sole_R.T @ (pivot - sole_p))[2]),
        outline=sole_outline(model, sole),
        sensor=sensor,
        sensor_R=frame.R.T @ sensor.R,
        sensor_p=frame.R.T @ (sensor.p - frame.p),
        turn_stiffness=turn_stiffness,
        turn_damping=turn_damping,
        slide_stiffness=slide_stiffness,
    )


def foot_records(model: Model, feet: Sequence[Foot], joint_names: Sequence[str]) -> np.ndarray:
    """Return FOOT records (n,) of some feet.

    joint_names: names of the controlled joints.
    """
    records = np.zeros(len(feet), dtype=FOOT)
    bodies = {joint.name: joint.body for joint in model.joints}
    for record, foot in zip(records, feet):
        record["bodies"] = [bodies[name] for name in foot.leg.joint_names]
        record["joints"] = [joint_names.index(name) for name in foot.leg.joint_names]
        for name in ("ankle_body", "sole_R", "pivot", "pivot_height", "sensor_R", "sensor_p"):
            record[name] = getattr(foot, name)
        record["slide_stiffness"] = foot.slide_stiffness
        record["lowest"], record["highest"] = foot.outline.min(axis=0), foot.outline.max(axis=0)
    return records


def _ankle_turns(model: Model, last: int, sole_R) -> np.ndarray:
    """Return the rotation rates of the sole for unit rates of the ankle joints (2, 2).

    Rows are the sole's x and y axes, columns are the two joints. The springs are at rest.
    """
    axes = [model.system.placement_R[last].T[:, 2], np.array([0.0, 0.0, 1.0])]
    return np.stack([sole_R[:, :2].T @ axis for axis in axes], axis=-1)


def _force_sensor(model: Model, sole: str, bodies: list[int]) -> Sensor:
    sensors = [
        s for s in model.sensors if s.kind == "force_torque" and not s.reversed and s.body in bodies
    ]
    if not sensors:
        raise ModelError(
            f"{model.source}: the stabiliser needs a force sensor between the ankle and {sole!r}, "
            "but the description has none"
        )
    return next((sensor for sensor in sensors if sensor.tare), sensors[0])


ADMITTANCE = np.dtype(
    [
        ("yields", "f8", (2,)),  # compliance of the springs [rad/Nm]
        ("servo_yields", "f8", (2,)),
        ("kept", "f8", (2,)),  # fraction of a deflection that remains after a period
        ("growth", "f8"),
        ("fading", "f8"),
        ("yielded", "f8", (2,)),  # present deflection of the springs [rad]
        ("answer", "f8", (2,)),  # integral of the admittance [Nm]
    ]
)
Admittance = NewType("Admittance", Record)


def new_admittance(
    foot: Foot, servo_yields, period: float, answer_time: float, fading_time: float
) -> np.ndarray:
    """Return the ADMITTANCE record (1,) of a foot that has not yet borne load.

    Args:
        foot: the foot.
        servo_yields: rotation of the sole about its x and y per unit of torque (2,) [rad/Nm].
        period: control period [s].
        answer_time: time in which errors are corrected [s].
        fading_time: time in which errors decay without load [s].
    """
    admittance = np.zeros(1, dtype=ADMITTANCE)
    admittance["yields"] = 1.0 / foot.turn_stiffness
    admittance["servo_yields"] = servo_yields
    admittance["kept"] = [
        math.exp(-period * k / c) if c > 0.0 and math.isfinite(k) else 0.0
        for k, c in zip(foot.turn_stiffness, foot.turn_damping)
    ]
    admittance["growth"] = period / answer_time
    admittance["fading"] = math.exp(-period / fading_time)
    return admittance


@kernel
def answer_torque(
    admittance: Admittance, axis: int, wanted: float, measured: float, stands: bool, part: float
) -> float:
    """Return the rotation of the ankle link that exerts a desired torque on the sole [rad].

    Args:
        admittance: an ADMITTANCE record.
        axis: 0 or 1, axis x or y of the sole.
        wanted: desired torque about the pivot [Nm].
        measured: measured torque of the floor [Nm].
        stands: whether the foot bears load.
        part: weight of the response, 0 to 1.
    """
    yielded, answer = admittance.yielded, admittance.answer
    if stands:
        answer[axis] += part * admittance.growth * (wanted - measured)
    else:
        answer[axis] *= admittance.fading
    equilibrium = admittance.yields[axis] * (part * wanted + answer[axis])
    yielded[axis] = equilibrium + (yielded[axis] - equilibrium) * admittance.kept[axis]
    # The sole deflects in the opposite direction. The servos' deflection is compensated elsewhere.
    return -yielded[axis] - admittance.servo_yields[axis] * answer[axis]
