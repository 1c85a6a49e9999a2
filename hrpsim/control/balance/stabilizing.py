# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The compiled computations of the stabiliser in a control period.

The error of the centre of mass determines the desired ZMP (dcm_feedback). The ZMP determines the
desired forces on the feet (divide_force). The forces determine the rotation of the ankle links
against the springs of the soles (foot). docs/explanation/stabiliser.md has the equations.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NewType

import numpy as np

from hrpsim.control.balance.dcm_feedback import write_desired_zmp
from hrpsim.control.balance.foot import FootRecord, answer_torque
from hrpsim.control.balance.state_estimation import Estimation, update_estimate
from hrpsim.control.balance.walk_reference import ReferenceTrajectory
from hrpsim.control.motion.leg_kinematics import JOINT_COUNT
from hrpsim.control.motion.numerical_leg import Legs, place_foot
from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Flags,
    Index,
    Mat3,
    Matrix,
    Record,
    Records,
    Vec2,
    Vec3,
    Vector,
)
from hrpsim.engine.kinematics.chain_inverse import LINK

SIGNALS = np.dtype(
    [
        ("lean", "f8", (2,)),  # roll and pitch of the waist, relative to the reference [rad]
        ("zmp_reference", "f8", (2,)),  # this and the next fields in the reference's world [m]
        ("zmp_desired", "f8", (2,)),
        ("zmp_measured", "f8", (2,)),
        ("com", "f8", (3,)),
        ("com_reference", "f8", (3,)),
        ("dcm_error", "f8", (2,)),
        ("share", "f8"),  # desired fraction of the load on the left foot
        ("loads", "f8", (2,)),  # vertical forces on the left and the right foot [N]
    ]
)
_LOWEST = 0.1  # least assumed height of the centre of mass [m]
_STANDS = 0.05  # fraction of the weight on a sole, above which the foot is loaded
_HIGHEST_STEP = 0.03  # largest correction of the height difference of the feet [m]
_INDICES: dict[str, int | slice] = {  # index of each signal among the numbers of a record
    name: slice(at // 8, (at + kind.itemsize) // 8) if kind.shape else at // 8
    for name, (kind, at, *_) in SIGNALS.fields.items()
}


class Signals(Mapping):
    """The signals of one control period: a mapping from names to numbers or tuples of numbers.

    Each value is read from a record of SIGNALS on access, because most values are never read.
    """

    __slots__ = ("_numbers",)

    def __init__(self, numbers: np.ndarray) -> None:
        self._numbers = numbers

    def __getitem__(self, name: str) -> Any:
        index = _INDICES[name]
        if isinstance(index, int):
            return float(self._numbers[index])
        return tuple(self._numbers[index].tolist())

    def __iter__(self) -> Iterator[str]:
        return iter(SIGNALS.names)

    def __len__(self) -> int:
        return len(SIGNALS.names)


STABILIZER = np.dtype(
    [
        ("period", "f8"),  # [s]
        ("margin", "f8"),  # least distance of the pressure's centre from the sole's edge [m]
        ("rising", "f8"),  # change of `difference` for each period and unit of load error [m/N]
        ("fading", "f8"),  # fraction of `difference` that remains after a period in the air
        ("engaging", "f8"),  # increase of `engaged` for each period
        ("engaged", "f8"),  # present gain of the stabiliser, 0 to 1
        ("difference", "f8"),  # commanded height of the left foot above the right foot [m]
        ("anchor", "f8", (3,)),  # position of the support in the reference's world [m]
        ("com", "f8", (3,)),  # in the reference's world [m]
        ("zmp", "f8", (2,)),  # desired ZMP in the reference's world [m]
        ("forces", "f8", (2, 3)),  # forces on the feet [N]
        ("torques", "f8", (2, 2)),  # torques about the feet's pivots [Nm]
        ("lean", "f8", (3, 3)),  # rotation of the waist from the reference
        ("waist_R", "f8", (3, 3)),
        ("tilt", "f8", (3, 3)),  # rotation of an ankle link against its springs
        ("sole_R", "f8", (3, 3)),
        ("target", LINK),  # pose of a sole in the waist's frame, without deflection of the springs
        ("angles", "f8", (JOINT_COUNT,)),
    ]
)
Stabilizer = NewType("Stabilizer", Record)


class Balance(NamedTuple):
    """The arrays that a control period reads and writes, for j controlled joints."""

    estimation: Estimation
    trajectory: ReferenceTrajectory
    legs: Legs
    feedback: np.ndarray  # (1,) FEEDBACK
    admittances: np.ndarray  # (2,) ADMITTANCE
    own: np.ndarray  # (1,) STABILIZER
    joint_yields: np.ndarray  # compliance of the servos (j,) [rad/Nm]
    last_positions: np.ndarray  # commanded positions without the servos' compensation (j,)
    signals: np.ndarray  # (1,) SIGNALS


@kernel
def stabilize(s: Balance, k: Index, command_out: Matrix) -> int:
    """Write positions and velocities of the joints (2, j) for the end of the control period.

    s: a Balance that holds the measurements. k: the trajectory's sample for the measurements.
    """
    own, trajectory, estimate = s.own[0], s.trajectory, s.estimation.estimate[0]
    update_estimate(s.estimation, trajectory.sole_yaw[k])
    ahead = min(k + 1, trajectory.joint_positions.shape[0] - 1)
    own.engaged = min(own.engaged + own.engaging, 1.0)
    part = own.engaged * own.engaged * (3.0 - 2.0 * own.engaged)
    soles, stands = trajectory.sole_p[k], trajectory.contact[k]
    for a in range(3):
        own.anchor[a] = estimate.weights[0] * soles[0, a] + estimate.weights[1] * soles[1, a]
        own.com[a] = own.anchor[a] + estimate.com[a]

    write_desired_zmp(
        s.feedback[0], trajectory, own.com, estimate.com_velocity, k, ahead, part, own.zmp
    )
    fraction = left_share(own.zmp, soles, stands)
    lift, yaws, feet = trajectory.vertical_force[ahead], trajectory.sole_yaw[k], s.estimation.feet
    divide_force(
        feet, own.margin, own.zmp, own.com, lift, fraction, soles, yaws, own.forces, own.torques
    )
    weight = s.estimation.estimator[0].weight
    _follow_loads(own, estimate.loads, _STANDS * weight, fraction, stands, part)
    _lean_waist(s, k, ahead, part)
    for j in range(s.joint_yields.shape[0]):
        command_out[0, j] = trajectory.joint_positions[ahead, j]
        command_out[1, j] = trajectory.joint_efforts[ahead, j]
    for side in range(2):
        _place_sole(s, side, k, ahead, fraction, part)
        place_foot(s.legs, side, own.target, own.angles)
        for i in range(JOINT_COUNT):
            j = feet[side].joints[i]
            command_out[0, j] = own.angles[i]
            command_out[1, j] -= _effort_of_foot(s, side, feet[side].bodies[i])
    _note(s, k, ahead, fraction)
    for j in range(s.joint_yields.shape[0]):
        position, effort = command_out[0, j], command_out[1, j]
        command_out[0, j] = position + part * s.joint_yields[j] * effort
        command_out[1, j] = (position - s.last_positions[j]) / own.period
        s.last_positions[j] = position
    return 0


@inlined_kernel
def _follow_loads(
    own: Stabilizer, loads: Vec2, least: float, share: float, stands: Flags, part: float
) -> None:
    """Change the height difference of the feet: raise the overloaded foot, lower the other foot.

    The difference decays while one foot is in the air. share: desired fraction of the load on the
    left foot. least: load above which the difference changes [N].
    """
    left, right = max(loads[0], 0.0), max(loads[1], 0.0)
    if left + right > least:
        own.difference += part * own.rising * (left - share * (left + right))
    if min(left, right) <= least and not (stands[0] and stands[1]):
        own.difference *= own.fading
    own.difference = min(max(own.difference, -_HIGHEST_STEP), _HIGHEST_STEP)


@inlined_kernel
def _lean_waist(s: Balance, k: Index, ahead: int, part: float) -> None:
    """Write the lean of the waist relative to the reference, and the corrected orientation."""
    own, R, planned = s.own[0], s.estimation.estimate[0].waist_R, s.trajectory.waist_R[k]
    roll = pitch = 0.0
    for c in range(3):
        roll += R[2, c] * planned[1, c] - R[1, c] * planned[2, c]
        pitch += R[0, c] * planned[2, c] - R[2, c] * planned[0, c]
    lean = s.signals[0].lean
    lean[0], lean[1] = 0.5 * roll, 0.5 * pitch
    write_small_turn(part * lean[0], part * lean[1], own.lean)
    write_product(own.lean, s.trajectory.waist_R[ahead], own.waist_R)


@inlined_kernel
def _place_sole(s: Balance, side: int, k: Index, ahead: int, share: float, part: float) -> None:
    """Write the target pose of a sole in the waist's frame, with the springs at rest.

    side: 0 left, 1 right. k, ahead: samples at the beginning and the end of the period. share:
    fraction of the load on the left foot. part: weight of the feedback, 0 to 1.
    """
    own, trajectory, foot = s.own[0], s.trajectory, s.estimation.feet[side]
    estimate, pivots, lean = s.estimation.estimate[0], s.trajectory.pivots[ahead], own.lean
    force, torque = own.forces[side], own.torques[side]
    # The waist stays at the same position relative to the midpoint of the pivots.
    mx = share * pivots[0, 0] + (1.0 - share) * pivots[1, 0]
    my = share * pivots[0, 1] + (1.0 - share) * pivots[1, 1]
    mz = share * pivots[0, 2] + (1.0 - share) * pivots[1, 2]
    x = pivots[side, 0] + (lean[0, 0] * mx + lean[0, 1] * my + lean[0, 2] * mz - mx)
    y = pivots[side, 1] + (lean[1, 0] * mx + lean[1, 1] * my + lean[1, 2] * mz - my)
    z = pivots[side, 2] + (lean[2, 0] * mx + lean[2, 1] * my + lean[2, 2] * mz - mz)
    raised = (1.0 - share) * own.difference if side == 0 else -share * own.difference
    z += raised - part * force[2] / foot.slide_stiffness

    yaw = trajectory.sole_yaw[k, side]
    stands = estimate.loads[side] > _STANDS * s.estimation.estimator[0].weight
    wanted_x, wanted_y = turned(torque[0], torque[1], -yaw)
    felt, admittance = estimate.pivot_torques[side], s.admittances[side]
    lean_x = answer_torque(admittance, 0, wanted_x, felt[0], stands, part)
    lean_y = answer_torque(admittance, 1, wanted_y, felt[1], stands, part)
    lean_x, lean_y = turned(lean_x, lean_y, yaw)
    write_small_turn(lean_x, lean_y, own.tilt)
    write_product(own.tilt, trajectory.sole_R[ahead, side], own.sole_R)
    R, p, W, h = own.target.R, own.target.p, own.waist_R, foot.pivot_height
    write_transposed_product(W, own.sole_R, R)
    for a in range(3):
        p[a] = W[0, a] * x + W[1, a] * y + W[2, a] * z - h * R[a, 2]


@inlined_kernel
def _effort_of_foot(s: Balance, side: int, body: Index) -> float:
    """Return the effort of the joint of `body` [Nm] that balances the desired wrench on a foot."""
    force, torque = s.own[0].forces[side], s.own[0].torques[side]
    at, S = s.estimation.estimate[0].pivots[side], s.estimation.kinematics[body].S
    moment_x = torque[0] + at[1] * force[2] - at[2] * force[1]
    moment_y = torque[1] + at[2] * force[0] - at[0] * force[2]
    moment_z = at[0] * force[1] - at[1] * force[0]
    effort = S[0] * moment_x + S[1] * moment_y + S[2] * moment_z
    return effort + S[3] * force[0] + S[4] * force[1] + S[5] * force[2]


@inlined_kernel
def _note(s: Balance, k: Index, ahead: int, share: float) -> None:
    noted, own, trajectory = s.signals[0], s.own[0], s.trajectory
    estimate = s.estimation.estimate[0]
    for a in range(2):
        noted.zmp_reference[a] = trajectory.zmp[ahead, a]
        noted.zmp_desired[a] = own.zmp[a]
        noted.zmp_measured[a] = own.anchor[a] + estimate.zmp[a]
        noted.dcm_error[a] = s.feedback[0].dcm_error[a]
        noted.loads[a] = estimate.loads[a]
    for a in range(3):
        noted.com[a] = own.com[a]
        noted.com_reference[a] = trajectory.com[k, a]
    noted.share = share


@inlined_kernel
def write_small_turn(x: float, y: float, R_out: Mat3) -> None:
    """Write the rotation (3, 3) by the vector (x, y, 0) [rad], to the third order."""
    square = x * x + y * y
    a, b = 1.0 - square / 6.0, 0.5 - square / 24.0
    R_out[0, 0], R_out[0, 1], R_out[0, 2] = 1.0 - b * y * y, b * x * y, a * y
    R_out[1, 0], R_out[1, 1], R_out[1, 2] = b * x * y, 1.0 - b * x * x, -a * x
    R_out[2, 0], R_out[2, 1], R_out[2, 2] = -a * y, a * x, 1.0 - b * square


@inlined_kernel
def write_product(A: Mat3, B: Matrix, product_out: Mat3) -> None:
    """Write the matrix product A B (3, 3)."""
    for a in range(3):
        for b in range(3):
            product_out[a, b] = A[a, 0] * B[0, b] + A[a, 1] * B[1, b] + A[a, 2] * B[2, b]


@inlined_kernel
def write_transposed_product(A: Mat3, B: Mat3, product_out: Mat3) -> None:
    """Write the matrix product A^T B (3, 3)."""
    for a in range(3):
        for b in range(3):
            product_out[a, b] = A[0, a] * B[0, b] + A[1, a] * B[1, b] + A[2, a] * B[2, b]


@inlined_kernel
def turned(x: float, y: float, angle: float) -> tuple[float, float]:
    """Return (x', y'): the vector (x, y) rotated by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return c * x - s * y, s * x + c * y


@kernel
def left_share(zmp: Vec2, soles: Matrix, stands: Flags) -> float:
    """Return the fraction of the load on the left foot, 0 to 1, for a desired ZMP.

    The ZMP is projected onto the line from the right sole (fraction 0) to the left sole (fraction
    1). If only one foot is on the floor, the fraction is 0 or 1.

    Args:
        zmp: the ZMP (2,) [m].
        soles: positions of the left and the right sole (2, 3) [m].
        stands: whether each foot is on the floor (2,).
    """
    if not (stands[0] and stands[1]):
        if stands[0] == stands[1]:
            return 0.5
        return 1.0 if stands[0] else 0.0
    dx, dy = soles[0, 0] - soles[1, 0], soles[0, 1] - soles[1, 1]
    along = (zmp[0] - soles[1, 0]) * dx + (zmp[1] - soles[1, 1]) * dy
    return min(max(along / (dx * dx + dy * dy), 0.0), 1.0)


@kernel  # many parameters: a kernel takes arrays, not objects
def divide_force(
    feet: Records[FootRecord],
    margin: float,
    zmp: Vec2,
    com: Vec3,
    lift: float,
    share: float,
    soles: Matrix,
    yaws: Vector,
    forces_out: Matrix,
    torques_out: Matrix,
) -> int:
    """Divide the desired force of the floor between the feet.

    All forces point from the ZMP to the centre of mass. The centre of pressure has the same offset
    in both soles, but stays at least `margin` inside the edges. The offset is the offset of the ZMP
    from the point between the soles that corresponds to `share`.

    Args:
        feet: FOOT records (2,).
        margin: least distance of a centre of pressure from the edges of the sole [m].
        zmp: the ZMP (2,) [m].
        com: centre of mass (3,) [m].
        lift: sum of the vertical forces [N].
        share: fraction of the vertical force on the left foot.
        soles: positions of the soles (2, 3) [m].
        yaws: yaws of the soles (2,) [rad].
        forces_out: force on each foot along the world's axes (2, 3) [N], written.
        torques_out: torque about each foot's pivot, about the world's x and y (2, 2) [Nm], written.
    """
    height = max(com[2] - min(soles[0, 2], soles[1, 2]), _LOWEST)
    slope_x, slope_y = (com[0] - zmp[0]) / height, (com[1] - zmp[1]) / height
    beside_x = zmp[0] - share * soles[0, 0] - (1.0 - share) * soles[1, 0]
    beside_y = zmp[1] - share * soles[0, 1] - (1.0 - share) * soles[1, 1]
    for side in range(2):
        foot = feet[side]
        low, high = foot.lowest, foot.highest
        c, s = math.cos(yaws[side]), math.sin(yaws[side])
        in_x = min(max(c * beside_x + s * beside_y, low[0] + margin), high[0] - margin)
        in_y = min(max(c * beside_y - s * beside_x, low[1] + margin), high[1] - margin)
        x, y, h = c * in_x - s * in_y, s * in_x + c * in_y, foot.pivot_height
        fz = lift * (share if side == 0 else 1.0 - share)
        fx, fy = slope_x * fz, slope_y * fz
        forces_out[side, 0], forces_out[side, 1], forces_out[side, 2] = fx, fy, fz
        torques_out[side, 0], torques_out[side, 1] = y * fz + h * fy, -h * fx - x * fz
    return 0


def kept(signals: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a copy of the signals that later control periods do not change."""
    if isinstance(signals, Signals):
        return signals
    return {name: np.array(value) for name, value in signals.items()}
