# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find collisions along a motion, also between samples, by conservative advancement.

The displacement of a point of a link relative to another link has an upper bound. For each joint
between the links, multiply the joint's angle by the largest distance of the point from the joint's
axis. The bound is the sum of these products. A pair at a distance d therefore stays apart until the
bound has grown by d, and only then is the distance measured again. Joints move at constant rates
between samples.

Sources: Mirtich, Impulse-based dynamic simulation of rigid body systems, 1996. Schwarzer, Saha and
Latombe, Adaptive dynamic collision checking, 2005.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import StateError
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import Range, as_numbers, number
from hrpsim.geometry.link_distances import LinkDistances
from hrpsim.model.model import Model
from hrpsim.model.readers.urdf.srdf import Pair
from hrpsim.model.shapes.geometry import Box, Capsule, Geometry, Mesh, Plane, Sphere
from hrpsim.model.system import FIXED, FREE, PRISMATIC

TOLERANCE = 1e-4  # [m]
_FRACTION = 0.1  # largest movement before the next measurement of an overlap, relative to the depth


@dataclass(frozen=True)
class MotionCollision:
    """A collision of two links during a motion: first and last time [s], and largest depth."""

    links: Pair
    begin: float
    end: float
    depth: float  # [m], negative if the links do not overlap but come closer than the tolerance
    time: float  # time of the largest depth [s]


def check_motion(
    distances: LinkDistances, times: ArrayLike, q: ArrayLike, *, tolerance: float | None = None
) -> list[MotionCollision]:
    """Return every interval of a motion in which two links come closer than a tolerance.

    No overlap is missed. Pairs that are not listed are apart at all times. Listed pairs are apart
    before `begin` and after `end`. The error of these times is at most the time in which the links
    move by `tolerance`, or by a tenth of the last depth. Depths are accurate to a tenth of the
    depths of `LinkDistances`.

    Args:
        distances: distances of the model's links.
        times: (T,) [s], ascending.
        q: configurations (T, nq).
        tolerance: distance [m] below which links collide, at least `distances.error`. The default
            is 1e-4 m, or `distances.error` if larger.

    Raises:
        WorldError: the tolerance is below `distances.error`.
        StateError: the arrays have wrong shapes or values.
    """
    check_arguments(check_motion, locals(), StateError)
    times, q = as_numbers("times", times), as_numbers("q", q)
    if tolerance is None:
        tolerance = max(TOLERANCE, distances.error)
    number("tolerance", tolerance, Range(distances.error, 1.0, "m"))
    model = distances.model
    if times.ndim != 1 or q.shape != (len(times), model.nq) or len(times) == 0:
        raise StateError(
            f"times must have shape (T,) and q (T, {model.nq}), got {times.shape} and {q.shape}"
        )
    if not (np.isfinite(q).all() and np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise StateError("times must increase, and q must be finite")
    moves = _moves(model, q)
    collisions: list[MotionCollision] = []
    for pair in distances.pairs:
        bound = np.concatenate([[0.0], np.cumsum(moves @ _levers(distances, pair, q))])
        collisions += _advance(distances, pair, times, q, bound, tolerance)
    return sorted(collisions, key=lambda collision: (collision.begin, collision.links))


def _advance(distances, pair: Pair, times, q, bound, tolerance: float) -> list[MotionCollision]:
    """Return the collisions of one pair.

    bound (T,): upper bound of the relative movement from the first sample to each sample [m].
    """
    result: list[MotionCollision] = []
    open_since: float | None = None
    depth, deepest = -np.inf, 0.0
    along = 0.0  # of bound
    while True:
        sample, time = _sample_at(times, bound, along)
        distance = distances.distance(_between(distances.model, q, sample), pair)
        if distance < tolerance:
            if open_since is None:
                open_since, depth = _first_time(times, bound, along, time), -np.inf
            if -distance > depth:
                depth, deepest = -distance, time
        elif open_since is not None:
            result.append(MotionCollision(pair, open_since, time, depth, deepest))
            open_since = None
        if along >= bound[-1]:
            break
        way = distance - 0.5 * tolerance if distance >= tolerance else -_FRACTION * distance
        along = min(along + max(way, 0.5 * tolerance), float(bound[-1]))
    if open_since is not None:
        result.append(MotionCollision(pair, open_since, float(times[-1]), depth, deepest))
    return result


def _first_time(times, bound, along: float, time: float) -> float:
    """Return the first sample time [s] at which `bound` equals `along`, or `time` if none does."""
    k = int(np.searchsorted(bound, along, side="left"))
    return float(times[k]) if bound[k] == along else time


def _sample_at(times, bound, along: float) -> tuple[float, float]:
    """Return the fractional sample index and the time [s] at which `bound` reaches `along`."""
    k = int(np.searchsorted(bound, along, side="right")) - 1
    if k >= len(times) - 1:
        k = int(np.searchsorted(bound, bound[-1], side="left"))
        return float(k), float(times[k])
    part = (along - bound[k]) / (bound[k + 1] - bound[k])
    return k + part, float(times[k] + part * (times[k + 1] - times[k]))


def _between(model: Model, q: np.ndarray, sample: float) -> np.ndarray:
    """Interpolate the configuration at a fractional sample index, quaternions the shorter way."""
    k = min(int(sample), len(q) - 1)
    part = sample - k
    if part == 0.0:
        return q[k]
    mixed = (1.0 - part) * q[k] + part * q[k + 1]
    for joint in model.joints:
        if joint.joint_type == FREE:
            at = slice(joint.q_index + 3, joint.q_index + 7)
            mixed[at] = _turned(q[k, at], q[k + 1, at], part)
    return mixed


def _turned(a: np.ndarray, b: np.ndarray, part: float) -> np.ndarray:
    """Interpolate between the quaternions a and b at the fraction `part` (slerp)."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    b = -b if a @ b < 0.0 else b
    angle = np.arccos(min(float(a @ b), 1.0))
    if angle < 1e-6:
        mixed = (1.0 - part) * a + part * b
        return mixed / np.linalg.norm(mixed)
    return (np.sin((1.0 - part) * angle) * a + np.sin(part * angle) * b) / np.sin(angle)


def _moves(model: Model, q: np.ndarray) -> np.ndarray:
    """Return how far each joint moves between samples (T - 1, 2 bodies).

    The first half of the columns are angles [rad], the second half displacements [m]. A free joint
    has both: the angle, and the displacement of the joint's origin.
    """
    count = model.body_count
    moves = np.zeros((max(len(q) - 1, 0), 2 * count))
    for joint in model.joints:
        at, body = joint.q_index, joint.body
        if joint.joint_type == FREE:
            moves[:, count + body] = np.linalg.norm(np.diff(q[:, at : at + 3], axis=0), axis=1)
            turns = q[:, at + 3 : at + 7] / np.linalg.norm(
                q[:, at + 3 : at + 7], axis=1, keepdims=True
            )
            cosine = np.abs((turns[:-1] * turns[1:]).sum(axis=1))
            moves[:, body] = 2.0 * np.arccos(np.minimum(cosine, 1.0))
        elif joint.joint_type == PRISMATIC:
            moves[:, count + body] = np.abs(np.diff(q[:, at]))
        else:
            moves[:, body] = np.abs(np.diff(q[:, at]))
    return moves


def _levers(distances: LinkDistances, pair: Pair, q: np.ndarray) -> np.ndarray:
    """Return the largest relative movement of two links, per unit of each joint movement.

    The result (2 bodies,) belongs to the columns of `_moves`. For a rotation, the entry is the
    largest distance of a point of the link from the axis [m]. For a displacement, the entry is 1.
    The entry is 0 for joints that carry both links.
    """
    model = distances.model
    chains = [_chain(distances, name, q) for name in pair]
    levers = np.zeros(2 * model.body_count)
    for own, other in (chains, chains[::-1]):
        for body, lever in own.items():
            if body not in other:
                levers[body] = lever
                levers[model.body_count + body] = 1.0
    return levers


def _chain(distances: LinkDistances, name: str, q: np.ndarray) -> dict[int, float]:
    """Return the bodies that carry a link, each with its lever [m].

    The lever is the largest distance of a point of the link from the body's origin, over the
    motion's configurations q (T, nq).
    """
    model = distances.model
    system = model.system
    body = distances.shapes[name][0].body
    if body < 0:
        return {}
    shapes = (s for s in distances.shapes[name] if not isinstance(s.geometry, Plane))
    far = max(float(np.linalg.norm(s.p)) + _reach(s.geometry) for s in shapes)
    chain = {}
    while body >= 0:
        chain[body] = far
        far += float(np.linalg.norm(system.placement_p[body]))
        if system.joint_type[body] == PRISMATIC:
            far += _slide(model, body, q)
        body = int(system.parent[body]) if system.joint_type[body] != FREE else -1
    return {b: lever for b, lever in chain.items() if system.joint_type[b] != FIXED}


def _slide(model: Model, body: int, q: np.ndarray) -> float:
    """Return the largest displacement of a sliding joint in a motion [m], also beyond limits."""
    return max(
        float(np.abs(q[:, joint.q_index]).max()) for joint in model.joints if joint.body == body
    )


def _reach(geometry: Geometry) -> float:
    """Return the radius [m] of the sphere about a bounded shape's origin that encloses it."""
    if isinstance(geometry, Mesh):
        return float(np.linalg.norm(geometry.vertices, axis=1).max())
    if isinstance(geometry, Sphere):
        return geometry.radius
    if isinstance(geometry, Box):
        return 0.5 * float(np.linalg.norm(geometry.lengths))
    if isinstance(geometry, Capsule):
        return geometry.radius + 0.5 * geometry.length
    return float(np.hypot(geometry.radius, 0.5 * geometry.length))
