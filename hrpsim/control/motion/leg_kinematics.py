"""Inverse kinematics of a leg of HRP-2's type: hip yaw, roll, pitch, knee, ankle pitch, roll.

The derivation is in docs/control.md; its symbols are those of the code.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.errors import HrpsimError, ModelError
from hrpsim.model.model import Model
from hrpsim.model.system import REVOLUTE

JOINT_COUNT = 6
_ROLES = ("hip yaw", "hip roll", "hip pitch", "knee", "ankle pitch", "ankle roll")
_AXES = (2, 0, 1, 1, 1, 0)  # axis of the waist (0 x, 1 y, 2 z) that each joint turns about at zero
_AXIS_TOLERANCE = 1e-6
_OFFSET_TOLERANCE = 1e-6  # [m]
_REACH_TOLERANCE = 1e-9  # [m]


class UnreachableError(HrpsimError, ValueError):
    """A foot pose that the leg cannot take; the message says by how much."""


class LegKinematics:
    """The closed-form inverse of one leg, its dimensions read from the model.

    The leg is the first six joints on the way from `waist_link` to `foot_link`; the joints after
    them (rubber bushes) are taken to be at zero. With all joints at zero, their axes must be those
    of the waist z, x, y, y, y, x, in either sense; yaw and roll axes meet in the hip centre, the
    hip's pitch axis passes beside it (a lateral offset is free), and the ankle's axes meet.

    joint_names: the six joints from hip to ankle; q_index: their places in q, shape (6,).
    Raises ModelError where the model has no such leg.
    """

    def __init__(self, model: Model, foot_link: str, waist_link: str | None = None):
        waist = model.frame(waist_link or model.base_link)
        foot = model.frame(foot_link)
        bodies = _bodies_between(model, waist.body, foot.body)
        joints = {joint.body: joint for joint in model.joints}
        if len(bodies) < JOINT_COUNT:
            raise ModelError(
                f"{model.source}: {len(bodies)} joints lead from {waist.name!r} to {foot.name!r}; "
                f"a leg has {JOINT_COUNT}: {', '.join(_ROLES)}"
            )
        chain = [joints[body] for body in bodies[:JOINT_COUNT]]
        self.joint_names = tuple(joint.name for joint in chain)
        self.q_index = np.array([joint.q_index for joint in chain])
        self._sense = np.empty(JOINT_COUNT)

        R, p = waist.R.T, -waist.R.T @ waist.p
        origin = np.empty((JOINT_COUNT, 3))
        for k, body in enumerate(bodies):
            p = p + R @ model.system.placement_p[body]
            R = R @ model.system.placement_R[body]
            if k < JOINT_COUNT:
                if chain[k].joint_type != REVOLUTE:
                    raise ModelError(f"{model.source}: joint {chain[k].name!r} is not revolute")
                origin[k] = p
                self._sense[k] = _sense_of_axis(model, chain[k].name, k, R[:, 2])
        self._foot_p = p + R @ foot.p
        self._foot_R = R @ foot.R
        self._read_dimensions(model, origin)

    def _read_dimensions(self, model: Model, origin: np.ndarray) -> None:
        yaw, roll, hip, knee, ankle, ankle_roll = origin
        self.hip_center = np.array([yaw[0], yaw[1], roll[2]])
        self._ankle = np.array([ankle[0], ankle_roll[1], ankle[2]])
        for distance, what in (
            (roll[1] - yaw[1], "hip yaw and hip roll axes"),
            (np.hypot(*(hip - self.hip_center)[[0, 2]]), "hip pitch axis and hip centre"),
            (ankle_roll[2] - ankle[2], "ankle pitch and ankle roll axes"),
        ):
            if abs(distance) > _OFFSET_TOLERANCE:
                raise ModelError(
                    f"{model.source}: the leg of {', '.join(self.joint_names)} has no closed-form "
                    f"inverse: {what} pass each other at {abs(distance):.3g} m; they must meet"
                )
        self._lateral = self._ankle[1] - self.hip_center[1]
        self._thigh = _in_leg_plane(knee - hip)
        self._shank = _in_leg_plane(ankle - knee)
        self.longest = abs(self._thigh) + abs(self._shank)
        self.shortest = abs(abs(self._thigh) - abs(self._shank))

    def solve(self, position, orientation, *, clamp: bool = False) -> np.ndarray:
        """Return the six joint angles [rad] (6,), in (-pi, pi], that put the foot link there.

        position: of the foot link in the waist's frame (3,) [m]; orientation: R_waist_foot (3, 3).
        Of the leg's solutions it is the one with the knee in front (its angle not negative) and
        the hip above the ankle. Joint limits are not looked at. Raises UnreachableError where the
        foot is too far or too near; with `clamp` the leg is then stretched or folded as far as it
        goes: the foot keeps its orientation, and the hip its direction as seen from the ankle.
        """
        R = np.asarray(orientation, dtype=np.float64) @ self._foot_R.T  # turn since zero
        ankle = np.asarray(position, dtype=np.float64) + R @ (self._ankle - self._foot_p)
        r_x, r_y, r_z = R.T @ (self.hip_center - ankle)

        # Ankle roll turns the leg's plane until it passes the hip centre at the lateral offset.
        d, rho = self._lateral, math.hypot(r_y, r_z)
        if rho < abs(d) and not clamp:
            raise UnreachableError(
                f"the hip centre is {rho:.4f} m from the foot's ankle roll axis; the leg's "
                f"lateral offset is {abs(d):.4f} m"
            )
        ankle_roll = math.atan2(r_y, r_z) + math.asin(_clipped(d / max(rho, _REACH_TOLERANCE)))

        # In the plane, numbers are z + ix: a turn by a about y multiplies by exp(ia).
        H = complex(math.sqrt(max(rho * rho - d * d, 0.0)), r_x)
        U, W = self._thigh, self._shank
        length = abs(H)
        too_much = max(length - self.longest, self.shortest - length)
        if too_much > _REACH_TOLERANCE and not clamp:
            raise UnreachableError(
                f"hip and ankle are {length:.4f} m apart in the leg's plane; the leg reaches "
                f"from {self.shortest:.4f} to {self.longest:.4f} m"
            )
        cosine = (length * length - abs(U) ** 2 - abs(W) ** 2) / (2.0 * abs(U) * abs(W))
        knee = math.acos(_clipped(cosine)) + _argument(U) - _argument(W)
        turn = _argument(U + _unit(knee) * W) - _argument(-H)  # knee and ankle pitch together

        hip = R @ _about_x(ankle_roll).T @ _about_y(turn).T
        yaw = math.atan2(-hip[0, 1], hip[1, 1])
        roll = math.atan2(hip[2, 1], math.hypot(hip[0, 1], hip[1, 1]))
        pitch = math.atan2(-hip[2, 0], hip[2, 2])
        angles = np.array([yaw, roll, pitch, knee, turn - knee, ankle_roll])
        return self._sense * (math.pi - (math.pi - angles) % (2.0 * math.pi))


def _bodies_between(model: Model, ancestor: int, body: int) -> list[int]:
    path = []
    while body != ancestor:
        if body < 0:
            raise ModelError(f"{model.source}: the foot does not hang on the waist")
        path.append(body)
        body = int(model.system.parent[body])
    return path[::-1]


def _sense_of_axis(model: Model, name: str, k: int, axis: np.ndarray) -> float:
    sense = float(np.sign(axis[_AXES[k]]))
    if np.abs(axis - sense * np.eye(3)[_AXES[k]]).max() > _AXIS_TOLERANCE:
        raise ModelError(
            f"{model.source}: joint {name!r} stands where a leg has its {_ROLES[k]}, about "
            f"{'xyz'[_AXES[k]]} of the waist, but turns about {np.round(axis, 6).tolist()}"
        )
    return sense


def _in_leg_plane(vector: np.ndarray) -> complex:
    return complex(vector[2], vector[0])


def _argument(z: complex) -> float:
    return math.atan2(z.imag, z.real)


def _unit(angle: float) -> complex:
    return complex(math.cos(angle), math.sin(angle))


def _clipped(x: float) -> float:
    return min(max(x, -1.0), 1.0)


def _about_x(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _about_y(angle: float) -> np.ndarray:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
