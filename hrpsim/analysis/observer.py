# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Analyse one sample at a time within a control loop, without allocating arrays."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.analysis.analyser import Analyser, ground_height, index_of
from hrpsim.analysis.records import PHASE, new_results, new_workspace
from hrpsim.analysis.samples import analyse_samples
from hrpsim.common.closed import Closed
from hrpsim.common.errors import StateError
from hrpsim.common.values import finite_vector
from hrpsim.engine.compile.compiled import prepared

_CONTACT_HEIGHT = 3e-3  # [m]

_analyse_sample = prepared(analyse_samples)  # all observers have arrays of the same types


class Observer(Closed):
    """Analyser of a running motion: computes torques, wrenches and ZMP in each control cycle.

    After each `update`, `sample` and `supports` contain the results. The arrays are reused.
    `sample` has the fields of SAMPLE. `supports` has the fields of SUPPORT_SAMPLE for each of the
    analyser's links. `q`, `v`, `dv` and `tau` have the layout of the model.

    Args:
        analyser: analyser of the robot.
        fixed: the initially fixed links. The first link is level at the world's origin.
    """

    def __init__(self, analyser: Analyser, fixed: Sequence[str]) -> None:
        model = analyser.model
        self.analyser = analyser
        self.links = analyser.links
        self._subject = analyser._subject
        self._space = new_workspace(self._subject)
        self._results = new_results(model.nq, model.nv, len(self.links), 1)
        self.q, self.v, self.dv, self.tau = (array[0] for array in self._results[:4])
        self.sample = self._results.samples[0]
        self.supports = self._results.supports[0]
        self._q = model.neutral().reshape(1, -1)
        self._v, self._dv = np.zeros((1, model.nv)), np.zeros((1, model.nv))
        self._joint_q, self._joint_v = self._q[0, 7:], self._v[0, 6:]
        self._joint_dv = self._dv[0, 6:]
        self._phases = np.zeros(1, dtype=PHASE)
        self._mask = np.zeros((1, len(self.links)), dtype=np.int64)
        self._is_sole = np.array([len(sole.vertices) > 0 for sole in analyser.soles])
        self._phase_of = np.zeros(1, dtype=np.int64)
        first = index_of(fixed[0], self.links)
        self._set_reference(first, np.zeros(3), np.eye(3))
        self._phases[0]["p"][2] = -self._phases[0]["ground"]
        self._phases[0]["ground"] = 0.0
        self._mask[0, [index_of(link, self.links) for link in fixed]] = 1

    @property
    def fixed(self) -> tuple[str, ...]:
        """The fixed links. The first link determines the base's motion."""
        first = int(self._phases[0]["reference"])
        others = [int(k) for k in np.flatnonzero(self._mask[0]) if k != first]
        return tuple(self.links[k] for k in (first, *others))

    def update(self, positions: ArrayLike, velocities: ArrayLike, accelerations: ArrayLike) -> None:
        """Analyse one sample. Arrays are in the order of the model's joint_names.

        Sequences that are not arrays are copied first.

        Args:
            positions: (joints,) [rad or m].
            velocities: (joints,) [rad/s or m/s].
            accelerations: (joints,) [rad/s^2 or m/s^2].

        Raises:
            StateError: a value is not finite, or a shape is wrong. The last results stay.
        """
        positions = _checked("positions", positions, self._joint_q)
        velocities = _checked("velocities", velocities, self._joint_v)
        accelerations = _checked("accelerations", accelerations, self._joint_dv)
        self._joint_q[:] = positions
        self._joint_v[:] = velocities
        self._joint_dv[:] = accelerations
        _analyse_sample(
            self._subject, self._phases, self._mask, self._phase_of, self._q, self._v, self._dv,
            self._space, self._results,
        )  # fmt: skip

    def base_rotation(self) -> np.ndarray:
        """Return R_world_base (3, 3) of the last `update`, as a view.

        The next `update` changes the array.
        """
        return self._space.kinematics[0]["R"]

    def fix(self, links: Sequence[str]) -> None:
        """Fix links, beginning with the next `update`. The first link determines the base's motion.

        Each link is fixed at its pose in the last update.
        """
        indices = [index_of(link, self.links) for link in links]
        first = indices[0]
        if first != self._phases[0]["reference"]:
            support = self.supports[first]
            self._set_reference(first, support["position"], support["R"])
        self._mask[0] = 0
        self._mask[0, indices] = 1

    def follow_soles(self, contact_height: float = _CONTACT_HEIGHT) -> None:
        """Fix the soles that were on the level floor in the last `update`.

        A sole is on the floor if its lowest corner is less than contact_height [m] above the
        reference's lowest corner. If a sole is more than contact_height below the reference, the
        lowest sole becomes the reference. The new reference is put level on the floor, so errors of
        height and inclination do not add up.
        """
        heights = np.where(self._is_sole, self.supports["height"], np.inf)
        lowest = int(np.argmin(heights))
        reference = int(self._phases[0]["reference"])
        if heights[lowest] < -contact_height:
            self._stand_on(lowest)
            reference, floor = lowest, heights[lowest]
        else:
            floor = 0.0
        self._mask[0] = heights - floor < contact_height
        self._mask[0, reference] = 1

    def _stand_on(self, index: int) -> None:
        """Make a sole the reference, level on the ground of the previous reference."""
        support, ground = self.supports[index], self._phases[0]["ground"]
        yaw = math.atan2(support["R"][1, 0], support["R"][0, 0])
        c, s = math.cos(yaw), math.sin(yaw)
        level = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        self._set_reference(index, support["position"], level)
        self._phases[0]["p"][2] += ground - self._phases[0]["ground"]
        self._phases[0]["ground"] = ground

    def _set_reference(self, index: int, p, R) -> None:
        phase = self._phases[0]
        phase["reference"], phase["p"], phase["R"] = index, p, R
        phase["ground"] = ground_height(self.analyser.soles[index], phase["p"], phase["R"])


def _checked(name: str, given: ArrayLike, kept: np.ndarray) -> np.ndarray:
    """Return `given` as finite numbers with the shape of `kept`.

    An array of floats is not copied.
    """
    if not isinstance(given, np.ndarray) or given.dtype.kind != "f":
        return finite_vector(name, given, len(kept))
    if given.shape != kept.shape:
        raise StateError(f"{name} must have shape {kept.shape}, got {given.shape}")
    if not math.isfinite(given.sum()):
        raise StateError(f"{name} must be finite, got {given[~np.isfinite(given)][0]}")
    return given


class RateFilter:
    """Differentiate a measured vector: finite differences, then a first-order low-pass.

    cutoff [Hz]: frequency of half power. The delay is 1 / (2 pi cutoff): a lower cutoff removes
    more noise and delays more. The first update gives zero.
    """

    def __init__(self, size: int, cutoff: float) -> None:
        if not cutoff > 0.0:
            raise StateError(f"cutoff must be a positive frequency [Hz], got {cutoff}")
        self.rate = np.zeros(size)
        self._time_constant = 1.0 / (2.0 * math.pi * cutoff)
        self._before = np.zeros(size)
        self._work = np.zeros(size)
        self._time = math.nan

    def update(self, time: float, values) -> np.ndarray:
        """Return the rate [1/s] at `time` [s], as a view that the next `update` changes.

        The rate is set to zero if `time` is not after the last time.
        """
        step = time - self._time
        if step > 0.0:
            np.subtract(values, self._before, out=self._work)
            self._work /= step
            self._work -= self.rate
            self._work *= step / (step + self._time_constant)
            self.rate += self._work
        else:
            self.rate[:] = 0.0
        self._before[:] = values
        self._time = time
        return self.rate
