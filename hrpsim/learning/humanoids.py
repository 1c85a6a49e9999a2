# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Many hrp2_like robots in one Batch, commanded, observed and reset independently."""

import math
from collections.abc import Mapping

import numpy as np

from hrpsim.common.errors import StateError, require_name, shown_value
from hrpsim.common.resources import share_path
from hrpsim.learning.tasks import TASKS, Task
from hrpsim.world.batch import Batch
from hrpsim.world.fall import LARGEST_TILT, LOWEST_HEIGHT_RATIO
from hrpsim.world.file.load_world import load_world
from hrpsim.world.objects.closed import Closed

JOINTS = tuple(f"{side}LEG_JOINT{k}" for side in "LR" for k in range(6))
ACTION_SCALE = 0.3  # [rad] for an action of 1
PERIOD = 0.02  # of control [s]
TIME_STEP = 0.002  # [s]
PUSH_TIME = 0.1  # [s]
_ROBOT, _LINK = "hrp2", "BODY"


class Humanoids(Closed):
    """Robots in half-sitting on rigid feet, each in a world of its own.

    An action (12,) between -1 and 1 moves the targets of the legs' servos away from half-sitting by
    ACTION_SCALE. The targets follow within the control period. An observation contains, in this
    order

        gravity (3): the vertical in the base's frame; (0, 0, 1) upright
        velocity (3), rate (3): of the base in its own frame [m/s], [rad/s]
        height (1): of the base above its initial height [m]
        positions (12): of the legs' joints from half-sitting [rad]; rates (12) [rad/s]
        action (12): the last one
        wanted (3): forward, sideways [m/s], turning [rad/s]; zeros for tasks without
        heights: of the ground in the height scan of the task, row by row, above the level ground
            below a standing base [m], between -1 and 1; none without a scan

    Every episode depends only on the seed, the world's number and the episode's number.

    Args:
        task: a name in TASKS, or a Task.
        count: number of robots.
        seed: of the episodes.
        threads: number of threads; by default one per processor.
        episodes_of: world k has the episodes of world k mod `episodes_of`, to compare policies.
    """

    def __init__(
        self,
        task: str | Task,
        count: int,
        seed: int = 0,
        threads: int | None = None,
        episodes_of: int | None = None,
    ):
        if isinstance(task, str):
            require_name("task", task, TASKS, StateError)
            task = TASKS[task]
        self.task = task
        world = load_world(
            share_path(task.world), time_step=TIME_STEP, xacro_arguments={"bush": False}
        )
        self.batch = Batch(world, count, threads)
        robot = world.robots[_ROBOT]
        indices = [robot.joint_names.index(name) for name in JOINTS]
        self._q_at, self._v_at = robot.joint_index.q[indices], robot.joint_index.v[indices]
        self._posture = robot.q[self._q_at]
        control = robot._control()
        self._targets = control["target_position"][self._v_at].copy()
        self._standing_height = float(robot.q[2])
        self._gains = robot.gains
        self._heights = int(np.prod(robot.sensors[task.scan].pattern.shape)) if task.scan else 0
        self._episodes_of = count if episodes_of is None else episodes_of
        self._periods = round(task.duration / PERIOD)
        self.seed(seed)

    def __len__(self) -> int:
        return len(self.batch)

    @property
    def observation_size(self) -> int:
        """Length of an observation."""
        return 10 + 3 * len(JOINTS) + 3 + self._heights

    def seed(self, seed: int) -> None:
        """Restart with other episodes. Call `reset` next."""
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise StateError(f"seed must be a whole number >= 0, got {shown_value(seed)}")
        self._seed, count = int(seed), len(self)
        self._episode = np.full(count, -1)
        self._period = np.zeros(count, dtype=np.int64)
        self._action = np.zeros((count, len(JOINTS)))
        self._wanted = np.zeros((count, 3))
        self._generators: list[np.random.Generator] = [np.random.default_rng(0)] * count
        self._pushes: list[np.ndarray] = [np.zeros((0, 4))] * count

    def reset(self, worlds: np.ndarray | None = None) -> np.ndarray:
        """Start new episodes in some worlds, by default in all. Return the observations.

        worlds: indices of the worlds, or a truth value for each world.
        """
        chosen = self.batch.numbers(worlds)
        self.batch.reset(chosen)
        for k in chosen:
            self._episode[k] += 1
            key = (self._seed, k % self._episodes_of, int(self._episode[k]))
            self._generators[k] = generator = np.random.default_rng(key)
            self._vary(k, generator)
            self._plan(k, generator)
        self._period[chosen] = 0
        self._action[chosen] = 0.0
        return self.observations()

    def _vary(self, k: int, generator: np.random.Generator) -> None:
        """Randomise the parameters of a world."""
        variation, world = self.task.variation, self.batch.worlds[k]
        robot = world.robots[_ROBOT]
        friction, mass, gain = (
            generator.uniform(*ends)
            for ends in (variation.friction, variation.mass_factor, variation.gain_factor)
        )
        world.set_friction("sole", "floor", friction)
        robot.scale_inertias(mass)
        kp, kd = self._gains
        robot.set_gains(gain * kp, gain * kd)
        if variation.joint_noise > 0.0:
            q = robot.q.copy()
            q[self._q_at] += variation.joint_noise * generator.standard_normal(len(JOINTS))
            robot.place(q)

    def _plan(self, k: int, generator: np.random.Generator) -> None:
        """Draw an episode's pushes: rows of first period, last period, force x, y [N]."""
        task = self.task
        self._wanted[k] = [
            generator.uniform(*e) for e in (task.forward, task.sideways, task.turning)
        ]
        if not any(task.push_impulse):
            return
        rows, lasts = [], round(PUSH_TIME / PERIOD)
        for n in range(int(task.duration / task.push_interval)):
            at = (n + generator.uniform(0.1, 0.9)) * task.push_interval
            size = generator.uniform(*task.push_impulse) / (lasts * PERIOD)
            heading = generator.uniform(-math.pi, math.pi)
            first = round(at / PERIOD)
            rows.append([first, first + lasts, size * math.cos(heading), size * math.sin(heading)])
        self._pushes[k] = np.array(rows)

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Simulate one control period. Return observations, rewards, terminated, truncated.

        actions: (count, 12). A finished episode continues until `reset`. Raises StateError for
        actions of another shape or that are not finite.
        """
        actions = np.asarray(actions, dtype=np.float64)
        if actions.shape != self._action.shape or not np.isfinite(actions).all():
            raise StateError(
                f"actions must be finite and have shape {self._action.shape}, got {actions.shape}"
            )
        self._action = np.clip(actions, -1.0, 1.0)
        self.batch.command(
            _ROBOT, JOINTS, over=PERIOD, positions=self._targets + ACTION_SCALE * self._action
        )
        forces = np.zeros((len(self), 3))
        for k, rows in enumerate(self._pushes):
            now = (rows[:, 0] <= self._period[k]) & (self._period[k] < rows[:, 1])
            forces[k, :2] = rows[now, 2:].sum(axis=0)
        self.batch.apply_wrench(_ROBOT, forces, link=_LINK)
        self.batch.step(round(PERIOD / TIME_STEP))
        self._period += 1
        state = self._state()
        fell = self._fell(state)
        reward = self.task.reward(
            state["gravity"][:, 2],
            state["heading_velocity"],
            state["heading_rate"],
            self._wanted,
            self._action,
            fell,
        )
        return self._observed(state), reward, fell, (self._period >= self._periods) & ~fell

    def observations(self) -> np.ndarray:
        """Return the observations (count, observation_size)."""
        return self._observed(self._state())

    def close(self) -> None:
        """End the threads."""
        self.batch.close()

    def _state(self) -> dict[str, np.ndarray]:
        q, v = self.batch.q(_ROBOT), self.batch.v(_ROBOT)
        x, y, z, w = q[:, 3:7].T
        # The rows of the rotation matrix that takes base to world, as columns of vectors.
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ).transpose(2, 0, 1)
        in_world = np.einsum("nij,nkj->nki", R, v[:, :6].reshape(-1, 2, 3))
        yaw = np.arctan2(R[:, 1, 0], R[:, 0, 0])
        c, s = np.cos(yaw)[:, None], np.sin(yaw)[:, None]
        turned = in_world.copy()
        turned[:, :, 0] = c * in_world[:, :, 0] + s * in_world[:, :, 1]
        turned[:, :, 1] = c * in_world[:, :, 1] - s * in_world[:, :, 0]
        return {
            "gravity": R[:, 2],
            "velocity": v[:, :3],
            "rate": v[:, 3:6],
            "height": q[:, 2:3] - self._standing_height,
            "positions": q[:, self._q_at] - self._posture,
            "rates": v[:, self._v_at],
            "heading_velocity": turned[:, 0],
            "heading_rate": turned[:, 1],
        }

    def _observed(self, state: Mapping[str, np.ndarray]) -> np.ndarray:
        rate = state["rate"]
        if self.task.variation.gyro_noise > 0.0:
            noise = [generator.standard_normal(3) for generator in self._generators]
            rate = rate + self.task.variation.gyro_noise * np.array(noise)
        parts = [state["gravity"], state["velocity"], rate, state["height"]]
        parts += [state["positions"], state["rates"], self._action, self._wanted]
        if self._heights:
            ranges = self.batch.scan(_ROBOT, self.task.scan).reshape(len(self), -1)
            parts.append(np.clip(self._standing_height - ranges, -1.0, 1.0))
        return np.concatenate(parts, axis=1)

    def _fell(self, state: Mapping[str, np.ndarray]) -> np.ndarray:
        height = state["height"][:, 0] + self._standing_height
        low = height <= LOWEST_HEIGHT_RATIO * self._standing_height
        return (state["gravity"][:, 2] <= math.cos(LARGEST_TILT)) | low
