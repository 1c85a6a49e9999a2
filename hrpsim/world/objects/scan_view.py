# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Height scans and lidars of a robot."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import StateError
from hrpsim.engine.compile.compiled import entry_point
from hrpsim.engine.rays.scanning import BASE, SCANNER, WORLD, YAW, scan, scan_side_by_side
from hrpsim.model.sensors.ray_pattern import ALIGNMENTS, RayPattern
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.world.objects.entity import _frozen
from hrpsim.world.objects.sensor_view import SampledView, SamplingRobot

_ALIGNMENT = dict(zip(ALIGNMENTS, (YAW, BASE, WORLD), strict=True))


class ScanValues(NamedTuple):
    """The values of one scan of n rays, in the order in which rays are cast."""

    ranges: np.ndarray  # (n,) [m]
    R: np.ndarray  # (3, 3), frame of the rays in the world at the last ray
    p: np.ndarray  # (3,) [m]


class ScanView(SampledView):
    """A height scan or lidar. Arrays are copies of the latest sample that has arrived.

    A range is infinite if nothing is within reach, and after a dropout. A range is -inf if
    something is nearer than the least range (REP 117). Before the first sample all ranges are NaN.
    """

    pattern: RayPattern

    def __init__(self, robot: SamplingRobot, description: SampledSensor) -> None:
        self.pattern = pattern = description.pattern
        self._shape = pattern.shape
        self._count = self._shape[0] * self._shape[1]
        self._rays_of = -1
        self._buffer = np.full(self._count, np.nan)
        self._scanner = np.zeros(1, dtype=SCANNER)
        for field in ("height", "max_range"):
            self._scanner[field] = getattr(pattern, field)
        self._scanner["alignment"] = _ALIGNMENT[pattern.alignment]
        self._scanner["local_R"], self._scanner["local_p"] = description.R, description.p
        self._scan = None
        super().__init__(robot, description)
        times = self._rays(0)[2]
        steps = np.floor(times * self._period + 1e-9).astype(int)
        parts, first = np.unique(steps, return_index=True)
        self._step_offsets = parts.tolist()
        self._bounds = [*first.tolist(), self._count]
        self._times = steps * robot.world.time_step

    def __getstate__(self) -> dict:
        """Leave out machine code."""
        return self.__dict__ | {"_scan": None}

    def _rays(self, number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        number = 0 if self.pattern.repeats else number
        if self._rays_of != number:
            self._rays_of, self._cast = number, self.pattern.rays(number)
        return self._cast

    def _offsets(self) -> list[int]:
        return self._step_offsets

    def _measure(self, number: int, part: int) -> None:
        self._scan_rays(number, self._bounds[part], self._bounds[part + 1])

    def _scan_rays(self, number: int, first: int, end: int) -> None:
        """Write the exact present ranges of some rays to the buffer."""
        caster, skipped = self.sources()
        origins, directions, _ = self._rays(number)
        rays = caster.arrays, self._scanner, skipped, origins, directions
        if self._scan is None:
            self._scan = entry_point(scan, *rays, 0, 0, self._buffer)
        self._scan(*rays, first, end, self._buffer)

    def sources(self) -> tuple:
        """Return the inputs of `measure` for the present scene.

        Returns:
            (object that casts rays, whether the rays pass through each target (n,)).
        """
        robot, body = self.robot, self.description.body
        caster = robot.world.ray_caster(self.description.geometry)
        self._scanner["body"] = body + robot.first_body if body >= 0 else -1
        return caster, caster.skipped_of(() if self.description.see_own else (robot,))

    def _finish(self, number: int) -> ScanValues:
        ranges = self._disturbed(self._buffer.copy(), number)
        if self.pattern.min_range > 0.0:
            ranges[ranges < self.pattern.min_range] = -np.inf
        frame = self._scanner[0]
        return ScanValues(ranges, frame["R"].copy(), frame["p"].copy())

    def _unfinished(self) -> np.ndarray:
        return self._buffer.copy()

    def _resume(self, unfinished: np.ndarray) -> None:
        self._buffer[:] = unfinished

    # -- readings -------------------------------------------------------------------------------

    def measure(self) -> np.ndarray:
        """Return the ranges in the present state [m], shaped as `ranges`.

        The ranges have no noise, latency or sweep. A sample in progress is not affected.
        """
        saved = self._buffer.copy()
        self._scan_rays(self._number, 0, self._count)
        ranges, self._buffer[:] = self._buffer.copy(), saved
        return self._shaped(ranges)

    def _shaped(self, ranges: np.ndarray) -> np.ndarray:
        """Return values of the rays (..., n) as rows: rings and columns, or x and y of a grid."""
        n, m = self._shape
        if self.pattern.by_columns:
            return np.ascontiguousarray(ranges.reshape(*ranges.shape[:-1], m, n).swapaxes(-1, -2))
        return ranges.reshape(*ranges.shape[:-1], n, m)

    def _latest(self) -> ScanValues:
        sample = self.latest()
        if sample is not None:
            return sample.values
        return ScanValues(np.full(self._count, np.nan), np.eye(3), np.full(3, np.nan))

    @property
    def ranges(self) -> np.ndarray:
        """Distances along the rays (rings, columns) [m].

        For a height scan, distances down (nx, ny).
        """
        return _frozen(self._shaped(self._latest().ranges))

    @property
    def heights(self) -> np.ndarray:
        """Heights of the ground relative to the frame (nx, ny) [m], the negative ranges.

        A ray that meets no ground has the height -inf.
        """
        return _frozen(self._shaped(-self._latest().ranges))

    @property
    def times(self) -> np.ndarray:
        """Time after `stamp` at which each ray was cast, shaped as `ranges` [s].

        In a sweep the rays are cast in several steps. Each ray has the time of the step in which
        the ray was cast. The times are multiples of the world's time step.
        """
        return _frozen(self._shaped(self._times).copy())

    @property
    def points(self) -> np.ndarray:
        """Points of the rays (n, 3) [m], in the frame of the rays at the time of each ray.

        A ray without a hit has NaN. The frame of the rays is the sensor's frame. For a height scan,
        a setting of the sensor may level this frame. Points are in the order of `ranges`, ring by
        ring.
        """
        sample = self.latest()
        origins, directions, _ = self._rays(0 if sample is None else sample.number)
        ranges = self._latest().ranges
        points = origins + np.where(np.isfinite(ranges), ranges, np.nan)[:, None] * directions
        order = self._shaped(np.arange(self._count)).ravel()
        return _frozen(points[order])

    @property
    def points_in_world(self) -> np.ndarray:
        """Points of the rays in the world (n, 3) [m], with the frame's pose at the last ray."""
        values = self._latest()
        return _frozen(self.points @ values.R.T + values.p)

    @property
    def frame_pose(self) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (3, 3) and origin (3,) [m] of the rays' frame in the world, at the last ray."""
        values = self._latest()
        return _frozen(values.R.copy()), _frozen(values.p.copy())


class ScansSideBySide:
    """The same height scan or lidar of many worlds, scanned in a few compiled calls.

    Raises StateError if the sensors have different numbers of rays.
    """

    def __init__(self, views: Sequence[ScanView]) -> None:
        if len({view._shape for view in views}) > 1:
            raise StateError("the scans of the batch's worlds have different numbers of rays")
        self.views, count = tuple(views), len(views)
        self._scenes = np.zeros(count, dtype=np.int64)
        self._scanners = np.concatenate([view._scanner for view in views])
        self._ranges = np.empty((count, views[0]._count))
        self._skips: list[np.ndarray] = []
        self._patterns: list[tuple] = []
        self._scan: Any = None

    def prepare(self) -> None:
        """Update the arrays after changes of the worlds. Call this before `measure`."""
        casters = [view.sources() for view in self.views]
        self._example = casters[0][0].arrays
        self._scenes[:] = [caster.arrays.address for caster, _ in casters]
        self._scanners["body"] = [view._scanner["body"][0] for view in self.views]
        self._skip([skipped for _, skipped in casters])
        self._follow_patterns()
        if self._scan is None:
            self._scan = entry_point(scan_side_by_side, *self._arguments(range(0)))

    def _skip(self, skips: list[np.ndarray]) -> None:
        """Store which shapes the rays of each world pass through.

        skips: for each world, whether the rays pass through each shape.
        """
        if len(skips) == len(self._skips) and not any(map(operator.is_not, skips, self._skips)):
            return
        self._skips = skips
        self._skipped = np.zeros((len(skips), max(map(len, skips))), dtype=np.uint8)
        for row, skipped in zip(self._skipped, skips):
            row[: len(skipped)] = skipped

    def _follow_patterns(self) -> None:
        """Store the rays of each world's present pattern. Worlds with equal patterns share rays."""
        patterns = [(v.pattern, 0 if v.pattern.repeats else v._number) for v in self.views]
        if patterns == self._patterns:
            return
        self._patterns, kinds = patterns, list(dict.fromkeys(patterns))
        self._pattern_of = np.array([kinds.index(kind) for kind in patterns])
        rays = [pattern.rays(number) for pattern, number in kinds]
        self._origins, self._directions = (np.array([r[k] for r in rays]) for k in range(2))

    def measure(self, worlds: range) -> None:
        """Scan some of the worlds. Several threads may scan different worlds."""
        self._scan(*self._arguments(worlds))

    def _arguments(self, worlds: range) -> tuple:
        return (
            *(self._example, self._scenes, self._scanners, self._skipped, self._pattern_of),
            *(self._origins, self._directions, worlds.start, worlds.stop, self._ranges),
        )

    @property
    def ranges(self) -> np.ndarray:
        """The ranges of the last `measure` (count, rows, columns) [m], as in `ScanView.measure`."""
        return self.views[0]._shaped(self._ranges.copy())
