# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the outputs of a step: efforts of actuators, and readings of sensors.

Columns are derivatives with respect to the position at mid-step, the velocity at the start, and p
inputs and parameters, in the kernels' layout. docs/explanation/linearization_solution.md,
"Outputs", has the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.derivatives.given_impulses import GivenImpulses, effective_commands, own_inertia_changes
from hrpsim.derivatives.parameters import DAMPING, DELAY, KD, KP, Changes
from hrpsim.derivatives.room import BY_Q, BY_VELOCITY, MASS, TakenStep
from hrpsim.derivatives.sensor_slopes import SensorPaths, sensor_slopes
from hrpsim.model.sensors.quantities import WRENCH
from hrpsim.model.system import FREE

OUTPUTS = ("efforts", "sensors")
"""What a step may be differentiated for, besides the state: efforts of joints, all sensors."""

_RIGID = 1e-7  # share of its own inverse mass up to which the compliance of a row is none
_SINGULAR = 1e-8  # share of the largest response that is rounding of zero
_SHARED = 1e-6  # largest share of a load that redundant rows exchange and a sensor notices


def refused_sensor(step: TakenStep, sensor: np.ndarray) -> str:
    """Return the reason why a sensor is not differentiated in a step, or ""."""
    forest = step.scene.forest
    body = forest.bodies[sensor["body"]]
    if sensor["body"] < 0:
        return ""
    if sensor["slots"] > 0:
        return "has a latency, which is not differentiated"
    if body["joint_type"] == FREE and forest.dofs["turns_freely"][body["v_index"]]:
        return "is on a single free body, which is not differentiated"
    if step.connection_rows and sensor["quantity"] == WRENCH:
        return "measures forces between connected bodies, which are not differentiated"
    return ""


class ForcesOnBodies(NamedTuple):
    """Derivatives of the contact forces of a step on the b bodies that have coordinates."""

    changes: np.ndarray  # (6 b, 2 nv + p) moment and force about the tree's origin [Nm, N]
    exchanged: np.ndarray  # (6 b, e) forces that rows can exchange without motion


class StepSensors:
    """The derivatives of the sensor readings of a step.

    Create the object before the position correction of the step is differentiated.
    """

    def __init__(
        self,
        step: TakenStep,
        paths: SensorPaths,
        held: np.ndarray,
        acceleration: np.ndarray,
        shares: np.ndarray,
    ) -> None:
        w, m = step.room.whole, step.coordinates
        self._step, self._active_rows = step, held.copy()
        self._target = w.target[: len(held)].copy()
        self._count = 6 * int((w.body_at[:-1] >= 0).sum())
        self._turning = w.turning[0, : self._count, :m] @ w.Z[:m]
        self._carried = paths.bodies[:, w.bodies[: self._count // 6]]  # (k, b)
        self._slopes = sensor_slopes(step, paths, acceleration, shares)

    def rows(self, columns: np.ndarray, given: GivenImpulses) -> np.ndarray:
        """Return the derivatives of all readings (6 k, 2 nv + p).

        `exchanging` is set to the sensors whose reading depends on a load that redundant contacts
        share.

        Args:
            columns: derivatives of the velocity v' (nv, 2 nv + p).
            given: impulses of the p inputs and parameters.
        """
        (nv, width), (k, b) = columns.shape, self._carried.shape
        result = _by_motion(self._slopes.by_motion, columns, self._step.time_step)
        result[:, :, 2 * nv :] += self._slopes.by_shares
        forces = self._forces(columns, given)
        carried = self._carried @ forces.changes.reshape(b, 6 * width)
        result += self._slopes.placements @ carried.reshape(k, 6, width)
        shared = self._carried @ forces.exchanged.reshape(b, 6 * forces.exchanged.shape[1])
        self.exchanging = np.flatnonzero(np.abs(shared).max(axis=1, initial=0.0) > _SHARED)
        return result.reshape(6 * k, width)

    def _forces(self, columns: np.ndarray, given: GivenImpulses) -> ForcesOnBodies:
        """Return the derivatives of the contact forces on bodies."""
        step, active_rows, w = self._step, self._active_rows, self._step.room.whole
        nv, h, own = len(columns), step.time_step, slice(self._count)
        changes = np.zeros((self._count, columns.shape[1]))
        changes[:, :nv] = self._turning
        changes[:, 2 * nv :] = given.sliding[:, own].T
        if not len(active_rows):
            return ForcesOnBodies(changes / h, np.zeros((self._count, 0)))
        F, J = step.coefficients(active_rows, "F"), step.coefficients(active_rows)
        Z, compliance = w.Z[: step.coordinates], active_rows["compliance"]
        soft = compliance > _RIGID * active_rows["inverse_mass"]
        pushed = np.zeros((len(active_rows), columns.shape[1]))
        pushed[soft, : 2 * nv] = self._target[soft]
        pushed[soft] -= J[soft] @ (Z @ columns)
        pushed[soft] /= compliance[soft, None]
        pushed[:, 2 * nv :] += given.pushes.T
        free = np.isfinite(step.scene.work.joint_inertia)
        left = w.balance[MASS][free] @ columns
        left[:, :nv] -= w.balance[BY_Q][free]
        left[:, nv : 2 * nv] -= w.balance[BY_VELOCITY][free]
        left[:, 2 * nv :] -= given.motion.T[free]
        left -= (F[soft] @ Z[:, free]).T @ pushed[soft]
        left[:, 2 * nv :] += (F[soft] @ Z[:, free]).T @ given.pushes.T[soft]
        U, size, V = np.linalg.svd((F[~soft] @ Z[:, free]).T)
        rank = int((size > _SINGULAR * size.max(initial=0.0)).sum())
        pushed[~soft] += V[:rank].T @ ((U[:, :rank].T @ left) / size[:rank, None])
        changes += F[:, own].T @ pushed
        return ForcesOnBodies(changes / h, F[~soft][:, own].T @ V[rank:].T)


def _by_motion(by_motion: np.ndarray, columns: np.ndarray, time_step: float) -> np.ndarray:
    """Combine derivatives with respect to position, velocity and acceleration (..., 2 nv + p).

    The acceleration depends on the columns through the velocity after the step.

    Args:
        by_motion: derivatives with respect to position, velocity and acceleration (..., 3, nv).
        columns: derivatives of the velocity after the step (nv, 2 nv + p).
        time_step: [s].
    """
    nv, by_end = len(columns), by_motion[..., 2, :] / time_step
    result = by_end @ columns
    result[..., :nv] += by_motion[..., 0, :]
    result[..., nv : 2 * nv] += by_motion[..., 1, :] - by_end
    return result


def effort_rows(
    step: TakenStep,
    joints: np.ndarray,
    acceleration: np.ndarray,
    columns: np.ndarray,
    commands: np.ndarray,
    changes: Changes,
) -> np.ndarray:
    """Return the derivatives of the efforts of k actuators (k, 2 nv + p).

    Args:
        step: step after `differentiate`.
        joints: degrees of freedom of the actuators (k,).
        acceleration: acceleration of the step (nv,), without the addition of the midpoint rule.
        columns: derivatives of the velocity after the step (nv, 2 nv + p).
        commands: impulses for unit changes of commands, zero for other inputs (p, nv).
        changes: derivatives of the world's constants with respect to the p inputs and parameters.
    """
    h, nv, w, acting = step.time_step, len(columns), step.room.whole, effective_commands(step)
    dofs = step.scene.forest.dofs
    least = np.where(dofs["own_inertia"] > 0.0, dofs["own_inertia"], 1.0)
    z = h * (acting.damping + acting.kd)
    fraction, by_z = (least + z) / (2.0 * least + z), least / (2.0 * least + z) ** 2
    fraction = np.where(z > 0.0, fraction, 0.5)
    by_motion = np.zeros((nv, 3, nv))
    each = np.arange(nv)
    by_motion[each, 0, each] = -acting.kp
    by_motion[each, 1, each] = -acting.kd
    by_motion[each, 2, each] = -(0.25 * h * h * acting.kp + h * fraction * acting.kd)
    result = _by_motion(by_motion[joints], columns, h)
    q = w.q[np.maximum(dofs["q_index"], 0)]
    by_damping = -(h * h) * acting.kd * by_z * acceleration
    by = np.zeros(changes.joints.shape[1:])
    by[KP] = acting.follows * (acting.target - q - 0.25 * h * h * acceleration)
    by[KD] = acting.follows * (acting.target_velocity - w.velocity - h * fraction * acceleration)
    by[KD] += acting.follows * by_damping
    by[DAMPING], by[DELAY] = by_damping, acting.by_delay
    by_parameters = np.einsum("pfv,fv->pv", changes.joints, by)
    by_own = h * acting.kd * z / (2.0 * least + z) ** 2 * acceleration
    by_parameters += own_inertia_changes(step, changes) * by_own
    result[:, 2 * nv :] += (by_parameters + commands / h)[:, joints].T
    return result
