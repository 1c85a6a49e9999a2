# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Play, pause, rewind and drag a world on behalf of a user, with recorded snapshots.

This file does not depend on browsers.
"""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.common.errors import HrpsimError, WorldError, shown_value
from hrpsim.control.framework.pacing import Pacer
from hrpsim.world.objects.body import Body, rotation_matrix
from hrpsim.world.objects.robot import Robot

FARTHEST = 1e4  # [m]
_RATE = 2.0 * math.pi * 1.5  # natural frequency of the whole robot or body on the spring [rad/s]
_STIFFEST = 0.1  # limit of stability: stiffness times period^2 over the mass of the dragged part
_MOST_DAMPED = 0.5  # limit of stability: damping times period over the mass of the dragged part
_SHARE_OF_FRAME = 0.7  # fraction of a frame's wall time for steps, the rest is for drawing


class Grip:
    """A spring that pulls a point of a body towards `target` [m] in the world.

    The spring is critically damped, with a frequency of 1.5 Hz for the mass of the whole entity. If
    the dragged body is too light for a stable spring of 1.5 Hz at this period, the spring is
    softer. `period` [s] is the duration for which each call of `pull` acts. Raises WorldError for a
    link that is fixed to the world.
    """

    def __init__(self, entity: Robot | Body, link: str, point, period: float) -> None:
        self.entity = entity
        self.link = link
        self.period = period
        origin, R = self._pose()
        self.local_point = R.T @ (np.asarray(point, dtype=np.float64) - origin)
        self.target = self.point
        mass = float(entity.system.mass.sum())
        part = mass
        if isinstance(entity, Robot):
            body = entity.model.frame(link).body
            if body < 0:
                raise WorldError(f"link {link!r} of {entity.name!r} is fixed to the world")
            part = float(entity.system.mass[body])
        self.stiffness = min(mass * _RATE**2, _STIFFEST * part / period**2)  # [N/m]
        self.damping = min(2.0 * mass * _RATE, _MOST_DAMPED * part / period)  # [Ns/m]
        self._last_point: np.ndarray | None = None

    def move_to(self, target) -> None:
        """Set the target (3,) [m] in the world.

        Raises WorldError if the target is beyond FARTHEST.
        """
        target = np.asarray(target, dtype=np.float64)
        if target.shape != (3,) or not (np.abs(target) <= FARTHEST).all():
            raise WorldError(
                f"a body can be pulled to at most {FARTHEST:g} m from the origin, got {target}"
            )
        self.target = target

    @property
    def point(self) -> np.ndarray:
        """Position of the gripped point in the world (3,) [m]."""
        origin, R = self._pose()
        return origin + R @ self.local_point

    def pull(self) -> np.ndarray:
        """Apply the spring's force during the next step, and return it in world axes (3,) [N]."""
        point = self.point
        last = point if self._last_point is None else self._last_point
        self._last_point = point
        force = self.stiffness * (self.target - point) - self.damping * (point - last) / self.period
        if isinstance(self.entity, Robot):
            self.entity.apply_wrench(self.link, force=force, point=self.local_point)
        else:
            self.entity.apply_wrench(force=force, point=point)
        return force

    def _pose(self) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self.entity, Robot):
            origin, orientation = self.entity.link_pose(self.link)
        else:
            origin, orientation = self.entity.position, self.entity.orientation
        return origin, rotation_matrix(orientation)


class Grabbing:
    """The user's hand, and the body that the hand has grabbed."""

    grip: Grip | None = None
    world: Any

    def drag_to(self, target) -> None:
        """Move the hand to `target` (3,) [m] in the world, at most FARTHEST from the origin."""
        if self.grip is not None:
            self.grip.move_to(target)

    def release(self) -> None:
        """Release the grabbed body."""
        self.grip = None

    def release_removed(self) -> None:
        """Release a body that is no longer in the world."""
        if self.grip is not None and self.grip.entity not in self.world.entities.values():
            self.release()


class SnapshotHistory:
    """Stores the newest snapshots, up to `limit` [bytes] in total, but at least one snapshot."""

    def __init__(self, limit: int = 128 * 2**20) -> None:
        self.limit = limit
        self._entries: deque[tuple[float, dict[str, Any], int]] = deque()
        self._size = 0  # [bytes]

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Memory used by the snapshots [bytes]."""
        return self._size

    @property
    def span(self) -> float:
        """Simulated time between the first and the last snapshot [s], or 0 without snapshots."""
        return self._entries[-1][0] - self._entries[0][0] if self._entries else 0.0

    def add(self, time: float, snapshot: dict[str, Any]) -> None:
        """Append a snapshot taken at `time` [s].

        Ignore the snapshot if `time` is not later than the last.
        """
        if self._entries and time <= self._entries[-1][0]:
            return
        size = sum(array.nbytes for array in snapshot["arrays"])
        self._entries.append((time, snapshot, size))
        self._size += size
        while self._size > self.limit and len(self._entries) > 1:
            self._size -= self._entries.popleft()[2]

    def at(self, time: float) -> dict[str, Any]:
        """Return the last snapshot taken at or before `time` [s], or the first if all are later.

        Raises LookupError if nothing was recorded.
        """
        if not self._entries:
            raise LookupError("nothing was recorded yet")
        return self._entries[self._place(time)][1]

    def forget_after(self, time: float) -> None:
        """Drop the snapshots taken after `time` [s]."""
        while self._entries and self._entries[-1][0] > time:
            self._size -= self._entries.pop()[2]

    def clear(self) -> None:
        """Drop all snapshots."""
        self._entries.clear()
        self._size = 0

    def _place(self, time: float) -> int:
        times = [entry[0] for entry in self._entries]
        return max(bisect_right(times, time + 1e-9) - 1, 0)


@dataclass
class TimeAdvance:
    """The advance of time: `tick` advances the world by `period` [s].

    `rewinds` tells whether a run can continue from a snapshot of the world. A controller has its
    own state, which a snapshot does not contain.
    """

    period: float
    tick: Callable[[], object]
    rewinds: bool = True


def require_world(given: Any, owner: str) -> None:
    """Raise HrpsimError if `given` is neither a world nor a recorded run.

    owner: name of the caller, for the error.
    """
    if not hasattr(given, "entities"):
        raise HrpsimError(f"{owner} needs a world, got {shown_value(given)}")


class Session(Grabbing):
    """Play a world at `speed` simulated seconds per second, frame by frame.

    Call all methods from the thread that calls `frame`. `looking_back` is the time from the shown
    state to the present [s]. While a past state is shown, the present state is stored. `play` and
    `step` restore the present state.
    """

    keeps_past = True
    edits = True  # whether pages may add and move bodies

    def __init__(
        self,
        world,
        motion: TimeAdvance | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.world = world
        self.motion = motion or TimeAdvance(world.time_step, world.step)
        self.recording = SnapshotHistory()
        self.playing = False
        self.looking_back = 0.0
        self.problem = ""  # reason why time has stopped
        self._present = None
        self._clock = clock
        self._pacer = Pacer(self.motion.period, 1.0, clock=clock)
        self._record()

    @property
    def commands(self) -> bool:
        """Whether pages may command joints. True if no controller commands the joints."""
        return self.motion.rewinds

    @property
    def speed(self) -> float:
        """Simulated seconds per wall second. Assign a value to change the speed."""
        return self._pacer.real_time_factor

    @speed.setter
    def speed(self, factor: float) -> None:
        self._pacer.real_time_factor = factor

    def play(self) -> None:
        """Play the world, from the present state."""
        self._return_to_present()
        self.problem = ""
        self.playing = True
        self._pacer.start()

    def pause(self) -> None:
        """Pause the world."""
        self.playing = False

    def step(self) -> None:
        """Pause and advance by one period."""
        self.pause()
        self._return_to_present()
        self._tick()
        self._record()

    def reset(self) -> None:
        """Return to the start and clear the recording. A playing session keeps playing."""
        self._present, self.looking_back, self.grip, self.problem = None, 0.0, None, ""
        self.world.reset()
        self.recording.clear()
        self._record()
        self._pacer.start()

    def look_back(self, duration: float) -> None:
        """Pause and show the state `duration` [s] before the present. 0 shows the present."""
        self.pause()
        self.release()
        if duration <= 0.0:
            self._return_to_present()
            return
        if self._present is None:
            self._present = self.world.snapshot(), self.world.time
        present = self._present[1]
        self.world.restore(self.recording.at(present - duration))
        self.looking_back = present - self.world.time

    def go_on_from_here(self) -> None:
        """Continue from the shown past state and drop later snapshots.

        The continued run is the same as before, bit for bit. Raises HrpsimError if a controller
        runs, because its state cannot be rewound.
        """
        if not self.motion.rewinds:
            raise HrpsimError("a controller cannot go back in time. Use Reset to start it again")
        self._present, self.looking_back, self.problem = None, 0.0, ""
        self.recording.forget_after(self.world.time)

    def edit(self, action: Callable[[], None]) -> None:
        """Call `action`, which adds, moves or removes robots or bodies, in the present state.

        If a robot or body was added or removed, the recording restarts, because earlier snapshots
        no longer fit the world.
        """
        self._return_to_present()
        before = tuple(self.world.entities)
        try:
            action()
        finally:
            if tuple(self.world.entities) != before:
                self._begin_recording()

    def require_replaceable(self) -> None:
        """Raise HrpsimError if the world cannot be replaced by another."""
        if not self.commands:
            raise HrpsimError(
                "a controller runs in this world. Start the viewer without the controller"
            )

    def replace(self, world: Any) -> None:
        """Show another world, paused, at the start of its run.

        Raises HrpsimError if a controller runs.
        """
        self.require_replaceable()
        self.pause()
        self._present, self.looking_back, self.grip, self.problem = None, 0.0, None, ""
        self.world, self.motion = world, TimeAdvance(world.time_step, world.step)
        self._pacer = Pacer(self.motion.period, self.speed, clock=self._clock)
        self._begin_recording()

    def grab(self, entity: str, link: str, point) -> None:
        """Attach a spring to a point of a link or body.

        point: position in the world (3,) [m], at the present pose of the link.
        """
        self._return_to_present()
        self.grip = Grip(self.world.entities[entity], link, point, self.motion.period)

    def frame(self, duration: float) -> int:
        """Make the steps that are due. Stop early if they take longer than a fraction of the frame.

        duration: duration of the frame [s, wall time].

        Returns:
            The number of steps.
        """
        made, end = 0, self._clock() + _SHARE_OF_FRAME * duration
        while self.playing and self._pacer.steps_due(most=1):
            self._tick()
            self._pacer.made(1)
            made += 1
            if self._clock() >= end:
                break
        if made:
            self._record()
        return made

    def _tick(self) -> None:
        try:
            if self.grip is not None:
                self.grip.pull()
            self.motion.tick()
        except HrpsimError as error:
            self.problem = str(error)
            self.playing = False

    def _begin_recording(self) -> None:
        self.release_removed()
        self.recording.clear()
        self._record()

    def _record(self) -> None:
        self.recording.add(self.world.time, self.world.snapshot())

    def _return_to_present(self) -> None:
        if self._present is not None:
            self.world.restore(self._present[0])
            self._present = None
        self.looking_back = 0.0
