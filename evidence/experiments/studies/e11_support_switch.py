# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E11: a humanoid shifts from the right foot to the left. The analysis switches the fixed link."""

import time
from types import ModuleType

import numpy as np

from evidence.experiments.framework.engines import peer_name, pinocchio_module
from evidence.experiments.framework.experiment import Experiment, Options, Result
from evidence.experiments.framework.film_strip import draw_film_strip
from evidence.experiments.framework.targets import at_least, at_most, equal_to, near
from evidence.experiments.scenes.standing import Conditions, described, half_sitting
from hrpsim import Model, center_of_mass, link_pose
from hrpsim.analysis.analyser import Analyser, Trajectory
from hrpsim.analysis.motion import Motion, motion_of
from hrpsim.analysis.motion_figures import draw_along_axis
from hrpsim.analysis.summary import analyse_motion
from hrpsim.control.motion.motion_sequence import through_rests
from hrpsim.control.motion.posture import PostureSolver, Stance
from hrpsim.control.motion.stand_controller import center_of_mass_for
from hrpsim.engine.dynamics.functions import DOWNWARD_GRAVITY

PERIOD, SAMPLES = 0.01, 200
LEFT, RIGHT = "l_sole", "r_sole"
LIFT = 0.05  # height of the free foot [m]
# Postures at rest in between: time [s], ZMP (-1 right foot, 1 left foot), lifts.
SCRIPT = (
    (0.0, -1.0, LIFT, 0.0),
    (0.6, -1.0, 0.0, 0.0),
    (1.3, 1.0, 0.0, 0.0),
    (1.4, 1.0, 0.0, 0.0),
    (2.0, 1.0, 0.0, LIFT),
)
LARGEST_RATIO = 1.25  # ratio of hrpsim's time to Pinocchio's, which computes only the torques
SOURCE_TIME = 0.18  # [s], Celeron 300A
REPEATS = 200


def planned_motion(model: Model) -> tuple[Motion, np.ndarray]:
    """Return the motion of the joints, without the base, and the planned ZMP.

    The ZMP is in the frame of the right sole (T, 2) [m].
    """
    times = PERIOD * np.arange(SAMPLES)
    ends, aside, lift_left, lift_right = np.array(SCRIPT).T
    solver = PostureSolver(model, (LEFT, RIGHT))
    q = half_sitting(model)
    com = center_of_mass(model, q)
    soles = np.array([link_pose(model, q, sole)[0] for sole in (LEFT, RIGHT)])
    floor = soles[:, 2].mean()
    soles[:, 2] = 0.0
    middle, half = soles.mean(axis=0)[:2], 0.5 * (soles[0] - soles[1])[:2]
    aside = through_rests(ends, aside, times)
    forward = np.array([com[0] - middle[0], 0.0])
    zmp = middle + forward + aside[:, None] * half
    centers = center_of_mass_for(zmp, PERIOD, com[2] - floor)
    lifts = np.column_stack([through_rests(ends, lift, times) for lift in (lift_left, lift_right)])
    postures = []
    for k in range(SAMPLES):
        stance = Stance(
            com=centers[k],
            waist_height=q[2] - floor,
            soles=soles + np.outer(lifts[k], (0.0, 0.0, 1.0)),
            shares=np.array([1.0 + aside[k], 1.0 - aside[k]]) / 2.0,
            pressures=np.array([forward, forward]),
        )
        postures.append(solver.solve(stance))
    positions = np.array(postures)[:, 7:]
    motion = motion_of(model, "support switch", times, model.joint_names, positions)
    return motion, zmp - soles[1, :2]


def drift(found: Trajectory, link: str) -> tuple[float, float]:
    """Return how far a link moves while it is the fixed link.

    Returns:
        Largest change of a coordinate [m], and of an entry of the rotation matrix.
    """
    moved = turned = 0.0
    for k, phase in enumerate(found.phases):
        if phase.links[0] == link:
            poses = found.support(link)[found.phase_of == k]
            p, R = phase.pose
            moved = max(moved, float(np.abs(poses["position"] - p).max()))
            turned = max(turned, float(np.abs(poses["R"] - R).max()))
    return moved, turned


def run(options: Options) -> Result:
    """Plan the motion, find the fixed feet, analyse it, and compare the time with Pinocchio's."""
    model = described(Conditions())
    pinocchio = pinocchio_module()
    result = Result(peer=peer_name(pinocchio, "rnea in a loop", "pinocchio"))
    motion, zmp = planned_motion(model)
    analyser = Analyser(model, threads=1)
    analysed = analyse_motion(analyser, motion)
    analysis = analysed.found
    result.data.update(analysed=analysed, planned=zmp)
    result.add("moving links", "", model.body_count, source=34)
    result.add("first fixed foot", "", analysis.phases[0].links[0], equal_to(RIGHT))
    result.add("last fixed foot", "", analysis.phases[-1].links[0], equal_to(LEFT))
    switch = next(phase.begin for phase in analysis.phases if phase.links[0] == LEFT)
    label, at = "time of the switch from the right to the left foot", float(motion.times[switch])
    result.add(label, "s", at, near(1.0, absolute=0.4))
    for link in (RIGHT, LEFT):
        (moved, turned), add = drift(analysis, link), result.of(f"{link} while fixed: ")
        add("largest displacement", "m", moved, at_most(1e-12), analytic=0.0)
        add("largest change in its rotation matrix", "", turned, at_most(1e-12), analytic=0.0)
    _add_timings(result, analyser, motion, analysis, pinocchio, options)
    seen = analysis.samples["zmp"][:, :2] - analysis.support(RIGHT)["position"][0, :2]
    off = np.linalg.norm(seen - zmp, axis=1)
    margin = float(analysis.samples["margin"].min())
    what = "smallest distance of the ZMP from the edge of the support"
    result.add(what, "m", margin, at_least(0.0))
    result.add("largest distance of the ZMP from the cart-table plan", "m", float(off.max()))
    result.notes += [
        "The humanoid of the source, H6, has 34 links. The source measured 0.18 s on a Celeron "
        "300A.",
        "The time of hrpsim covers base motion, torques, wrenches, centre of mass, momenta, ZMP "
        "and margins. The time of Pinocchio, called from Python, covers only torques under a "
        "given base motion.",
        "Times are medians on one thread. The title of each snapshot names the fixed foot.",
    ]
    return result


def _add_timings(result: Result, analyser, motion, found, pinocchio, options) -> None:
    oracle = _Oracle(pinocchio, analyser.model, found) if pinocchio else None
    own, theirs = [], []
    for _ in range(REPEATS // 10 if options.quick else REPEATS):
        begin = time.perf_counter()
        analyser.analyse(motion.q, motion.v, motion.dv, found.phases)
        own.append(time.perf_counter() - begin)
        if oracle:
            begin = time.perf_counter()
            oracle.run()
            theirs.append(time.perf_counter() - begin)
    mine, peer = float(np.median(own)), float(np.median(theirs)) if theirs else None
    count = len(motion.times)
    each = None if peer is None else peer / count
    result.add(f"time of {count} samples", "s", mine, source=SOURCE_TIME, peer=peer)
    result.add("time of a sample", "s", mine / count, source=SOURCE_TIME / count, peer=each)
    if oracle:
        ratio = float(np.median(np.array(own) / np.array(theirs)))
        what = "hrpsim's time / Pinocchio's, measured in alternation"
        result.add(what, "", ratio, at_most(LARGEST_RATIO))
        theirs = oracle.torques()
        error = np.abs(theirs - found.tau).max(axis=1) / np.abs(theirs).max(axis=1)
        label = "largest relative difference of torques from Pinocchio's"
        result.add(label, "", float(error.max()), at_most(1e-9))


class _Oracle:
    """The robot in Pinocchio, moved as the analysis has found."""

    def __init__(self, pinocchio: ModuleType, model: Model, found: Trajectory) -> None:
        self._pinocchio = pinocchio
        base = pinocchio.JointModelFreeFlyer()
        self._model = pinocchio.buildModelFromXML(model.urdf, base)
        self._model.armature = model.system.rotor_inertia
        self._model.gravity.linear = np.array(DOWNWARD_GRAVITY)
        self._data = self._model.createData()
        self._found = found
        self._states = list(zip(found.q, found.v, found.dv))

    def run(self) -> None:
        """Compute the inverse dynamics of all samples, without forces on the feet."""
        rnea, model, data = self._pinocchio.rnea, self._model, self._data
        for q, v, dv in self._states:
            rnea(model, data, q, v, dv)

    def torques(self) -> np.ndarray:
        """Return the generalised forces (T, nv) under the wrenches found by the analysis."""
        pinocchio, rows = self._pinocchio, []
        frames = {link: self._model.frames[self._model.getFrameId(link)] for link in (LEFT, RIGHT)}
        for k, state in enumerate(self._states):
            forces = [pinocchio.Force.Zero() for _ in self._model.joints]
            for link, frame in frames.items():
                at = self._found.support(link)[k]
                wrench = pinocchio.Force(at["force"], at["torque"])
                forces[frame.parentJoint] = frame.placement.act(wrench)
            rows.append(pinocchio.rnea(self._model, self._data, *state, forces).copy())
        return np.array(rows)


def draw(result: Result, figure) -> None:
    """Draw snapshots above, and centre of mass and ZMP against time below."""
    analysed = result.data["analysed"]
    top, bottom = figure.subfigures(2, 1, height_ratios=(1.1, 1.0))
    samples = np.linspace(0, SAMPLES - 1, 7).astype(int)
    times, analysis = analysed.motion.times, analysed.found
    sides = {LEFT: "left", RIGHT: "right"}
    labels = [
        f"{times[k]:.2f} s, {sides[analysis.phases[analysis.phase_of[k]].links[0]]}"
        for k in samples
    ]
    frames = analysis.q[samples]
    draw_film_strip(top.subplots(), analysed.analyser.model, frames, labels, (0.0, 1.0))
    for axis, axes in enumerate(bottom.subplots(1, 2)):
        draw_along_axis(analysed, axes, axis)


EXPERIMENT = Experiment(
    "E11", "Support switching", "Z-DYNAFORM, section 5, Fig. 2, Table 1", run, draw
)
