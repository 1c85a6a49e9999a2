# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pinocchio's algorithms at given states, by compiled loops or by calls from Python."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.timing import Effort, Subject, interleave

LOOP = "pinocchio"
WORLD = "pinocchio, WORLD convention"


def pinocchio_q(model, q) -> np.ndarray:
    """Return q (nq,) with each continuous joint's angle replaced by its cosine and sine."""
    out, k = [], 0
    for joint in list(model.joints)[1:]:
        if (joint.nq, joint.nv) == (2, 1):
            out += [np.cos(q[k]), np.sin(q[k])]
            k += 1
        else:
            out += q[k : k + joint.nq].tolist()
            k += joint.nq
    return np.array(out)


class PinocchioAlgorithms:
    """Pinocchio's algorithms at states q (n, nq), v, tau, dv (n, nv), in hrpsim's layout."""

    def __init__(self, pinocchio, model, q, v, tau, dv) -> None:
        self.pin, self.joint_bodies = pinocchio, []
        self.model = pinocchio.buildModelFromXML(model.urdf, pinocchio.JointModelFreeFlyer())
        self.model.gravity.linear = np.array([0.0, 0.0, -9.80665])
        self.model.armature = model.system.rotor_inertia
        self.joint_bodies = [model.joint(name).body for name in list(self.model.names)[2:]]
        self.data = self.model.createData()
        self.pool = pinocchio.ModelPool(self.model, 1)
        self.q, self.v, self.tau, self.dv = (
            np.array([pinocchio_q(self.model, x) for x in q]),
            v,
            tau,
            dv,
        )
        self.columns = [np.asfortranarray(x.T) for x in (self.q, v, tau, dv)]
        self.out = np.zeros((self.model.nv, len(q)), order="F")

    def subjects(self, algorithm: str) -> list[Subject]:
        """Return the compiled loop and the call from Python as subjects, as far as available."""
        q, v, tau, dv = self.columns

        def aba(n) -> None:
            for _ in range(n):
                self.pin.abaInParallel(1, self.pool, q, v, tau, self.out)

        def rnea(n) -> None:
            for _ in range(n):
                self.pin.rneaInParallel(1, self.pool, q, v, dv, self.out)

        each = len(self.q)
        if algorithm == "RNEA":
            return [Subject(LOOP, rnea, each=each)]
        last = self.dv if algorithm == "RNEA derivatives" else self.tau
        call = self._calls(algorithm, self.model, self.q, self.v, last)
        if algorithm == "ABA":
            return [Subject(LOOP, aba, each=each), Subject(WORLD, call)]
        return [Subject(LOOP, call)]

    def _calls(self, algorithm: str, model, q, v, tau):
        """Return a function run(n) that calls an algorithm n times from Python."""
        pin, data, world, states = self.pin, model.createData(), self.pin.Convention.WORLD, len(q)
        q, v, tau = list(q), list(v), list(tau)

        def kinematics(n) -> None:
            for k in range(n):
                pin.forwardKinematics(model, data, q[k % states], v[k % states])

        def aba(n) -> None:
            for k in range(n):
                pin.aba(model, data, q[k % states], v[k % states], tau[k % states], world)

        def crba(n) -> None:
            for k in range(n):
                pin.crba(model, data, q[k % states], world)

        def aba_derivatives(n) -> None:
            for k in range(n):
                pin.computeABADerivatives(
                    model, data, q[k % states], v[k % states], tau[k % states]
                )

        def rnea_derivatives(n) -> None:
            for k in range(n):
                pin.computeRNEADerivatives(
                    model, data, q[k % states], v[k % states], tau[k % states]
                )

        return {
            "kinematics": kinematics,
            "ABA": aba,
            "CRBA": crba,
            "ABA derivatives": aba_derivatives,
            "RNEA derivatives": rnea_derivatives,
        }[algorithm]

    def overhead(self, effort: Effort) -> dict[tuple[str, str], float]:
        """Return the overhead of calls [s], by subject and algorithm, for a one-joint model."""
        small = self.pin.Model()
        joint = small.addJoint(0, self.pin.JointModelRZ(), self.pin.SE3.Identity(), "joint")
        small.appendBodyToJoint(joint, self.pin.Inertia.Random(), self.pin.SE3.Identity())
        x = np.zeros((4, 1))
        calls = {
            (WORLD if name == "ABA" else LOOP, name): self._calls(name, small, x, x, x)
            for name in ("kinematics", "ABA", "CRBA", "ABA derivatives", "RNEA derivatives")
        }
        times = interleave([Subject(key, call) for key, call in calls.items()], effort)
        return {key: float(values.min()) for key, values in times.items()}

    def difference(self, algorithm: str, numbers: np.ndarray) -> float:
        """Return the largest relative error of hrpsim's `numbers` for the last state."""
        pin, model, data, q, v = self.pin, self.model, self.data, self.q[-1], self.v[-1]
        if algorithm == "kinematics":
            pin.forwardKinematics(model, data, q, v)
            truth = np.array([data.oMi[i].translation for i in range(2, model.njoints)])
            numbers = numbers[self.joint_bodies]
        elif algorithm == "ABA":
            truth = pin.aba(model, data, q, v, self.tau[-1])
        elif algorithm == "RNEA":
            truth = pin.rnea(model, data, q, v, self.dv[-1])
        elif algorithm.endswith("derivatives"):
            truth = self._derivatives(algorithm, data, q, v)
        else:
            truth = pin.crba(model, data, q)
        return float(np.abs(numbers - truth).max() / np.abs(truth).max())

    def _derivatives(self, algorithm: str, data, q, v) -> np.ndarray:
        """Return the three derivative matrices for the last state, side by side."""
        if algorithm == "ABA derivatives":
            self.pin.computeABADerivatives(self.model, data, q, v, self.tau[-1])
            derivatives = [data.ddq_dq, data.ddq_dv, data.Minv]
        else:
            self.pin.computeRNEADerivatives(self.model, data, q, v, self.dv[-1])
            derivatives = [data.dtau_dq, data.dtau_dv, data.M]
        upper = np.triu(derivatives[2])
        return np.hstack([*derivatives[:2], upper + np.triu(upper, 1).T])
