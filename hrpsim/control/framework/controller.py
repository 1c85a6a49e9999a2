"""What a controller is: the interface that walks, stabilisers and the controllers of users share.

A controller sees named sensors and the joints that have encoders, and answers with commands for
these joints. It does not know whether it runs in the simulator's process (`ControlLoop`) or in one
of its own, over ROS topics (`hrpsim_controller`): both give it the same numbers, bit for bit.

    class Hold(Controller):
        period = 0.005

        def initialize(self, state):
            self.held = state.joint_positions

        def control(self, state):
            return Command(positions=self.held)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hrpsim.errors import HrpsimError
from hrpsim.model.model import Model
from hrpsim.model.system import FREE
from hrpsim.schema import Kind


class ControllerError(HrpsimError, ValueError):
    """A controller that cannot be found or run, or a command that its robot cannot follow."""


class ImuReading(NamedTuple):
    """What an inertial measurement unit reads, in its own frame."""

    orientation: np.ndarray  # of the sensor frame in the world, quaternion x y z w (4,)
    angular_velocity: np.ndarray  # (3,) [rad/s]
    linear_acceleration: np.ndarray  # specific force (3,) [m/s^2]: +9.8 upwards at rest


class State(NamedTuple):
    """What a controller measures; joints in the order of `controlled_joints(model)`."""

    time: float  # simulated, from whole nanoseconds [s]
    joint_positions: np.ndarray  # (n,) [rad or m]
    joint_velocities: np.ndarray  # (n,) [rad/s or m/s]
    joint_efforts: np.ndarray  # that the actuators delivered in the last step (n,) [Nm or N]
    # Means over the last step; before the first one, of the settling, zero where none was.
    wrenches: Mapping[str, np.ndarray]  # force [N] then torque [Nm] (6,), by sensor
    imus: Mapping[str, ImuReading]  # by sensor


class Command(NamedTuple):
    """What a controller wants, for all `controlled_joints(model)`, with the rules of Robot.command.

    Positions go to the joints' PD servos, with velocities and efforts as feed-forward; velocities
    alone to the servos' damping; efforts alone are exactly what the actuators deliver.
    """

    positions: np.ndarray | None = None  # (n,) [rad or m]
    velocities: np.ndarray | None = None  # (n,) [rad/s or m/s]
    efforts: np.ndarray | None = None  # (n,) [Nm or N]


class Controller(ABC):
    """Base class of controllers. The host calls, in this order:

    `configure` once, then `initialize` with the state at the first tick, `control` at that and
    every following tick, `stop` at the end, even after an error. `initialize` may come again after
    a reset of the simulation.
    """

    period: float = 0.005  # [s] of simulated time between two calls of `control`
    parameter_kinds: ClassVar[Mapping[str, Kind] | None] = None  # by name; None: not checked
    finished: bool = False  # set it once there is nothing left to do; the host then stops

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:  # noqa: B027
        """Get to know the robot and the parameters; may take long. Raise HrpsimError to refuse."""

    def initialize(self, state: State) -> None:  # noqa: B027
        """Begin, from what is measured at the first tick."""

    @abstractmethod
    def control(self, state: State) -> Command:
        """Return the command for the period that begins now."""

    def stop(self) -> None:  # noqa: B027
        """Let go of what `configure` took."""


def controlled_joints(model: Model) -> tuple[str, ...]:
    """Return the joints that a controller measures and commands, in the order of their ids.

    They are those of the description's <ros2_control>, in its order; where it has none, all but
    the free base and springs without gains (rubber bushes have no encoders).
    """
    if model.command_interfaces:
        return tuple(model.command_interfaces)
    return tuple(
        joint.name
        for joint in model.joints
        if joint.joint_type != FREE
        and (joint.name in model.gains or model.system.stiffness[joint.v_index] == 0.0)
    )
