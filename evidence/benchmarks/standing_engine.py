# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of engines with a standing robot, and measures of contact accuracy."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.spatial.transform import Rotation

from hrpsim import Model, link_jacobian, link_pose

SOLES = {"left": "LLEG_SOLE", "right": "RLEG_SOLE"}
FRICTION = 0.8
_BEARS = 1e-6  # load as a fraction of the weight, below which a point is ignored
_STICKS = 0.99  # largest fraction of the available friction of a sticking point


class Touching(NamedTuple):
    """Contacts of robot and floor: points (n, 3) [m], depths (n,) [m], forces (n, 3) [N].

    The forces act on the robot.
    """

    points: np.ndarray
    depths: np.ndarray
    forces: np.ndarray


class StandingEngine(Protocol):
    """A robot on the floor, whose servos hold targets."""

    name: str
    model: Model  # hrpsim's model, which defines the layout of states

    def step(self, count: int) -> None:
        """Make `count` steps of 1 ms."""

    def aim(self, q: np.ndarray) -> None:
        """Set the targets of all joints with gains to the configuration q (nq,)."""

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Return q (nq,) and v (nv,), in the layout of `model`."""

    def touching(self) -> Touching:
        """Return the contacts of the last step."""


def contact_speed(engine: StandingEngine) -> float:
    """Make a step. Return the largest remaining speed of a sticking contact point [m/s].

    The formula is the same for all engines. A point sticks if it carries more than a millionth of
    the weight and its friction is below 99 % of the limit. The speed is J v, where J is the
    Jacobian at the start of the step, for which the engine solves, and v is the velocity at the
    end.
    """
    model = engine.model
    q, _ = engine.state()
    engine.step(1)
    q_end, v = engine.state()
    turn = Rotation.from_quat(q[3:7]).inv() * Rotation.from_quat(q_end[3:7])
    v = np.concatenate([turn.apply(v[:3]), turn.apply(v[3:6]), v[6:]])
    points, _, forces = engine.touching()
    motions, places = {}, {}
    for link in SOLES.values():
        motions[link] = link_jacobian(model, q, link) @ v
        places[link], _ = link_pose(model, q, link)
    worst = 0.0
    for point, force in zip(points, forces):
        friction = np.hypot(force[0], force[1])
        if force[2] < _BEARS * 9.80665 * model.mass or friction > _STICKS * FRICTION * force[2]:
            continue
        link = SOLES["left" if point[1] > 0.0 else "right"]
        speed = motions[link][:3] + np.cross(motions[link][3:], point - places[link])
        worst = max(worst, float(np.linalg.norm(speed)))
    return worst


def exactness(engine: StandingEngine, at_rest: bool = True, steps: int = 1) -> dict:
    """Measure the accuracy of contacts over some steps.

    Returns:
        Number of contacts, contact speed (the largest of `steps`) [m/s], penetration [m], and error
        of the weight.
    """
    speed = max(contact_speed(engine) for _ in range(steps))
    _, depths, forces = engine.touching()
    weight = 9.80665 * engine.model.mass
    measures = {
        "contact points": str(len(depths)),
        "contact speed [m/s]": speed,
        "penetration [m]": float(max(depths.max(), 0.0)) if len(depths) else 0.0,
    }
    if at_rest:
        error = abs(forces[:, 2].sum() - weight) / weight
        measures["|floor force - weight| / weight"] = float(error)
    return measures
