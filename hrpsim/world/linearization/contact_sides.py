# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which rows of contacts hold: open or closed, sticking or sliding, at a force limit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hrpsim.constraints.impact_rows import CLOSED
from hrpsim.constraints.solver_table import ITERATIVE
from hrpsim.world.linearization.contact_rows import ContactRows
from hrpsim.world.linearization.corrections import Corrections, taking_part
from hrpsim.world.linearization.result import ConstraintEdge
from hrpsim.world.linearization.solve import HoldingRows
from hrpsim.world.linearization.stop_law import stop_derivatives

_MET_WITHIN = "is met within the step, which is not differentiated"
_AT_LIMIT = 1.0 - 1e-9  # share of a force limit from which on it is reached


class ContactSides:
    """The sides of contacts (c,), by the impulses and velocities that the step found."""

    corrects_errors = False  # gaps up to the slop are left alone

    def __init__(self, found: ContactRows):
        self.found, normals, impulses = found, found.normals, found.impulses
        rates = np.einsum("cdr,cr->cd", found.directions, found.velocities)
        pressed = impulses[:, 0] * normals["inverse_mass"]
        apart = rates[:, 0] + normals["compliance"] * impulses[:, 0] - normals["target"]
        self.closed = pressed > np.abs(apart)
        self.limited = self.closed & (impulses[:, 0] >= _AT_LIMIT * normals["upper"])
        self.bounds = normals["friction"] * impulses[:, 0]
        self.slips, friction = rates[:, 1:], np.linalg.norm(impulses[:, 1:], axis=1)
        speed = np.linalg.norm(self.slips, axis=1)
        spare = (self.bounds - friction) * found.inverse_masses[:, 1:].max(axis=1)
        rough = self.closed & (self.bounds > 0.0)
        self.sliding = rough & (speed > spare)
        self.sticking = rough & ~self.sliding
        self.speed = speed
        self.refused: list[tuple[str, int]] = []  # reasons, and rows that have them
        self.depends_on_inertia = False  # whether any target depends on an effective mass
        self.softening = np.zeros_like(found.gaps)  # change of the compliance of normals by q
        self._distances = (np.maximum(pressed, np.abs(apart)), np.maximum(spare, speed))
        self._rough = rough

    def edges(self, name: Callable[[int], str]) -> list[ConstraintEdge]:
        """Return the contacts near another side; `name` is that of a contact."""
        found, step, sides = self.found, self.found.step, []
        by_force, by_slip = self._distances
        for which, near, words, values in (
            (by_force >= 0.0, by_force, ("open", "closed"), self.closed),
            (self._rough, by_slip, ("sticking", "sliding"), self.sliding),
            (*self._gap_edges(), ("gap closed", "gap open"), found.records["gap"] > CLOSED),
            (*self._static_edges(), ("static", "kinetic"), found.records["slides"] > 0),
            (~found.is_steady, 0.0 * by_force, ("found", "lost"), by_force < 0.0),
        ):
            for c in np.flatnonzero(which & (near < step.margin)):
                here = int(values[c])
                sides.append(ConstraintEdge(name(c), words[here], words[1 - here], float(near[c])))
        return sides

    def _gap_edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which contacts are rigid and press, and how far their gaps are from closing."""
        records, step = self.found.records, self.found.step
        rigid = self._pairs()["damping_time"] < 0.0
        return rigid & self.closed, np.abs(records["gap"] - self._closed_gaps()) / step.time_step

    def _static_edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return which contacts have two coefficients, and how far they are from the threshold."""
        pairs, found = self._pairs(), self.found
        slip = np.linalg.norm((found.jacobians @ found.step.velocity)[:, 1:], axis=1)
        threshold = found.step.scene.settings["slip_threshold"][0]
        return self._rough & (pairs["static"] != pairs["kinetic"]), np.abs(slip - threshold)

    def _pairs(self) -> np.ndarray:
        """Return the properties of the contacts' pairs of materials."""
        scene, records = self.found.step.scene, self.found.records
        material = scene.collision.shapes["material"]
        return scene.materials[material[records["shape_a"]], material[records["shape_b"]]]

    def _closed_gaps(self) -> np.ndarray:
        """Return the gaps up to which rigid contacts count as closed [m]."""
        slop = max(CLOSED, float(self.found.step.scene.settings["slop"][0]))
        return np.where(self.found.normals["solver"] == ITERATIVE, CLOSED, slop)

    def add_to(self, rows: HoldingRows, mass: np.ndarray, gradients: Callable) -> None:
        """Add the rows that hold; `mass` is M, `gradients` of velocities those of v' M v by q."""
        found = self.found
        turned = found.rate_changes(found.step.end_velocity)
        self._add_normals(rows, turned, mass, gradients)
        none, J = np.zeros_like(found.gaps), found.jacobians
        for axis in (1, 2):
            at = self.sticking
            zero, own = np.zeros(at.sum()), found.inverse_masses[at, axis]
            rows.add(
                3 * np.flatnonzero(at) + axis,
                J[at, axis],
                J[at, axis],
                zero,
                own,
                -turned[at, axis],
                none[at],
            )
        at = self.sliding
        across = np.stack([-self.slips[at, 1], self.slips[at, 0]], axis=1)
        across /= self.speed[at, None]
        row, change = (np.einsum("cd,cdm->cm", across, of[at, 1:]) for of in (J, turned))
        soft = self.speed[at] / self.bounds[at]
        rows.add(
            3 * np.flatnonzero(at) + 1,
            row,
            row,
            soft,
            found.inverse_masses[at, 1],
            -change,
            none[at],
        )

    def _add_normals(self, rows, turned, mass, gradients) -> None:
        found, at = self.found, self.closed & ~self.limited
        J = found.jacobians[at]
        F, ratio = J[:, 0].copy(), found.impulses[at, 1:] / found.impulses[at, :1]
        ratio[~self.sliding[at]] = 0.0
        F += np.einsum("cd,cdm->cm", ratio, J[:, 1:])
        normals = found.normals[at]
        by_q, by_v = -turned[at, 0], np.zeros_like(F)
        slope, h = self._closing_slopes()[at], found.step.time_step
        pairs = self._pairs()[at]
        soft = pairs["damping_time"] >= 0.0
        by_q -= (np.where(soft, 0.0, slope) / h)[:, None] * found.gaps[at]
        if soft.any():
            self._add_stops(np.flatnonzero(at)[soft], soft, by_q, by_v, mass, gradients)
        compliance, own = normals["compliance"], normals["inverse_mass"]
        rows.add(3 * np.flatnonzero(at), J[:, 0], F, compliance, own, by_q, by_v)

    def _add_stops(self, at, soft, by_q, by_v, mass, gradients) -> None:
        """Add the changes of the targets of compliant contacts `at`, rows `soft` of the others."""
        found, step, pairs = self.found, self.found.step, self._pairs()[at]
        normals, J = found.normals[at], found.jacobians[at, 0]
        gaps, rates = found.records["gap"][at], J @ step.velocity
        target, compliance, other = stop_derivatives(normals, gaps, rates, pairs, step.time_step)
        self.refused += [(_MET_WITHIN, 3 * int(c)) for c in at[other]]
        change = target - compliance * normals["impulse"]
        by_q[soft] += change[0][:, None] * found.gaps[at]
        by_q[soft] += change[1][:, None] * found.rate_changes(step.velocity)[at, 0]
        by_v[soft] += change[1][:, None] * J
        if pairs["damping_time"].any():
            self.depends_on_inertia = True
            responses = np.linalg.solve(mass, J.T).T
            turned = np.stack(
                [found.rate_changes(response)[c, 0] for c, response in zip(at, responses)]
            )
            own_change = 2.0 * turned - gradients(responses)
            by_q[soft] += change[2][:, None] * own_change
            self.softening[at] = compliance[2][:, None] * own_change

    def corrections(self, rate: np.ndarray) -> Corrections:
        """Return the normals that may hold in the position correction, whose rate is (nv,)."""
        found, step, pairs = self.found, self.found.step, self._pairs()
        settings, h, gap = step.scene.settings[0], step.time_step, found.records["gap"]
        deep = gap < -settings["slop"]
        deep &= found.normals["correction_velocity"] < settings["correction_speed"]
        slope = settings["correction_rate"] * deep + self._closing_slopes()
        slope = np.where(pairs["damping_time"] < 0.0, slope, gap > 0.0)
        by_q = -slope[:, None] / h * found.gaps - found.rate_changes(rate)[:, 0]
        J, everywhere = found.jacobians[:, 0], np.ones(len(gap), dtype=bool)
        none = np.zeros_like(by_q)
        numbers, soft = 3 * np.arange(len(gap)), self.softening
        return taking_part(step.rows, numbers, everywhere, J, ~everywhere, by_q, none, soft)

    def _closing_slopes(self) -> np.ndarray:
        """Return by how much of its gap each rigid contact may close more if the gap grows."""
        gap = self.found.records["gap"]
        return np.where(gap > 2.0 * CLOSED, 1.0, 2.0) * (gap > self._closed_gaps())
