# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot in a world: its state and its commands."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.dynamics.joint_forces import CONTROL
from hrpsim.errors import ModelWarning, NamedParts, StateError, WorldError
from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import Model
from hrpsim.model.sampled_sensors import SampledSensor
from hrpsim.spatial.rotation import quaternion_from_rotation
from hrpsim.step.scene.status import LARGEST_SPEED
from hrpsim.values import finite_vector
from hrpsim.world.objects.camera_view import CameraView
from hrpsim.world.objects.contact_view import ContactView
from hrpsim.world.objects.entity import Entity, WorldState, _frozen, bounded_vector
from hrpsim.world.objects.joint_constraints import JointConstraints
from hrpsim.world.objects.joint_index import JointIndex
from hrpsim.world.objects.robot_access import EFFORTS, NAN_HOLDS, POSITIONS, VELOCITIES, RobotAccess
from hrpsim.world.objects.robot_actuators import RobotActuators
from hrpsim.world.objects.scan_view import ScanView
from hrpsim.world.objects.sensor_view import SampledView, SensorView

_NOTHING = np.zeros(0)
_SHOWN = 4  # names listed at most


def _sampled_view(robot: Robot, sensor: SampledSensor) -> SampledView:
    kinds = {"contact": ContactView, "camera": CameraView}
    return kinds.get(sensor.kind, ScanView)(robot, sensor)


class Robot(JointConstraints, RobotActuators):
    """A model that lives in a world.

    Actuators follow PD control to position commands, velocity control or efforts, joint by joint
    as commanded last; they start by holding the joints where they are. Joints without gains are
    passive until they are commanded by effort or given gains.
    """

    def __init__(
        self,
        world: WorldState,
        name: str,
        model: Model,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        self_collision: bool = False,
    ):
        q = model.neutral() if q is None else q
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
        self._kp, self._kd = np.zeros(len(self.joint_index)), np.zeros(len(self.joint_index))
        self._without_gains = set(self.joint_index.position_controlled(model).tolist())
        for joint, (kp, kd) in model.gains.items():
            self.set_gains(kp, kd, joint)
        views: list[SensorView | SampledView]
        views = [SensorView(self, s, k) for k, s in enumerate(model.sensors)]
        self.samplers = tuple(_sampled_view(self, s) for s in model.sampled_sensors)
        views += self.samplers
        self._sensors = NamedParts("sensor", {v.description.name: v for v in views})
        self._initial_control: np.ndarray | None = None

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
        """Efforts of the actuators in the last step (nv,); zeros for a free base.

        Assigning tau commands every joint by effort; entries of a free base must be zero.
        """
        return _frozen(self._control()["applied"].copy())

    @tau.setter
    def tau(self, values) -> None:
        tau = finite_vector(f"tau of {self.name!r}", values, self.nv)
        actuated = np.zeros(self.nv, dtype=bool)
        actuated[self.joint_index.v] = True
        if tau[~actuated].any():
            raise StateError(
                f"tau of {self.name!r}: a free base has no actuator; use apply_wrench on its link"
            )
        self.command(efforts=tau[self.joint_index.v])

    def _control(self):
        return self.world.scene.control[self.first_v : self.first_v + self.nv]

    @property
    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        """PD gains kp and kd of the joints, in the order of joint_names; zero where passive."""
        return _frozen(self._kp.copy()), _frozen(self._kd.copy())

    def set_gains(
        self, kp: ArrayLike, kd: ArrayLike, names: str | Sequence[str] | None = None
    ) -> None:
        """Set PD gains.

        Args:
            kp: one number or (n,) [Nm/rad or N/m].
            kd: one number or (n,) [Nms/rad or Ns/m].
            names: joints; all by default.

        Raises:
            StateError: for an unknown or repeated joint, a wrong length, or a value that is not
                finite or negative; nothing changes then.
        """
        indices = self.joint_index.indices(names)
        kp = self.joint_index.gains("kp", kp, indices)
        kd = self.joint_index.gains("kd", kd, indices)
        self._kp[indices], self._kd[indices] = kp, kd
        self._without_gains.difference_update(indices.tolist())

    def warn_of_missing_gains(self) -> None:
        """Warn, once, of joints that were given no gains, though nothing else holds them."""
        held = {*self.locked, *self.driven}
        lacking = [self.joint_names[k] for k in sorted(self._without_gains)]
        lacking = [name for name in lacking if name not in held]
        self._without_gains.clear()
        if lacking:
            shown = ", ".join(map(repr, lacking[:_SHOWN]))
            shown += f", ... ({len(lacking)} in all)" if len(lacking) > _SHOWN else ""
            warnings.warn(
                f"robot {self.name!r}: joints without gains follow no position or velocity and hold"
                f" nothing: {shown}; give them gains: in a world file (gains: {{'*': [150, 2]}}),"
                " by set_gains or <gains> of <hrpsim>; hrpsim walk --robot FILE --check"
                " --write-robot FOLDER finds those of a biped. Gains of 0 say that a joint is"
                " passive, or commanded by effort",
                ModelWarning,
                stacklevel=3,
            )

    def use_gains(self) -> None:
        """Apply the gains that `set_gains` set last to joints that are held now.

        Otherwise they take effect with the next command.
        """
        control, at = self._control(), self.joint_index.v
        for field, gains in (("kp", self._kp), ("kd", self._kd)):
            held = control[field][at] != 0.0
            control[field][at[held]] = gains[held]

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
        """Command joints: by position (PD), velocity (damping gain) or effort.

        A command lasts until the next one for the same joint. With positions, velocities and
        efforts are the feed-forward: the actuator delivers efforts + kp (positions - q) +
        kd (velocities - v), within its limits. Without positions kp does not act, and with efforts
        alone neither gain does.

        Args:
            positions: targets (n,) [rad or m].
            velocities: targets (n,) [rad/s or m/s].
            efforts: (n,) [Nm or N].
            names: joints, in the order of the values; without them the values are for all joints,
                of which those without gains ignore positions and velocities.
            over: time [s] over which position targets change evenly, for controllers whose period
                is longer than the world's step.
            kp: gains of this command, one number or (n,) [Nm/rad or N/m]; by default those of
                `set_gains`.
            kd: likewise [Nms/rad or Ns/m].
            nan_holds: NaN means that a value is not given: the joint is commanded by its others,
                and keeps its command where positions, velocities and efforts are all NaN.

        Raises:
            StateError: for an unknown or repeated joint, a wrong length, a value that is not
                finite, a negative gain, or a position for a named joint without gains; nothing
                changes then.
        """
        joints = self.joint_index
        indices = joints.indices(names)
        given, q, v, tau = 0, _NOTHING, _NOTHING, _NOTHING
        if positions is not None:
            given, q = POSITIONS, joints.vector("positions", positions, indices)
        if velocities is not None:
            given, v = given | VELOCITIES, joints.vector("velocities", velocities, indices)
        if efforts is not None:
            given, tau = given | EFFORTS, joints.vector("efforts", efforts, indices)
        if given == 0:
            raise StateError("a command needs positions, velocities or efforts")
        if names is None and not given & EFFORTS and self._without_gains:
            self.warn_of_missing_gains()
        given |= NAN_HOLDS if nan_holds else 0
        steps = ramp_steps(over, self.world.time_step) if over != 0.0 else 0
        access, named = self.access, names is not None
        actuators = access.actuators
        if kp is not None or kd is not None:
            actuators = access.actuators_with(kp, kd, indices, nan_holds)
        if access.set_commands(actuators, indices, q, v, tau, given, named, steps):
            self._refuse_command(positions, velocities, efforts, indices, nan_holds, actuators)

    def _refuse_command(
        self, positions, velocities, efforts, indices: np.ndarray, nan_holds: bool, actuators
    ) -> None:
        """Raise StateError for a command that these actuators did not take."""
        given = {"positions": positions, "velocities": velocities, "efforts": efforts}
        there = {}
        for what, values in given.items():
            vector = np.full(len(indices), np.nan)
            if values is not None:
                vector = self.joint_index.vector(what, values, indices)
                held = nan_holds & np.isnan(vector)
                self.joint_index.values(what, np.where(held, 0.0, vector), indices)
            there[what] = ~np.isnan(vector)
        need_gains = (there["positions"] | there["velocities"]) & ~there["efforts"]
        kp, kd = actuators.whole.kp, actuators.whole.kd
        k = next(k for k in indices[need_gains] if kp[k] == 0.0 and kd[k] == 0.0)
        raise StateError(
            f"joint {self.joint_names[k]!r} of {self.name!r} has no gains, so it can "
            "be commanded by effort only; set_gains gives it some"
        )

    @property
    def access(self) -> RobotAccess:
        """The robot's arrays, prepared for kernels."""
        world, access = self.world, self._ready
        if access is None or not access.is_for(world.present_scene, self.forest):
            access = self._ready = RobotAccess(
                self, world.scene, self.joint_index, self._kp, self._kd
            )
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
        """Return to the state that the robot was added with, commands included, or saved since."""
        super().initialise()
        if self._initial_control is None:
            self._initial_control = self._holding_control()
        self._control()[:] = self._initial_control
        self.initialise_actuators()
        self.restore_holds()

    def _holding_control(self) -> np.ndarray:
        """Return the commands that hold every joint with gains at its initial position."""
        control = np.zeros(self.nv, dtype=CONTROL)
        held = (self._kp > 0.0) | (self._kd > 0.0)
        at = self.joint_index.v[held]
        control["kp"][at], control["kd"][at] = self._kp[held], self._kd[held]
        control["target_position"][at] = self.initial_q[self.joint_index.q[held]]
        return control

    def apply_wrench(
        self,
        link: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike | None = None,
    ) -> None:
        """Push a link during the next call of World.step. Calls add up.

        Args:
            link: name of the link.
            force: (3,) [N], in the world.
            torque: (3,) [Nm], in the world.
            point: (3,) [m] where the force acts, in the link's frame; its origin by default.
        """
        frame = self.model.frame(link)
        if frame.body < 0:
            raise WorldError(f"link {link!r} of {self.name!r} is fixed to the world")
        local = np.zeros(3) if point is None else finite_vector("point", point, 3)
        self._apply(frame.body, frame.p + frame.R @ local, force, torque)

    def link_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (k, 3) [m] and quaternions x y z w (k, 4) of all links in the world.

        In the order of `model.link_names`; quaternions have w >= 0.
        """
        access, count = self.access, len(self.frames)
        poses = np.empty((count, 3)), np.empty((count, 4))
        access.read_poses(access.links, *poses)
        return poses

    def link_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return velocities (k, 3) [m/s] and angular velocities (k, 3) [rad/s] of all links.

        Of the links' origins, along the world's axes, in the order of `model.link_names`.
        """
        access, count = self.access, len(self.frames)
        velocities = np.empty((count, 3)), np.empty((count, 3))
        access.read_velocities(access.links, *velocities)
        return velocities

    def link_pose(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) of a link in the world."""
        frame = self.model.frame(link)
        return self.frame_pose(frame.body, frame.R, frame.p)

    def frame_pose(self, body: int, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) in the world of a frame in a body.

        Args:
            body: its index in `system`; -1 for a frame that is fixed to the world.
            R: rotation from the frame to the body (3, 3).
            p: origin in the body's frame (3,) [m].
        """
        orientation = np.empty(4)
        if body < 0:
            quaternion_from_rotation(np.ascontiguousarray(R), orientation)
            return p.copy(), orientation
        poses = new_kinematics(self.model.body_count)
        update_poses(self.forest, self._q().copy(), poses)
        R_body = poses[body]["R"]
        origin = poses[self.system.root[body]]["origin"]
        quaternion_from_rotation(np.ascontiguousarray(R_body @ R), orientation)
        return origin + (poses[body]["p"] + R_body @ p), orientation


def ramp_steps(over: float, time_step: float) -> int:
    """Return the steps of a ramp of `over` [s]; StateError where that is negative or no time."""
    if not (math.isfinite(over) and over >= 0.0):
        raise StateError(f"over must be a time >= 0 s, got {over!r}")
    return max(round(over / time_step), 1) if over > 0.0 else 0
