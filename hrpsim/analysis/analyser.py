# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analyse whole motions at once, in parallel over samples."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.analysis.records import (
    CENTER_OF_PRESSURE,
    MINIMUM_NORM,
    PHASE,
    SETTINGS,
    SUPPORT,
    AnalysedRobot,
    Results,
    new_results,
    new_workspace,
)
from hrpsim.analysis.samples import analyse_samples
from hrpsim.analysis.soles import Sole, sole_of, soles_of
from hrpsim.common.closed import Closed
from hrpsim.common.errors import ModelError, StateError, require_name, unknown_name
from hrpsim.engine.dynamics.functions import DOWNWARD_GRAVITY, checked_vector, link_pose
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.model.model import Model
from hrpsim.model.system import FREE

SPLITS = {"minimum_norm": MINIMUM_NORM, "center_of_pressure": CENTER_OF_PRESSURE}
_CHUNK = 4096  # samples between two reports of progress
_WORTH_A_THREAD = 1000  # samples


class FixedPhase(NamedTuple):
    """A phase of a motion that begins at sample `begin` with `links` fixed to the world.

    The first link determines the base's motion. pose: position (3,) [m] and R_world_link (3, 3) of
    the first link. With None, the link stays at its pose at the beginning of the phase.
    """

    begin: int
    links: tuple[str, ...]
    pose: tuple[np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class Trajectory:
    """The analysis of a motion with T samples, one row per sample.

    q, v and dv contain the given joint values and the computed motion of the base. tau (T, nv) [Nm
    or N] is zero for the base. samples (T,) has the fields of hrpsim.analysis.records.SAMPLE.
    supports (T, number of links) has the fields of SUPPORT_SAMPLE.
    """

    links: tuple[str, ...]  # possible fixed links
    phases: tuple[FixedPhase, ...]  # with their poses
    phase_of: np.ndarray  # (T,)
    fixed: np.ndarray  # (T, number of links) whether each link is fixed, bool
    q: np.ndarray
    v: np.ndarray
    dv: np.ndarray
    tau: np.ndarray
    samples: np.ndarray
    supports: np.ndarray

    def support(self, link: str) -> np.ndarray:
        """Return the records of `link` (T,), with the fields of SUPPORT_SAMPLE."""
        return self.supports[:, index_of(link, self.links)]


class Analyser(Closed):
    """Inverse dynamics of a robot on a free base, with some links fixed to the world.

    The torques include rotors. The torques do not include springs, dampers, friction and limits of
    joints.

    Args:
        model: model of the robot.
        links: the links that may be fixed, names or `Sole`s. By default the soles found in the
            model.
        split: rule for dividing the external wrench between several fixed links, "minimum_norm" or
            "center_of_pressure" (docs/explanation/analysis.md).
        norm_length: length l in the norm |f|^2 + |n|^2 / l^2 [m]. Larger values give larger moments
            n.
        gravity: acceleration of gravity (3,) [m/s^2].
        threads: largest number of threads. By default as many as the process may use.

    Raises:
        ModelError: for an unknown link or split, a fixed base, or a robot without mass.
    """

    def __init__(
        self,
        model: Model,
        links: Iterable[str | Sole] | None = None,
        *,
        split: str = "minimum_norm",
        norm_length: float = 0.1,
        gravity: ArrayLike = DOWNWARD_GRAVITY,
        threads: int | None = None,
    ) -> None:
        _check_model(model)
        require_name("split", split, SPLITS, ModelError)
        if links is None:
            links = soles_of(model)
        self.model = model
        self.split = split
        self.soles = tuple(s if isinstance(s, Sole) else sole_of(model, s) for s in links)
        self.links = tuple(sole.link for sole in self.soles)
        if not self.links or len(set(self.links)) < len(self.links):
            raise ModelError(f"each link that may be fixed must be named once, got {self.links}")
        self.threads = threads or len(os.sched_getaffinity(0))
        settings = np.zeros(1, dtype=SETTINGS)
        settings[0] = (model.mass, SPLITS[split], norm_length)
        supports, vertices = _support_records(model, self.soles)
        self._subject = AnalysedRobot(
            forest=forest_of(model.system),
            supports=supports,
            vertices=vertices,
            gravity=checked_vector("gravity", gravity, 3).copy(),
            settings=settings,
        )
        self._spaces = [new_workspace(self._subject) for _ in range(self.threads)]

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.threads, thread_name_prefix="analysis")

    def analyse(
        self,
        q: ArrayLike,
        v: ArrayLike,
        dv: ArrayLike,
        fixed: str | Sequence[FixedPhase],
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> Trajectory:
        """Analyse a motion.

        Args:
            q: configurations (T, nq). The base's entries are read only in q[0], as the pose at the
                beginning of the motion, unless the first phase has a pose.
            v: velocities (T, nv).
            dv: accelerations (T, nv).
            fixed: the link that is fixed all the time, or phases in the order of their first
                samples, beginning with 0.
            progress: called with the number of finished samples and the number of all samples.

        Raises:
            StateError: on wrong shapes or values that are not finite.
            ModelError: for links that are not among `links`.
        """
        q = _checked_rows("q", q, self.model.nq)
        v = _checked_rows("v", v, self.model.nv, len(q))
        dv = _checked_rows("dv", dv, self.model.nv, len(q))
        fixed_phases = [FixedPhase(0, (fixed,))] if isinstance(fixed, str) else list(fixed)
        phases, masks = self._placed_phases(q, v, dv, fixed_phases)
        begins = [phase.begin for phase in fixed_phases]
        phase_of = np.searchsorted(begins, np.arange(len(q)), side="right") - 1
        results = new_results(self.model.nq, self.model.nv, len(self.links), len(q))
        done = 0
        for begin in range(0, len(q), _CHUNK):
            part = slice(begin, begin + _CHUNK)
            self._run(phases, masks, phase_of[part], q[part], v[part], dv[part],
                      Results(*(array[part] for array in results)))  # fmt: skip
            done = min(begin + _CHUNK, len(q))
            if progress is not None:
                progress(done, len(q))
        placed = tuple(
            FixedPhase(old.begin, tuple(old.links), (row["p"].copy(), row["R"].copy()))
            for old, row in zip(fixed_phases, phases)
        )
        return Trajectory(self.links, placed, phase_of, masks[phase_of] != 0, **results._asdict())

    def _run(self, phases, masks, phase_of, q, v, dv, results: Results) -> None:
        """Analyse the samples, in several threads if there are enough samples."""
        count = min(self.threads, max(1, len(q) // _WORTH_A_THREAD))
        edges = np.linspace(0, len(q), count + 1).astype(int)

        def work(k: int) -> None:
            part = slice(edges[k], edges[k + 1])
            analyse_samples(
                self._subject, phases, masks, phase_of[part], q[part], v[part], dv[part],
                self._spaces[k], Results(*(array[part] for array in results)),
            )  # fmt: skip

        others = [self._pool.submit(work, k) for k in range(1, count)]
        work(0)
        for other in others:
            other.result()

    def _placed_phases(self, q, v, dv, given) -> tuple[np.ndarray, np.ndarray]:
        """Compute the pose of the first fixed link at the beginning of each phase.

        Returns:
            (PHASE records, which links are fixed in each phase (phases, links)).
        """
        _check_phases(given, len(q))
        phases = np.zeros(len(given), dtype=PHASE)
        masks = np.zeros((len(given), len(self.links)), dtype=np.int64)
        for k, phase in enumerate(given):
            indices = [index_of(link, self.links) for link in phase.links]
            masks[k, indices] = 1
            row, reference = phases[k], indices[0]
            row["reference"] = reference
            if phase.pose is not None:
                row["p"], row["R"] = phase.pose
            elif k == 0:
                row["p"], row["R"] = link_pose(self.model, q[0], phase.links[0])
            elif reference == phases[k - 1]["reference"]:
                row["p"], row["R"] = phases[k - 1]["p"], phases[k - 1]["R"]
            else:
                at = slice(phase.begin, phase.begin + 1)
                results = new_results(self.model.nq, self.model.nv, len(self.links), 1)
                self._run(phases, masks, np.array([k - 1]), q[at], v[at], dv[at], results)
                support = results.supports[0, reference]
                row["p"], row["R"] = support["position"], support["R"]
            row["ground"] = ground_height(self.soles[reference], row["p"], row["R"])
        return phases, masks


def ground_height(sole: Sole, p, R) -> float:
    """Return the height of the lowest vertex of a sole at (p, R), or of the sole's origin [m]."""
    if len(sole.vertices) == 0:
        return float(p[2])
    return float(p[2] + (sole.vertices @ R[2, :2] + R[2, 2] * sole.height).min())


def index_of(link: str, links: Sequence[str]) -> int:
    """Return the index of `link` in `links`. ModelError lists the links that may be fixed."""
    try:
        return links.index(link)
    except ValueError:
        raise ModelError(unknown_name("link that may be fixed", str(link), links)) from None


def _check_model(model: Model) -> None:
    free = [joint for joint in model.joints if joint.joint_type == FREE]
    if model.base != "free" or len(free) != 1:
        raise ModelError(
            f"{model.source}: the analysis needs one free base. Load the model with base='free'. "
            "For a robot on a pedestal, name the base link as fixed"
        )
    if not model.mass > 0.0:
        raise ModelError(f"{model.source}: no moving link has a mass. Give the links an <inertial>")


def _check_phases(given: Sequence[FixedPhase], count: int) -> None:
    begins = [phase.begin for phase in given]
    if not begins or begins[0] != 0 or np.any(np.diff(begins) <= 0) or begins[-1] >= count:
        raise StateError(
            "phases must begin at increasing samples, the first at 0 and the last at most at "
            f"{count - 1}, got {begins}"
        )
    for phase in given:
        links: object = phase.links  # a string would be read as names of one letter
        if isinstance(links, str) or not links:
            raise StateError(f"links of a phase must be a tuple of names, got {phase.links!r}")


def _support_records(model: Model, soles: Sequence[Sole]) -> tuple[np.ndarray, np.ndarray]:
    records = np.zeros(len(soles), dtype=SUPPORT)
    end = 0
    for record, sole in zip(records, soles):
        frame = model.frame(sole.link)
        begin, end = end, end + len(sole.vertices)
        record["body"], record["R"], record["p"] = frame.body, frame.R, frame.p
        record["height"], record["vertex_begin"], record["vertex_end"] = sole.height, begin, end
    vertices = np.concatenate([np.zeros((0, 2)), *(sole.vertices for sole in soles)])
    return records, np.ascontiguousarray(vertices)


def _checked_rows(name: str, values, width: int, count: int | None = None) -> np.ndarray:
    """Return `values` as a C-contiguous float64 matrix. StateError names an invalid entry."""
    try:
        rows = np.require(values, dtype=np.float64, requirements=["C", "A", "W"])
    except (TypeError, ValueError) as cause:
        raise StateError(f"{name} must be rows of {width} numbers, got {values!r:.80}") from cause
    shape = f"({'T' if count is None else count}, {width})"
    if rows.ndim != 2 or rows.shape[1] != width or (count or len(rows)) != len(rows):
        raise StateError(f"{name} must have shape {shape}, got {rows.shape}")
    if len(rows) == 0:
        raise StateError(f"{name} must have shape {shape} with at least one sample")
    if not np.isfinite(rows).all():
        t, k = (int(i) for i in np.argwhere(~np.isfinite(rows))[0])
        raise StateError(f"{name}[{t}, {k}] is {rows[t, k]}: every entry must be finite")
    return rows
