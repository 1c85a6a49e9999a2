# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solve contact problems by Pinocchio's ADMM (Carpentier and others 2024) and PGS solvers."""

from __future__ import annotations

import time

import numpy as np

from evidence.benchmarks.contact_problems import ContactProblem

ADMM, PGS = "pinocchio ADMM", "pinocchio PGS"


def pinocchio_module():
    """Return Pinocchio with the contact solvers, or None if it is not installed."""
    try:
        import pinocchio
    except ImportError:
        return None
    return pinocchio if hasattr(pinocchio, "ADMMConstraintSolver") else None


class PinocchioContacts:
    """One contact problem in a solver of Pinocchio, with exact Coulomb friction.

    Every solution starts from zero impulses.
    """

    def __init__(self, pin, problem: ContactProblem, solver: str) -> None:
        self._pin, self._solver = pin, solver
        count = len(problem.friction)
        rows = np.arange(3 * count).reshape(count, 3)
        self._order = rows[:, [1, 2, 0]].ravel()  # Pinocchio's contacts have the normal last
        self._W = np.ascontiguousarray(problem.W[np.ix_(self._order, self._order)])
        self._b = problem.b[self._order].copy()
        model = pin.Model()
        joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "free")
        self._models, self._datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for friction in problem.friction:
            contact = pin.PointContactConstraintModel(model, joint)
            contact.setFriction(float(friction))
            self._models.append(pin.ConstraintModel(contact))
            self._datas.append(self._models[len(self._models) - 1].createData())

    def solve(self, tolerance: float, iterations: int) -> tuple[np.ndarray, float]:
        """Return the impulses (3m,) [Ns] and the processor time of the solution [s]."""
        pin, admm = self._pin, self._solver == ADMM
        settings = pin.ADMMSolverSettings() if admm else pin.PGSSolverSettings()
        result = pin.ADMMSolverResult() if admm else pin.PGSSolverResult()
        settings.absolute_feasibility_tol = settings.absolute_complementarity_tol = tolerance
        settings.relative_feasibility_tol = settings.relative_complementarity_tol = 0.0
        settings.max_iterations, settings.solve_ncp = iterations, True
        kind = pin.ADMMConstraintSolver if admm else pin.PGSConstraintSolver
        solver, delassus = kind(len(self._b)), pin.DelassusOperatorDense(self._W)
        begin = time.process_time()
        solver.solve(delassus, self._b, self._models, self._datas, settings, result)
        spent = time.process_time() - begin
        impulses = np.empty(len(self._b))
        impulses[self._order] = result.retrieveConstraintImpulses()
        return impulses, spent
