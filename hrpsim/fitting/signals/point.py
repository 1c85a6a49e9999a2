# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of motion capture: positions of points that are fixed on links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.dynamics import link_jacobian
from hrpsim.fitting.signals.signal_kind import Setting, SignalKind, Tangent, check_link
from hrpsim.world.objects.robot import Robot


class Point(SignalKind):
    """The position in the world of a point that is fixed on a link."""

    name, quantities, columns = "point", {"": "m"}, ("x", "y", "z")

    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknowns: the position of the point in the frame of the link."""
        return {f"at_{axis}": Setting(0.0, unit="m") for axis in columns}

    def check(self, thing: Any, of: str, columns: Sequence[str]) -> None:
        """Raise FitError for an unknown link."""
        check_link(thing, self.name, of)

    def phase(self, world: Any) -> float:
        """Return 0, because positions belong to the end of the step."""
        return 0.0

    def read(self, thing: Any, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return position and rotation matrix of the link, in row-major order (12,)."""
        from scipy.spatial.transform import Rotation

        position, quaternion = self._pose(thing, of)
        return np.concatenate([position, Rotation.from_quat(quaternion).as_matrix().ravel()])

    def _pose(self, thing: Any, of: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position and quaternion of a link, or of a body."""
        return thing.link_pose(of) if isinstance(thing, Robot) else (thing.q[:3], thing.q[3:7])

    def slopes(self, thing: Any, of: str, columns: Sequence[str], tangent: Tangent) -> np.ndarray:
        """Return the derivatives of position and rotation matrix by the p unknowns (12, p)."""
        from scipy.spatial.transform import Rotation

        turns = Rotation.from_quat(self._pose(thing, of)[1]).as_matrix()
        if isinstance(thing, Robot):
            J = link_jacobian(thing.model, thing.q, of)
        else:
            J = np.kron(np.eye(2), turns)
        moves = J @ tangent.state[: thing.nv]
        turned = np.cross(moves[3:].T[:, None, :], turns.T)  # of the columns of the matrix
        return np.vstack([moves[:3], turned.transpose(2, 1, 0).reshape(9, -1)])

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return the position of the point in the world."""
        place = np.array([settings[f"at_{axis}"] for axis in columns])
        return raw[:, :3] + raw[:, 3:].reshape(-1, 3, 3) @ place
