# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A real plastic cube that was tossed onto a table, and simulations of it, for R1.

Measured by motion capture: Pfrommer, Halm and Posa, ContactNets (2020), github.com/DAIRLab/
contact-nets. A toss is an array (n, 13), a frame a row: position of the centre [m], quaternion
x y z w, velocity [m/s] along the world's axes, angular velocity [rad/s] along the cube's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from hrpsim import Box, World
from hrpsim.constants import STANDARD_GRAVITY

FRAME_RATE = 148.0  # [1/s]
WIDTH = 0.1048  # [m]
MASS = 0.37  # [kg]
# What the authors identified; the table is at 0 for the lowest face at rest.
IDENTIFIED = {"friction": 0.18, "restitution": 0.125, "inertia": 0.00081, "height": 0.0}
SUBSTEPS = {"hrpsim": 4, "mujoco": 7}  # a frame; MuJoCo's contacts need steps of 1 ms
RESULTS = ("position", "rotation", "face")
_CORNERS = WIDTH / 2 * np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, 8).T


def read_tosses(path: Path) -> list[np.ndarray]:
    """Return the tosses of cube_tosses.npz, each (n, 13)."""
    with np.load(path) as stored:
        state, number = stored["state"], stored["toss"]
    return [state[number == one] for one in np.unique(number)]


class Cube:
    """hrpsim's cube on a table.

    friction, restitution; inertia [kg m^2] about each axis; height of the table [m]; compliance
    [m/N] and damping_time [s] of a corner's contact, rigid where the compliance is 0.
    """

    def __init__(
        self,
        friction: float,
        restitution: float = 0.0,
        inertia: float = IDENTIFIED["inertia"],
        height: float = 0.0,
        compliance: float = 0.0,
        damping_time: float | None = None,
        substeps: int = SUBSTEPS["hrpsim"],
    ):
        self.substeps = substeps
        self.world = World(1.0 / (FRAME_RATE * substeps))
        self.world.set_friction("default", "default", static=friction, restitution=restitution)
        if compliance > 0.0:
            self.world.set_contact(
                "default", "default", compliance=compliance, damping_time=damping_time
            )
        self.world.add_ground(height)
        self.cube = self.world.add_body(Box((WIDTH,) * 3), MASS, inertia=inertia * np.eye(3))

    def follow(self, tosses: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Simulate each toss from its first state; return its poses (n, 7), frame by frame."""
        return [self._follow(toss) for toss in tosses]

    def _follow(self, toss: np.ndarray) -> np.ndarray:
        poses = np.empty((len(toss), 7))
        self.world.reset()
        R = Rotation.from_quat(toss[0, 3:7]).as_matrix()
        self.cube.q = poses[0] = toss[0, :7]
        self.cube.v = np.concatenate([R.T @ toss[0, 7:10], toss[0, 10:13]])
        for pose in poses[1:]:
            self.world.step(self.substeps)
            pose[:] = self.cube.q
        return poses


class MujocoCube:
    """MuJoCo's cube on a table.

    As `Cube`; time_constant [s] and damping_ratio are its solref, impedance_ratio its impratio.
    """

    def __init__(
        self,
        mujoco,
        friction: float,
        inertia: float = IDENTIFIED["inertia"],
        height: float = 0.0,
        time_constant: float = 0.02,
        damping_ratio: float = 1.0,
        impedance_ratio: float = 1.0,
        substeps: int = SUBSTEPS["mujoco"],
    ):
        self.substeps = substeps
        solref = f"{time_constant} {damping_ratio}"
        self.model = mujoco.MjModel.from_xml_string(f"""<mujoco>
  <option timestep="{1.0 / (FRAME_RATE * substeps)}" gravity="0 0 -{STANDARD_GRAVITY}"
          cone="elliptic" impratio="{impedance_ratio}"/>
  <default><geom friction="{friction} 0 0" condim="3" solref="{solref}"/></default>
  <worldbody>
    <geom type="plane" size="0 0 1" pos="0 0 {height}"/>
    <body><freejoint/>
      <inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} {inertia}"/>
      <geom type="box" size="{WIDTH / 2} {WIDTH / 2} {WIDTH / 2}"/></body>
  </worldbody>
</mujoco>""")
        self.data = mujoco.MjData(self.model)

    def follow(self, tosses: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Simulate each toss from its first state; return its poses (n, 7), frame by frame."""
        from mujoco import rollout

        first = np.array([toss[0] for toss in tosses])
        states = np.zeros((len(tosses), 14))  # time, position, quaternion w x y z, velocity
        states[:, 1:] = first[:, [0, 1, 2, 6, 3, 4, 5, *range(7, 13)]]
        steps = self.substeps * (max(map(len, tosses)) - 1)
        path, _ = rollout.rollout(self.model, self.data, initial_state=states, nstep=steps)
        path = path[:, self.substeps - 1 :: self.substeps, [1, 2, 3, 5, 6, 7, 4]]
        return [
            np.concatenate([toss[:1, :7], one[: len(toss) - 1]]) for toss, one in zip(tosses, path)
        ]


def errors(predicted: Sequence[np.ndarray], measured: Sequence[np.ndarray]) -> np.ndarray:
    """Return the errors (tosses, 3) of predicted poses, each a mean over the frames of a toss.

    Position in per cent of the width, rotation in degrees, and 1 where the face that is up at the
    end is the measured one.
    """
    found = np.empty((len(measured), len(RESULTS)))
    for row, ours, real in zip(found, predicted, measured):
        away = np.linalg.norm(ours[:, :3] - real[:, :3], axis=1)
        cosine = np.abs(np.einsum("ij,ij->i", ours[:, 3:], real[:, 3:7])).clip(0.0, 1.0)
        ups = Rotation.from_quat([ours[-1, 3:], real[-1, 3:7]]).as_matrix()[:, 2]
        faces = [(k, up[k] > 0.0) for up in ups for k in [np.abs(up).argmax()]]
        row[0] = 100.0 * away.mean() / WIDTH
        row[1] = np.degrees(2.0 * np.arccos(cosine)).mean()
        row[2] = faces[0] == faces[1]
    return found


def lowest_corner(poses: np.ndarray) -> np.ndarray:
    """Return the height of the lowest corner in each pose (n, 7 or more) [m]."""
    R = Rotation.from_quat(poses[:, 3:7]).as_matrix()
    return poses[:, 2] + (R[:, 2] @ _CORNERS.T).min(1)


def flight(toss: np.ndarray) -> int:
    """Return how many frames pass before the lowest corner is 4 mm above the table."""
    return int(np.argmax(lowest_corner(toss) < 0.004))


def started_by_flight(toss: np.ndarray) -> np.ndarray:
    """Return a toss whose first state is that of the parabola and rotation of its whole flight.

    Fitted by least squares to the frames before the first contact, where there are six or more.
    """
    count = flight(toss)
    start = toss.copy()
    if count < 6:
        return start
    t = np.arange(count) / FRAME_RATE
    fallen = toss[:count, :3] + np.outer(STANDARD_GRAVITY * t**2 / 2, (0.0, 0.0, 1.0))
    start[0, :3], start[0, 7:10] = np.linalg.lstsq(np.stack([t**0, t], 1), fallen, rcond=None)[0]
    rotations = Rotation.from_quat(toss[:count, 3:7])
    start[0, 10:13] = t @ (rotations[0].inv() * rotations).as_rotvec() / (t @ t)
    return start
