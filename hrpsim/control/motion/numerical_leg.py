# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Inverse kinematics of any leg of six revolute joints, by iteration."""

import math
from collections.abc import Sequence
from typing import NamedTuple, NewType

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.control.motion.leg_kinematics import (
    JOINT_COUNT,
    LEG,
    LegKinematics,
    UnreachableError,
    chain_of_leg,
    solve_leg,
)
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import (
    ChainLink,
    ChainWork,
    Index,
    Record,
    Records,
    Vec6,
    Vector,
)
from hrpsim.engine.kinematics.chain_inverse import CHAIN_WORK, LINK, solve_chain
from hrpsim.model.model import Model

_KNEE = 3  # hip (three joints), knee, ankle (two)
_CLEARLY = 1.5  # least ratio of a knee's two ranges that determines the bending direction
_BENT = (0.6, 1.3, 2.0)  # knee angles at the start of searches [rad]
_BACKWARD = 0.3  # largest knee angle in the opposite direction [rad]
_EXACT = 1e-10  # [m]
_REACHED = 1e-6  # largest error at a reachable target [m]


class Legs(NamedTuple):
    """The inverse kinematics of the n legs of a robot, as arrays for kernels.

    Legs with a closed form use `forms`. Other legs use `searches`, `links` and `work`.
    """

    closed: np.ndarray  # (n,) whether the inverse has a closed form
    forms: np.ndarray  # (n,) LEG
    searches: np.ndarray  # (n,) SEARCH
    links: np.ndarray  # (n, 7) LINK
    work: np.ndarray  # (n,) CHAIN_WORK


SEARCH = np.dtype(
    [
        ("sense", "f8"),  # sign of the knee's bending direction
        ("length", "f8"),  # length of the leg [m]
        ("tried", "f8", (JOINT_COUNT,)),  # work
    ]
)
LegSearch = NewType("LegSearch", Record)


class NumericalLeg:
    """The inverse kinematics of a leg with any axes, by damped least squares. See `LegKinematics`.

    The leg consists of the first six joints on the way from the base to `foot_link`. The fourth
    joint is the knee. Later joints are assumed to be at zero. Every search begins with the same
    bent knee, so the same target always gives the same angles. If the result bends the knee in the
    wrong direction, the search is repeated from a more bent knee. The right direction follows from
    the limits of the knee. If the limits allow both directions, the right direction moves the foot
    backward, against the waist's x.

    Attributes:
        longest: length of the stretched leg [m].
        hip_center: position of the third joint, with all joints at zero (3,) [m].

    Raises:
        ModelError: the model does not have such a leg.
    """

    def __init__(self, model: Model, foot_link: str) -> None:
        waist, foot = model.frame(model.base_link), model.frame(foot_link)
        bodies, chain = chain_of_leg(model, waist, foot)
        self.joint_names = tuple(joint.name for joint in chain)
        self.q_index = np.array([joint.q_index for joint in chain])
        self.links = np.zeros(JOINT_COUNT + 1, dtype=LINK)
        system, R, p = model.system, waist.R.T, -waist.R.T @ waist.p
        k, origins, axes, at, turned = 0, [], [], p, R
        for body in bodies:
            p, R = p + R @ system.placement_p[body], R @ system.placement_R[body]
            at = at + turned @ system.placement_p[body]
            turned = turned @ system.placement_R[body]
            if k < JOINT_COUNT and body == chain[k].body:
                self.links[k] = (R, p)
                R, p, k = np.eye(3), np.zeros(3), k + 1
                origins.append(at)
                axes.append(turned[:, 2])
        self.links[JOINT_COUNT] = (R @ foot.R, p + R @ foot.p)
        hip, knee, ankle = origins[_KNEE - 1 : _KNEE + 2]
        self.hip_center = hip
        self.longest = float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
        v = chain[_KNEE].v_index
        self.search = np.zeros(1, dtype=SEARCH)
        ahead = float(np.cross(axes[_KNEE], ankle - knee)[0])  # for a positive rate
        sense = bend_of_knee(system.lower[v], system.upper[v])
        self.search["sense"] = sense or (-1.0 if ahead > 0.0 else 1.0)
        self.search["length"] = self.longest
        self._target = np.zeros(1, dtype=LINK)
        self._work = np.zeros(1, dtype=CHAIN_WORK)

    def solve(self, position, orientation, *, clamp: bool = False) -> np.ndarray:
        """Return the six joint angles [rad] (6,), in (-pi, pi], for a pose of the foot link.

        Joint limits are not considered.

        Args:
            position: position of the foot link in the waist's frame (3,) [m].
            orientation: R_waist_foot (3, 3).
            clamp: if no posture is found, return the nearest angles. A rotation error of 1 rad
                counts as much as a distance of the leg's length.

        Raises:
            UnreachableError: if no posture was found, without `clamp`.
        """
        angles, target = np.empty(JOINT_COUNT), self._target
        target["R"], target["p"] = orientation, position
        residual = _search_leg(self.links, self.search[0], target[0], self._work[0], angles)
        if not residual <= _REACHED and not clamp:
            raise UnreachableError(
                f"the leg of {', '.join(self.joint_names)} does not reach the foot's position "
                f"{np.round(np.asarray(position), 4).tolist()} m. It misses by {residual:.2g} m"
            )
        return angles


def bend_of_knee(lower: float, upper: float) -> float:
    """Return the sign of a bent knee's angle, from the limits of the knee [rad].

    The result is 0 if the limits allow both signs.
    """
    less, more = sorted((-lower, upper))
    if math.isinf(less) or more < _CLEARLY * less:
        return 0.0
    return 1.0 if upper >= -lower else -1.0


@kernel
def search_leg(
    links: Records[ChainLink],
    search: LegSearch,
    target: ChainLink,
    work: ChainWork,
    angles_out: Vector,
) -> float:
    """Search the joint angles (6,) with the foot nearest to the pose `target`.

    Args:
        links: LINK records (7,).
        search: a SEARCH record.
        target: a LINK record in the waist's frame.
        work: a CHAIN_WORK record.
        angles_out: joint angles (6,) [rad], written.

    Returns:
        the error [m]. A rotation by 1 rad counts as the length of the leg.
    """
    residual = _search(links, search, target, work, _BENT[0], angles_out)
    for bent in _BENT[1:]:
        if residual <= _REACHED and search.sense * angles_out[_KNEE] > -_BACKWARD:
            break
        tried = search.tried
        off = _search(links, search, target, work, bent, tried)
        if off <= max(residual, _REACHED) and search.sense * tried[_KNEE] > -_BACKWARD:
            residual = off
            for k in range(JOINT_COUNT):
                angles_out[k] = tried[k]
    return residual


@inner_kernel
def _search(
    links: Records[ChainLink],
    search: LegSearch,
    target: ChainLink,
    work: ChainWork,
    bent: float,
    angles_out: Vec6,
) -> float:
    """Search from a posture with the knee angle `bent` [rad].

    The resulting angles are in (-pi, pi].
    """
    for k in range(JOINT_COUNT):
        angles_out[k] = 0.0
    angles_out[_KNEE] = search.sense * bent
    residual = solve_chain(links, target, search.length, _EXACT, work, angles_out)
    for k in range(JOINT_COUNT):
        angles_out[k] = math.pi - (math.pi - angles_out[k]) % (2.0 * math.pi)
    return residual


_search_leg = prepared(search_leg)


def leg_of(model: Model, foot_link: str) -> LegKinematics | NumericalLeg:
    """Return the closed-form inverse kinematics of a leg if it exists, otherwise the numerical one.

    Raises ModelError if the model has no leg of six revolute joints that ends in `foot_link`.
    """
    try:
        return LegKinematics(model, foot_link)
    except ModelError:
        return NumericalLeg(model, foot_link)


def legs_of(legs: Sequence[LegKinematics | NumericalLeg]) -> Legs:
    """Return the records of some legs, in new arrays."""
    n = len(legs)
    made = Legs(
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=LEG),
        np.zeros(n, dtype=SEARCH),
        np.zeros((n, JOINT_COUNT + 1), dtype=LINK),
        np.zeros(n, dtype=CHAIN_WORK),
    )
    for k, leg in enumerate(legs):
        if isinstance(leg, LegKinematics):
            made.closed[k], made.forms[k] = 1, leg.record[0]
        else:
            made.searches[k], made.links[k] = leg.search[0], leg.links
    return made


@inlined_kernel
def place_foot(legs: Legs, k: Index, target: ChainLink, angles_out: Vec6) -> None:
    """Write the joint angles (6,) of leg `k` for the foot pose `target`, or the nearest pose.

    target: a LINK record in the waist's frame.
    """
    if legs.closed[k] != 0:
        solve_leg(legs.forms[k], target, angles_out)
    else:
        search_leg(legs.links[k], legs.searches[k], target, legs.work[k], angles_out)
