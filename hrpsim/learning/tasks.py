# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Learning tasks of humanoids, with rewards and the randomisation of worlds."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Variation:
    """Randomisation of episodes: factors and coefficients are uniform between two bounds."""

    friction: tuple[float, float] = (0.8, 0.8)  # of the soles on the floor
    mass_factor: tuple[float, float] = (1.0, 1.0)  # of all links
    gain_factor: tuple[float, float] = (1.0, 1.0)  # of the joints' servos
    joint_noise: float = 0.0  # standard deviation of the joints' first positions [rad]
    gyro_noise: float = 0.0  # standard deviation of observed angular velocities [rad/s]


@dataclass(frozen=True)
class Task:
    """A task: pushes, a target velocity, and the reward of a control period.

    push_impulse [Ns]: bounds of the impulse of pushes of 0.1 s on the waist, drawn uniformly, from
    any side. push_interval [s]: time between pushes. Each world has its pushes at different times.
    forward, sideways [m/s], turning [rad/s]: bounds of the target velocity, drawn in each episode.
    duration [s]: of an episode.

    The reward of a period uses the cosine g_z of the base's tilt, the velocities v and w of the
    base in the frame of its heading, and the action a:

        standing, push recovery:  g_z - 0.5 (v_x^2 + v_y^2) - 0.05 |w|^2 - 0.01 mean(a^2)
        walking:                  g_z + 2 exp(-((v_x - v*_x)^2 + (v_y - v*_y)^2) / 0.04)
                                  + exp(-(w_z - w*_z)^2 / 0.1) - 0.01 mean(a^2)

    A fall gives -10 and ends the episode.

    world: a world file of this package, or a path, with the robot hrp2 of config/stand.yaml. scan:
    a height scan of that robot, whose heights are added to the observation; "" for none.
    """

    name: str
    duration: float = 10.0
    push_impulse: tuple[float, float] = (0.0, 0.0)
    push_interval: float = 2.5
    forward: tuple[float, float] = (0.0, 0.0)
    sideways: tuple[float, float] = (0.0, 0.0)
    turning: tuple[float, float] = (0.0, 0.0)
    variation: Variation = Variation()
    world: str = "config/stand.yaml"
    scan: str = ""

    @property
    def walks(self) -> bool:
        """Whether the task has a target velocity."""
        return any(map(any, (self.forward, self.sideways, self.turning)))

    def reward(
        self,
        upright: np.ndarray,
        velocity: np.ndarray,
        rate: np.ndarray,
        wanted: np.ndarray,
        action: np.ndarray,
        fell: np.ndarray,
    ) -> np.ndarray:
        """Return the rewards (n,).

        Args:
            upright: vertical component of the base's vertical axis (n,).
            velocity: in the frame of the heading (n, 3) [m/s].
            rate: angular velocity in the frame of the heading (n, 3) [rad/s].
            wanted: v*_x, v*_y [m/s], w*_z [rad/s] (n, 3).
            action: (n, k).
            fell: (n,).
        """
        effort = 0.01 * (action**2).mean(axis=1)
        if self.walks:
            off = ((velocity[:, :2] - wanted[:, :2]) ** 2).sum(axis=1)
            turned = (rate[:, 2] - wanted[:, 2]) ** 2
            reward = upright + 2.0 * np.exp(-off / 0.04) + np.exp(-turned / 0.1) - effort
        else:
            moving = 0.5 * (velocity[:, :2] ** 2).sum(axis=1) + 0.05 * (rate**2).sum(axis=1)
            reward = upright - moving - effort
        return reward - 10.0 * fell


_VARIED = Variation(
    friction=(0.4, 1.0), mass_factor=(0.95, 1.05), gain_factor=(0.9, 1.1), joint_noise=0.01
)
_WALKING = Task(
    "walking", forward=(-0.2, 0.4), sideways=(-0.1, 0.1), turning=(-0.3, 0.3), variation=_VARIED
)
TASKS = {
    task.name: task
    for task in (
        Task("standing", variation=_VARIED),
        Task("push_recovery", push_impulse=(5.0, 30.0), variation=_VARIED),
        _WALKING,
        replace(_WALKING, name="rough_walking", world="config/rough_ground.yaml", scan="ground"),
    )
}
