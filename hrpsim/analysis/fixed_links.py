# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parse the fixed links over time, check them against the motion, or detect them from the soles."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from hrpsim.analysis.analyser import Analyser, FixedPhase, Trajectory, ground_height
from hrpsim.analysis.motion import FixedFrom, Motion
from hrpsim.analysis.motion_files import link_names
from hrpsim.analysis.soles import Sole
from hrpsim.control.motion.motion_sequence import SequenceError
from hrpsim.engine.dynamics.functions import link_pose
from hrpsim.model.model import Model

CONTACT_HEIGHT = 2e-3  # [m]
CONTACT_SPEED = 0.01  # [m/s]
LIFT_TOLERANCE = 5e-3  # [m]


def parse_fixed_links(texts: Sequence[str], model: Model) -> tuple[FixedFrom, ...]:
    """Parse texts "[TIME:]LINK[+LINK...]" and return the result in the order of time.

    A text without a time applies from the beginning. Raises SequenceError that names the text.
    """
    entries = []
    for text in texts:
        before, separator, names = text.rpartition(":")
        label = f"--fixed-link {text!r}"
        try:
            time = float(before) if separator else -math.inf
        except ValueError:
            time = math.nan
        if math.isnan(time):
            raise SequenceError(
                f"{label}: must be [TIME:]LINK[+LINK...], but {before!r} is not a time"
            )
        entries.append(FixedFrom(time, link_names(label, names, model)))
    entries.sort(key=lambda entry: entry.time)
    for previous, other in itertools.pairwise(entries):
        if previous.time == other.time:
            raise SequenceError(f"--fixed-link is given twice for the time {previous.time:g} s")
    return tuple(entries)


def phases_at(fixed: Sequence[FixedFrom], times, pose=None) -> list[FixedPhase]:
    """Convert fixed links with starting times to phases with starting samples.

    Args:
        fixed: entries with links and starting time, in order of time.
        times: times of the samples (T,) [s].
        pose: position and rotation of the first link at the beginning.

    Raises:
        SequenceError: the first sample is before all times of `fixed`.
    """
    begins = np.searchsorted(times, [entry.time - 1e-9 for entry in fixed])
    if len(begins) == 0 or begins[0] > 0:
        raise SequenceError(
            f"no fixed link is given at the first sample, {times[0]:g} s. Add --fixed-link LINK"
        )
    phases: list[FixedPhase] = []
    for begin, entry in zip(begins, fixed):
        if begin >= len(times):
            break
        if phases and phases[-1].begin == begin:
            phases.pop()
        phases.append(FixedPhase(int(begin), entry.links, pose if begin == 0 else None))
    return phases


def starting_pose(model: Model, sole: Sole, motion: Motion):
    """Return position and rotation matrix of `sole` in the world at the motion's first sample.

    If the motion file gives the base's pose, the sole's pose follows from it. Otherwise the base is
    upright at x = y = 0, and the sole is level with its outline on the floor z = 0. A link without
    outline keeps the pose that follows from the upright base.
    """
    p, R = link_pose(model, motion.q[0], sole.link)
    if motion.base_known or len(sole.vertices) == 0:
        return p, R
    yaw = math.atan2(R[1, 0], R[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([p[0], p[1], -sole.height]), np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


class _Clearance(NamedTuple):
    """Heights of soles above the plane of a reference sole."""

    lowest: np.ndarray  # (T, s) height of each sole's lowest corner [m]
    rests: np.ndarray  # (T, s) whether the whole sole touches the floor and does not move, bool


def _phases(links: Sequence[str], references: np.ndarray, bearing: np.ndarray) -> list[FixedPhase]:
    """Return one phase for each change of the reference sole or of the load-bearing soles.

    references: index of the reference at each time (n,). bearing: which links bear load (n, links).
    """
    changes = np.any(bearing[1:] != bearing[:-1], axis=1) | (references[1:] != references[:-1])
    phases = []
    for begin in (0, *(np.flatnonzero(changes) + 1).tolist()):
        first = references[begin]
        others = np.setdiff1d(np.flatnonzero(bearing[begin]), [first])
        phases.append(FixedPhase(begin, tuple(links[k] for k in (first, *others))))
    return phases


def detect_fixed_links(
    analyser: Analyser, motion: Motion, *, progress: Callable[[int, int], None] | None = None
) -> list[FixedPhase]:
    """Return the phases in which the soles of `analyser` are on a level floor.

    Only soles with outlines count. One sole is the reference, at first the lowest sole. Another
    sole bears load together with the reference if all its corners satisfy two conditions. The
    corners are within CONTACT_HEIGHT of the reference's plane, and slower than CONTACT_SPEED
    relative to the reference. The reference changes when another sole is more than CONTACT_HEIGHT
    below it. The change is placed in the middle of the preceding time of double support.
    progress: as in Analyser.analyse, called for each sole in turn.
    """
    soles = [sole for sole in analyser.soles if len(sole.vertices)]
    if not soles:
        raise SequenceError(
            f"{motion.source}: no link has an outline of its sole, so the fixed links cannot be "
            "detected. Name them (--fixed-link)"
        )
    corners = [_corner_paths(analyser, motion, seen, soles, progress) for seen in soles]
    clearances = [_clearance(paths, sole, motion.times) for paths, sole in zip(corners, soles)]
    base = [link_pose(analyser.model, motion.q[0], sole.link) for sole in soles]
    reference = int(np.argmin([ground_height(s, *pose) for s, pose in zip(soles, base)]))
    references = _references(clearances, reference)
    bearing = np.array([clearances[r].rests[t] for t, r in enumerate(references)])
    bearing[np.arange(len(references)), references] = True
    phases = _phases([sole.link for sole in soles], references, bearing)
    pose = starting_pose(analyser.model, soles[reference], motion)
    return [phases[0]._replace(pose=pose), *phases[1:]]


def _corner_paths(analyser, motion: Motion, seen_from: Sole, soles, progress) -> list[np.ndarray]:
    """Return the corners (T, k, 3) [m] of each sole, in the frame of the sole `seen_from`."""
    phase = FixedPhase(0, (seen_from.link,), (np.zeros(3), np.eye(3)))
    zeros = np.zeros_like(motion.v)
    seen = analyser.analyse(motion.q, zeros, zeros, [phase], progress=progress)
    paths = []
    for sole in soles:
        at = seen.support(sole.link)
        corners = np.column_stack([sole.vertices, np.full(len(sole.vertices), sole.height)])
        paths.append(at["position"][:, None] + np.einsum("tij,kj->tki", at["R"], corners))
    return paths


def _clearance(paths, seen_from: Sole, times) -> _Clearance:
    lowest, rests = [], []
    for corners in paths:
        z = corners[:, :, 2] - seen_from.height
        pace = np.zeros(len(times))
        if len(times) > 1:
            moved = np.linalg.norm(np.diff(corners, axis=0), axis=2).max(axis=1) / np.diff(times)
            pace[1:] = moved
            pace[:-1] = np.maximum(pace[:-1], moved)
        lowest.append(z.min(axis=1))
        rests.append((np.abs(z).max(axis=1) <= CONTACT_HEIGHT) & (pace <= CONTACT_SPEED))
    return _Clearance(np.stack(lowest, axis=1), np.stack(rests, axis=1))


def _references(clearances, reference: int) -> np.ndarray:
    """Return the reference sole at each sample (T,).

    The base's motion is computed from this sole.
    """
    count = len(clearances[0].lowest)
    references = np.full(count, reference)
    begin = 0  # first sample of the present reference
    for t in range(count):
        seen = clearances[reference]
        other = int(np.argmin(seen.lowest[t]))
        if seen.lowest[t, other] >= -CONTACT_HEIGHT:
            continue
        together = begin + np.flatnonzero(seen.rests[begin:t, other])
        switch = t
        if len(together):
            gaps = np.flatnonzero(np.diff(together) > 1)
            first = together[gaps[-1] + 1] if len(gaps) else together[0]
            switch = int(first + together[-1] + 1) // 2
        begin = switch
        references[begin:] = reference = other
    return references


def check_fixed_links(
    motion: Motion,
    fixed: Sequence[FixedFrom],
    analyser: Analyser,
    found: Trajectory,
    tolerance: float = LIFT_TOLERANCE,
) -> None:
    """Raise SequenceError if a link that is declared fixed moves.

    A link moves if it is more than `tolerance` [m] from its position at the beginning of its phase.
    Positions are relative to the first fixed link, or to the base if the motion file gives its
    pose. A sole also counts as moving if another sole is lower by more than `tolerance`. The
    message names file, line and link.
    """
    for k, phase in enumerate(found.phases):
        end = found.phases[k + 1].begin if k + 1 < len(found.phases) else len(motion.times)
        part = slice(phase.begin, end)
        entry = [e for e in fixed if e.time <= motion.times[phase.begin] + 1e-9][-1]
        for link in phase.links:
            positions = found.support(link)["position"]
            if motion.base_known:
                positions = _seen_from(motion.q, found.q, positions)
            off = np.linalg.norm(positions[part] - positions[phase.begin], axis=1)
            if (late := _first_beyond(off, tolerance)) is not None:
                problem = f"is {1e3 * off[late]:.1f} mm from its first position"
                raise SequenceError(_lifted(motion, phase.begin + late, link, entry, problem))
        lower = _lower_sole(analyser, found, phase.links[0], part, tolerance)
        if lower is not None:
            t, problem = lower
            raise SequenceError(_lifted(motion, phase.begin + t, phase.links[0], entry, problem))


def _lower_sole(
    analyser: Analyser, found: Trajectory, link: str, part: slice, tolerance: float
) -> tuple[int, str] | None:
    """Return the first sample at which another sole is lower than the sole of `link`.

    Returns:
        (sample, text for the error message), or None if no sole is lower.
    """
    if not len(analyser.soles[analyser.links.index(link)].vertices):
        return None
    for sole in analyser.soles:
        depth = -found.support(sole.link)["height"][part]
        late = _first_beyond(depth, tolerance) if len(sole.vertices) else None
        if late is not None:
            return late, f"is higher than {sole.link!r} by {1e3 * depth[late]:.1f} mm"
    return None


def _first_beyond(values: np.ndarray, limit: float) -> int | None:
    """Return the index of the first value above a limit, or None."""
    return int(np.argmax(values > limit)) if values.max() > limit else None


def _seen_from(known, recovered, positions) -> np.ndarray:
    """Transform points (T, 3) [m] from the computed base poses to the poses in the motion file.

    known, recovered: configurations (T, nq) with these base poses.
    """
    turn = Rotation.from_quat(known[:, 3:7]) * Rotation.from_quat(recovered[:, 3:7]).inv()
    return known[:, :3] + turn.apply(positions - recovered[:, :3])


def _lifted(motion: Motion, sample: int, link: str, entry: FixedFrom, what: str) -> str:
    since = f"{entry.time:g} s" if math.isfinite(entry.time) else "the beginning"
    where = f" (line {entry.line})" if entry.line else ""
    return (
        f"{motion.place_of(sample)}: link {link!r} is given as fixed from {since} on{where}, but "
        f"{what} at {motion.times[sample]:g} s. Correct the fixed links, or raise the tolerance "
        "(--lift-tolerance)"
    )
