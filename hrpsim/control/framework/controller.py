# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of controllers: walks, stabilisers and users' controllers implement it.

A controller reads named sensors and the joints with encoders, and returns commands for these
joints. The same controller runs in the simulator's process (`ControlLoop`), or in a process of its
own over ROS topics (`hrpsim_controller`). Both give the controller the same numbers, bit for bit.

    class Hold(Controller):
        period = 0.005

        def initialize(self, state):
            self.held = state.joint_positions

        def control(self, state):
            return Command(positions=self.held)
"""

import fnmatch
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from difflib import get_close_matches
from inspect import get_annotations
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hrpsim.common.errors import (
    HrpsimError,
    ModelError,
    ModelWarning,
    UnknownAttributeError,
    shown_value,
    unknown_name,
)
from hrpsim.common.schema import Kind
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import is_number
from hrpsim.model.model import Model
from hrpsim.model.system import FREE
from hrpsim.world.objects.plausibility import SLOWEST_SAMPLES, long_period

POSITION, VELOCITY, EFFORT = 0, 1, 2  # control modes of a joint
_LONGEST = 10.0  # longest period [s]
_RESEMBLES = 0.83  # least similarity of a wrong name to a proposed name (difflib)
MODES = {POSITION: "position", VELOCITY: "velocity", EFFORT: "effort"}


class ControllerError(HrpsimError, ValueError):
    """Raised if a controller cannot be found or run, or if the robot cannot follow its command."""


class ImuReading(NamedTuple):
    """Readings of an inertial measurement unit, in the frame of the unit."""

    orientation: np.ndarray  # orientation of the sensor frame in the world, quaternion x y z w (4,)
    angular_velocity: np.ndarray  # (3,) [rad/s]
    linear_acceleration: np.ndarray  # specific force (3,) [m/s^2], +9.8 upwards at rest


class BaseReading(NamedTuple):
    """Pose and velocity of the base, in the layout of q[:7] and v[:6]."""

    position: np.ndarray  # position of the base in the world (3,) [m]
    orientation: np.ndarray  # orientation of the base in the world, quaternion x y z w (4,)
    linear_velocity: np.ndarray  # in the base frame (3,) [m/s]
    angular_velocity: np.ndarray  # in the base frame (3,) [rad/s]


class LinkContact(NamedTuple):
    """Contact of a link, mean over the last step, along the world's axes."""

    force: np.ndarray  # force on the link (3,) [N]
    torque: np.ndarray  # torque about the link's origin (3,) [Nm]
    points: np.ndarray  # contact points under pressure (k, 3) [m]
    forces: np.ndarray  # forces on the link at the points (k, 3) [N]

    @property
    def touches(self) -> bool:
        """Whether anything presses on the link."""
        return len(self.points) > 0


class State(NamedTuple):
    """Measurements for a controller. Joints have the order of `controlled_joints(model)`.

    The last three fields are present if `Controller.needs` lists them.
    """

    time: float  # simulated time, from whole nanoseconds [s]
    joint_positions: np.ndarray  # (n,) [rad or m]
    joint_velocities: np.ndarray  # (n,) [rad/s or m/s]
    joint_efforts: np.ndarray  # efforts of the actuators in the last step (n,) [Nm or N]
    # Means over the last step. Before the first step they are of the settling, or zero without
    # settling.
    wrenches: Mapping[str, np.ndarray]  # force [N] then torque [Nm] (6,), by sensor
    imus: Mapping[str, ImuReading]  # by sensor
    base: BaseReading | None = None
    contacts: Mapping[str, LinkContact] = MappingProxyType({})  # by link
    zmp: np.ndarray | None = None  # in the world (3,) [m], None without support


class Command(NamedTuple):
    """Commands for all `controlled_joints(model)`, by the rules of `Robot.command`.

    | given | effect |
    | --- | --- |
    | positions | targets of the joints' PD servos; velocities and efforts are feed-forward |
    | velocities without positions | targets of the servos' damping |
    | efforts alone | the actuators deliver exactly these efforts |

    `modes` selects POSITION, VELOCITY (with efforts as feed-forward) or EFFORT for each joint.
    Entries that the mode of a joint does not use are ignored.
    """

    positions: np.ndarray | None = None  # (n,) [rad or m]
    velocities: np.ndarray | None = None  # (n,) [rad/s or m/s]
    efforts: np.ndarray | None = None  # (n,) [Nm or N]
    modes: np.ndarray | None = None  # (n,) POSITION, VELOCITY or EFFORT, None: same for all joints


def used_by(modes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Convert modes to masks of the used quantities.

    Returns:
        (joints that use positions, joints that use velocities, joints that use efforts), each bool
        (n,).
    """
    return modes == POSITION, modes != EFFORT, np.ones(len(modes), dtype=bool)


class Controller(ABC):
    """Base class of controllers.

    The host calls `configure` once, then `initialize` with the state at the first tick. `control`
    is called at the first and every following tick. `stop` is called at the end, even after an
    error. `initialize` may be called again after a reset of the simulation. `period` and `needs`
    are read after `configure`.

    A controller may have any attributes of its own. Setting an attribute such as `perod`, whose
    name resembles one of these, raises UnknownAttributeError. Declare the attribute in the class to
    allow the name (`periods: list`).
    """

    period: float = 0.005  # [s] of simulated time between two calls of `control`
    needs: Mapping[str, Any] = MappingProxyType({})  # besides sensors: see controller_host.py
    parameter_kinds: ClassVar[Mapping[str, Kind] | None] = None  # by name, None: not checked
    finished: bool = False  # a controller sets it when the task is done, then the host stops

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, value in tuple(vars(cls).items()):
            cls._refuse_misspelt(name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            self._refuse_misspelt(name, value)
        object.__setattr__(self, name, value)

    @classmethod
    def _refuse_misspelt(cls, name: str, value: Any) -> None:
        """Raise UnknownAttributeError for a name that resembles a known attribute."""
        if name.startswith("_") or hasattr(Controller, name):
            return
        declared = {key for base in cls.__mro__ for key in get_annotations(base)}
        known = [k for k, own in vars(Controller).items() if callable(own) == callable(value)]
        if name in declared:
            return
        if close := get_close_matches(name, known, n=1, cutoff=_RESEMBLES):
            raise UnknownAttributeError(
                f"a controller has no attribute {name!r}. Did you mean {close[0]!r}? To add this "
                f"attribute to {cls.__name__}, declare it in the class: {name}: type"
            )

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:  # noqa: B027
        """Prepare the controller with the robot's model and the parameters.

        This call may take long.

        Args:
            model: model of the robot.
            parameters: values of the parameters by name.

        Raises:
            HrpsimError: the controller refuses the model or the parameters.
        """

    def initialize(self, state: State) -> None:  # noqa: B027
        """Start from the state measured at the first tick."""

    @abstractmethod
    def control(self, state: State) -> Command:
        """Return the command for the period that begins now."""

    def stop(self) -> None:  # noqa: B027
        """Release everything that `configure` acquired."""


def period_of(controller: Controller) -> float:
    """Return a controller's period [s]. Raises ControllerError unless 0 s < period <= 10 s.

    A ModelWarning is issued for a period that may be given in milliseconds or as a rate.
    """
    if not (is_number(controller.period) and 0.0 < controller.period < math.inf):
        raise ControllerError(
            f"{type(controller).__name__}: the period must be a time > 0 s, got "
            f"{shown_value(controller.period)}"
        )
    label = f"the period of {type(controller).__name__}"
    if text := long_period(label, controller.period, SLOWEST_SAMPLES):
        if controller.period > _LONGEST:
            raise ControllerError(text)
        warnings.warn(text, ModelWarning, stacklevel=3)
    return controller.period


def controlled_joints(model: Model) -> tuple[str, ...]:
    """Return the names of the joints that a controller measures and commands, by increasing id.

    These are the joints of the description's <ros2_control>, in its order. Without <ros2_control>,
    these are all joints except the free base and springs without gains (rubber bushes have no
    encoders), in the order of the model.
    """
    require_fit("the model of controlled_joints", model, Model, ModelError)
    if model.command_interfaces:
        return tuple(model.command_interfaces)
    return tuple(
        joint.name
        for joint in model.joints
        if joint.joint_type != FREE
        and (joint.name in model.gains or model.system.stiffness[joint.v_index] == 0.0)
    )


def joint_modes(model: Model, modes: Mapping[str, int], default: int = POSITION) -> np.ndarray:
    """Return `Command.modes` (n,) for patterns of joint names.

    Args:
        model: model of the robot.
        modes: {pattern with * and ?: POSITION, VELOCITY or EFFORT}. The last matching pattern
            counts.
        default: mode of all other joints.

    Raises:
        ControllerError: for a pattern that matches no joint.
    """
    names = controlled_joints(model)
    result = np.full(len(names), default)
    for pattern, mode in modes.items():
        if mode not in (POSITION, VELOCITY, EFFORT):
            raise ControllerError(
                f"the mode of {pattern!r} must be POSITION, VELOCITY or EFFORT, got"
                f" {shown_value(mode)}"
            )
        at = [k for k, name in enumerate(names) if fnmatch.fnmatchcase(name, pattern)]
        if not at:
            raise ControllerError(unknown_name("joint", pattern, names))
        result[at] = mode
    return result
