"""One walk in a world: how far it gets, and what happens on the way."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hrpsim.control.balance.fall import FallWatch, tilt
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import Controller
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.dynamics.functions import link_pose
from hrpsim.model.model import Model
from hrpsim.world.objects.robot import Robot

_LOADED = 50.0  # feet that bear less together are in the air [N]


@dataclass
class Trial:
    """What was seen of a walk, tick by tick; n ticks, the last one where it ended or fell.

    fell_at: when it fell [s], None if it did not. wall_time: of everything [s], `configure` and
    compilation left out.
    """

    planned_steps: int
    steps: int
    fell_at: float | None
    times: np.ndarray  # since the start of the walk (n,) [s]
    q: np.ndarray  # true configurations (n, nq)
    tilt: np.ndarray  # angle between the base's z axis and the vertical (n,) [rad]
    wrenches: dict[str, np.ndarray]  # of the force sensors (n, 6)
    signals: dict[str, np.ndarray] = field(default_factory=dict)  # what the controller noted
    wall_time: float = 0.0

    @property
    def completed(self) -> bool:
        """Whether it made all steps and still stood at the end."""
        return self.fell_at is None and self.steps == self.planned_steps

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds for each second of wall time."""
        return float(self.times[-1]) / self.wall_time if self.wall_time > 0.0 else 0.0


def walk(
    robot: Robot,
    controller: Controller,
    parameters: Mapping[str, Any] | None = None,
    *,
    duration: float = np.inf,
    model: Model | None = None,
    after_fall: float = 0.5,
    each_tick: Callable[[float], None] | None = None,
) -> Trial:
    """Let `controller` walk until it has finished, `duration` [s] is over or the robot has fallen.

    The controller has a `sequence`, the motion that it follows, once it is configured; what it
    keeps in a mapping `signals` is recorded. `model` is what it is told of the robot, in place of
    the truth. each_tick(time) is called before every tick, for disturbances. A fall is watched for
    `after_fall` [s] more.
    """
    world, watch = robot.world, FallWatch()
    begin, fell_at = world.time, None
    times, q, wrenches, signals = [], [], {}, {}
    with ControlLoop(robot, controller, parameters, model=model) as loop:
        touch_downs = step_ends(controller.sequence)
        start = time.perf_counter()
        while not controller.finished and (now := world.time - begin) < duration:
            if each_tick is not None:
                each_tick(now)
            state = loop.tick()
            times.append(world.time - begin)
            q.append(robot.q)
            for name, wrench in state.wrenches.items():
                wrenches.setdefault(name, []).append(wrench)
            for name, value in getattr(controller, "signals", {}).items():
                signals.setdefault(name, []).append(np.array(value))
            watch.add(q[-1][2], q[-1][3:7])
            if fell_at is None and watch.fallen:
                fell_at = times[-1]
            if fell_at is not None and times[-1] >= fell_at + after_fall:
                break
        took = time.perf_counter() - start
    end = times[-1] if fell_at is None else fell_at
    return Trial(
        planned_steps=len(touch_downs),
        steps=int(np.sum(touch_downs <= end + 1e-9)),
        fell_at=fell_at,
        times=np.array(times),
        q=np.array(q),
        tilt=np.array([tilt(row[3:7]) for row in q]),
        wrenches={name: np.array(values) for name, values in wrenches.items()},
        signals={name: np.array(values) for name, values in signals.items()},
        wall_time=took,
    )


def step_ends(sequence: MotionSequence) -> np.ndarray:
    """Return when a foot comes down in the plan, ascending [s], from its contact states."""
    if sequence.optionaldata is None:
        return np.empty(0)
    contact = sequence.optionaldata.values[:, :2] > 0.5
    down = np.any(contact[1:] & ~contact[:-1], axis=1)
    return sequence.optionaldata.times[1:][down] - sequence.pos.times[0]


def measured_zmp(model: Model, trial: Trial) -> np.ndarray:
    """Return the ZMP (n, 2) [m] in the world from both feet's sensors; NaN with both in the air.

    The feet are where they truly are, so that nothing of the controller's estimate is in it.
    """
    force, moment = np.zeros((len(trial.times), 3)), np.zeros((len(trial.times), 3))
    for sensor, sole in (("lfsensor", "l_sole"), ("rfsensor", "r_sole")):
        for k, (q, wrench) in enumerate(zip(trial.q[:-1], trial.wrenches[sensor][1:])):
            p, R = link_pose(model, q, sole)
            f = R @ wrench[:3]
            force[k] += f
            moment[k] += R @ wrench[3:] + np.cross(p, f)
    loaded = force[:, 2] > _LOADED
    zmp = np.full((len(force), 2), np.nan)
    zmp[loaded] = np.column_stack([-moment[loaded, 1], moment[loaded, 0]]) / force[loaded, 2:]
    return zmp
