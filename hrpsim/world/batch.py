# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Copies of a world that step together, for studies over states, parameters and commands."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed, closed
from hrpsim.common.errors import StateError, WorldError, require_name, shown_value
from hrpsim.common.progress import Progress
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import as_numbers, whole_count
from hrpsim.engine.compile.announcement import say_compiled
from hrpsim.engine.sensors.noise import NoiseLevels, SensorNoise
from hrpsim.world.batch_motion import BatchMotion
from hrpsim.world.batch_sensors import BatchSensors
from hrpsim.world.objects.scan_view import ScansSideBySide, ScanView
from hrpsim.world.parts.stepping import announce_steps
from hrpsim.world.shard import Shard
from hrpsim.world.world import World

_SHARES = 4  # portions of worlds for each thread, because some steps take longer


class Batch(BatchMotion, Closed):
    """`count` independent copies of a world, each in the present state of the world.

    Change the copies through `worlds`: states, commands, friction, solvers. The noise of sensors is
    independent in each copy, because the index of a copy becomes its `noise_world`.

    Methods with one row for each world act on all copies. A copy in a batch takes the same steps,
    bit for bit, as the copy would take alone. One compiled call advances many worlds without
    Python's lock, so that threads work at the same time.

    Args:
        world: the world to copy.
        count: number of copies.
        threads: number of threads. The default is one for each processor.

    Raises:
        WorldError: `world` is not a World, or `count` or `threads` is below 1.
    """

    def __init__(self, world: World, count: int, threads: int | None = None) -> None:
        if not isinstance(world, World):
            raise WorldError(f"a batch copies a World, got {shown_value(world)}")
        threads = (os.cpu_count() or 1) if threads is None else threads
        copies = whole_count("count of a batch", count), whole_count("threads of a batch", threads)
        worlds = tuple(world.copy() for _ in range(copies[0]))
        self._contain(worlds, [world.snapshot()] * len(worlds), copies[1])

    @staticmethod
    def of(worlds: Sequence[World], threads: int | None = None) -> Batch:
        """Return a batch of existing worlds, for example worlds of different descriptions.

        Args:
            worlds: worlds with the same entities. The worlds are not copied.
            threads: number of threads. The default is one for each processor.

        Raises:
            WorldError: `worlds` is empty.
        """
        check_arguments(Batch.of, locals(), WorldError)
        if not worlds:
            raise WorldError("a batch needs at least one world")
        if len({id(world) for world in worlds}) < len(worlds):
            raise WorldError(
                "a world is in the batch twice: take `world.copy()`, or Batch(world, n)"
            )
        batch = Batch.__new__(Batch)
        starts = [world.snapshot() for world in worlds]
        batch._contain(tuple(worlds), starts, threads or os.cpu_count() or 1)
        return closed(batch)

    def _contain(self, worlds: tuple[World, ...], starts: list, threads: int) -> None:
        self.worlds, self._start, count = worlds, starts, len(worlds)
        for number, world in enumerate(worlds):
            world.noise_world = number
        self._states, self._commands, self._contacts, self._links = {}, {}, {}, {}
        self._sensors: dict[tuple[str, str], BatchSensors] = {}
        self._noise: dict[tuple[str, str], dict[int, SensorNoise]] = {}  # by the world's number
        self._scans: dict[tuple[str, str], ScansSideBySide] = {}
        self._one_call = Lock()
        self._is_closed = False
        self._threads = min(threads, count)
        self._pool = ThreadPoolExecutor(self._threads, "hrpsim-batch")
        size = -(-len(self.worlds) // (_SHARES * self._threads))
        self._ranges = [range(k, min(k + size, count)) for k in range(0, count, size)]
        steppings = [world._stepping for world in self.worlds]
        self._shards = [Shard(r, steppings[r.start : r.stop]) for r in self._ranges]

    def __repr__(self) -> str:
        return f"<Batch of {len(self.worlds)} worlds, {self._threads} threads: {self.worlds[0]!r}>"

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """End the threads of the batch. The worlds do not change."""
        self._is_closed = True
        self._pool.shutdown()

    def step(self, n: int = 1) -> None:
        """Advance every world by `n` steps.

        A world that fails stays at the start of the failed step. The other worlds still advance.
        Then a WorldError names the worlds that failed.
        """
        n = whole_count("the number of steps", n, 0)
        for world in self.worlds:
            if world._contents.placed:
                world.check_placed(stacklevel=4)
        if not self._one_call.acquire(blocking=False):
            raise WorldError("another thread is stepping the batch. Wait until its call has ended")
        try:
            failures = self._step(n)
        finally:
            self._one_call.release()
        for world in self.worlds:
            if world._contents.audited:
                world._stepping.warn_of_gains(stacklevel=4)
        if failures:
            first = min(failures)
            raise WorldError(
                f"{len(failures)} of {len(self)} worlds could not be stepped: "
                f"{', '.join(map(str, sorted(failures)))}. World {first}: {failures[first]}"
            )

    def _step(self, n: int) -> dict[int, WorldError]:
        """Step all worlds in this thread and in helper threads. Return the failures."""
        if self._is_closed:
            raise WorldError("the batch is closed. Step its worlds one by one")
        announced = announce_steps()
        progress = Progress(f"stepping {len(self)} worlds:", "parts")
        left, stop = deque(self._shards), Event()
        helpers = [
            self._pool.submit(_step_shards, left, n, stop)
            for _ in range(min(self._threads, len(self._shards)) - 1)
        ]
        try:
            failures = _step_shards(left, n, stop, progress)
            for helper in helpers:
                failures |= helper.result()
        except BaseException:
            stop.set()
            wait(helpers)
            raise
        finally:
            progress.end()
            if announced is not None:
                say_compiled(announced)
        return failures

    def map(self, function: Callable[[World, int], Any]) -> list:
        """Return the list of function(world, number), one result for each world in order.

        Several worlds are processed at a time. Use this method for work other than steps, such as a
        controller for each world.
        """
        check_arguments(Batch.map, locals(), WorldError)

        def apply(shard: range) -> list:
            return [function(self.worlds[k], k) for k in shard]

        return [result for shard in self._pool.map(apply, self._ranges) for result in shard]

    # -- what differs from world to world ---------------------------------------------------------

    def scale_inertias(
        self, name: str, factors: ArrayLike, links: str | Sequence[str] | None = None
    ) -> None:
        """Scale masses and inertias of the robots called `name`, as `Robot.scale_inertias` does.

        Args:
            name: name of the robots.
            factors: (count,), or (count, links) with one factor for each link in `links`.
            links: links to scale. The default is all links.
        """
        factors = as_numbers("factors", factors)
        fits = factors.ndim in (1, 2) and len(factors) == len(self)
        needed = f"have shape ({len(self)},) or ({len(self)}, links)"
        self._checked("factors", factors, fits, needed)
        for robot, row in zip(self._called("robots", name), factors):
            robot.scale_inertias(row, links)

    def set_gains(
        self,
        name: str,
        kp: ArrayLike,
        kd: ArrayLike,
        names: str | Sequence[str] | None = None,
        *,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> None:
        """Set PD gains of the robots called `name`, as `Robot.set_gains` does.

        The gains act at once. One kernel writes the rows.

        Args:
            name: name of the robots.
            kp: position gains (count, joints) [Nm/rad or N/m].
            kd: damping gains (count, joints) [Nms/rad or Ns/m].
            names: joints, in the order of the columns. The default is all joints.
            worlds: numbers of worlds, or a truth value for each world. Each world uses its own row.
                The default is all worlds.

        Raises:
            StateError: a robot refuses a row. If the robots have the same joints, no gain changes
                then.
            WorldError: a world does not exist.
        """
        rows = self._rows("kp", kp), self._rows("kd", kd)
        self._commands_of(name).set_gains(*rows, names, self._numbers_of(worlds))

    def set_joint_properties(
        self, name: str, names: str | Sequence[str] | None = None, **values: ArrayLike
    ) -> None:
        """Set joint properties of the robots called `name`, as `Robot.set_joint_properties` does.

        Args:
            name: name of the robots.
            names: joints, in the order of the columns. The default is all joints.
            **values: friction, damping, stiffness, rotor_inertia, each (count, joints).
        """
        rows = {field: self._rows(field, array) for field, array in values.items()}
        for k, robot in enumerate(self._called("robots", name)):
            row = {field: array[k] for field, array in rows.items()}
            robot.set_joint_properties(names, **row)

    def set_friction(
        self,
        a: str,
        b: str,
        static: ArrayLike,
        kinetic: ArrayLike | None = None,
        restitution: ArrayLike = 0.0,
    ) -> None:
        """Set friction and restitution between two materials.

        Args:
            a: first material.
            b: second material.
            static: coefficient of static friction, one number or (count,).
            kinetic: coefficient of kinetic friction, one number or (count,). The default is
                `static`.
            restitution: coefficient of restitution, one number or (count,).
        """
        rows = (
            self._numbers("static friction", static),
            self._numbers("kinetic friction", kinetic),
            self._numbers("restitution", restitution),
        )
        for world, mu, sliding, bounce in zip(self.worlds, *rows):
            world.set_friction(a, b, mu, None if np.isnan(sliding) else sliding, bounce)

    def set_noise(self, name: str, levels: Sequence[NoiseLevels]) -> None:
        """Set the noise of the force sensors and IMUs of the robots called `name`.

        The readings of `Batch.sensor` have this noise in addition to the noise declared in the
        descriptions of the sensors. The readings of `worlds` themselves stay exact. World 0 has the
        same noise as the topics of a node.

        Args:
            name: name of the robots.
            levels: one noise level for each world.
        """
        if len(levels) != len(self):
            raise StateError(
                f"levels must have one entry for each of {len(self)} worlds, got {len(levels)}"
            )
        noise: dict[str, dict[int, SensorNoise]] = {}
        for k, (robot, level) in enumerate(zip(self._called("robots", name), levels)):
            if not isinstance(level, NoiseLevels):
                raise StateError(f"levels[{k}] must be NoiseLevels, got {shown_value(level)}")
            for description in robot.model.sensors:
                noise.setdefault(description.name, {})[k] = SensorNoise(
                    *(description.name, description.kind, level, description.own_noise),
                    robot=name,
                    world=k,
                )
        for sensor, of_worlds in noise.items():
            self._noise[name, sensor] = of_worlds
            if (name, sensor) in self._sensors:
                self._sensors[name, sensor].set_noise(of_worlds)

    def sensor(
        self,
        name: str,
        sensor: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the readings (count, 6) of a sensor, with noise.

        A reading is force [N] and torque [Nm], or angular velocity [rad/s] and specific force
        [m/s^2]. One kernel gathers the rows.

        Args:
            name: name of the robots.
            sensor: name of the sensor.
            out: array (count, 6) of float64 to fill and return. The default is a new array.
            worlds: as for `q`.

        Raises:
            StateError: `out` has another shape or type.
            WorldError: a robot, a sensor or a world does not exist.
        """
        key = name, sensor
        if key not in self._sensors:
            self._sensors[key] = BatchSensors(self.worlds, name, sensor)
            self._sensors[key].set_noise(self._noise.get(key, {}))
        return self._sensors[key].readings(out, self._numbers_of(worlds))

    def scan(self, name: str, sensor: str) -> np.ndarray:
        """Return the exact present ranges (count, rows, columns) of a height scan or lidar [m].

        The ranges equal `measure` of the sensor of each world, bit for bit. One compiled call scans
        many worlds without Python's lock, so that threads work at the same time.

        Args:
            name: name of the robots.
            sensor: name of the sensor.
        """
        views = []
        for robot in self._called("robots", name):
            known = {v.description.name: v for v in robot.samplers if isinstance(v, ScanView)}
            require_name("scan", sensor, known, where=f"{name!r}")
            views.append(known[sensor])
        scans = self._scans.get((name, sensor))
        if scans is None or scans.views != tuple(views):
            scans = self._scans[name, sensor] = ScansSideBySide(views)
        scans.prepare()
        deque(self._pool.map(scans.measure, self._ranges), maxlen=0)
        return scans.ranges

    def apply_wrench(
        self,
        name: str,
        force: ArrayLike,
        torque: ArrayLike = (0.0, 0.0, 0.0),
        link: str | None = None,
    ) -> None:
        """Apply a wrench to robots or bodies during the next call of `step`.

        Args:
            name: name of the robots or bodies.
            force: (3,) or (count, 3) [N], along the world's axes.
            torque: (3,) or (count, 3) [Nm], along the world's axes.
            link: link of the robots, None for bodies.
        """
        pushed = self._called("bodies" if link is None else "robots", name)
        forces, torques = self._vectors("force", force), self._vectors("torque", torque)
        for target, f, t in zip(pushed, forces, torques):
            if not (f.any() or t.any()):
                continue
            if link is None:
                target.apply_wrench(f, t)
            else:
                target.apply_wrench(link, f, t)

    def reset(self, worlds: Sequence[int] | np.ndarray | None = None) -> None:
        """Return worlds to the state in which the batch was made.

        Masses, friction and gains do not change.

        worlds: numbers of worlds, or a truth value for each world. The default is all worlds.
        """
        for k in self.numbers(worlds):
            self.worlds[k].restore(self._start[k])


def _step_shards(
    left: deque[Shard], n: int, stop: Event, progress: Progress | None = None
) -> dict[int, WorldError]:
    """Step shards from the queue `left` until the queue is empty. Return the failures by world.

    Several threads may share one queue.
    """
    failures: dict[int, WorldError] = {}
    total = len(left)
    while left:
        if progress is not None:
            progress.show(total - len(left), total)
        try:
            shard = left.popleft()
        except IndexError:  # another thread took the last portion
            break
        failures |= shard.step(n, stop)
    return failures
