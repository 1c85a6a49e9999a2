# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The control loop of mc_rtc: set sensors on a global controller, run the controller, read q.

    ControlLoop(robot, McRtc(MyGlobalController())).run()

The controller has these methods of mc_rtc's `mc_control.MCGlobalController`, with joints in the
order of `ref_joint_order`:

- `timestep`, `ref_joint_order`, `init`, `run`
- `setEncoderValues`, `setEncoderVelocities`, `setJointTorques`
- `setSensorOrientation` (orientation of the world relative to the IMU)
- `setSensorAngularVelocity`, `setSensorAcceleration`
- `setWrenches` (by sensor name, torque before force)
- `robot`, whose `mbc.q` has a list of coordinates for each joint.

mc_rtc's own controller needs mc_rtc's types:

    McRtc(mc_control.MCGlobalController(), vector=eigen.Vector3d, quaternion=eigen.Quaterniond,
          wrench=sva.ForceVecd)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hrpsim.common.errors import require_names
from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.model.model import Model


class McRtc(Controller):
    """Run a controller with mc_rtc's interface. The computed joint positions are servo targets.

    The control period is the controller's time step. Raises ControllerError if the controller's
    joints differ from the robot's joints.

    Args:
        controller: an object with mc_rtc's interface.
        vector: converts an array (3,) to mc_rtc's vector type. The default passes the array.
        quaternion: converts w, x, y, z to mc_rtc's type. The default makes an array (4,).
        wrench: converts a torque and a force to mc_rtc's type. The default makes an array (6,).
    """

    def __init__(
        self,
        controller: Any,
        vector: Callable[[np.ndarray], Any] = np.array,
        quaternion: Callable[..., Any] = lambda *wxyz: np.array(wxyz),
        wrench: Callable[..., Any] = lambda couple, force: np.concatenate([couple, force]),
    ) -> None:
        self.controller = controller
        self._vector, self._quaternion, self._wrench = vector, quaternion, wrench

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Find the robot's joints in the order of mc_rtc."""
        self.period = float(self.controller.timestep())
        names, order = controlled_joints(model), list(self.controller.ref_joint_order())
        require_names("joint", order, names, ControllerError, where="ref_joint_order")
        self._order, self._at = order, np.array([names.index(name) for name in order])
        imus = [sensor.name for sensor in model.sensors if sensor.kind == "imu"]
        self._imu = imus[0] if imus else None

    def initialize(self, state: State) -> None:
        """Pass the joint positions to the controller. Hold the joints that the controller lacks."""
        self._start_positions = state.joint_positions.copy()
        self._set_sensors(state)
        self.controller.init(state.joint_positions[self._at].tolist())
        self._q_indices = self._find_q_indices()
        self._last = self._start_positions.copy()
        self.finished = False

    def control(self, state: State) -> Command:
        """Set the sensors, run the controller, and return joint positions and mean rates."""
        self._set_sensors(state)
        if not self.controller.run():
            self.finished = True
            return Command(positions=self._last)
        target, q = self._start_positions.copy(), self.controller.robot().mbc.q
        target[self._at] = [q[index][0] for index in self._q_indices]
        rates = (target - self._last) / self.period
        self._last = target
        return Command(positions=target.copy(), velocities=rates)

    def _set_sensors(self, state: State) -> None:
        to = self.controller
        to.setEncoderValues(state.joint_positions[self._at].tolist())
        to.setEncoderVelocities(state.joint_velocities[self._at].tolist())
        to.setJointTorques(state.joint_efforts[self._at].tolist())
        if self._imu is not None:
            imu = state.imus[self._imu]
            x, y, z, w = imu.orientation.tolist()
            to.setSensorOrientation(self._quaternion(w, -x, -y, -z))
            to.setSensorAngularVelocity(self._vector(imu.angular_velocity))
            to.setSensorAcceleration(self._vector(imu.linear_acceleration))
        to.setWrenches(
            {
                name: self._wrench(self._vector(wrench[3:]), self._vector(wrench[:3]))
                for name, wrench in state.wrenches.items()
            }
        )

    def _find_q_indices(self) -> list[int]:
        """Return the joints' indices in `mbc.q`, in order if `jointIndexByName` is missing."""
        robot = self.controller.robot()
        if hasattr(robot, "jointIndexByName"):
            return [int(robot.jointIndexByName(name)) for name in self._order]
        return list(range(1, len(self._order) + 1))
