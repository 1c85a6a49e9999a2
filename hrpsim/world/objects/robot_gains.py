# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The PD gains of a robot's joints."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning
from hrpsim.engine.dynamics.joint_forces import OWN_GAINS, POSITIONS, VELOCITIES
from hrpsim.model.model import Model
from hrpsim.world.objects.entity import _frozen
from hrpsim.world.objects.plausibility import slow_servo

_SHOWN = 4  # largest number of listed names


class RobotGains:
    """Gains of a Robot. Gains are not part of the state: a reset or a snapshot keeps the gains."""

    def __init__(self, model: Model) -> None:
        self._kp, self._kd = np.zeros(len(self.joint_index)), np.zeros(len(self.joint_index))
        self._without_gains = set(self.joint_index.position_controlled(model).tolist())
        if model.gains:
            kp, kd = zip(*model.gains.values())
            self._store_gains(kp, kd, tuple(model.gains))

    def _control(self):
        return self.world.scene.control[self.first_v : self.first_v + self.nv]

    @property
    def gains(self) -> tuple[np.ndarray, np.ndarray]:
        """PD gains kp and kd of the joints, in the order of joint_names.

        Passive joints have zeros.
        """
        return _frozen(self._kp.copy()), _frozen(self._kd.copy())

    def set_gains(
        self, kp: ArrayLike, kd: ArrayLike, names: str | Sequence[str] | None = None
    ) -> None:
        """Set PD gains. The gains act at once, on the present commands too.

        A joint under position control uses both gains. A joint under velocity control uses kd
        alone. A joint under effort control uses no gain until its next command. Gains are a
        property of the robot and not part of the state, so `World.reset` and `World.restore` keep
        the gains.

        Args:
            kp: stiffness, one number or (n,) [Nm/rad or N/m].
            kd: damping, one number or (n,) [Nms/rad or Ns/m].
            names: joints. The default is all joints.

        Raises:
            StateError: a joint is unknown or repeated, a length is wrong, or a value is negative or
                not finite. Nothing changes then.
        """
        self._give_gains(self._store_gains(kp, kd, names))

    def _store_gains(
        self, kp: ArrayLike, kd: ArrayLike, names: str | Sequence[str] | None
    ) -> np.ndarray:
        """Store gains and return the indices of the joints. `set_gains` has the arguments."""
        indices = self.joint_index.indices(names)
        kp = self.joint_index.gains("kp", kp, indices)
        kd = self.joint_index.gains("kd", kd, indices)
        if text := slow_servo([self.joint_names[k] for k in indices.tolist()], kp, kd):
            warnings.warn(f"robot {self.name!r}: {text}", ModelWarning, stacklevel=3)
        self._kp[indices], self._kd[indices] = kp, kd
        self.know_gains_of(indices.tolist())
        return indices

    def know_gains_of(self, joints: Iterable[int]) -> None:
        """Record that joints have gains. `warn_of_missing_gains` then ignores these joints."""
        if self._without_gains:
            self._without_gains.difference_update(joints)

    def restore_gains(self) -> None:
        """Apply the gains of `set_gains` to the present commands. Gains of single commands stay."""
        flags = self._control()["given"][self.joint_index.v]
        self._give_gains(np.flatnonzero(flags & OWN_GAINS == 0))

    def _give_gains(self, indices: np.ndarray) -> None:
        """Write the gains into the commands of joints that use gains."""
        control, at = self._control(), self.joint_index.v[indices]
        flags = control["given"][at] & ~OWN_GAINS
        control["given"][at] = flags
        control["kp"][at] = np.where(flags & POSITIONS, self._kp[indices], 0.0)
        damped = flags & (POSITIONS | VELOCITIES)
        control["kd"][at] = np.where(damped, self._kd[indices], 0.0)

    def warn_of_missing_gains(self) -> None:
        """Warn once of joints without gains that are neither locked nor driven."""
        exempt = {*self.locked, *self.driven}
        lacking = [self.joint_names[k] for k in sorted(self._without_gains)]
        lacking = [name for name in lacking if name not in exempt]
        self._without_gains.clear()
        if lacking:
            listed = ", ".join(map(repr, lacking[:_SHOWN]))
            listed += f", ... ({len(lacking)} in all)" if len(lacking) > _SHOWN else ""
            warnings.warn(
                f"robot {self.name!r}: joints without gains do not follow or hold a position or"
                f" velocity: {listed}. Set gains in a world file (gains: {{'*': [150,"
                " 2]}), by set_gains, or by <gains> of <hrpsim>. For a biped, hrpsim walk --robot"
                " FILE --check --write-robot FOLDER finds the gains. Set gains of 0 if a joint is"
                " passive or commanded by effort",
                ModelWarning,
                stacklevel=3,
            )
