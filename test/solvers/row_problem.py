# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rows on free bodies, at random, with the matrices that their kernels never form."""

import numpy as np
from interpreted import interpreted, records

from hrpsim.engine.constraints import point_rows
from hrpsim.engine.constraints.rows import ROW
from hrpsim.engine.solvers.projected_gauss_seidel import ISLAND
from hrpsim.engine.spatial.simd import LANES

find_masses = interpreted(point_rows.find_masses)


class RowProblem:
    """Contacts, then single rows: J (rows, columns), W = M^-1, A = J W J^T + compliance, b.

    `velocity` is that without impulses, of all columns, eight for each body. Bodies move alone or
    in trees of two. Every second contact is one with the world.
    """

    def __init__(
        self, seed: int, contacts: int, singles: int = 0, bodies: int = 3, in_tree: int = 1
    ):
        rng = self.rng = np.random.default_rng(seed)
        count = 3 * contacts + singles
        self.rows, self.contacts = records(count, ROW), contacts
        self.velocity = self._columns(rng.normal(size=(bodies, 6)))
        self.response = np.zeros(2 * LANES * in_tree * count)
        self.J, self.W = np.zeros((count, len(self.velocity))), np.zeros((len(self.velocity),) * 2)
        self.width = LANES * in_tree
        for tree in range(0, bodies, in_tree):
            root = rng.normal(size=(6 * in_tree,) * 2) + 3.0 * np.eye(6 * in_tree)
            at = np.flatnonzero(self._columns(np.ones((in_tree, 6)))) + LANES * tree
            self.W[np.ix_(at, at)] = root @ root.T / 9.0
        for first in [*range(0, 3 * contacts, 3), *range(3 * contacts, count)]:
            pair = rng.permutation(bodies)[: 1 if first % 2 else 2]
            for number in range(first, first + (3 if first < 3 * contacts else 1)):
                self._attach(number, pair)
        self.rows.target = rng.normal(size=count)
        self.rows.upper = np.inf
        self.rows.lower[3 * contacts :] = -np.inf
        self.rows.friction = rng.uniform(0.2, 0.9, count)
        self.soften(rng.uniform(0.05, 0.2, count))
        self.order = np.array([*range(0, 3 * contacts, 3), *range(3 * contacts, count)])
        self.island = records(1, ISLAND)[0]
        self.island.contact_end, self.island.end = contacts, contacts + singles
        self.work = np.zeros((2, count))

    def _columns(self, values):
        return np.pad(values, ((0, 0), (0, LANES - 6))).ravel()

    def _attach(self, number, pair):
        row, width = self.rows[number], self.width
        row.response_at, row.at_b = 2 * width * number, -1
        starts = []
        for end, body in zip("ab", pair):
            at = LANES * body
            J = self.rng.normal(size=6)
            self.rows[f"J_{end}"][number] = self.J[number, at : at + 6] = J
            row[f"at_{end}"], start = at, at - at % width
            if start not in starts:
                row[f"start_{end}"], row[f"width_{end}"] = start, width
                starts.append(start)
        motion = self.W @ self.J[number]
        parts = np.concatenate([motion[start : start + width] for start in starts])
        self.response[row.response_at :][: len(parts)] = parts

    def soften(self, compliance):
        """Give the rows a compliance, and what follows from it."""
        self.rows.compliance = compliance
        self.A = self.J @ self.W @ self.J.T + np.diag(self.rows.compliance)
        self.rows.inverse_mass = np.diag(self.A)
        self.rows.mass = 1.0 / self.rows.inverse_mass
        for n in range(0, 3 * self.contacts, 3):
            for k in range(3):
                self.rows.cross[n + k] = self.A[n + k, n + (k + 1) % 3]
        self.b = self.rows.target - self.J @ self.velocity

    def contact(self, k: int = 0):
        """Return the three rows of a contact."""
        return (self.rows[3 * k], self.rows[3 * k + 1], self.rows[3 * k + 2])

    def moved(self, impulses):
        """Return the velocity with these impulses."""
        return self.velocity + self.W @ self.J.T @ impulses
