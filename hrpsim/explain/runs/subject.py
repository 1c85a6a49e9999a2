# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A policy on a robot in hrpsim, with all properties that a difference may change."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hrpsim.bridges.policy_description import PolicyDescription
from hrpsim.common.errors import ModelWarning
from hrpsim.control.framework.contact_points import pressing_points
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import (
    BaseReading,
    Command,
    Controller,
    ImuReading,
    State,
    controlled_joints,
)
from hrpsim.control.framework.controller_host import ControllerHost, steps_in_period
from hrpsim.explain.runs.case import Case, ExplainError
from hrpsim.explain.runs.described_policy import DescribedPolicy, divided
from hrpsim.explain.runs.trace import Trace, TraceWriter
from hrpsim.model.model import Model, Sensor
from hrpsim.model.shapes.placement import quaternion_of, rotation_matrix
from hrpsim.sweeps.worlds.controllers import DisturbedController
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World


@dataclass
class Subject:
    """The policy and its robot, with all properties that differences may change."""

    world: World
    robot: Robot
    policy: PolicyDescription
    parameters: dict[str, Any]
    hold: int = 1  # control periods with constant torques
    command_delay: float = 0.0  # [s]
    sensing_delay: float = 0.0  # [s]
    filter_time: float = 0.0  # filter time constant of measured rates [s]

    @staticmethod
    def of(case: Case, at_load: Mapping[str, Any]) -> Subject:
        """Return a new subject for a case. at_load: arguments of `Case.load`."""
        world = case.load(**at_load)
        return Subject(world, case.robot_in(world), case.description(), case.parameters())

    def use_system(self, **fields: np.ndarray) -> None:
        """Apply changed arrays of the robot's system: inertias, joint properties, limits."""
        system = self.robot.system._replace(**fields)
        self.robot.use_properties_of(replace(self.robot.model, system=system))

    def evaluate_pd(self, count: int) -> None:
        """Evaluate the PD control `count` times between two evaluations of the policy.

        Control periods become shorter if needed. Delays are rounded to whole periods.
        """
        ticks = math.lcm(self.policy.decimation, count)
        self.policy, self.hold = divided(self.policy, ticks), ticks // count

    def controller(self) -> Controller:
        """Return the policy as a controller, including delays and filter."""
        policy: Controller = DescribedPolicy(self.policy, self.hold)
        if self.filter_time > 0.0:
            policy = _Filtered(policy, self.filter_time)
        sensing, command = (
            round(delay / self.policy.period) for delay in (self.sensing_delay, self.command_delay)
        )
        if sensing or command:
            policy = DisturbedController(policy, {}, sensing, command)
        return policy

    def run(self, q: np.ndarray, v: np.ndarray, duration: float) -> Trace:
        """Run the policy for `duration` [s] or until a fall.

        Sample the state at every evaluation.
        """
        policy, writer = self.policy, TraceWriter(self.robot.model.base == "free")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            self._place(q, v)
            with ControlLoop(self.robot, self.controller(), self.parameters, False) as loop:
                for tick in range(round(duration / policy.period) + 1):
                    if tick % policy.decimation == 0 and self._sample(writer, tick):
                        break
                    loop.tick()
        return writer.trace()

    def _sample(self, writer: TraceWriter, tick: int) -> bool:
        robot = self.robot
        forces = np.zeros(len(robot.model.frames))
        if tick:
            points = pressing_points(robot)
            np.add.at(forces, points.links, points.forces[:, 2])
        time = tick * self.policy.period
        return writer.add(time, robot.q.copy(), robot.v.copy(), forces)

    def predict(self, trace: Trace, most: int) -> np.ndarray:
        """Predict the velocities at each evaluation of the policy from the previous evaluation.

        The policy, including all delays, observes the states of the reference. Its commands act on
        the robot in hrpsim, which is reset to the reference's state at each evaluation.

        Args:
            trace: motion of the reference.
            most: largest number of predictions.

        Returns:
            Velocities (predictions, nv).
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return self._predict(trace, most)

    def _predict(self, trace: Trace, most: int) -> np.ndarray:
        robot, ends, window = self.robot, [], self.policy.decimation
        count = min(int(trace.time[-1] / self.policy.seconds + 1e-6), most)
        trace = trace.sampled(self.policy.period * np.arange(count * window + 1))
        host = ControllerHost(self.controller(), robot.model, self.parameters, robot.name)
        view = StateView(robot, self.policy.imu)
        try:
            steps = steps_in_period("the period", self.policy.period, self.world.time_step)
            self._place(trace.q[0], trace.v[0])
            for k in range(count * window):
                if k % window == 0:
                    robot.q, robot.v = trace.q[k], trace.v[k]
                command = host.command(view.state(trace, k))
                _give(robot, command, host.joint_names)
                self.world.step(steps)
                if (k + 1) % window == 0:
                    ends.append(robot.v.copy())
        finally:
            host.stop()
        return np.array(ends)

    def _place(self, q: np.ndarray, v: np.ndarray) -> None:
        self.robot.q, self.robot.v = q, v
        self.robot.keep_as_initial()


def _give(robot: Robot, command: Command, names: tuple[str, ...]) -> None:
    positions, velocities, efforts, modes = command
    robot.command(positions, velocities, efforts, names, nan_holds=modes is not None)


class StateView:
    """Converts states of a trace to measurements for a policy.

    Args:
        robot: the robot.
        imu: name of the IMU that the policy reads. "" means the first IMU of the robot.
    """

    def __init__(self, robot: Robot, imu: str) -> None:
        self._robot, model = robot, robot.model
        self._at = robot.joint_index
        self._order = joint_order(robot)
        imus = [sensor for sensor in model.sensors if sensor.kind == "imu"]
        self._imus = [sensor for sensor in imus if sensor.name == imu] or imus[:1]
        self._free = model.base == "free"
        for sensor in self._imus:
            if self._free and model.system.parent[sensor.body] >= 0:
                raise ExplainError(
                    f"IMU {sensor.name!r} is on the moving link {sensor.link!r}. Only IMUs on the "
                    "base are compared"
                )

    def state(self, trace: Trace, k: int) -> State:
        """Return the measurements at sample k of a trace."""
        q, v = trace.q[k], trace.v[k]
        return self.measured(float(trace.time[k]), q, v)

    def measured(self, time: float, q: np.ndarray, v: np.ndarray) -> State:
        """Return the measurements for a state, without accelerations and forces."""
        base, imus = None, {}
        if self._free:
            base = BaseReading(q[:3].copy(), q[3:7].copy(), v[:3].copy(), v[3:6].copy())
            imus = {sensor.name: _imu_reading(sensor, q, v) for sensor in self._imus}
        joints = q[self._at.q[self._order]], v[self._at.v[self._order]]
        return State(time, *joints, np.zeros(len(self._order)), {}, imus, base)


def _imu_reading(sensor: Sensor, q: np.ndarray, v: np.ndarray) -> ImuReading:
    turned = rotation_matrix(q[3:7].tolist()) @ sensor.R
    return ImuReading(np.array(quaternion_of(turned)), sensor.R.T @ v[3:6], np.zeros(3))


def joint_order(robot: Robot) -> np.ndarray:
    """Return for each joint of a controller the index in `joint_names`."""
    return robot.joint_index.indices(list(controlled_joints(robot.model)))


class _Filtered(Controller):
    """A controller whose measured velocities pass a first-order low-pass filter.

    Args:
        controller: receives the filtered velocities of joints and IMUs.
        time: time constant of the filter [s].
    """

    def __init__(self, controller: Controller, time: float) -> None:
        self.controller, self._time = controller, time

    @property
    def finished(self) -> bool:
        """Whether the controller has finished."""
        return self.controller.finished

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Configure the controller."""
        self.controller.configure(model, parameters)
        self.period, self.needs = self.controller.period, self.controller.needs

    def initialize(self, state: State) -> None:
        """Start the filter at the first measurements."""
        self._rates: dict[str, np.ndarray] = {}
        self.controller.initialize(state)

    def control(self, state: State) -> Command:
        """Return the command for the filtered measurements."""
        imus = {
            name: reading._replace(angular_velocity=self._low_pass(name, reading.angular_velocity))
            for name, reading in state.imus.items()
        }
        rates = self._low_pass("joints/", state.joint_velocities)
        return self.controller.control(state._replace(joint_velocities=rates, imus=imus))

    def _low_pass(self, name: str, value: np.ndarray) -> np.ndarray:
        fraction = self.period / (self._time + self.period)
        before = self._rates.get(name, value)
        self._rates[name] = before + fraction * (value - before)
        return self._rates[name]

    def stop(self) -> None:
        """Stop the controller."""
        self.controller.stop()
