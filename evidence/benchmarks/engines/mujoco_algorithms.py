# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MuJoCo's functions that correspond to the rigid-body algorithms, called from Python."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.robots import mujoco_model
from evidence.benchmarks.timing import Effort, Subject, interleave

NAME = "mujoco"


class MujocoAlgorithms:
    """MuJoCo's functions, evaluated at the first of the states q (n, nq), v (n, nv) of `model`.

    The coordinates of MuJoCo's model are set joint by joint.
    """

    def __init__(self, mujoco, model, q, v) -> None:
        self.mujoco = mujoco
        self.model = mujoco_model(mujoco, model)
        self.data = mujoco.MjData(self.model)
        self.data.qpos[:7] = q[0, [0, 1, 2, 6, 3, 4, 5]]
        for k in range(1, self.model.njnt):
            joint = self.data.joint(self.model.joint(k).name)
            named = model.joint(self.model.joint(k).name)
            joint.qpos[:], joint.qvel[:] = q[0, named.q_index], v[0, named.v_index]

    def subjects(self, algorithm: str) -> list[Subject]:
        """Return subjects that call an algorithm. There are none for analytic derivatives."""
        if algorithm.endswith("derivatives"):
            return []
        return [Subject(NAME, self._calls(algorithm, self.model, self.data))]

    def _calls(self, algorithm: str, model, data):
        mj, out, row = self.mujoco, np.zeros((1, model.nv)), np.ones((1, model.nv))
        poses = (mj.mj_kinematics, mj.mj_comPos)
        mass = (*poses, mj.mj_makeM)

        def bias(model, data) -> None:
            mj.mj_rne(model, data, 1, out[0])

        def solve(model, data) -> None:
            mj.mj_solveM(model, data, out, row)

        functions = {
            "kinematics": (*poses, mj.mj_comVel),
            "ABA": (*mass, mj.mj_factorM, mj.mj_comVel, bias, solve),
            "RNEA": (*poses, mj.mj_comVel, bias),
            "CRBA": mass,
        }[algorithm]

        def run(n) -> None:
            for _ in range(n):
                for function in functions:
                    function(model, data)

        return run

    def overhead(self, effort: Effort) -> dict[tuple[str, str], float]:
        """Return the overhead of the calls [s], measured with a model of one joint."""
        mj = self.mujoco
        small = mj.MjModel.from_xml_string(
            '<mujoco><worldbody><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
        )
        data = mj.MjData(small)
        algorithms = ("kinematics", "ABA", "RNEA", "CRBA")
        calls = [Subject((NAME, a), self._calls(a, small, data)) for a in algorithms]
        return {key: float(t.min()) for key, t in interleave(calls, effort).items()}
