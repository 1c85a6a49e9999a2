"""A foot as its controller knows it: leg, sole, force sensor, and the springs above the sole."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hrpsim.control.motion.leg_kinematics import JOINT_COUNT, LegKinematics
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.errors import ModelError
from hrpsim.model.model import Model, Sensor
from hrpsim.model.system import PRISMATIC, REVOLUTE


@dataclass(frozen=True)
class Foot:
    """One foot of a model, in the frame of its sole link: z up from the floor when it stands.

    The pivot is the point on the ankle link about which the sole turns when its springs (rubber
    bushes) yield; where there are none it is the sole's origin. Springs that do not exist are
    infinitely stiff.
    """

    leg: LegKinematics
    sole: str  # link
    ankle_body: int  # what the last of the leg's joints moves
    sole_R: np.ndarray  # the sole in the frame of that body, springs at rest (3, 3)
    pivot: np.ndarray  # in the frame of that body (3,) [m]
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

    Raises ModelError where the leg is not of HRP-2's type, where the sole has no box or no force
    sensor, or where springs between ankle and sole do not lie along the sole's axes.
    """
    system, frame = model.system, model.frame(sole)
    leg = LegKinematics(model, sole)
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
        place = int(np.argmax(along))
        revolute = system.joint_type[body] == REVOLUTE
        if along[place] < 1.0 - 1e-6 or (place == 2) == revolute:
            raise ModelError(
                f"{model.source}: a spring between ankle and {sole!r} must turn about x or y of "
                f"the sole or slide along z; one lies along {np.round(along, 3).tolist()}"
            )
        if revolute:
            turn_stiffness[place], turn_damping[place] = system.stiffness[k], system.damping[k]
            pivot = at
        else:
            slide_stiffness = float(system.stiffness[k])
    sensor = _force_sensor(model, sole, below)
    if sensor.body != frame.body:
        raise ModelError(f"{model.source}: sensor {sensor.name!r} does not stand on {sole!r}")
    return Foot(
        leg=leg,
        sole=sole,
        ankle_body=last,
        sole_R=sole_R,
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


def _force_sensor(model: Model, sole: str, bodies: list[int]) -> Sensor:
    for sensor in model.sensors:
        if sensor.kind == "force_torque" and sensor.body in bodies:
            return sensor
    raise ModelError(
        f"{model.source}: no force sensor between ankle and {sole!r}; a stabiliser needs one"
    )
