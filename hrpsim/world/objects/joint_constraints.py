# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Joint constraints of a robot: locks, velocity motors, and the compliance of both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import StateError, WorldError, require_name, unknown_name
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import as_numbers, not_negative
from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import Vector
from hrpsim.engine.constraints.joint_rows import (
    JOINT_HOLD,
    LIMIT_PARAMETERS,
    LOCK_PARAMETERS,
    MIMIC_PARAMETERS,
    PARAMETERS_OF_ROW,
)
from hrpsim.engine.constraints.rows import DAMPING_STEPS, LOWER_LIMIT, UPPER_LIMIT, refuse_undamped
from hrpsim.engine.step.scene.status import LARGEST_COMMAND
from hrpsim.world.objects.solver_rules import JOINT_KINDS, SolverRules, solver_code

ALL_KINDS = -1
_RIGID = -1.0
_COLUMNS = {kind: column for column, kind in enumerate(JOINT_KINDS)}


class EffortSources(NamedTuple):
    """The arrays from which efforts of constraints are read, for a robot with n joints."""

    settings: np.ndarray  # (1,) SETTINGS
    impulses: np.ndarray  # impulses of the step (nv, 7), by row
    impact_impulse: np.ndarray  # impulses of impacts (nv, 7)
    dofs: np.ndarray  # (nv,) DOF, numbered within the robot
    joint_v: np.ndarray  # (n,) indices of the joints in the impulses
    joint_of: np.ndarray  # (nv,) inverse of joint_v


class JointConstraints:
    """Joint constraints of a Robot. An argument `names` is one joint or a list of joints.

    The class uses only public members of the robot: world, indices in the world, and `joint_index`.
    """

    def __init__(self) -> None:
        self._own_solvers = np.full((self.nv, len(JOINT_KINDS)), -1)  # -1: by the rules
        self._initial_holds = np.zeros(self.nv, dtype=JOINT_HOLD)

    def _holds(self) -> np.ndarray:
        return self.world.scene.joint_holds[self.first_v : self.first_v + self.nv]

    def keep_holds(self) -> None:
        """Save the present locks and motors for `restore_holds`."""
        self._initial_holds = self._holds().copy()

    def restore_holds(self) -> None:
        """Restore the saved locks and motors. Initially there are none."""
        self._holds()[:] = self._initial_holds

    @property
    def locked(self) -> tuple[str, ...]:
        """Names of the locked joints."""
        return self._names_where("locked")

    @property
    def driven(self) -> tuple[str, ...]:
        """Names of the joints driven by motors."""
        return self._names_where("driven")

    def _names_where(self, field: str) -> tuple[str, ...]:
        chosen = self._holds()[field][self.joint_index.v] != 0
        return tuple(n for n, yes in zip(self.joint_names, chosen, strict=True) if yes)

    def lock(self, names: str | Sequence[str], positions: ArrayLike | None = None) -> None:
        """Hold joints rigidly at `positions` [rad or m]. The default is the present positions."""
        indices = self._constrained(names)
        if positions is None:
            positions = self.joint_positions[indices]
        positions = self.joint_index.values("positions", np.atleast_1d(positions), indices)
        self.report_beyond(indices, {"positions": positions})
        at, holds = self.joint_index.v[indices], self._holds()
        holds["position"][at], holds["locked"][at] = positions, True

    def unlock(self, names: str | Sequence[str] | None = None) -> None:
        """Remove the locks of joints. The default is all joints."""
        self._holds()["locked"][self.joint_index.v[self._constrained(names)]] = False

    def drive(
        self, names: str | Sequence[str], velocities: ArrayLike, force_limit: ArrayLike
    ) -> None:
        """Drive joints by motors at a constant velocity.

        The velocity is a constraint, and exact within the force limit. The target velocity of
        `command` is not exact. Commands stay active, so position gains of a driven joint work
        against the motor.

        Args:
            names: joints.
            velocities: one number or (n,) [rad/s or m/s].
            force_limit: largest effort, one number or (n,) [Nm or N].
        """
        indices = self._constrained(names)
        velocities = self.joint_index.values(
            "velocities", _for_each(velocities, indices), indices, LARGEST_COMMAND
        )
        self.report_beyond(indices, {"velocities": velocities})
        limits = not_negative("force_limit", force_limit, len(indices), finite=False)
        at, holds = self.joint_index.v[indices], self._holds()
        holds["speed"][at], holds["driven"][at] = velocities, True
        self._laws("motor")["force_limit"][at] = limits

    def release(self, names: str | Sequence[str] | None = None) -> None:
        """Remove the motors of joints. The default is all joints."""
        self._holds()["driven"][self.joint_index.v[self._constrained(names)]] = False

    def set_constraint(
        self,
        kind: str,
        names: str | Sequence[str] | None = None,
        *,
        compliance: float | None = None,
        damping_time: float | None = None,
        force_limit: float | None = None,
        solver: str | None = None,
    ) -> None:
        """Set compliance and solver of one kind of joint constraint. None changes nothing.

        A deviation follows a spring of stiffness 1 / compliance, and decays over the damping time.
        Limits and mimics are rigid initially, and deviations are corrected at a bounded speed. With
        a compliance or a damping time, limits and mimics follow the spring. The default damping
        time is then two time steps. compliance=0 without a damping time makes both rigid again.
        Friction and motors do not hold a position. They slip with the velocity compliance /
        (damping_time + time_step / 4) per unit of effort.

        Args:
            kind: "limit", "friction", "mimic", "lock" or "motor".
            names: joints. The default is all joints.
            compliance: inverse of the spring's stiffness [rad/Nm or m/N]. 0 is rigid.
            damping_time: decay time of a deviation [s].
            force_limit: largest effort of the constraint [Nm or N].
            solver: overrides the world's rules.
        """
        require_name("kind of joint constraint", kind, JOINT_KINDS)
        indices = self._constrained(names)
        column = JOINT_KINDS.index(kind)
        may_be_rigid = column in (LIMIT_PARAMETERS, MIMIC_PARAMETERS)
        at, parameters, count = self.joint_index.v[indices], self._laws(kind), len(indices)
        changes = {
            name: parameters[name][at] for name in ("compliance", "damping_time", "force_limit")
        }
        terms = {"compliance": compliance, "damping_time": damping_time, "force_limit": force_limit}
        for name, value in terms.items():
            if value is not None:
                is_finite = name != "force_limit"
                changes[name] = not_negative(name, value, count, finite=is_finite)
        if damping_time is None and compliance is not None and may_be_rigid:
            usual = DAMPING_STEPS * self.world.time_step
            soft = np.where(changes["damping_time"] == _RIGID, usual, changes["damping_time"])
            changes["damping_time"] = np.where(changes["compliance"] > 0.0, soft, _RIGID)
        if column in (LIMIT_PARAMETERS, MIMIC_PARAMETERS, LOCK_PARAMETERS):
            refuse_undamped(changes["compliance"], changes["damping_time"], self.world.time_step)
        if solver is not None:
            changes["solver"] = np.full(count, solver_code(solver, kind))
            self._own_solvers[at, column] = changes["solver"]
        for field, values in changes.items():
            parameters[field][at] = values

    def constraint_efforts(
        self, kind: str | None = None, names: str | Sequence[str] | None = None
    ) -> np.ndarray:
        """Return the efforts (n,) [Nm or N] that constraints exerted on joints in the last step.

        The efforts are means over the step, impacts included. An effort is positive if it pushes
        the joint to larger positions, as a limit does at the lower end. The effort of a mimic
        constraint is the effort on the following joint. The effort on the leading joint is
        -multiplier times as large, and is included only in the sum of all kinds.

        Args:
            kind: see `set_constraint`. Without a kind, the sum of all kinds is returned. The sum is
                the total effort on the joint, except its actuator, spring and damper.
            names: joints. The default is all joints, in the order of `joint_names`.

        Raises:
            WorldError: unknown kind.
            StateError: unknown joint.
        """
        require_fit("kind", kind, str | None, WorldError)
        column = ALL_KINDS if kind is None else _COLUMNS.get(kind)
        if column is None:
            raise WorldError(unknown_name("kind of joint constraint", str(kind), JOINT_KINDS))
        access, efforts = self.access, np.empty(len(self.joint_index))
        access.read_efforts(access.efforts, column, efforts)
        return efforts if names is None else efforts[self._constrained(names)]

    def choose_solvers(self, rules: SolverRules, parameters: np.ndarray) -> None:
        """Write the solvers chosen by rules and user into `parameters` (nv, 5) of the world."""
        mine = parameters[self.first_v : self.first_v + self.nv]
        for name, k in zip(self.joint_names, self.joint_index.v, strict=True):
            for column, kind in enumerate(JOINT_KINDS):
                own = self._own_solvers[k, column]
                chosen = own if own >= 0 else rules.of_joint(kind, self.name, name)
                mine["solver"][k, column] = chosen

    def _laws(self, kind: str) -> np.ndarray:
        parameters = self.world.scene.joint_parameters[self.first_v : self.first_v + self.nv]
        return parameters[:, JOINT_KINDS.index(kind)]

    def _constrained(self, names) -> np.ndarray:
        return self.joint_index.indices(names)


def _for_each(values, indices: np.ndarray) -> np.ndarray:
    """Return one value for each joint, given a single value or one for each joint."""
    try:
        return np.broadcast_to(as_numbers("values", values), len(indices))
    except ValueError as error:  # StateError is one
        raise StateError(f"must be one number or {len(indices)} numbers, got {values!r}") from error


@kernel
def read_efforts(s: EffortSources, kind: int, efforts_out: Vector) -> int:
    """Write the efforts (n,) [Nm or N] that constraints of one kind exerted in the last step.

    ALL_KINDS adds the constraints of all kinds. This sum includes the reactions on joints that
    mimic joints follow. Returns 0.
    """
    scale = 1.0 / s.settings[0].time_step
    for k in range(s.joint_v.shape[0]):
        at = s.joint_v[k]
        efforts_out[k] = scale * _impulse_of(s.impulses[at], s.impact_impulse[at], kind)
    if kind != ALL_KINDS:
        return 0
    for k in range(s.joint_v.shape[0]):
        at = s.joint_v[k]
        dof = s.dofs[at]
        if dof.mimic_dof >= 0:
            effort = scale * _impulse_of(s.impulses[at], s.impact_impulse[at], MIMIC_PARAMETERS)
            efforts_out[s.joint_of[dof.mimic_dof]] -= dof.mimic_ratio * effort
    return 0


@inlined_kernel
def _impulse_of(impulse: Vector, impact_impulse: Vector, kind: int) -> float:
    """Return the impulse of rows of one kind or of all kinds, impacts included [Nms or Ns]."""
    total = 0.0
    for row in range(PARAMETERS_OF_ROW.shape[0]):
        if kind == ALL_KINDS or kind == PARAMETERS_OF_ROW[row]:
            sign = -1.0 if row == UPPER_LIMIT - LOWER_LIMIT else 1.0
            total += sign * (impulse[row] + impact_impulse[row])
    return total
