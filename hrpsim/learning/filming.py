# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pictures of the worlds of a task, from a camera that follows the robot."""

from __future__ import annotations

import numpy as np

from hrpsim.learning.task_batch import TaskBatch

_AWAY = np.array([1.6, -2.2, 0.9])  # of the camera from the robot, for a height of 1 m [m]
_WIDTH, _HEIGHT = 640, 480  # [pixels]


class Filming:
    """Takes pictures of the robot in each world.

    Args:
        tasks: the worlds of a task.
    """

    def __init__(self, tasks: TaskBatch) -> None:
        self._tasks = tasks
        self._size = (
            max(1.0, 2.0 * float(tasks.state.default_q[2])) if tasks.state.has_base else 1.0
        )

    def frame(self, world: int) -> np.ndarray:
        """Return a picture (height, width, 3) uint8 of a world. Raises RendererError."""
        state = self._tasks.state
        target = state.q[world, :3] if state.has_base else np.array([0.0, 0.0, 0.5])
        place = target + self._size * _AWAY
        seen = self._tasks.batch.worlds[world].render(
            place, target=target, width=_WIDTH, height=_HEIGHT
        )
        assert seen.color is not None
        return seen.color
