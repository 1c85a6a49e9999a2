# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Torque control by TSID (Task Space Inverse Dynamics): a quadratic program each tick.

    class Balance(TsidController):
        def build(self, q, v):
            self.stand_on("left_sole_link", lengths=(0.1, 0.1), widths=(0.06, 0.06))
            self.stand_on("right_sole_link", lengths=(0.1, 0.1), widths=(0.06, 0.06))
            self.com_task(weight=1.0, kp=20.0)
            self.posture_task(weight=1e-3, kp=10.0)

        def update(self, time):
            self.move_com(self.com0 + [0.0, 0.02 * math.sin(time), 0.0])

Pinocchio builds the robot's model from the URDF text. Configurations and velocities have the same
layout in Pinocchio and hrpsim. `robot` and `formulation` are TSID's objects, for TSID's other
functions. `state` is the present measurement.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.control.biped.prepare import PreparedBiped
from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.engine.dynamics.functions import center_of_mass
from hrpsim.model.model import Model

_FORCE_WEIGHT = 1e-5  # of the regularisation of contact forces
_PLACE = 12  # size of a pose: position, then the columns of the rotation
_LEAST_FORCE, _MOST_FORCE = 1.0, 5000.0  # along the normal of a contact [N]
_SHIFT, _SWING = 2.0, 1.0  # durations [s]
_SINK = 0.02  # velocity of a late foot [m/s]
_BEARING = 0.6  # used fraction of the sole's half lengths, because of round corners
_STRIDE, _LIFT = 0.1, 0.07  # relative to the height of the base
_SMOOTH = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])  # from 0 to 1, at rest at both ends
_BUMP = np.polynomial.Polynomial([0, 0, 0, 64, -192, 192, -64])  # up to 1 and down again


class TsidController(Controller):
    """Command the torques that TSID computes for the tasks of a subclass.

    The controller needs the true base state, or an estimate with `needs = {"base": "estimated"}`.
    Raises ControllerError if TSID finds no torques, or if Pinocchio and hrpsim read different
    joints from the model.
    """

    period = 0.002  # [s]
    needs: Mapping[str, Any] = {"base": "true"}
    friction = 0.5

    @abstractmethod
    def build(self, q: np.ndarray, v: np.ndarray) -> None:
        """Add contacts and tasks, with the robot at q (nq,) and v (nv,)."""

    def update(self, time: float) -> None:
        """Change the references of tasks. `time` [s] counts from the first tick."""

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Build TSID's robot."""
        try:
            import pinocchio
            import tsid

            if not hasattr(tsid, "RobotWrapper"):  # wheels of PyPI lack the package's __init__
                from tsid import tsid_pywrap as tsid
        except ImportError as error:
            raise ControllerError(
                f"TSID cannot be imported ({error}). Install the package tsid of PyPI or "
                "conda-forge"
            ) from error
        self._pinocchio, self._tsid = pinocchio, tsid
        rigid_model = pinocchio.buildModelFromXML(model.urdf, pinocchio.JointModelFreeFlyer())
        names = tuple(rigid_model.names)[2:]  # without the universe and the free base
        if names != model.joint_names or rigid_model.nq != model.nq:
            differing = sorted(set(names) ^ set(model.joint_names))
            raise ControllerError(
                f"{model.source}: Pinocchio and hrpsim read different joints: "
                f"{', '.join(differing)}"
            )
        rigid_model.armature = model.system.rotor_inertia  # from <hrpsim>, which Pinocchio ignores
        self.robot = tsid.RobotWrapper(rigid_model, tsid.FLOATING_BASE_SYSTEM, False)
        commanded = controlled_joints(model)
        self._commanded = np.array([names.index(name) for name in commanded])
        blind = [name for name in names if name not in commanded]
        if blind:
            raise ControllerError(f"{model.source}: TSID needs an encoder at {blind[0]!r}")

    def initialize(self, state: State) -> None:
        """Build the tasks at the measured posture."""
        tsid, q, v = self._tsid, *self._measured(state)
        self._start = state.time
        self.formulation = tsid.InverseDynamicsFormulationAccForce("hrpsim", self.robot, False)
        self.formulation.computeProblemData(0.0, q, v)
        self.contacts: dict[str, Any] = {}
        self._referenced: list[Any] = []  # tasks and contacts: TSID does not store references
        self.com0 = self.robot.com(self.formulation.data())
        self.build(q, v)
        self._solver = tsid.SolverHQuadProgFast("qp")

    def control(self, state: State) -> Command:
        """Return the torques that solve the tasks."""
        self.state = state
        q, v = self._measured(state)
        time = state.time - self._start
        self.update(time)
        problem = self.formulation.computeProblemData(time, q, v)
        self._solver.resize(self.formulation.nVar, self.formulation.nEq, self.formulation.nIn)
        solution = self._solver.solve(problem)
        if solution.status != 0:
            raise ControllerError(
                f"{type(self).__name__}: TSID finds no torques at {time:g} s: status "
                f"{solution.status}"
            )
        return Command(efforts=self.formulation.getActuatorForces(solution)[self._commanded])

    def stand_on(self, frame: str, lengths=(0.1, 0.1), widths=(0.05, 0.05), kp: float = 30.0):
        """Add the contact of a sole.

        Args:
            frame: name of the frame of the sole.
            lengths: distances from the frame to the front and the back edge [m].
            widths: distances from the frame to the left and the right edge [m].
            kp: gain of the contact task [1/s^2]. Larger values correct a displaced sole faster.
        """
        front, back = lengths
        left, right = widths
        corners = np.array(
            [[-back, -back, front, front], [-right, left, -right, left], [0.0, 0.0, 0.0, 0.0]]
        )
        contact = self._tsid.Contact6d(
            f"contact {len(self._referenced)} {frame}",
            self.robot,
            frame,
            corners,
            np.array([0.0, 0.0, 1.0]),
            self.friction,
            _LEAST_FORCE,
            _MOST_FORCE,
        )
        contact.setKp(kp * np.ones(6))
        contact.setKd(2.0 * np.sqrt(kp) * np.ones(6))
        contact.setReference(self.place(frame))
        self.formulation.addRigidContact(contact, _FORCE_WEIGHT)
        self.contacts[frame] = contact
        self._referenced.append(contact)
        return contact

    def lift(self, frame: str, over: float = 0.0) -> None:
        """Remove the contact of a sole. Reduce the contact force to zero during `over` [s]."""
        self.formulation.removeRigidContact(self.contacts.pop(frame).name, over)

    def com_task(self, weight: float, kp: float):
        """Add a task for the centre of mass, and return the task. `move_com` moves the target.

        Args:
            weight: weight of the task in the cost.
            kp: gain [1/s^2]. Larger values follow the target faster.
        """
        task = self._tsid.TaskComEquality("com", self.robot)
        self._com = self._added(task, 3, weight, kp)
        self.move_com(self.com0)
        return self._com

    def posture_task(self, weight: float, kp: float):
        """Add a task that keeps the joints at the present positions, and return the task.

        Args:
            weight: weight of the task in the cost.
            kp: gain [1/s^2]. Larger values return to the posture faster.
        """
        task = self._tsid.TaskJointPosture("posture", self.robot)
        self._added(task, self.robot.na, weight, kp)
        task.setReference(self._sample(self._joints))
        return task

    def frame_task(self, frame: str, weight: float, kp: float):
        """Add and return a task that keeps a frame at its pose. `move_frame` moves the target.

        Args:
            frame: name of the frame.
            weight: weight of the task in the cost.
            kp: gain [1/s^2]. Larger values follow the target faster.
        """
        task = self._tsid.TaskSE3Equality(f"frame {frame}", self.robot, frame)
        self._added(task, 6, weight, kp)
        self.move_frame(task, self.place(frame))
        return task

    def move_com(self, position, velocity=None, acceleration=None) -> None:
        """Set the desired position, velocity and acceleration of the centre of mass in the world.

        Args:
            position: (3,) [m].
            velocity: (3,) [m/s].
            acceleration: (3,) [m/s^2].
        """
        self._com.setReference(self._sample(position, velocity, acceleration))

    def move_frame(self, task, place, velocity=None, acceleration=None) -> None:
        """Set the desired pose, velocity and acceleration of a frame.

        Args:
            task: from `frame_task`.
            place: desired pose in the world, a pinocchio.SE3.
            velocity: linear and angular velocity (6,).
            acceleration: linear and angular acceleration (6,).
        """
        numbers = np.concatenate([place.translation, place.rotation.T.ravel()])
        task.setReference(self._sample(numbers, velocity, acceleration))

    def place(self, frame: str):
        """Return the present pose of a frame of the model, a pinocchio.SE3."""
        model = self.robot.model()
        if not model.existFrame(frame):
            raise ControllerError(f"frame {frame!r} does not exist in Pinocchio's model")
        return self.robot.framePosition(self.formulation.data(), model.getFrameId(frame))

    def _added(self, task, size: int, weight: float, kp: float):
        task.setKp(kp * np.ones(size))
        task.setKd(2.0 * np.sqrt(kp) * np.ones(size))
        self.formulation.addMotionTask(task, weight, 1, 0.0)
        self._referenced.append(task)
        return task

    def _sample(self, value, rate=None, acceleration=None):
        """Make TSID's sample of a reference and its derivatives. Missing derivatives are zero."""
        value = np.asarray(value, dtype=float)
        size = len(value) if len(value) != _PLACE else 6
        sample = self._tsid.TrajectorySample(len(value), size)
        sample.value(value)
        sample.derivative(np.zeros(size) if rate is None else np.asarray(rate, dtype=float))
        zeros = np.zeros(size) if acceleration is None else np.asarray(acceleration, dtype=float)
        sample.second_derivative(zeros)
        return sample

    def _measured(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and v (nv,). Pinocchio and hrpsim use the same layout."""
        base, count = state.base, len(self._commanded)
        joints, rates = np.empty(count), np.empty(count)
        joints[self._commanded] = state.joint_positions
        rates[self._commanded] = state.joint_velocities
        self._joints = joints
        q = np.concatenate([base.position, base.orientation, joints])
        return q, np.concatenate([base.linear_velocity, base.angular_velocity, rates])


class SlowWalk(TsidController):
    """Walk a number of steps with a biped. The first and the last step are half as long.

    Attributes:
        stride: half the length of the full steps [m].
        duration: time of the walk if every foot lands on schedule [s].
        finished: whether the last foot has landed.
        creep: largest displacement of a stance foot during a step [m].

    Args:
        biped: the robot, from `prepare_biped`.
        steps: number of steps.
    """

    def __init__(self, biped: PreparedBiped, steps: int = 4) -> None:
        """Read the soles and the initial posture of a prepared biped."""
        self._feet, self._steps = biped.soles, steps
        height = biped.start[2]
        self.stride, self._height = _STRIDE * height, _LIFT * height
        self.duration = steps * (_SHIFT + _SWING)
        sole = sole_outline(biped.model, self._feet[0])
        length, width = (_BEARING * sole).T
        self._lengths, self._widths = (length.max(), -length.min()), (width.max(), -width.min())
        height = center_of_mass(biped.model, biped.start)[2]
        self._above_foot = np.append(sole.mean(axis=0), height)

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Configure the controller, and request the contacts of the feet."""
        self.needs = {"base": "true", "contacts": list(self._feet)}
        super().configure(model, parameters)

    def initialize(self, state: State) -> None:
        """Start, with both feet on the floor."""
        self.finished, self.creep = False, 0.0
        super().initialize(state)

    def build(self, q: np.ndarray, v: np.ndarray) -> None:
        """Add contacts of both feet, a centre-of-mass task and a posture task."""
        self.com_task(weight=1.0, kp=30.0)
        self.posture_task(weight=1e-3, kp=10.0)
        self._frames = {foot: self.frame_task(foot, weight=1.0, kp=200.0) for foot in self._feet}
        for foot in self._feet:
            self.stand_on(foot, self._lengths, self._widths)
        self._step, self._goal = -1, self.com0
        self._begin_step(0.0)

    def update(self, time: float) -> None:
        """Follow smooth reference trajectories. A step ends when the foot touches the floor."""
        elapsed = time - self._begun
        in_air = self._swing not in self.contacts
        late = elapsed > _SHIFT + 0.5 * _SWING
        if in_air and late and self.state.contacts[self._swing].touches:
            self.stand_on(self._swing, self._lengths, self._widths)
            self.finished = self._step == self._steps - 1
            self._begin_step(time)
            return
        trajectory = np.outer(_trajectory(_SMOOTH, elapsed, _SHIFT), self._goal - self._from)
        trajectory[0] += self._from
        self.move_com(*trajectory)
        if elapsed > _SHIFT and not in_air:
            self.lift(self._swing)
            self._stood = self.place(self._stance).translation
        elif in_air:
            slip = self.place(self._stance).translation - self._stood
            self.creep = max(self.creep, float(np.linalg.norm(slip[:2])))
        self._move_foot(elapsed - _SHIFT)

    def _begin_step(self, time: float) -> None:
        """Plan the next step from the feet's present poses."""
        self._step, self._begun, self._from = self._step + 1, time, self._goal
        self._swing, self._stance = self._feet if self._step % 2 == 0 else self._feet[::-1]
        self._lifted_from = self.place(self._swing)
        self._goal = self.place(self._stance).translation + self._above_foot

    def _move_foot(self, elapsed: float) -> None:
        """Set the reference of the swing foot at a time since lift-off [s]."""
        length = self.stride * (1 if self._step in (0, self._steps - 1) else 2)
        moved = np.zeros((3, 6))
        moved[:, 0] = length * _trajectory(_SMOOTH, elapsed, _SWING)
        moved[:, 2] = self._height * _trajectory(_BUMP, elapsed, _SWING)
        moved[0, 2] -= _SINK * max(elapsed - _SWING, 0.0)
        place = self._lifted_from.copy()
        place.translation = place.translation + moved[0, :3]
        self.move_frame(self._frames[self._swing], place, *moved[1:])


def _trajectory(shape: np.polynomial.Polynomial, time: float, duration: float) -> np.ndarray:
    """Return position, velocity and acceleration of a reference trajectory at a time [s]."""
    s = np.clip(time / duration, 0.0, 1.0)
    return np.array([shape(s), shape.deriv()(s) / duration, shape.deriv(2)(s) / duration**2])
