# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the legs, the forward direction and the soles of a robot."""

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.control.motion.leg_kinematics import JOINT_COUNT, bodies_between
from hrpsim.control.motion.numerical_leg import bend_of_knee
from hrpsim.control.pattern.footsteps import SIDES
from hrpsim.control.pattern.support_polygon import convex_hull, lowest_points
from hrpsim.engine.dynamics.functions import link_pose
from hrpsim.model.model import Joint, Model
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.system import FREE, REVOLUTE

_KNEE = 3
_NEEDED = f"a leg that walks needs {JOINT_COUNT} joints: hip 3, knee 1, ankle 2"
_ALIGNED = 0.9  # least cosine between an axis and the expected axis
_LONGER = 1.2  # least ratio of a sole's lengths before and behind the ankle


class BipedLeg(NamedTuple):
    """The properties of one leg, with all joints at zero."""

    side: str  # "left" or "right"
    joints: tuple[str, ...]  # three joints of the hip, the knee, two joints of the ankle
    foot: str  # link that touches the floor
    links: tuple[str, ...]  # `foot` and the links fixed to it
    sole_p: np.ndarray  # origin of the sole in the frame of `foot` (3,) [m]
    sole_R: np.ndarray  # R_foot_sole (3, 3): x forward, z up
    outline: np.ndarray  # corners of the sole in its frame, counter-clockwise (k, 2) [m]
    ankle_height: float  # height of the ankle's pitch axis above the sole [m]
    ankle_axes: tuple[str, str]  # joints about y and about x of the sole


class Biped(NamedTuple):
    """The legs of a robot and the forward direction."""

    legs: tuple[BipedLeg, BipedLeg]  # left, right
    R: np.ndarray  # R_base_walk (3, 3), columns: forward, left, up in the base link's frame
    facing: str  # the evidence for the forward direction
    aside: float  # from the base link's origin to the middle of the legs, left positive [m]
    above: tuple[str, ...]  # joints between the base and the legs


def biped_of(
    model: Model,
    feet: tuple[str | None, str | None] = (None, None),
    sole: tuple[float, float, float] | None = None,
) -> Biped:
    """Return the legs of `model`, a robot that stands upright with all joints at zero.

    The forward direction is opposite to the motion of the feet when the knees bend. If the knees
    bend equally far to both sides, the named left foot decides. Without named feet, forward is the
    side on which the soles reach farther from the ankles.

    Args:
        model: model of the robot.
        feet: links of the left and the right foot. The default is the lowest bodies on two branches
            of the tree.
        sole: (length behind the ankle, length before the ankle, width) [m]. The default is the size
            of the feet's shapes.

    Raises:
        ModelError: a part is missing. The message names the part.
    """
    poses = _body_poses(model)
    ends = [_foot_body(model, name) for name in feet if name is not None]
    if len(ends) != len(SIDES):
        ends = _lowest_branches(model, poses, ends)
    common, legs = _legs_above(model, ends)
    bodies = [_sole_body(model, leg[-1].body, end) for leg, end in zip(legs, ends)]
    forward, facing = _forward(model, poses, legs, bodies, named=feet != (None, None))
    R = _axes_along(forward)
    at = [float(R[:, 1] @ poses[leg[-1].body][0]) for leg in legs]
    if feet == (None, None) and at[0] < at[1]:
        legs.reverse()
        bodies.reverse()
    above = tuple(joint.name for joint in common)
    left, right = (_leg(model, poses, R, *of, sole) for of in zip(SIDES, legs, bodies))
    return Biped((left, right), R, facing, 0.5 * (at[0] + at[1]), above)


def _body_poses(model: Model) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return position and orientation of every body in the base link's frame."""
    q, result = model.neutral(), {}
    p0, R0 = link_pose(model, q, model.base_link)
    for name, frame in model.frames.items():
        if frame.body not in result:
            p, R = link_pose(model, q, name)
            R = R @ frame.R.T
            result[frame.body] = R0.T @ (p - R @ frame.p - p0), R0.T @ R
    return result


def _foot_body(model: Model, name: str) -> int:
    if name not in model.frames:
        raise ModelError(f"{model.source}: foot: {unknown_name('link', name, model.frames)}")
    return model.frames[name].body


def _joints_above(model: Model, body: int) -> list[Joint]:
    """Return the movable joints on the path from the base to a body."""
    by_body = {joint.body: joint for joint in model.joints if joint.joint_type != FREE}
    base = model.frame(model.base_link).body
    return [by_body[k] for k in bodies_between(model, base, body) if k in by_body]


def _legs_above(model: Model, ends: list[int]) -> tuple[list[Joint], list[list[Joint]]]:
    """Return the joints above both legs, and the joints of each leg from the hip down."""
    chains = [_joints_above(model, body) for body in ends]
    common = [a for a, b in zip(*chains) if a is b]
    legs = [chain[len(common) :][:JOINT_COUNT] for chain in chains]
    _check_legs(model, ends, legs)
    return common, legs


def _lowest_branches(model: Model, poses, ends: list[int]) -> list[int]:
    """Return the lowest body of each of two branches of the tree."""
    shaped = _shaped_bodies(model, poses)
    first = ends[0] if ends else shaped[0]
    top = _joints_above(model, first)
    for body in shaped:
        path = _joints_above(model, body)
        shared = sum(a is b for a, b in zip(path, top))
        if min(len(path), len(top)) - shared >= JOINT_COUNT:
            return [first, body]
    cure = "Name both feet (--left-foot, --right-foot)" if len(top) >= JOINT_COUNT else _NEEDED
    raise ModelError(
        f"{model.source}: two feet were not found. {_link_of(model, first)!r} reaches lowest, "
        f"{len(top)} joints below the base, and no other branch of {JOINT_COUNT} or more joints "
        f"touches the floor. {cure}"
    )


def _check_legs(model: Model, ends, legs) -> None:
    for body, leg in zip(ends, legs):
        name = _link_of(model, body)
        names = [joint.name for joint in leg]
        if len(leg) < JOINT_COUNT:
            raise ModelError(
                f"{model.source}: the leg of {name!r} has {len(leg)} joints ({', '.join(names)})."
                f" {_NEEDED}"
            )
        odd = [joint.name for joint in leg if joint.joint_type != REVOLUTE]
        if odd:
            raise ModelError(
                f"{model.source}: joints of the leg of {name!r} are not revolute: {odd}"
            )


def _range(model: Model, joint: Joint) -> str:
    k = joint.v_index
    return f"{joint.name!r} ({model.system.lower[k]:.3f} to {model.system.upper[k]:.3f} rad)"


def _shaped_bodies(model: Model, poses) -> list[int]:
    """Return the bodies below the base that have collision shapes, the lowest first."""
    base, lowest = model.frame(model.base_link), {}
    for body, (p, R) in poses.items():
        if body in (-1, base.body) or not _joints_above(model, body):
            continue
        points = lowest_points(model, body, R.T @ np.array([0.0, 0.0, 1.0]))
        if len(points):
            lowest[body] = float((p + points @ R.T)[:, 2].min())
    if not lowest:
        raise ModelError(
            f"{model.source}: has no feet. No link below {base.name!r} has a <collision>. "
            "Give each foot a <collision>"
        )
    return sorted(lowest, key=lowest.__getitem__)


def _forward(model: Model, poses, legs, bodies, *, named: bool) -> tuple[np.ndarray, str]:
    """Return the horizontal forward direction (2,) in the base's frame, and the reason as text."""
    ways = [_knee_way(poses, leg) for leg in legs]
    knees = [leg[_KNEE].v_index for leg in legs]
    senses = [bend_of_knee(model.system.lower[v], model.system.upper[v]) for v in knees]
    if any(senses):
        forward = -(senses[0] * ways[0] + senses[1] * ways[1])
        if np.linalg.norm(forward) < 0.5:
            raise ModelError(
                f"{model.source}: the knees {_range(model, legs[0][_KNEE])} and "
                f"{_range(model, legs[1][_KNEE])} do not bend the same way. The forward direction "
                "is unknown"
            )
        return forward, "as the knees bend"
    if named:
        left, right = (poses[leg[-1].body][0] for leg in legs)
        x, y, _ = left - right
        return np.array([y, -x]), "as the feet are named"
    return _longer_side(model, poses, legs, bodies, ways[0]), "as the soles point"


def _longer_side(model: Model, poses, legs, bodies, way: np.ndarray) -> np.ndarray:
    """Return `way` or its opposite, in which direction the soles reach farther from the ankles.

    Raises ModelError if both directions are alike.
    """
    ahead = sum(_reach(model, poses, *of, way) for of in zip(legs, bodies))
    behind = sum(_reach(model, poses, *of, -way) for of in zip(legs, bodies))
    if max(ahead, behind) <= _LONGER * min(ahead, behind):
        raise ModelError(
            f"{model.source}: the forward direction is unknown. The knees bend to both sides "
            f"alike ({_range(model, legs[0][_KNEE])}), and the soles are as long before the "
            "ankles as behind them. Name both feet (--left-foot, --right-foot)"
        )
    return way if ahead > behind else -way


def _knee_way(poses, leg: list[Joint]) -> np.ndarray:
    """Return the horizontal direction (2,) in which the foot moves for a positive knee rate."""
    p, R = poses[leg[_KNEE].body]
    way = np.cross(R[:, 2], poses[leg[_KNEE + 1].body][0] - p)[:2]
    return way / max(float(np.linalg.norm(way)), 1e-9)


def _reach(model: Model, poses, leg: list[Joint], body: int, way: np.ndarray) -> float:
    """Return the extent of a sole from the last ankle joint along a direction `way` (2,) [m]."""
    p, R = poses[body]
    points = lowest_points(model, body, R[2]) @ R.T + p - poses[leg[-1].body][0]
    return max(float((points[:, :2] @ way).max(initial=0.0)), 0.0)


def _axes_along(forward: np.ndarray) -> np.ndarray:
    yaw = np.arctan2(forward[1], forward[0])
    quarter = 0.5 * np.pi
    if abs(yaw - quarter * round(yaw / quarter)) < 0.1:  # assumed parallel to the base's axes
        yaw = quarter * round(yaw / quarter)
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).round(15)


def _leg(model: Model, poses, R_walk, side: str, leg: list[Joint], body: int, sole) -> BipedLeg:
    p, R = poses[body]
    R_sole = R.T @ R_walk  # rotation from the sole's frame to the body's frame
    pitch = _ankle_axis(model, poses, R_walk, leg, 1, "pitch")
    roll = _ankle_axis(model, poses, R_walk, leg, 0, "roll")
    points = lowest_points(model, body, R_sole[:, 2])
    corners = points @ R_sole
    outline = convex_hull(corners[:, :2]) if len(points) > 2 else corners[:, :2]
    if len(points) == 0 or (len(outline) < 3 and sole is None):
        raise ModelError(
            f"{model.source}: the {side} foot has no sole. The collision shapes of "
            f"{_link_of(model, body)!r} have {len(points)} points within 2 mm of the lowest point, "
            "and a sole needs 3. Give the size of the sole (--sole), or other shapes"
        )
    ankle = R_sole.T @ (R.T @ (poses[pitch.body][0] - p))
    middle = 0.5 * (outline[:, 1].min() + outline[:, 1].max()) if sole is None else ankle[1]
    origin = np.array([ankle[0], middle, corners[:, 2].min()])
    outline = outline - origin[:2]
    if sole is not None:
        behind, before, width = sole
        half = 0.5 * width
        outline = np.array([[-behind, -half], [before, -half], [before, half], [-behind, half]])
    name = _link_of(model, body)
    frame = model.frames[name]
    return BipedLeg(
        side=side,
        joints=tuple(joint.name for joint in leg),
        foot=name,
        links=tuple(link for link, at in model.frames.items() if at.body == body),
        sole_p=frame.R.T @ (R_sole @ origin - frame.p),
        sole_R=frame.R.T @ R_sole,
        outline=outline,
        ankle_height=float(ankle[2] - origin[2]),
        ankle_axes=(pitch.name, roll.name),
    )


def _link_of(model: Model, body: int) -> str:
    """Return the link that is moved by the joint of a body."""
    names = [joint.name for joint in model.joints if joint.body == body]
    root = Document(model.urdf, model.source, False).root
    for joint in root.iterchildren("joint"):
        if joint.get("name") in names:
            return joint.find("child").get("link")
    off = {
        name: np.abs(frame.p).max() + np.abs(frame.R - np.eye(3)).max()
        for name, frame in model.frames.items()
        if frame.body == body
    }
    return min(off, key=off.__getitem__)


def _sole_body(model: Model, last: int, end: int) -> int:
    """Return the body on the floor: `end`, if only springs lie between `end` and `last`."""
    springs = model.system.stiffness
    for joint in model.joints:
        if joint.body in bodies_between(model, last, end) and (
            joint.name in model.gains or springs[joint.v_index] == 0.0
        ):
            return last
    return end


def _ankle_axis(model: Model, poses, R_walk, leg, axis: int, what: str) -> Joint:
    for joint in leg[_KNEE + 1 :]:
        if abs(poses[joint.body][1][:, 2] @ R_walk[:, axis]) > _ALIGNED:
            return joint
    names = [joint.name for joint in leg[_KNEE + 1 :]]
    loops = ", ".join(connection.name for connection in model.connections)
    raise ModelError(
        f"{model.source}: the ankle has no {what} axis. Neither {names[0]!r} nor {names[1]!r} "
        "turns "
        f"about the {'xyz'[axis]} axis of the walk with all joints at zero"
        + (f". Legs with closed loops ({loops}) do not walk" if loops else "")
    )
