# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standing robot in MuJoCo, with any solver."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from evidence.benchmarks.standing_engine import Touching
from evidence.experiments.scenes.standing import mujoco_standing

SOLVERS = ("Newton", "CG", "PGS")


class MujocoStanding:
    """The standing robot in MuJoCo, starting at configuration q.

    The model has elliptic cones, default contacts and the integrator implicitfast.
    """

    def __init__(self, mujoco, model, q, solver: str) -> None:
        self.mujoco, self.model, self.name = mujoco, model, f"mujoco {solver}"
        self.mj, self.data = mujoco_standing(mujoco, model, q)
        self.mj.opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{solver.upper()}")
        joints = [self.mj.joint(k) for k in range(1, self.mj.njnt)]
        self._data_index = np.array([[j.qposadr[0], j.dofadr[0]] for j in joints])
        described = [model.joint(j.name) for j in joints]
        self._model_index = np.array([[j.q_index, j.v_index] for j in described])
        self._aims = [model.joint(self.mj.actuator(k).name).q_index for k in range(self.mj.nu)]

    def step(self, count: int) -> None:
        """Make `count` steps."""
        self.mujoco.mj_step(self.mj, self.data, nstep=count)

    def aim(self, q) -> None:
        """Set the targets of the servos to the configuration q."""
        self.data.ctrl[:] = q[self._aims]

    def state(self):
        """Return q and v. MuJoCo's base velocity is in world axes."""
        q, v = np.zeros(self.model.nq), np.zeros(self.model.nv)
        q[:3], q[3:7] = self.data.qpos[:3], self.data.qpos[[4, 5, 6, 3]]
        v[:3] = Rotation.from_quat(q[3:7]).inv().apply(self.data.qvel[:3])
        v[3:6] = self.data.qvel[3:6]
        q[self._model_index[:, 0]] = self.data.qpos[self._data_index[:, 0]]
        v[self._model_index[:, 1]] = self.data.qvel[self._data_index[:, 1]]
        return q, v

    def touching(self) -> Touching:
        """Return the contacts of the last step. The floor is the first geom of a contact."""
        contacts, forces, wrench = self.data.contact, [], np.zeros(6)
        for k in range(self.data.ncon):
            self.mujoco.mj_contactForce(self.mj, self.data, k, wrench)
            forces.append(contacts.frame[k].reshape(3, 3).T @ wrench[:3])
        return Touching(contacts.pos.copy(), -contacts.dist, np.array(forces).reshape(-1, 3))
