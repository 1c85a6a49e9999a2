# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot in a world: its state and its commands."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning, NamedParts, StateError, WorldError
from hrpsim.common.values import finite_vector, flag
from hrpsim.engine.dynamics.joint_forces import CONTROL, EFFORTS, OWN_GAINS, POSITIONS, VELOCITIES
from hrpsim.engine.step.scene.status import LARGEST_SPEED
from hrpsim.model.model import Model
from hrpsim.model.sensors.camera import Camera
from hrpsim.model.sensors.contact_pad import ContactPad
from hrpsim.model.sensors.height_scan import HeightScan
from hrpsim.model.sensors.lidar import Lidar
from hrpsim.world.objects.camera_view import CameraView
from hrpsim.world.objects.contact_view import ContactView
from hrpsim.world.objects.entity import Entity, WorldState, _frozen, bounded_vector
from hrpsim.world.objects.joint_constraints import JointConstraints
from hrpsim.world.objects.joint_index import JointIndex
from hrpsim.world.objects.plausibility import JointLimits, far_point, listed, slow_servo, unreached
from hrpsim.world.objects.robot_access import (
    BEYOND,
    REFUSALS,
    TARGETS,
    WRITTEN,
    RobotAccess,
    command_targets,
    ramp_steps,
)
from hrpsim.world.objects.robot_actuators import RobotActuators
from hrpsim.world.objects.robot_gains import RobotGains
from hrpsim.world.objects.robot_reader import RobotLinks
from hrpsim.world.objects.scan_view import ScanView
from hrpsim.world.objects.sensor_view import MeasuredView, SampledView, SensorView

_REACHED = 16  # bit of `_reported`: the joint's first velocity was checked
_SERVO = 32  # bit of `_reported`: gains of a command seem swapped
_ANY_TARGET = POSITIONS | VELOCITIES | EFFORTS


# Views of the kinds of sensors with separate readings.
_VIEWS: dict[type, type[SampledView]] = {
    HeightScan: ScanView,
    Lidar: ScanView,
    ContactPad: ContactView,
    Camera: CameraView,
}


class Robot(JointConstraints, RobotLinks, RobotGains, RobotActuators):
    """A model with a state in a world.

    The last command of a joint decides how its actuator works: PD control to a position, velocity
    control, or an effort. Actuators start by holding the joints at the present positions. Joints
    without gains are passive until an effort command or gains arrive.
    """

    def __init__(
        self,
        world: WorldState,
        name: str,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        self_collision: bool = False,
    ) -> None:
        q = model.starting() if q is None else q
        frames = tuple(model.frames.values())
        initial = np.zeros(model.nq), np.zeros(model.nv)
        Entity.__init__(self, world, name, model.system, model.shapes, frames, *initial)
        JointConstraints.__init__(self)
        self.self_collision = bool(self_collision)
        self.model = self.described = model
        self.initial_q = self._checked_q(q)
        if v is not None:
            self.initial_v = bounded_vector(f"v of {name!r}", v, model.nv, LARGEST_SPEED)
        self.joint_index = JointIndex(name, model)
        self.fitted_actuators = dict(model.actuators)
        self._initial_motors, self._initial_tendons, self._noises = {}, {}, {}
        self._check_actuators(self.fitted_actuators)
        self._ready: RobotAccess | None = None
        self._initial_control: np.ndarray | None = None
        self.limits = JointLimits(model.system, model.joints)
        self._reported = np.zeros(len(self.joint_index), dtype=np.int64)
        RobotGains.__init__(self, model)
        views: list[SensorView | SampledView]
        views = [SensorView(self, s, k) for k, s in enumerate(model.sensors)]
        self.samplers = tuple(
            _VIEWS.get(type(s.pattern), MeasuredView)(self, s) for s in model.sampled_sensors
        )
        views += self.samplers
        self._sensors = NamedParts("sensor", {v.description.name: v for v in views})

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {self.model!r}>"

    @property
    def sensors(self) -> MappingProxyType:
        """Sensors by name."""
        return MappingProxyType(self._sensors)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of `joint_positions`."""
        return self.model.joint_names

    @property
    def joint_positions(self) -> np.ndarray:
        """Joint positions in the order of joint_names [rad or m]."""
        return _frozen(self._q()[self.joint_index.q])

    @joint_positions.setter
    def joint_positions(self, values) -> None:
        q, joints = self.q.copy(), self.joint_index
        q[joints.q] = joints.values("joint_positions", values, joints.everywhere)
        self.q = q

    @property
    def joint_velocities(self) -> np.ndarray:
        """Joint velocities in the order of joint_names [rad/s or m/s]."""
        return _frozen(self._velocity()[self.joint_index.v])

    @joint_velocities.setter
    def joint_velocities(self, values) -> None:
        v, joints = self.v.copy(), self.joint_index
        v[joints.v] = joints.values("joint_velocities", values, joints.everywhere)
        self.v = v

    @property
    def joint_efforts(self) -> np.ndarray:
        """Efforts of the actuators in the last step [Nm or N]."""
        return _frozen(self._control()["applied"][self.joint_index.v])

    @property
    def tau(self) -> np.ndarray:
        """Efforts of the actuators in the last step (nv,), with zeros for a free base.

        An assignment of tau commands every joint by effort. Entries of a free base must be zero.
        """
        return _frozen(self._control()["applied"].copy())

    @tau.setter
    def tau(self, values) -> None:
        tau = finite_vector(f"tau of {self.name!r}", values, self.nv)
        actuated = np.zeros(self.nv, dtype=bool)
        actuated[self.joint_index.v] = True
        if tau[~actuated].any():
            raise StateError(
                f"tau of {self.name!r}: a free base has no actuator. Use apply_wrench on its link"
            )
        self.command(efforts=tau[self.joint_index.v])

    def command(
        self,
        positions: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        efforts: ArrayLike | None = None,
        names: str | Sequence[str] | None = None,
        over: float = 0.0,
        *,
        kp: ArrayLike | None = None,
        kd: ArrayLike | None = None,
        nan_holds: bool = False,
    ) -> None:
        """Command joints by position (PD), velocity (damping gain) or effort.

        A command lasts until the next command for the same joint. The actuator delivers efforts +
        kp (positions - q) + kd (velocities - v) within its limits. Velocities and efforts are the
        feed-forward of a position command. Without positions kp does not act, and loads hold the
        joint back from the velocity by load / kd. `drive` keeps a velocity against loads. With
        efforts alone neither gain acts. A ModelWarning names targets beyond limits, each once.

        Args:
            positions: targets (n,) [rad or m].
            velocities: targets (n,) [rad/s or m/s].
            efforts: efforts, or feed-forward beside targets (n,) [Nm or N].
            names: joints, in the order of the values. The default is all joints. Joints without
                gains then ignore positions and velocities.
            over: time [s] over which position targets change evenly. Use this if the period of a
                controller is longer than the world's step.
            kp: gains of this command, one number or (n,) [Nm/rad or N/m]. The default is the gains
                of `set_gains`. The gains last until the next command or `set_gains` for the joint.
            kd: damping gains of this command [Nms/rad or Ns/m], with the same rules.
            nan_holds: NaN means that a value is not given. The joint is then commanded by its other
                values. A joint keeps its command if its position, velocity and effort are all NaN.

        Raises:
            StateError: a joint is unknown or repeated, a length is wrong, a value is not finite, a
                gain is negative, or a named joint without gains gets a position. Nothing changes
                then.
        """
        nan_holds = flag("nan_holds", nan_holds)
        joints = self.joint_index
        indices = joints.indices(names)
        flags, q, v, tau = command_targets(
            joints, indices, positions, velocities, efforts, nan_holds
        )
        if names is None and not flags & EFFORTS and self._without_gains:
            self.warn_of_missing_gains()
        steps = ramp_steps(over, self.world.time_step) if over != 0.0 else 0
        access, named = self.access, names is not None
        actuators = access.actuators
        if kp is not None or kd is not None:
            flags |= OWN_GAINS
            actuators = access.actuators_with(kp, kd, indices, nan_holds)
            if flags & POSITIONS:
                self._report_swapped(indices, actuators.whole)
        became, place, value = access.set_commands(
            actuators, indices, q, v, tau, flags, named, steps
        )
        if became != WRITTEN:
            self._answer(became, indices, place, value, q, v, tau)
        if flags & _ANY_TARGET == VELOCITIES and kd is None:
            self.report_unreached(indices, v)

    def _answer(
        self, became: int, indices: np.ndarray, place: int, value: float, *targets: np.ndarray
    ) -> None:
        """Raise the error of a refused command, or warn of targets beyond limits.

        `became`, `place` and `value` are the return values of `set_commands`.
        """
        if became != BEYOND:
            raise self.refusal(became, indices[place], value)
        self.report_beyond(indices, dict(zip(TARGETS, targets)), stacklevel=4)

    def _report_swapped(self, indices: np.ndarray, actuators: Any) -> None:
        """Warn of gains of a position command that seem swapped, once for each joint."""
        fresh = indices[self._reported[indices] & _SERVO == 0]
        joints = [self.joint_names[k] for k in fresh.tolist()]
        if text := slow_servo(joints, actuators.kp[fresh], actuators.kd[fresh]):
            self._reported[fresh] |= _SERVO
            warnings.warn(f"robot {self.name!r}: {text}", ModelWarning, stacklevel=3)

    def report_unreached(self, indices: np.ndarray, velocities: np.ndarray) -> None:
        """Warn of velocities that the damping gain does not reach, once for each joint.

        Args:
            indices: indices of k joints that are commanded by velocity alone.
            velocities: targets (k,) [rad/s or m/s].
        """
        fresh = (self._reported[indices] & _REACHED == 0) & (velocities != 0.0)
        if fresh.any() and (text := self.unreached(indices[fresh], velocities[fresh])):
            warnings.warn(f"robot {self.name!r}: {text}", ModelWarning, stacklevel=3)

    def unreached(self, indices: np.ndarray, velocities: np.ndarray) -> str:
        """Return a text about velocities (k,) that the gains of k joints do not reach, or "".

        Each joint is examined once, by its first velocity that is not 0.
        """
        named = {joint.name: joint for joint in self.model.joints}
        texts: list[str] = []
        gravity = self.world.scene.settings["gravity"][0]
        for k, velocity in zip(indices.tolist(), velocities.tolist()):
            if velocity and not self._reported[k] & _REACHED and math.isfinite(velocity):
                self._reported[k] |= _REACHED
                joint, kd = named[self.joint_names[k]], float(self._kd[k])
                texts += filter(None, [unreached(self, joint, velocity, kd, gravity)])
        return listed(texts)

    def report_beyond(
        self, indices: np.ndarray, values: dict[str, np.ndarray], stacklevel: int = 3
    ) -> None:
        """Warn of targets beyond limits, once for each joint and kind of target.

        Args:
            indices: indices of k joints.
            values: arrays (k,) by the names "positions", "velocities" and "efforts".
            stacklevel: stack level of the warning. 3 names the caller of the calling method.
        """
        texts, names = [], [self.joint_names[k] for k in indices]
        for argument, bit in TARGETS.items():
            for k, name, value in zip(indices, names, values.get(argument, ())):
                if not self._reported[k] & bit:
                    text = self.limits.beyond([name], {argument: np.array([value])})
                    self._reported[k] |= bit if text else 0
                    texts += text
        if texts:
            message = f"robot {self.name!r}: commands exceed limits of joints: {listed(texts)}"
            warnings.warn(message, ModelWarning, stacklevel=stacklevel)

    def report_no_limits(self) -> None:
        """Turn off warnings of targets beyond limits, because the caller checks the limits."""
        self._reported[:] = _ANY_TARGET

    def refusal(self, why: int, joint: int, value: float) -> StateError:
        """Return the error for a refused command.

        Args:
            why: key of REFUSALS.
            joint: index of the joint in `joint_names`.
            value: refused value.
        """
        text = REFUSALS[why].format(joint=self.joint_names[joint], robot=self.name, value=value)
        return StateError(text)

    @property
    def access(self) -> RobotAccess:
        """The robot's arrays, prepared for kernels of the present scene and inertias."""
        access, scene = self._ready, self.world.present_scene
        if access is None or access.scene is not scene or access.forest is not self.forest:
            arrays = self.joint_index, self._kp, self._kd, self.limits.reach, self._reported
            access = self._ready = RobotAccess(self, self.world.scene, *arrays)
        return access

    def __getstate__(self) -> dict:
        """Leave out addresses in memory."""
        return self.__dict__ | {"_ready": None}

    def keep_as_initial(self) -> None:
        """Save the present state, commands, locks and motors for `initialise`."""
        super().keep_as_initial()
        self._initial_control = self._control().copy()
        self.keep_actuators()
        self.keep_holds()

    def initialise(self) -> None:
        """Restore the state and commands at addition, or those saved by `keep_as_initial`."""
        super().initialise()
        if self._initial_control is None:
            self._initial_control = self._holding_control()
        self._control()[:] = self._initial_control
        self.restore_gains()
        self.initialise_actuators()
        self.restore_holds()

    def _holding_control(self) -> np.ndarray:
        """Return commands with which each joint holds its initial position by its own gains."""
        control, at = np.zeros(self.nv, dtype=CONTROL), self.joint_index.v
        control["given"][at] = POSITIONS
        control["target_position"][at] = self.initial_q[self.joint_index.q]
        return control

    def _hold_moved(self, before: np.ndarray) -> None:
        """Make moved joints under position control hold their present positions."""
        q, joints, control = self._q(), self.joint_index, self._control()
        moved = (q[joints.q] != before[joints.q]) & (control["given"][joints.v] & POSITIONS != 0)
        at = joints.v[moved]
        if at.size:
            control["target_position"][at] = q[joints.q[moved]]
            for field in ("target_velocity", "effort", "ramp", "ramp_steps", "ahead"):
                control[field][at] = 0
            self.refill_commands(at)
        self.restart_integrals(joints.v[q[joints.q] != before[joints.q]])

    def apply_wrench(
        self,
        link: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike | None = None,
    ) -> None:
        """Push a link during the next call of World.step. Several pushes add up.

        Args:
            link: name of the link.
            force: (3,) [N], in the world.
            torque: (3,) [Nm], in the world.
            point: point of the force (3,) [m], in the link's frame. The default is its origin.
        """
        frame = self.model.frame(link)
        if frame.body < 0:
            raise WorldError(f"link {link!r} of {self.name!r} is fixed to the world")
        local = np.zeros(3) if point is None else finite_vector("point", point, 3)
        if text := far_point("the point", local, link):
            warnings.warn(text, ModelWarning, stacklevel=2)
        self._apply(frame.body, frame.p + frame.R @ local, force, torque)
