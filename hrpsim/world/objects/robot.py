# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot in a world: its state and its commands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.dynamics.joint_forces import CONTROL
from hrpsim.errors import StateError, WorldError, unknown_name
from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import Model
from hrpsim.model.system import FREE
from hrpsim.spatial.rotation import quaternion_from_rotation
from hrpsim.step.scene.limits import LARGEST_SPEED
from hrpsim.values import finite_vector
from hrpsim.world.objects.commanding import EFFORTS, NAN_HOLDS, POSITIONS, VELOCITIES
from hrpsim.world.objects.entity import Entity, _frozen, bounded_vector
from hrpsim.world.objects.joint_constraints import JointConstraints
from hrpsim.world.objects.robot_access import RobotAccess
from hrpsim.world.objects.robot_properties import RobotProperties
from hrpsim.world.objects.sensor_view import SensorView

if TYPE_CHECKING:
    from hrpsim.world.objects.world_state import WorldState

_NOTHING = np.zeros(0)
_LISTS_KEPT = 64  # of joints' names


class Robot(JointConstraints, RobotProperties, Entity):
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
        joints = [j for j in model.joints if j.joint_type != FREE]
        self._joint_q = np.array([j.q_index for j in joints], dtype=np.int64)
        self._joint_v = np.array([j.v_index for j in joints], dtype=np.int64)
        self._place_of = {j.name: k for k, j in enumerate(joints)}
        self._all_places = np.arange(len(joints))
        self._places_of: dict[tuple, np.ndarray] = {}  # of lists of names that came before
        self._last_names: tuple | None = None  # hashing a tuple takes longer than a command
        self._last_places = self._all_places
        self._ready: RobotAccess | None = None
        self._kp, self._kd = np.zeros(len(joints)), np.zeros(len(joints))
        for joint, (kp, kd) in model.gains.items():
            k = self._place_of[joint]
            self._kp[k], self._kd[k] = kp, kd
        self._sensors = {s.name: SensorView(self, s, k) for k, s in enumerate(model.sensors)}
        self._poses = new_kinematics(model.body_count)
        self._initial_control: np.ndarray | None = None

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
        return _frozen(self._q()[self._joint_q])

    @property
    def joint_velocities(self) -> np.ndarray:
        """Joint velocities in the order of joint_names [rad/s or m/s]."""
        return _frozen(self._velocity()[self._joint_v])

    @property
    def joint_efforts(self) -> np.ndarray:
        """What the actuators delivered in the last step [Nm or N]."""
        return _frozen(self._control()["applied"][self._joint_v])

    @property
    def tau(self) -> np.ndarray:
        """What the actuators delivered in the last step (nv,); zeros for a free base.

        Assigning tau commands every joint by effort; entries of a free base must be zero.
        """
        return _frozen(self._control()["applied"].copy())

    @tau.setter
    def tau(self, values) -> None:
        tau = finite_vector(f"tau of {self.name!r}", values, self.nv)
        actuated = np.zeros(self.nv, dtype=bool)
        actuated[self._joint_v] = True
        if tau[~actuated].any():
            raise StateError(
                f"tau of {self.name!r}: a free base has no actuator; use apply_wrench on its link"
            )
        self.command(efforts=tau[self._joint_v])

    def _control(self):
        return self.world.scene.control[self.first_v : self.first_v + self.nv]

    @property
    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        """PD gains kp and kd of the joints, in the order of joint_names; zero where passive."""
        return _frozen(self._kp.copy()), _frozen(self._kd.copy())

    def set_gains(
        self, kp: ArrayLike, kd: ArrayLike, names: str | Sequence[str] | None = None
    ) -> None:
        """Set PD gains [Nm/rad, Nms/rad or N/m, Ns/m] of `names` (all joints by default)."""
        places = self._places(names)
        kp = self._values("kp", np.broadcast_to(kp, len(places)), places)
        kd = self._values("kd", np.broadcast_to(kd, len(places)), places)
        if (kp < 0).any() or (kd < 0).any():
            raise StateError(f"gains of {self.name!r} must not be negative")
        self._kp[places], self._kd[places] = kp, kd

    def command(
        self,
        positions: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        efforts: ArrayLike | None = None,
        names: str | Sequence[str] | None = None,
        over: float = 0.0,
        *,
        nan_holds: bool = False,
    ) -> None:
        """Command joints: by position (PD), velocity (damping gain) or effort.

        `names` are the joints meant, in the order of the values; without them the values are for
        all joints, of which those without gains ignore positions and velocities. With positions,
        velocities and efforts are the feed-forward. `over` [s] spreads the change of position
        targets evenly, for controllers whose period is longer than the world's step. A command
        lasts until the next one for the same joint. With `nan_holds`, NaN stands for a value that
        is not given: the joint is commanded by its others, and keeps its command without any.
        Raises StateError for an unknown or repeated joint, a wrong length, a value that is not
        finite, or a position for a named joint without gains; nothing changes then.
        """
        places = self._all_places if names is None else self._places(names)
        given, q, v, tau = 0, _NOTHING, _NOTHING, _NOTHING
        if positions is not None:
            given, q = POSITIONS, self._vector("positions", positions, places)
        if velocities is not None:
            given, v = given | VELOCITIES, self._vector("velocities", velocities, places)
        if efforts is not None:
            given, tau = given | EFFORTS, self._vector("efforts", efforts, places)
        if given == 0:
            raise StateError("a command needs positions, velocities or efforts")
        given |= NAN_HOLDS if nan_holds else 0
        steps = 0
        if over != 0.0:
            if not (math.isfinite(over) and over > 0.0):
                raise StateError(f"over must be a time >= 0 s, got {over!r}")
            steps = max(round(over / self.world.time_step), 1) if over > 0.0 else 0
        access, named = self._access(), names is not None
        if access.set_commands(access.actuators, places, q, v, tau, given, named, steps):
            self._refuse_command(positions, velocities, efforts, places, nan_holds)

    def _refuse_command(
        self, positions, velocities, efforts, places: np.ndarray, nan_holds: bool
    ) -> None:
        """Raise StateError for a command that the actuators did not take."""
        given = {"positions": positions, "velocities": velocities, "efforts": efforts}
        there = {}
        for what, values in given.items():
            vector = np.full(len(places), np.nan)
            if values is not None:
                vector = self._vector(what, values, places)
                held = nan_holds & np.isnan(vector)
                self._values(what, np.where(held, 0.0, vector), places)
            there[what] = ~np.isnan(vector)
        need_gains = (there["positions"] | there["velocities"]) & ~there["efforts"]
        k = next(k for k in places[need_gains] if self._kp[k] == 0.0 and self._kd[k] == 0.0)
        raise StateError(
            f"joint {self.joint_names[k]!r} of {self.name!r} has no gains, so it can "
            "be commanded by effort only; set_gains gives it some"
        )

    def _access(self) -> RobotAccess:
        """Return the robot's arrays, made ready for kernels."""
        world, access = self.world, self._ready
        if access is None or not access.is_for(world.present_scene, self.forest):
            access = self._ready = RobotAccess(
                self, world.scene, self._joint_q, self._joint_v, self._kp, self._kd
            )
        return access

    def __getstate__(self) -> dict:
        """Leave out what stands for addresses in memory."""
        return self.__dict__ | {"_ready": None}

    def _places(self, names) -> np.ndarray:
        if names is None:
            return self._all_places
        if names is self._last_names:
            return self._last_places
        known = names if isinstance(names, tuple) else tuple(names)
        places = self._places_of.get(known)
        if places is None:
            if len(self._places_of) >= _LISTS_KEPT:
                self._places_of.clear()
            places = self._places_of[known] = self._find_places(known)
        self._last_names, self._last_places = known, places
        return places

    def _find_places(self, names: tuple) -> np.ndarray:
        """Return the places of joints; StateError for one that is unknown or named twice."""
        places = []
        for name in names:
            if name not in self._place_of:
                raise StateError(f"{self.name!r}: {unknown_name('joint', name, self.joint_names)}")
            places.append(self._place_of[name])
        if len(set(places)) != len(places):
            twice = next(n for n in names if names.count(n) > 1)
            raise StateError(f"{self.name!r}: joint {twice!r} is named twice in one command")
        return np.array(places, dtype=np.int64)

    def _vector(self, what: str, values, places: np.ndarray) -> np.ndarray:
        """Return one number for each joint, not copied if it is an array; they may be anything."""
        try:
            vector = np.asarray(values, dtype=np.float64, order="C")
        except (TypeError, ValueError) as error:
            raise StateError(f"{what} for {self.name!r} must be numbers, got {values!r}") from error
        if vector.shape != (len(places),):
            raise StateError(
                f"{what} for {self.name!r} must be {len(places)} numbers, one a joint, "
                f"got shape {vector.shape}"
            )
        return vector

    def _values(self, what: str, values, places: np.ndarray) -> np.ndarray:
        """Return one finite number for each joint."""
        vector = self._vector(what, values, places)
        bad = np.flatnonzero(~np.isfinite(vector))
        if bad.size:
            joint = self.joint_names[places[bad[0]]]
            raise StateError(f"{what} for joint {joint!r} of {self.name!r} is {vector[bad[0]]}")
        return vector

    def keep_as_initial(self) -> None:
        """Make the present state, commands, locks and motors those of `initialise`."""
        super().keep_as_initial()
        self._initial_control = self._control().copy()
        self._initial_holds = self._holds().copy()

    def initialise(self) -> None:
        """Return to the state that the robot was added with, commands included, or kept since."""
        super().initialise()
        if self._initial_control is None:
            self._initial_control = self._holding_control()
        self._control()[:] = self._initial_control
        self._holds()[:] = self._initial_holds

    def _holding_control(self) -> np.ndarray:
        """Return the commands that hold every joint with gains at its initial position."""
        control = np.zeros(self.nv, dtype=CONTROL)
        held = (self._kp > 0.0) | (self._kd > 0.0)
        at = self._joint_v[held]
        control["kp"][at], control["kd"][at] = self._kp[held], self._kd[held]
        control["target_position"][at] = self.initial_q[self._joint_q[held]]
        return control

    def apply_wrench(
        self,
        link: str,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike | None = None,
    ) -> None:
        """Push a link during the next call of World.step: force [N], torque [Nm] in the world.

        `point` [m] is where the force acts, in the link's frame; its origin by default.
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
        access, count = self._access(), len(self.frames)
        poses = np.empty((count, 3)), np.empty((count, 4))
        access.read_poses(access.links, *poses)
        return poses

    def link_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return velocities (k, 3) [m/s] and angular velocities (k, 3) [rad/s] of all links.

        Of the links' origins, along the world's axes, in the order of `model.link_names`.
        """
        access, count = self._access(), len(self.frames)
        velocities = np.empty((count, 3)), np.empty((count, 3))
        access.read_velocities(access.links, *velocities)
        return velocities

    def link_pose(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) of a link in the world."""
        frame = self.model.frame(link)
        return self._frame_pose(frame.body, frame.R, frame.p)

    def _frame_pose(self, body: int, R: np.ndarray, p: np.ndarray):
        update_poses(self.forest, self._q().copy(), self._poses)
        return self._placed(body, R, p)

    def _placed(self, body: int, R: np.ndarray, p: np.ndarray):
        orientation = np.empty(4)
        if body < 0:
            quaternion_from_rotation(np.ascontiguousarray(R), orientation)
            return p.copy(), orientation
        poses = self._poses
        R_body = poses[body]["R"]
        origin = poses[self.system.root[body]]["origin"]
        quaternion_from_rotation(np.ascontiguousarray(R_body @ R), orientation)
        return origin + (poses[body]["p"] + R_body @ p), orientation
