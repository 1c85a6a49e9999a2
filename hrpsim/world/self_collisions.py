# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find links of a robot that touch each other, in one posture or in many random postures."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.scene.status import MORE_CANDIDATES, MORE_CONTACTS, NEEDS_KERNEL
from hrpsim.engine.step.step import advance
from hrpsim.model.model import Model, adjacent_bodies
from hrpsim.model.readers.urdf.srdf import Pair, pair_of
from hrpsim.model.system import FREE
from hrpsim.world.arrays.change import grow
from hrpsim.world.world import World

_ASKS = (MORE_CANDIDATES, MORE_CONTACTS, NEEDS_KERNEL)


class SelfContacts:
    """Detector of contacts of a robot with itself, except between adjacent or disabled links.

    Each posture is tested by a step from rest without gravity. Contacts are detected at the
    beginning of the step, so later stages of the step do not affect the result.
    """

    def __init__(self, model: Model) -> None:
        world = World(gravity=(0.0, 0.0, 0.0), sweep_limit=1, continuous=False)
        self._robot = world.add_robot(model, self_collision=True)
        self._scene = world.scene
        self._links = [shape.link for shape in model.shapes]

    def touching(self, q) -> dict[Pair, float]:
        """Return the depth [m] of each pair of links that overlaps at the configuration q."""
        self._robot.q = q
        self._robot.v = np.zeros(self._robot.nv)
        scene = self._scene
        scene.counts["previous_count"] = 0  # these contacts remain if the step fails
        while (status := advance(TupleReference(scene), 1)[1]) in _ASKS:
            scene = self._scene = grow(scene, status)
        result: dict[Pair, float] = {}
        records = scene.collision.contacts[: int(scene.search["found_count"][0])]
        for a, b, gap in records[["shape_a", "shape_b", "gap"]].tolist():
            if gap < 0.0:
                pair = pair_of(self._links[a], self._links[b])
                result[pair] = max(result.get(pair, 0.0), -gap)
        return result


@dataclass(frozen=True)
class PairSurvey:
    """Overlaps of every pair of links with shapes, over many postures.

    Attributes:
        reasons: reason why a pair need not be tested, a value of `reason` in SRDF. "Adjacent": the
            links are adjacent. "Default": the links overlap in the neutral posture. "Always" and
            "Never": the links overlap in all or in none of the postures.
        shares: fraction of the postures in which the links overlap, for all other pairs.
    """

    samples: int
    reasons: dict[Pair, str]
    shares: dict[Pair, float]


def survey_pairs(model: Model, samples: int, seed: int = 0) -> PairSurvey:
    """Count the overlaps of each pair of links in `samples` random postures.

    Joint positions are drawn uniformly from the range of the joint. The range of a joint without
    limits is one turn or 2 m. If a pair overlaps in a fraction s of all postures, the probability
    to miss the pair is (1 - s)^samples.
    """
    contacts, random = SelfContacts(model), np.random.default_rng(seed)
    counts: Counter[Pair] = Counter()
    for _ in range(samples):
        counts.update(list(contacts.touching(random_posture(model, random))))
    neutral = contacts.touching(model.neutral())
    adjacent = adjacent_bodies(model)
    body_of = {shape.link: shape.body for shape in model.shapes}
    reasons, shares = {}, {}
    for pair in combinations(sorted(body_of), 2):
        bodies = tuple(sorted(body_of[link] for link in pair))
        causes = {
            "Adjacent": bodies[0] == bodies[1] or bodies in adjacent,
            "User": pair in model.disabled_collisions,
            "Always": counts[pair] == samples,
            "Default": pair in neutral,
            "Never": pair not in counts,
        }
        reason = next((name for name, holds in causes.items() if holds), None)
        if reason is None:
            shares[pair] = counts[pair] / samples
        else:
            reasons[pair] = reason
    return PairSurvey(samples, reasons, shares)


def random_posture(model: Model, random: np.random.Generator) -> np.ndarray:
    """Return a configuration with every joint at random in its range. A free base is at rest."""
    q, system = model.neutral(), model.system
    q_of_dof = {}
    for joint in model.joints:
        if joint.joint_type == FREE:
            continue
        q_of_dof[joint.v_index] = joint.q_index
        far = joint.motion.usual_range
        low, high = system.lower[joint.v_index], system.upper[joint.v_index]
        low, high = (low if math.isfinite(low) else -far), (high if math.isfinite(high) else far)
        q[joint.q_index] = random.uniform(min(low, high), max(low, high))
    for dof, leader in enumerate(system.mimic_dof):
        if leader >= 0:
            position = q[q_of_dof[int(leader)]]
            q[q_of_dof[dof]] = system.mimic_ratio[dof] * position + system.mimic_offset[dof]
    return q
