# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulate and record one walk in a world."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.balance.stabilizing import kept
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import Controller, State
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.engine.dynamics.functions import link_pose
from hrpsim.model.model import Model
from hrpsim.model.shapes.placement import Placement, quaternion_of, rotation_from_rpy
from hrpsim.world.fall import FallWatch, clearance, tilt
from hrpsim.world.objects.robot import Robot

SOLES = ("l_sole", "r_sole")
_BETWEEN_CHECKS = 10  # ticks between checks of contacts
_LOADED = 0.1  # fraction of the weight, below which both feet are in the air


@dataclass
class Trial:
    """The record of a walk of n ticks. The last tick is the end of the walk or the fall.

    planned_steps, steps: numbers of steps, None if the motion has no contact states of the feet.
    fell_at: time of the fall [s], None without a fall. wall_time: wall time of the trial [s],
    without `configure` and compilation. begin: time at which the motion began [s], after the
    transition to its first posture.
    """

    planned_steps: int | None
    steps: int | None
    fell_at: float | None
    times: np.ndarray  # since the start of the walk (n,) [s]
    q: np.ndarray  # true configurations (n, nq)
    tilt: np.ndarray  # angle between the base's z axis and the vertical (n,) [rad]
    wrenches: dict[str, np.ndarray]  # wrenches of the force sensors (n, 6)
    signals: dict[str, np.ndarray] = field(default_factory=dict)  # of the controller
    wall_time: float = 0.0
    soles: tuple[str, str] = SOLES  # links, left and right
    touched: tuple[str, ...] = ()  # links other than soles that had contacts
    contact: np.ndarray | None = None  # planned contacts of the soles (n, 2) bool
    begin: float = 0.0  # time since the start of the walk [s]

    @property
    def completed(self) -> bool:
        """Whether the robot made all steps and still stood at the end."""
        return self.fell_at is None and self.steps == self.planned_steps

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds for each second of wall time."""
        return float(self.times[-1]) / self.wall_time if self.wall_time > 0.0 else 0.0


class _Notes:
    """Recorder of a trial: time, coordinates, wrenches and signals of each tick."""

    def __init__(self, robot: Robot, controller: Controller) -> None:
        self._robot, self._controller = robot, controller
        self._watch = FallWatch(lambda: clearance(robot))
        self.times: list[float] = []
        self.q: list[np.ndarray] = []
        self.wrenches: dict[str, list] = {}
        self.signals: dict[str, list] = {}
        self.touched: set[str] = set()
        self.fell_at: float | None = None

    @property
    def end(self) -> float:
        """Time of the fall [s], infinity without a fall."""
        return math.inf if self.fell_at is None else self.fell_at

    def add(self, state: State, time: float) -> None:
        """Record the state at the end of a tick. time: time in the trial [s]."""
        self.times.append(time)
        self.q.append(self._robot.q)
        signals = kept(getattr(self._controller, "signals", {}))
        for lists, values in (self.wrenches, state.wrenches), (self.signals, signals):
            for name, value in values.items():
                lists.setdefault(name, []).append(value)
        if self.fell_at is None and len(self.times) % _BETWEEN_CHECKS == 1:
            self.touched.update(_touching(self._robot, self._controller))
        _, _, height, *quaternion = self.q[-1][:7].tolist()
        self._watch.add(height, quaternion)
        if self.fell_at is None and self._watch.fallen:
            self.fell_at = time


def simulate_walk(
    robot: Robot,
    controller: Controller,
    parameters: Mapping[str, Any] | None = None,
    *,
    duration: float = np.inf,
    model: Model | None = None,
    after_fall: float = 0.5,
    each_tick: Callable[[float], None] | None = None,
) -> Trial:
    """Run a walking controller until it has finished, `duration` is over or the robot has fallen.

    Args:
        robot: the robot, in its world.
        controller: walking controller with the attribute `sequence` (the motion) after `configure`.
            The values in its mapping `signals` are recorded.
        parameters: parameters of the controller.
        duration: longest simulated time [s].
        model: model of the robot for the controller. The default is the true model.
        after_fall: time that is simulated after a fall [s].
        each_tick: function each_tick(time), called before every tick, for disturbances.
    """
    world, notes = robot.world, _Notes(robot, controller)
    begin = world.time
    with ControlLoop(robot, controller, parameters, model=model) as loop:
        touch_downs = step_ends(controller.sequence)
        start = time.perf_counter()
        while not controller.finished and (elapsed := world.time - begin) < duration:
            if each_tick is not None:
                each_tick(elapsed)
            notes.add(loop.tick(), world.time - begin)
            if notes.times[-1] >= notes.end + after_fall:
                break
        took = time.perf_counter() - start
    times = np.array(notes.times)
    transition = (getattr(controller, "begin", None) or begin) - begin
    known = controller.sequence.optionaldata is not None
    made = int(np.sum(touch_downs + transition <= min(times[-1], notes.end) + 1e-9))
    return Trial(
        planned_steps=len(touch_downs) if known else None,
        steps=made if known else None,
        fell_at=notes.fell_at,
        times=times,
        q=np.array(notes.q),
        tilt=np.array([tilt(row[3:7]) for row in notes.q]),
        wrenches=_arrays(notes.wrenches),
        signals=_arrays(notes.signals),
        wall_time=took,
        soles=getattr(controller, "soles", SOLES),
        touched=tuple(sorted(notes.touched)),
        contact=planned_contact(controller.sequence, times - transition),
        begin=transition,
    )


def _arrays(lists: Mapping[str, list]) -> dict[str, np.ndarray]:
    """Convert lists of values to arrays, by name."""
    return {name: np.array(values) for name, values in lists.items()}


def step_ends(sequence: MotionSequence) -> np.ndarray:
    """Return the planned touch-down times in ascending order [s], from the contact states."""
    if sequence.optionaldata is None:
        return np.empty(0)
    contact = sequence.optionaldata.values[:, :2] > 0.5
    down = np.any(contact[1:] & ~contact[:-1], axis=1)
    return sequence.optionaldata.times[1:][down] - sequence.pos.times[0]


def _touching(robot: Robot, controller: Controller) -> set[str]:
    """Return the links, except soles, that are in contact."""
    frames = robot.model.frames
    standing = {frames[sole].body for sole in getattr(controller, "soles", SOLES) if sole in frames}
    contacts = robot.contact_arrays()
    pressed = contacts.links[np.abs(contacts.forces).max(axis=1, initial=0.0) > 0.0]
    names = {robot.world.link_names[k][1] for k in pressed}
    return {name for name in names if frames[name].body not in standing}


def planned_contact(sequence: MotionSequence, times) -> np.ndarray | None:
    """Return whether the left and the right sole are planned to be on the floor (n, 2).

    times: (n,) [s] since the first sample. The result is None if the sequence has no contact
    states.
    """
    if sequence.optionaldata is None or sequence.optionaldata.values.shape[1] < 2:
        return None
    return sequence.optionaldata.at(float(sequence.pos.times[0]) + times)[:, 1::-1] > 0.5


def measured_zmp(model: Model, trial: Trial) -> np.ndarray:
    """Return the ZMP (n, 2) [m] in the world from the sensors of both feet.

    The ZMP is NaN while both feet are in the air. The true poses of the feet are used, not the
    controller's estimate.

    Args:
        model: model of the robot.
        trial: result of `simulate_walk`.
    """
    force, moment = np.zeros((len(trial.times), 3)), np.zeros((len(trial.times), 3))
    for foot in (foot_of(model, sole) for sole in trial.soles):
        wrenches = trial.wrenches[foot.sensor.name][1:]
        for k, (q, wrench) in enumerate(zip(trial.q[:-1], wrenches)):
            p, R = link_pose(model, q, foot.sole)
            p, R = p + R @ foot.sensor_p, R @ foot.sensor_R
            f = R @ wrench[:3]
            force[k] += f
            moment[k] += R @ wrench[3:] + np.cross(p, f)
    loaded = force[:, 2] > _LOADED * STANDARD_GRAVITY * model.mass
    zmp = np.full((len(force), 2), np.nan)
    zmp[loaded] = np.column_stack([-moment[loaded, 1], moment[loaded, 0]]) / force[loaded, 2:]
    return zmp


def plan_in_world(model: Model, trial: Trial, sequence: MotionSequence) -> Placement:
    """Return the pose of the plan's world in the true world at the beginning of the walk.

    In this pose, the middle between the soles and the mean yaw of the soles are the same in the
    plan and in the true world. Without a trajectory of the waist, the plan's waist starts at the
    origin.
    """
    q = model.neutral()
    if sequence.waist is not None:
        q[:3], R = sequence.waist_pose_at(float(sequence.pos.times[0]))
        q[3:7] = quaternion_of(R)
    q[[model.joint(name).q_index for name in sequence.joint_names]] = sequence.pos.values[0]
    k = min(int(np.searchsorted(trial.times, trial.begin - 1e-9)), len(trial.q) - 1)
    planned, true = (_stance(model, row, trial.soles) for row in (q, trial.q[k]))
    return true.then(planned.inverse())


def _stance(model: Model, q, soles) -> Placement:
    """Return the middle between the soles and the mean yaw of the soles, as a Placement."""
    positions, rotations = zip(*(link_pose(model, q, sole) for sole in soles))
    ahead = sum(R[:, 0] for R in rotations)
    yaw = math.atan2(ahead[1], ahead[0])
    return Placement(rotation_from_rpy((0.0, 0.0, yaw)), np.mean(positions, axis=0))


class SoleMotion(NamedTuple):
    """Slip of the standing soles, and distance and turn of the walk."""

    creep: float | None  # largest slip of a sole along the floor in single support [m]
    creep_step: int  # number of that step, from 1, or 0 without single support
    distance: float  # distance of the midpoint of the soles, from start to end [m]
    turn: float  # rotation of the soles about the vertical, left positive [rad]


def sole_motion(model: Model, trial: Trial) -> SoleMotion:
    """Return the true motion of the soles until the walk ended or the robot fell.

    Creep is measured in single support, when the standing sole bears the whole load. A measurement
    lasts from the tick after the planned lift-off of the other foot to the last tick before its
    planned touch-down.
    """
    end = np.inf if trial.fell_at is None else trial.fell_at
    last = max(int(np.searchsorted(trial.times, end)), 1)
    poses = [[link_pose(model, q, sole) for sole in trial.soles] for q in trial.q[:last]]
    p = np.array([[pose[0] for pose in pair] for pair in poses])
    yaw = np.array([[np.arctan2(R[1, 0], R[0, 0]) for _, R in pair] for pair in poses])
    creep, worst = (0.0, 0) if trial.contact is None else _creep(p, trial.contact[:last])
    middle = p.mean(axis=1)[[0, -1], :2]
    turns = np.unwrap(yaw, axis=0)
    return SoleMotion(
        creep=creep if worst else None,
        creep_step=worst,
        distance=float(np.linalg.norm(middle[1] - middle[0])),
        turn=float((turns[-1] - turns[0]).mean()),
    )


def _creep(p: np.ndarray, contact: np.ndarray) -> tuple[float, int]:
    """Return the largest slip of a sole in single support, and the number of that step.

    Without single support both are 0.

    Args:
        p: positions of the soles (n, 2, 3) [m].
        contact: planned contact of the soles (n, 2).

    Returns:
        (slip [m], number of the step).
    """
    single = contact[:, 0] != contact[:, 1]
    starts = np.flatnonzero(single & ~np.concatenate([[False], single[:-1]]))
    creep, worst = 0.0, 0
    for step, k in enumerate(starts, 1):
        stop = k + int(np.argmin(np.append(single[k:], False)))
        standing = int(np.flatnonzero(contact[k])[0])
        way = p[k + 1 : stop - 1, standing, :2]
        if len(way):
            far = float(np.linalg.norm(way - way[0], axis=1).max())
            creep, worst = max((far, step), (creep, worst))
    return creep, worst
