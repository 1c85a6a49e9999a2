# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of a leg of HRP-2's type: hip yaw, roll, pitch, knee, ankle pitch, roll.

The hip yaw and roll axes meet in the hip centre C, and the ankle axes meet in A. d = A_y - C_y at
zero is the lateral offset. R is the rotation of the foot relative to its orientation at zero. r =
R^T (C - A) is the vector from ankle to hip centre along the foot's axes, with rho^2 = r_y^2 +
r_z^2.

1. The ankle roll rotates the leg's plane until the plane passes C at the offset: r_y cos q5 - r_z
sin q5 = -d, so q5 = atan2(r_y, r_z) + asin(d / rho).
2. In this plane a vector is the complex number z + i x. U is the thigh, W the shank, both at zero.
H = sqrt(rho^2 - d^2) + i r_x points from the ankle to the hip. Then
   |H|^2 = |U|^2 + |W|^2 + 2 |U| |W| cos(q3 + arg W - arg U) gives the knee in front, and
   q3 + q4 = arg(U + e^(i q3) W) - arg(-H).
3. The hip angles are the Euler angles z, x, y of R_z(q0) R_x(q1) R_y(q2) = R R_x(q5)^T R_y(q3 +
q4)^T.
"""

import math
from typing import NewType

import numpy as np

from hrpsim.common.errors import HrpsimError, ModelError
from hrpsim.common.typed_values import check_arguments
from hrpsim.engine.compile.compiled import inlined_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import ChainLink, Record, Vector
from hrpsim.engine.kinematics.chain_inverse import LINK
from hrpsim.engine.spatial.vector import placed_point, transposed_times
from hrpsim.model.model import Frame, Joint, Model
from hrpsim.model.system import REVOLUTE

JOINT_COUNT = 6
_ROLES = ("hip yaw", "hip roll", "hip pitch", "knee", "ankle pitch", "ankle roll")
_AXES = (2, 0, 1, 1, 1, 0)  # axis of the waist (0 x, 1 y, 2 z) of each joint at zero
_AXIS_TOLERANCE = 1e-6
_OFFSET_TOLERANCE = 1e-6  # [m]
_REACH_TOLERANCE = 1e-9  # [m]
_REACHED, _TOO_NEAR, _OUT_OF_REACH = 0, 1, 2  # return values of `solve_leg`

LEG = np.dtype(
    [
        ("sense", "f8", (JOINT_COUNT,)),  # sign of each joint's axis
        ("foot_R", "f8", (3, 3)),  # orientation of the foot in the waist's frame, joints at zero
        ("ankle", "f8", (3,)),  # from the foot to the ankle, in the waist's frame, at zero [m]
        ("hip_center", "f8", (3,)),
        ("lateral", "f8"),
        ("thigh", "f8", (2,)),  # z and x in the leg's plane
        ("shank", "f8", (2,)),
        ("longest", "f8"),
        ("shortest", "f8"),
        ("R", "f8", (3, 3)),  # result: rotation of the foot from the zero posture
        ("rho", "f8"),  # result: from the ankle's roll axis to the hip centre
        ("length", "f8"),  # result: from the hip to the ankle in the leg's plane
    ]
)
Leg = NewType("Leg", Record)


class UnreachableError(HrpsimError, ValueError):
    """Raised if the leg cannot reach a foot pose. The message states the missing distance."""


class LegKinematics:
    """The closed-form inverse kinematics of one leg, with dimensions read from the model.

    The leg consists of the first six joints on the way from the waist to the foot. Later joints
    (rubber bushes) are assumed to be at zero. With all joints at zero, the joint axes must be the
    waist's z, x, y, y, y, x axes, in either sense. The yaw and roll axes of the hip meet in the hip
    centre. The pitch axis of the hip may be offset from the hip centre. The axes of the ankle meet.

    joint_names: the six joints from hip to ankle. q_index: indices of these joints in q, shape
    (6,).

    Args:
        model: model of the robot.
        foot_link: name of the link of the foot.
        waist_link: name of the waist's link, by default the base link.

    Raises:
        ModelError: if the model does not have such a leg.
    """

    def __init__(self, model: Model, foot_link: str, waist_link: str | None = None) -> None:
        check_arguments(LegKinematics.__init__, locals(), ModelError)
        waist = model.frame(waist_link or model.base_link)
        foot = model.frame(foot_link)
        bodies, chain = chain_of_leg(model, waist, foot)
        self.joint_names = tuple(joint.name for joint in chain)
        self.q_index = np.array([joint.q_index for joint in chain])
        self.record = np.zeros(1, dtype=LEG)
        self._target = np.zeros(1, dtype=LINK)

        R, p = waist.R.T, -waist.R.T @ waist.p
        origin = np.empty((JOINT_COUNT, 3))
        k = 0
        for body in bodies:
            p = p + R @ model.system.placement_p[body]
            R = R @ model.system.placement_R[body]
            if k < JOINT_COUNT and body == chain[k].body:
                origin[k] = p
                self.record["sense"][0, k] = _sense_of_axis(model, chain[k].name, k, R[:, 2])
                k += 1
        self._read_dimensions(model, origin, p + R @ foot.p)
        self.record["foot_R"] = R @ foot.R

    def _read_dimensions(self, model: Model, origin: np.ndarray, foot_p: np.ndarray) -> None:
        yaw, roll, hip, knee, ankle, ankle_roll = origin
        self.hip_center = np.array([yaw[0], yaw[1], roll[2]])
        ankle_p = np.array([ankle[0], ankle_roll[1], ankle[2]])
        for distance, axes in (
            (roll[1] - yaw[1], "hip yaw and hip roll axes"),
            (np.hypot(*(hip - self.hip_center)[[0, 2]]), "hip pitch axis and hip centre"),
            (ankle_roll[2] - ankle[2], "ankle pitch and ankle roll axes"),
        ):
            if abs(distance) > _OFFSET_TOLERANCE:
                raise ModelError(
                    f"{model.source}: the leg of {', '.join(self.joint_names)} has no closed-form "
                    f"inverse. The {axes} must intersect, but their distance is "
                    f"{abs(distance):.3g} m"
                )
        thigh, shank = (knee - hip)[[2, 0]], (ankle - knee)[[2, 0]]
        lengths = float(np.hypot(*thigh)), float(np.hypot(*shank))
        self.longest, self.shortest = sum(lengths), abs(lengths[0] - lengths[1])
        leg = self.record[0]
        leg["ankle"], leg["hip_center"] = ankle_p - foot_p, self.hip_center
        leg["lateral"] = ankle_p[1] - self.hip_center[1]
        leg["thigh"], leg["shank"] = thigh, shank
        leg["longest"], leg["shortest"] = self.longest, self.shortest

    def solve(self, position, orientation, *, clamp: bool = False) -> np.ndarray:
        """Return the six joint angles [rad] (6,), in (-pi, pi], for a pose of the foot link.

        The result is the solution with the knee in front (a knee angle that is not negative) and
        the hip above the ankle. Joint limits are not considered.

        Args:
            position: position of the foot link in the waist's frame (3,) [m].
            orientation: R_waist_foot (3, 3).
            clamp: if the foot is too far from the hip or too near, move it to the nearest possible
                distance. The orientation of the foot, and the direction from ankle to hip, do not
                change.

        Raises:
            UnreachableError: if the foot is too far or too near, without `clamp`.
        """
        angles, leg = np.empty(JOINT_COUNT), self.record[0]
        self._target["R"], self._target["p"] = orientation, position
        status = _solve_leg(leg, self._target[0], angles)
        if status == _TOO_NEAR and not clamp:
            raise UnreachableError(
                f"the hip centre is {leg['rho']:.4f} m from the foot's ankle roll axis. The leg's "
                f"lateral offset is {abs(leg['lateral']):.4f} m"
            )
        if status == _OUT_OF_REACH and not clamp:
            raise UnreachableError(
                f"hip and ankle are {leg['length']:.4f} m apart in the leg's plane. The leg "
                f"reaches from {self.shortest:.4f} to {self.longest:.4f} m"
            )
        return angles


@kernel
def solve_leg(leg: Leg, target: ChainLink, angles_out: Vector) -> int:
    """Write the joint angles (6,) for the foot pose `target`. Return 0, or a code of failure.

    If the foot is too far or too near, the angles are for the nearest possible distance.

    Args:
        leg: a LEG record, of which rho, length and R are written.
        target: a LINK record in the waist's frame.
        angles_out: joint angles (6,) [rad], written.
    """
    R, turned, zero = leg.R, target.R, leg.foot_R
    for a in range(3):
        for b in range(3):
            R[a, b] = (
                turned[a, 0] * zero[b, 0] + turned[a, 1] * zero[b, 1] + turned[a, 2] * zero[b, 2]
            )
    # From the ankle to the hip centre, first along the waist's axes, then along the foot's.
    x, y, z = placed_point(R, target.p, leg.ankle)
    hip = leg.hip_center
    r_x, r_y, r_z = transposed_times(R, hip[0] - x, hip[1] - y, hip[2] - z)

    # Ankle roll turns the leg's plane until the hip centre has the lateral offset from it.
    d, rho = leg.lateral, math.hypot(r_y, r_z)
    ankle_roll = math.atan2(r_y, r_z) + math.asin(_clipped(d / max(rho, _REACH_TOLERANCE)))

    # In the plane, vectors are complex numbers z + ix: a rotation by a about y multiplies by
    # exp(ia).
    height = math.sqrt(max(rho * rho - d * d, 0.0))
    length = math.hypot(height, r_x)
    U_z, U_x, W_z, W_x = leg.thigh[0], leg.thigh[1], leg.shank[0], leg.shank[1]
    U, W = math.hypot(U_z, U_x), math.hypot(W_z, W_x)
    cosine = (length * length - U * U - W * W) / (2.0 * U * W)
    knee = math.acos(_clipped(cosine)) + math.atan2(U_x, U_z) - math.atan2(W_x, W_z)
    c, s = math.cos(knee), math.sin(knee)
    whole_z, whole_x = U_z + c * W_z - s * W_x, U_x + c * W_x + s * W_z
    turn = math.atan2(whole_x, whole_z) - math.atan2(-r_x, -height)  # knee and ankle pitch together

    # The rotation of the hip is R Rx(ankle_roll)^T Ry(turn)^T = Rz(yaw) Rx(roll) Ry(pitch).
    c, s = math.cos(ankle_roll), math.sin(ankle_roll)
    h_01, h_11 = c * R[0, 1] - s * R[0, 2], c * R[1, 1] - s * R[1, 2]
    h_21, across = c * R[2, 1] - s * R[2, 2], s * R[2, 1] + c * R[2, 2]
    c, s = math.cos(turn), math.sin(turn)
    h_20, h_22 = c * R[2, 0] + s * across, c * across - s * R[2, 0]
    angles_out[0] = math.atan2(-h_01, h_11)
    angles_out[1] = math.atan2(h_21, math.hypot(h_01, h_11))
    angles_out[2] = math.atan2(-h_20, h_22)
    angles_out[3] = knee
    angles_out[4] = turn - knee
    angles_out[5] = ankle_roll
    for k in range(JOINT_COUNT):
        within = math.pi - (math.pi - angles_out[k]) % (2.0 * math.pi)
        angles_out[k] = leg.sense[k] * within
    leg.rho, leg.length = rho, length
    if rho < abs(d):
        return _TOO_NEAR
    if max(length - leg.longest, leg.shortest - length) > _REACH_TOLERANCE:
        return _OUT_OF_REACH
    return _REACHED


@inlined_kernel
def _clipped(x: float) -> float:
    return min(max(x, -1.0), 1.0)


_solve_leg = prepared(solve_leg)


def chain_of_leg(model: Model, waist: Frame, foot: Frame) -> tuple[list[int], list[Joint]]:
    """Return the bodies of a leg, and its first six joints.

    The bodies are on the path from the waist, which is excluded, to the foot. Raises ModelError if
    there are fewer than six joints, or if one is not revolute.
    """
    bodies = bodies_between(model, waist.body, foot.body)
    joints = {joint.body: joint for joint in model.joints}
    chain = [joints[body] for body in bodies if body in joints]
    if len(chain) < JOINT_COUNT:
        raise ModelError(
            f"{model.source}: {len(chain)} joints lead from {waist.name!r} to {foot.name!r}. "
            f"A leg has {JOINT_COUNT}: {', '.join(_ROLES)}"
        )
    for joint in chain[:JOINT_COUNT]:
        if joint.joint_type != REVOLUTE:
            raise ModelError(f"{model.source}: joint {joint.name!r} is not revolute")
    return bodies, chain[:JOINT_COUNT]


def bodies_between(model: Model, ancestor: int, body: int) -> list[int]:
    """Return the bodies on the path below `ancestor` down to `body`, which is included.

    Raises ModelError if `body` is not a descendant.
    """
    path = []
    while body != ancestor:
        if body < 0:
            raise ModelError(f"{model.source}: the foot is not a descendant of the waist")
        path.append(body)
        body = int(model.system.parent[body])
    return path[::-1]


def _sense_of_axis(model: Model, name: str, k: int, axis: np.ndarray) -> float:
    sense = float(np.sign(axis[_AXES[k]]))
    if np.abs(axis - sense * np.eye(3)[_AXES[k]]).max() > _AXIS_TOLERANCE:
        raise ModelError(
            f"{model.source}: joint {name!r} is the {_ROLES[k]} of the leg, so it must turn about "
            f"{'xyz'[_AXES[k]]} of the waist, got axis {np.round(axis, 6).tolist()}"
        )
    return sense
