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

The robot's model is built by Pinocchio from its URDF text; configurations and velocities have the
same layout in both. `robot` and `formulation` are TSID's own, for its other functions; `state`
is the present measurement.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.model.model import Model

_FORCE_WEIGHT = 1e-5  # of the regularisation of contact forces
_PLACE = 12  # numbers of a pose: position, then the columns of its rotation
_LEAST_FORCE, _MOST_FORCE = 1.0, 5000.0  # along the normal of a contact [N]


class TsidController(Controller):
    """Command the torques that TSID finds for the tasks of a subclass.

    Needs the true base, or with `needs = {"base": "estimated"}` an estimate. ControllerError
    where TSID finds no torques, or where Pinocchio sees other joints than hrpsim.
    """

    period = 0.002  # [s]
    needs: Mapping[str, Any] = {"base": "true"}
    friction = 0.5

    @abstractmethod
    def build(self, q: np.ndarray, v: np.ndarray) -> None:
        """Add contacts and tasks, with the robot at q (nq,) and v (nv,)."""

    def update(self, time: float) -> None:
        """Change the references of tasks; `time` [s] since the first tick."""

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Build TSID's robot."""
        try:
            import pinocchio
            import tsid

            if not hasattr(tsid, "RobotWrapper"):  # wheels of PyPI lack the package's __init__
                from tsid import tsid_pywrap as tsid
        except ImportError as error:
            raise ControllerError(
                f"TSID cannot be imported ({error}); on PyPI and conda-forge it is tsid"
            ) from error
        self._pinocchio, self._tsid = pinocchio, tsid
        whole = pinocchio.buildModelFromXML(model.urdf, pinocchio.JointModelFreeFlyer())
        names = tuple(whole.names)[2:]  # after the universe and the free base
        if names != model.joint_names or whole.nq != model.nq:
            differing = sorted(set(names) ^ set(model.joint_names))
            raise ControllerError(
                f"{model.source}: Pinocchio and hrpsim see other joints: {', '.join(differing)}"
            )
        whole.armature = model.system.rotor_inertia  # <hrpsim> has it, which Pinocchio ignores
        self.robot = tsid.RobotWrapper(whole, tsid.FLOATING_BASE_SYSTEM, False)
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
        self._kept: list[Any] = []  # tasks and contacts: TSID keeps no references of its own
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
            frame: of the sole.
            lengths: from the frame to the front and to the back [m].
            widths: from the frame to the left and to the right [m].
            kp: gain of the contact [1/s^2].
        """
        front, back = lengths
        left, right = widths
        corners = np.array(
            [[-back, -back, front, front], [-right, left, -right, left], [0.0, 0.0, 0.0, 0.0]]
        )
        contact = self._tsid.Contact6d(
            f"contact {len(self._kept)} {frame}",
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
        self._kept.append(contact)
        return contact

    def lift(self, frame: str, over: float = 0.0) -> None:
        """Remove the contact of a sole; its force vanishes within the time `over` [s]."""
        self.formulation.removeRigidContact(self.contacts.pop(frame).name, over)

    def com_task(self, weight: float, kp: float):
        """Add and return the task of the centre of mass, which `move_com` moves; kp [1/s^2]."""
        task = self._tsid.TaskComEquality("com", self.robot)
        self._com = self._added(task, 3, weight, kp)
        self.move_com(self.com0)
        return self._com

    def posture_task(self, weight: float, kp: float):
        """Add and return the task of keeping the joints at their positions; kp [1/s^2]."""
        task = self._tsid.TaskJointPosture("posture", self.robot)
        self._added(task, self.robot.na, weight, kp)
        task.setReference(self._sample(self._joints))
        return task

    def frame_task(self, frame: str, weight: float, kp: float):
        """Add and return the task of keeping a frame at its pose; `move_frame` moves it.

        Args:
            frame: name of the frame.
            weight: of the task in the cost.
            kp: gain [1/s^2].
        """
        task = self._tsid.TaskSE3Equality(f"frame {frame}", self.robot, frame)
        self._added(task, 6, weight, kp)
        self.move_frame(task, self.place(frame))
        return task

    def move_com(self, position, velocity=None, acceleration=None) -> None:
        """Set the reference of the centre of mass.

        Args:
            position: (3,) [m].
            velocity: (3,) [m/s].
            acceleration: (3,) [m/s^2].
        """
        self._com.setReference(self._sample(position, velocity, acceleration))

    def move_frame(self, task, place, velocity=None, acceleration=None) -> None:
        """Set the reference of a frame.

        Args:
            task: from `frame_task`.
            place: a pinocchio.SE3.
            velocity: (6,).
            acceleration: (6,).
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
        self._kept.append(task)
        return task

    def _sample(self, value, rate=None, acceleration=None):
        """Return TSID's sample of a reference and its rates, which are zero where not given."""
        value = np.asarray(value, dtype=float)
        size = len(value) if len(value) != _PLACE else 6
        sample = self._tsid.TrajectorySample(len(value), size)
        sample.value(value)
        sample.derivative(np.zeros(size) if rate is None else np.asarray(rate, dtype=float))
        zeros = np.zeros(size) if acceleration is None else np.asarray(acceleration, dtype=float)
        sample.second_derivative(zeros)
        return sample

    def _measured(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and v (nv,) in Pinocchio's layout, which is hrpsim's."""
        base, count = state.base, len(self._commanded)
        joints, rates = np.empty(count), np.empty(count)
        joints[self._commanded] = state.joint_positions
        rates[self._commanded] = state.joint_velocities
        self._joints = joints
        q = np.concatenate([base.position, base.orientation, joints])
        return q, np.concatenate([base.linear_velocity, base.angular_velocity, rates])
