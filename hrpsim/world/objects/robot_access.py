# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The arrays of one robot in a scene, for kernels that read the robot and command actuators."""

from __future__ import annotations

import math
import warnings
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning, StateError, shown_value
from hrpsim.common.values import is_number
from hrpsim.engine.compile.compiled import entry_point, inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Control, Index, Indices, Vector
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.dynamics.joint_forces import EFFORTS, OWN_GAINS, POSITIONS, VELOCITIES
from hrpsim.engine.kinematics.forward import new_kinematics
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.status import LARGEST_COMMAND
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.joint_constraints import EffortSources, read_efforts
from hrpsim.world.objects.joint_index import JointIndex
from hrpsim.world.objects.plausibility import LONGEST_RAMP, long_period
from hrpsim.world.objects.robot_reader import LinkReaders, LinkSources, link_records

_NOTHING = np.zeros(0)
_MOST_STEPS = 1e15  # largest number of steps of a ramp
TARGETS = {"positions": POSITIONS, "velocities": VELOCITIES, "efforts": EFFORTS}
NAN_HOLDS = 16  # in addition to the bits of CONTROL's `given`: NaN means a value that is not given

# Results of a command. BEYOND: written, and a target beyond a limit was not reported before.
WRITTEN, BEYOND, BAD_POSITION, BAD_VELOCITY, BAD_EFFORT, NO_GAINS = range(6)
_NOT_FINITE = (
    "for joint {joint!r} of {robot!r} must be finite and at most "
    f"{LARGEST_COMMAND:g}, got {{value}}"
)
REFUSALS = {
    BAD_POSITION: f"positions {_NOT_FINITE}",
    BAD_VELOCITY: f"velocities {_NOT_FINITE}",
    BAD_EFFORT: f"efforts {_NOT_FINITE}",
    NO_GAINS: "joint {joint!r} of {robot!r} has no gains, so it can be commanded by effort only. "
    "Set gains by set_gains",
}


class ActuatorArrays(NamedTuple):
    """The actuators of a robot with n joints and nv degrees of freedom."""

    control: np.ndarray  # (nv,) CONTROL
    q: np.ndarray  # (nq,)
    joint_q: np.ndarray  # (n,) indices of the joints in q
    joint_v: np.ndarray  # (n,) indices of the joints in control
    kp: np.ndarray  # (n,)
    kd: np.ndarray  # (n,)
    reach: np.ndarray  # (n, 4) lower and upper position, largest velocity and effort
    reported: np.ndarray  # (n,) kinds of already reported targets beyond `reach`


@kernel
def set_commands(
    actuators: ActuatorArrays,
    indices: Indices,
    positions: Vector,
    velocities: Vector,
    efforts: Vector,
    given: int,
    named: int,
    steps: int,
) -> tuple[int, int, float]:
    """Command the joints at `indices` (k,). A refused command changes nothing.

    The result is (code, index, value). The code is WRITTEN, BEYOND (written, with a target beyond a
    limit), or a key of REFUSALS. After a refusal, the index is the joint's position in `indices`,
    and the value is the refused value.

    `given` has the bits of the used targets among positions, velocities and efforts (k,). Values
    must be finite and at most LARGEST_COMMAND, or NaN if a value is not given. A joint without any
    value keeps its command. Joints that are `named` need gains unless efforts are given. Position
    targets reach the goal in `steps` equal increments, and the first increment is applied now. With
    0 steps the targets change at once.
    """
    why, place, value = find_refusal(
        actuators, indices, positions, velocities, efforts, given, named
    )
    if why == WRITTEN and write_commands(
        actuators, indices, positions, velocities, efforts, given, steps
    ):
        why = BEYOND
    return why, place, value


@inner_kernel
def find_refusal(
    actuators: ActuatorArrays,
    indices: Indices,
    positions: Vector,
    velocities: Vector,
    efforts: Vector,
    given: int,
    named: bool,
) -> tuple[int, int, float]:
    """Check a command without writing it.

    The result is the result of `set_commands`, without the code BEYOND.
    """
    most = LARGEST_COMMAND
    for k in range(indices.shape[0]):
        has_q, has_v, has_effort = _given_for(k, positions, velocities, efforts, given)
        if _is_outside(has_q, positions, k, -most, most):
            return BAD_POSITION, k, positions[k]
        if _is_outside(has_v, velocities, k, -most, most):
            return BAD_VELOCITY, k, velocities[k]
        if _is_outside(has_effort, efforts, k, -most, most):
            return BAD_EFFORT, k, efforts[k]
        at = indices[k]
        needs_gains = named and (has_q or has_v) and not has_effort
        if needs_gains and max(actuators.kp[at], actuators.kd[at]) == 0.0:
            return NO_GAINS, k, 0.0
    return WRITTEN, -1, 0.0


@inner_kernel
def write_commands(
    actuators: ActuatorArrays,
    indices: Indices,
    positions: Vector,
    velocities: Vector,
    efforts: Vector,
    given: int,
    steps: int,
) -> bool:
    """Write a valid command to the control laws of the actuators.

    Args:
        actuators: constants and control laws of all actuators.
        indices: index of each commanded actuator (k,).
        positions: target positions (k,) [rad or m].
        velocities: target velocities (k,) [rad/s or m/s].
        efforts: efforts (k,) [Nm or N].
        given: flags for the given arguments and the treatment of NaN.
        steps: number of steps in which the targets ramp to `positions`. 0 sets them at once.

    Returns:
        Whether a value is outside of a limit for which no warning was reported.
    """
    beyond = False
    for k in range(indices.shape[0]):
        has_q, has_v, has_effort = _given_for(k, positions, velocities, efforts, given)
        if not (has_q or has_v or has_effort):
            continue
        at = indices[k]
        command = actuators.control[actuators.joint_v[at]]
        if has_q:
            _ramp(command, actuators.q[actuators.joint_q[at]], positions[k], steps)
        else:
            command.target_position, command.ramp_steps, command.ahead = 0.0, 0, 0.0
        command.kp = has_q * actuators.kp[at]
        command.kd = (has_q or has_v) * actuators.kd[at]
        command.target_velocity = velocities[k] if has_v else 0.0
        command.effort = efforts[k] if has_effort else 0.0
        command.given = given & OWN_GAINS
        command.given |= (has_q * POSITIONS) | (has_v * VELOCITIES) | (has_effort * EFFORTS)
        reach = actuators.reach[at]
        kinds = _is_outside(has_q, positions, k, reach[0], reach[1]) * POSITIONS
        kinds |= _is_outside(has_v, velocities, k, -reach[2], reach[2]) * VELOCITIES
        kinds |= _is_outside(has_effort, efforts, k, -reach[3], reach[3]) * EFFORTS
        beyond |= kinds & ~actuators.reported[at] != 0
    return beyond


@inlined_kernel
def _is_outside(given: bool, values: Vector, k: Index, lower: float, upper: float) -> bool:
    """Return whether value k is given, and is outside of bounds or NaN."""
    return given and not lower <= values[k] <= upper


@inlined_kernel
def _given_for(
    k: Index, positions: Vector, velocities: Vector, efforts: Vector, given: int
) -> tuple[bool, bool, bool]:
    """Return whether joint k has a given position, velocity and effort."""
    nan_holds = given & NAN_HOLDS != 0
    has_q = given & POSITIONS != 0 and not (nan_holds and math.isnan(positions[k]))
    has_v = given & VELOCITIES != 0 and not (nan_holds and math.isnan(velocities[k]))
    has_effort = given & EFFORTS != 0 and not (nan_holds and math.isnan(efforts[k]))
    return has_q, has_v, has_effort


@inlined_kernel
def _ramp(law: Control, position: float, goal: float, steps: int) -> None:
    """Start a ramp of a joint's position target to `goal`, over a number of steps.

    The ramp begins at the present target, or at `position` if the joint has no position gain.
    """
    start = law.target_position if law.kp > 0.0 else position
    law.ramp = (goal - start) / steps if steps > 0 else 0.0
    law.ramp_steps = max(steps - 1, 0)
    law.target_position = goal if steps <= 1 else start + law.ramp
    law.ahead = 0.5 * law.ramp


def command_targets(
    joints: JointIndex,
    indices: np.ndarray,
    positions: ArrayLike | None,
    velocities: ArrayLike | None,
    efforts: ArrayLike | None,
    nan_holds: bool,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Convert the targets of a command to arrays.

    Returns:
        (bits of the given targets, positions, velocities, efforts). Each array is (k,) for k
        joints, or empty if not given.
    """
    flags, q, v, tau = 0, _NOTHING, _NOTHING, _NOTHING
    if positions is not None:
        flags, q = POSITIONS, joints.vector("positions", positions, indices)
    if velocities is not None:
        flags, v = flags | VELOCITIES, joints.vector("velocities", velocities, indices)
    if efforts is not None:
        flags, tau = flags | EFFORTS, joints.vector("efforts", efforts, indices)
    if flags == 0:
        raise StateError("a command needs positions, velocities or efforts")
    return flags | NAN_HOLDS if nan_holds else flags, q, v, tau


def ramp_steps(over: float, time_step: float) -> int:
    """Return the number of steps of a ramp of `over` [s].

    A negative value, or a value that is not a time, raises StateError. A ModelWarning says that a
    ramp is long.
    """
    if not (is_number(over) and 0.0 <= over < math.inf):
        raise StateError(f"over must be a time >= 0 s, got {shown_value(over)}")
    if text := long_period("over", over, LONGEST_RAMP, "a ramp between two commands"):
        warnings.warn(text, ModelWarning, stacklevel=3)
    return max(round(min(over / time_step, _MOST_STEPS)), 1) if over > 0.0 else 0


class RobotAccess(LinkReaders):
    """References to a robot's arrays, and the kernels that take them, for one scene and forest.

    Each reference is made at its first use, because a kernel takes some milliseconds to load from
    the cache.
    """

    def __init__(
        self, robot: Entity, scene: Scene, joints: JointIndex, *targets: np.ndarray
    ) -> None:
        self.scene = scene
        self.forest = robot.forest
        self._robot = robot
        self._joints = joints
        self._targets = targets  # gains, reach and reported kinds
        self._q = scene.q[robot.first_q : robot.first_q + robot.nq]
        self._dofs = slice(robot.first_v, robot.first_v + robot.nv)

    @cached_property
    def actuators(self) -> TupleReference:
        """The arrays to which commands are written."""
        control, joints = self.scene.control[self._dofs], self._joints
        return TupleReference(ActuatorArrays(control, self._q, joints.q, joints.v, *self._targets))

    @cached_property
    def _with_gains(self) -> TupleReference:
        """`actuators`, with the gain arrays replaced by arrays for the gains of one command."""
        arrays, count = self.actuators.whole, len(self._joints)
        return TupleReference(arrays._replace(kp=np.empty(count), kd=np.empty(count)))

    def actuators_with(self, kp, kd, indices: np.ndarray, nan_holds: bool) -> TupleReference:
        """Return `actuators` with gains of one command for the joints at `indices` (k,).

        kp and kd are one number, (k,) or None. The robot's own gains apply for None, and for NaN if
        `nan_holds` is set. A value that is negative or not finite raises StateError.
        """
        own, actuators = self.actuators.whole, self._with_gains
        for name, requested in (("kp", kp), ("kd", kd)):
            gains, used = getattr(own, name), getattr(actuators.whole, name)
            used[:] = gains
            if requested is not None:
                default = gains[indices] if nan_holds else None
                used[indices] = self._joints.gains(name, requested, indices, default)
        return actuators

    @cached_property
    def efforts(self) -> TupleReference:
        """The arrays from which efforts of constraints are read."""
        scene, dofs, joint_v = self.scene, self._dofs, self._joints.v
        joint_of = np.full(self._robot.nv, -1)
        joint_of[joint_v] = np.arange(len(joint_v))
        return TupleReference(
            EffortSources(
                scene.settings,
                scene.joint_impulses[dofs],
                scene.joint_impact_impulses[dofs],
                self.forest.dofs,
                joint_v,
                joint_of,
            )
        )

    @cached_property
    def links(self) -> TupleReference:
        """The arrays from which states of links are read."""
        robot, velocity = self._robot, self.scene.velocity[self._dofs]
        kinematics, work = new_kinematics(len(robot.system.parent)), np.zeros((3, 3))
        links = link_records(robot.frames)
        return TupleReference(LinkSources(self.forest, self._q, velocity, kinematics, links, work))

    @cached_property
    def set_commands(self):
        """The compiled `set_commands`. Its first argument is `actuators`."""
        vector = np.empty(0)
        values = self._joints.v, vector, vector, vector, 0, 0, 1
        return entry_point(set_commands, self.actuators, *values)

    @cached_property
    def read_efforts(self):
        """The compiled `read_efforts`. Its first argument is `efforts`."""
        return entry_point(read_efforts, self.efforts, 0, np.empty(0))
