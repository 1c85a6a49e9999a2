# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the plausibility of input. All entry points use the same rules and texts.

A rule returns the text of a finding, or "" for none. An entry point raises an error with the text,
or warns once. Entry points are Python commands and states, world files, topics, goals, recordings
and policies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import CollisionShape, Joint
from hrpsim.model.readers.plausibility import if_degrees
from hrpsim.model.shapes.convex_hull import farthest_against
from hrpsim.model.shapes.geometry import Geometry
from hrpsim.model.shapes.solid_inertia import solid_volume
from hrpsim.model.system import FREE, PRISMATIC, System
from hrpsim.world.objects.entity import Entity

ROUNDING = 1e-9  # tolerance of a target at a limit, relative and absolute
STATE_SLACK = 1e-3  # tolerance of a state at a limit [rad or m]
LONGEST_PERIOD = 0.05  # largest period of servos and contacts [s]
SLOWEST_SAMPLES = 0.5  # largest period of a motion's samples [s]
LONGEST_RAMP = 60.0  # longest ramp of a command [s]
_DEEP = 5e-3  # largest depth inside the ground [m]
_SHOWN = 3  # largest number of findings in a text
_TIMES = 3.0  # ratio of velocities to changes of positions that counts as a wrong unit
_ALIKE = 0.7  # least correlation for this ratio
_STRONGEST = 300.0  # gravity of the sun [m/s^2]
_SLOWEST_SERVO = 10.0  # largest kd / kp [s]
_HIGHEST = 100.0  # largest height of a start over the ground [m]
_FASTEST = 300.0  # largest speed of a body or robot [m/s]
_GYRATION = 20.0  # largest radius of gyration [m]
_ROUGHEST = 10.0  # largest coefficient of friction
_DENSITIES = 0.01, 1e5  # densities of bodies: a hundredth of air, four times osmium [kg/m^3]
_HEAVIEST = 1e6  # largest mass of a robot [kg]
_LARGEST = 100.0  # largest extent of a link's shape [m]
_LONGEST_DECAY = 1.0  # longest decay of a deviation in a contact [s]
_SOFTEST = 1.0  # largest compliance of a contact point [m/N]
_LEVER = 1.0  # largest lever of torsional and rolling friction [m]
_SLOWEST_MOTOR = 10.0  # longest time from rest to the limit of velocity [s]
_SLOWER = 0.25  # largest missing fraction of a commanded velocity
_UNITS = {"positions": "position", "velocities": "velocity", "efforts": "effort"}


class JointLimits:
    """Joint limits with a margin for rounding, for comparison with commanded values.

    reach: limits (n, 4) of each joint: lower position, upper position, largest velocity, largest
    effort. Free bases are left out.
    """

    def __init__(self, system: System, joints: Iterable[Joint]) -> None:
        self._joints = [joint for joint in joints if joint.joint_type != FREE]
        self._row = {joint.name: k for k, joint in enumerate(self._joints)}
        at = np.array([joint.v_index for joint in self._joints], dtype=np.int64)
        ends = system.lower, system.upper, system.velocity_limit, system.effort_limit
        self._ends = np.column_stack([end[at] for end in ends])
        away = np.array([-1.0, 1.0, 1.0, 1.0])
        self.reach = self._ends + away * (ROUNDING * (1.0 + np.abs(self._ends)))
        self._names: Sequence[str] | None = None
        self._rows = np.zeros(0, dtype=np.int64)  # rows of these names

    def beyond(
        self, names: Sequence[str], values: Mapping[str, np.ndarray], slack: float = 0.0
    ) -> list[str]:
        """Return a text for each value beyond a limit. NaN is never beyond a limit.

        Args:
            names: names of k joints.
            values: arrays (k,) by the names "positions", "velocities" and "efforts".
            slack: allowed excess over a limit, in addition to rounding.
        """
        if names != self._names:
            self._names = list(names)
            self._rows = np.array([self._row[name] for name in names], dtype=np.int64)
        reach, result = self.reach[self._rows], []
        for column, argument in enumerate(_UNITS, 1):
            numbers = values.get(argument)
            if numbers is not None:
                low = reach[:, 0] if column == 1 else -reach[:, column]
                off = (numbers < low - slack) | (numbers > reach[:, column] + slack)
                result += [
                    self._text(column, self._rows[k], numbers[k], argument)
                    for k in np.flatnonzero(off)
                ]
        return result

    def _text(self, column: int, row: int, value: float, argument: str) -> str:
        joint, ends = self._joints[row], self._ends[row]
        low, high = ends[0] if column == 1 else -ends[column], ends[column]
        text = f"{_UNITS[argument]} {value:.6g} of {joint.name!r} is not within {low:.6g} to "
        text += f"{high:.6g}"
        is_angle = argument == "positions" and joint.motion.unit == "rad"
        if is_angle and abs(value) > math.pi and low <= math.radians(value) <= high:
            text += f" ({if_degrees(value)})"
        return text


def listed(found: Sequence[str], shown: int = _SHOWN) -> str:
    """Join findings to one text with at most `shown` findings, or "" without findings."""
    more = f", and {len(found) - shown} more" if len(found) > shown else ""
    return f"{'; '.join(found[:shown])}{more}"


def long_period(
    what: str, period: float, longest: float = LONGEST_PERIOD, why: str = "contacts and servos"
) -> str:
    """Return a text if a time `period` [s] exceeds `longest`, or else ""."""
    if period <= longest:
        return ""
    rate = f", if {period:g} Hz {1.0 / period:g}" if period > 10.0 else ""
    return (
        f"{what} is {period:g} s, too long for {why}. If {period:g} ms are meant, "
        f"write {period / 1000.0:g}{rate}"
    )


def odd_gravity(gravity: np.ndarray) -> str:
    """Return a text if gravity (3,) [m/s^2] points upward or is implausibly large, or else ""."""
    parts = ", ".join(f"{part:g}" for part in gravity)
    if gravity[2] > 0.0:
        return f"gravity ({parts}) points upward, because z is up. Give a negative z"
    if np.linalg.norm(gravity) > _STRONGEST:
        return f"gravity ({parts}) is unusually strong. The unit is m/s^2: on earth (0, 0, -9.81)"
    return ""


def too_rough(what: str, friction: float) -> str:
    """Return a text if a friction coefficient exceeds the values of all materials, or else ""."""
    if friction <= _ROUGHEST:
        return ""
    return f"{what} is {friction:g}. Coefficients of materials are usually from 0 to 1.5"


def far_point(what: str, away: np.ndarray, name: str) -> str:
    """Return a text if a point at the distance `away` (3,) [m] is implausibly far, or else ""."""
    distance = float(np.linalg.norm(away))
    if distance <= _HIGHEST:
        return ""
    return f"{what} is {distance:.4g} m from {name!r}. Points are in m"


def soft_contact(compliance: float, damping_time: float) -> str:
    """Return a text if compliance [m/N] or damping time [s] of a contact are too large, or ""."""
    if compliance > _SOFTEST:
        return (
            f"compliance is {compliance:g} m/N, softer than any material. If a stiffness of "
            f"{compliance:g} N/m is meant, write {1.0 / compliance:.4g}"
        )
    return long_period("damping_time", damping_time, _LONGEST_DECAY, "contacts")


def long_lever(what: str, lever: float) -> str:
    """Return a text if torsional or rolling friction has an implausible lever [m], or else ""."""
    if lever <= _LEVER:
        return ""
    return f"{what} is {lever:g} m. The unit is m: the largest moment by the normal force"


def idle_joint(name: str, friction: float, inertia: float, effort: float, velocity: float) -> str:
    """Return a text if a joint cannot move at its limits of effort and velocity, or else "".

    Args:
        name: name of the joint.
        friction: dry friction [Nm or N].
        inertia: rotor inertia, reflected to the joint [kg m^2 or kg].
        effort: largest effort [Nm or N].
        velocity: largest velocity [rad/s or m/s].
    """
    if not 0.0 < effort < math.inf:
        return ""
    if friction >= effort:
        return f"friction {friction:g} of {name!r} exceeds the limit of effort, {effort:g}"
    if velocity < math.inf and (time := inertia * velocity / effort) > _SLOWEST_MOTOR:
        return (
            f"rotor inertia {inertia:g} of {name!r}: the limit of effort, {effort:g}, needs "
            f"{time:.3g} s to reach {velocity:g}. The unit is kg m^2 or kg, at the joint"
        )
    return ""


def wrong_scale(entity: Entity, is_body: bool) -> str:
    """Return a text if mass or size of a robot or body suggest another unit, or else "".

    A body is judged by its density, a robot by masses, radii of gyration and sizes.
    """
    mass = float(entity.system.mass.sum())
    extents = [_extent(shape.geometry) for shape in entity.shapes]
    if is_body:
        density = mass / sum(solid_volume(shape.geometry) for shape in entity.shapes)
        low, high = _DENSITIES
        if low <= density <= high:
            return ""
        kind = "lighter than gas" if density < low else "denser than any metal"
        return f"with {mass:g} kg and {density:.3g} kg/m^3, {kind}. Sizes are in m, masses in kg"
    system = entity.system
    moments = np.abs(system.inertia).max(axis=(1, 2))
    radii = np.sqrt(moments / np.where(system.mass > 0.0, system.mass, np.inf))
    if radii.max(initial=0.0) > _GYRATION:
        return (
            f"with a moment of inertia of {moments[radii.argmax()]:.3g} kg m^2 for"
            f" {system.mass[radii.argmax()]:.3g} kg. Moments are in kg m^2"
        )
    if mass > _HEAVIEST:
        return f"with a mass of {mass:.3g} kg. Masses are in kg, not in g"
    largest = max(extents, default=0.0)
    if largest > _LARGEST:
        name = entity.shapes[extents.index(largest)].link
        return (
            f"with {name!r} {largest:.3g} m long. Sizes are in m (a mesh in mm needs scale 0.001)"
        )
    return ""


def odd_motion(entity: Entity) -> str:
    """Return a text about a suspicious pose or speed of a free base, or "".

    The quaternion (1, 0, 0, 0) is suspicious: a half turn about x, but the identity in the order w
    x y z. A very high speed is suspicious too.
    """
    if entity.nv == 0 or entity.system.joint_type[0] != FREE:
        return ""
    speed = float(np.linalg.norm(entity.v[:3]))
    if speed > _FASTEST:
        return f"with a velocity of {speed:g} m/s. Velocities are in m/s"
    return half_turn(entity.q[3:7])


def half_turn(quaternion: np.ndarray) -> str:
    """Return a text if a quaternion (4,) is (1, 0, 0, 0), the identity in another order, or ""."""
    if quaternion.tolist() != [1.0, 0.0, 0.0, 0.0]:
        return ""
    return (
        "upside down, with the quaternion 1 0 0 0. The order is x y z w, so the identity is"
        " 0 0 0 1. If a half turn about x is meant, write -1 0 0 0"
    )


def slow_servo(joints: Sequence[str], kp: np.ndarray, kd: np.ndarray) -> str:
    """Return a text if gains (n,) of joints seem swapped, or else ""."""
    slow = np.flatnonzero(kd > _SLOWEST_SERVO * np.where(kp > 0.0, kp, np.inf))
    texts = [f"kp {kp[k]:g} and kd {kd[k]:g} of {joints[k]!r}" for k in slow]
    if not texts:
        return ""
    slowest = f"{kd[slow[0]] / kp[slow[0]]:g} s"
    return f"{listed(texts)} seem swapped: the servo needs kd / kp = {slowest} to reach a target"


def slow_rows(joints: Sequence[str], kp: np.ndarray, kd: np.ndarray) -> str:
    """Return the text of `slow_servo` for the first row of gains (m, n) that has one, or ""."""
    rows = np.flatnonzero((kd > _SLOWEST_SERVO * np.where(kp > 0.0, kp, np.inf)).any(axis=1))
    return slow_servo(joints, kp[rows[0]], kd[rows[0]]) if rows.size else ""


def _extent(geometry: Geometry) -> float:
    """Return the largest extent of a shape along its axes [m]."""
    axes = np.eye(3)
    high, low = np.split(farthest_against(geometry, np.vstack([-axes, axes])), 2)
    return float((high - low).diagonal().max())


def largest_load(entity: Entity, body: int, gravity: np.ndarray) -> float:
    """Return the largest effort of gravity on the joint above a body, over its range [Nm or N].

    All other joints keep their positions.
    """
    poses, system = new_kinematics(len(entity.system.parent)), entity.system
    update_poses(entity.forest, entity.q.copy(), poses)
    R, p = poses["R"], poses["origin"][system.root] + poses["p"]
    axis, mass, moment = R[body][:, 2], 0.0, np.zeros(3)
    for k in range(body, len(system.parent)):
        above = k
        while above > body:
            above = system.parent[above]
        if above == body:
            mass += system.mass[k]
            moment += system.mass[k] * (p[k] + R[k] @ system.com[k] - p[body])
    if system.joint_type[body] == PRISMATIC:
        return mass * abs(float(axis @ gravity))
    return float(np.linalg.norm(np.cross(axis, moment)) * np.linalg.norm(np.cross(axis, gravity)))


def unreached(entity: Entity, joint: Joint, velocity: float, kd: float, gravity: np.ndarray) -> str:
    """Return a text if a joint's damping gain alone does not reach a velocity, or else "".

    Weight, damping and friction of the joint act against the motion.
    """
    system, k, speed = entity.system, joint.v_index, abs(velocity)
    if kd <= 0.0 or speed == 0.0:
        return ""
    load = largest_load(entity, joint.body, gravity)
    reached = (kd * speed - load - system.friction[k]) / (kd + system.damping[k])
    if reached >= (1.0 - _SLOWER) * speed:
        return ""
    return (
        f"velocity {velocity:.6g} of {joint.name!r}: with the gain kd {kd:.4g}, the joint may be"
        f" slower by {speed - reached:.3g}, because of weight ({load:.3g}), friction and damping."
        " `drive` keeps a velocity"
    )


def contradiction(time: np.ndarray, positions: np.ndarray, velocities: np.ndarray) -> str:
    """Return a text if velocities (n,) contradict positions (n,) at the same times [s], or else "".

    The changes of positions are compared with the mean velocities between two times, by least
    squares. Only a wrong factor counts, such as 57.3 from degrees or 1000 from milliseconds.
    """
    change, travel = np.diff(positions), 0.5 * (velocities[1:] + velocities[:-1]) * np.diff(time)
    if len(change) < 2 or not (travel.any() and change.any()):
        return ""
    alike = float(change @ travel / (np.linalg.norm(change) * np.linalg.norm(travel)))
    ratio = float(np.linalg.norm(change) / np.linalg.norm(travel))
    if abs(alike) < _ALIKE or (1.0 / _TIMES < ratio < _TIMES and alike > 0.0):
        return ""
    sign = "-" if alike < 0.0 else ""
    return (
        f"velocities contradict positions, which change {sign}{ratio:.3g} times as fast. The units "
        "are rad and rad/s, or m and m/s"
    )


def heights_over_ground(
    entity: Entity, first: int, planes: Mapping[int, CollisionShape], apart: set[tuple[int, int]]
) -> Iterator[tuple[float, CollisionShape, CollisionShape]]:
    """Yield (height [m], plane, shape) of each shape over each plane that the shape may touch.

    Args:
        entity: robot or body.
        first: the number of the entity's first shape.
        planes: fixed planes by number.
        apart: pairs of numbers of shapes that never touch.
    """
    poses = new_kinematics(len(entity.system.parent))
    update_poses(entity.forest, entity.q.copy(), poses)
    for number, plane in planes.items():
        normal = plane.R[:, 2]
        for k, shape in enumerate(entity.shapes, first):
            if shape.body >= 0 and (number, k) not in apart:
                R = poses[shape.body]["R"]
                origin = poses[entity.system.root[shape.body]]["origin"] + poses[shape.body]["p"]
                lowest = farthest_against(shape.geometry, (R @ shape.R).T @ normal)
                point = origin + R @ (shape.p + shape.R @ lowest)
                yield float((point - plane.p) @ normal), plane, shape


def odd_height(
    entity: Entity, first: int, planes: Mapping[int, CollisionShape], apart: set[tuple[int, int]]
) -> str:
    """Return a text with the depth of an entity inside a plane or a great height above, or "".

    The arguments are as in `heights_over_ground`.
    """
    heights = heights_over_ground(entity, first, planes, apart) if planes else ()
    height, plane, shape = min(heights, key=lambda entry: entry[0], default=(0.0, None, None))
    if height > _HIGHEST:
        return f"{height:.3g} m above 'world/{plane.link}'. Positions are in m"
    if height >= -_DEEP:
        return ""
    return (
        f"{-height:.3g} m inside 'world/{plane.link}', with {shape.link!r}. Set the position "
        f"{-height:.3g} m higher (`place_on_floor` does so). Otherwise contacts push it out, and "
        "it may fall"
    )
