# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rigid beam of E12, a row of cubes with rigid connections, in hrpsim and in MuJoCo.

The source document has 39 boxes of 1.25 kg, 0.1 m apart, and does not state the load or the shape
of a box. Here, the boxes are cubes of 0.1 m under three loads. With the load "spinning", the beam
rotates about its middle as a rigid body.

The reference solution is the step of AGX's notes (eqs. 15, 16), solved as one dense system. The
reference shares no code with hrpsim's solver. NumPy assembles the complete matrix [M -G^T; G
Sigma], and SciPy solves the system. The cubes have the same inertia about all axes and no
gyroscopic moment.
"""

import numpy as np
from scipy.linalg import solve
from scipy.spatial.transform import Rotation

from hrpsim import Box, World
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY

COUNT = 39
EDGE = 0.1  # edge of a cube, and distance of the centres [m]
MASS = 1.25  # [kg]
TIME_STEP = 1.0 / 60.0
STEPS = 120
SPIN = 1.0  # [rad/s] about z
LOADS = ("at rest", "spinning", "cantilever")
SOURCE_SPRING = {"compliance": 1e-9, "damping_time": 2.0}  # spring of every axis of every joint
# The stiffest of MuJoCo's equality constraints that remain finite under all three loads, found by
# trials of (stiffness, damping) in its direct form. The default gives 2 mm in the spinning case.
MUJOCO_STIFFEST = 'solref="-7000 -60" solimp="0.9999 0.9999 1e-6"'


class DenseBeam:
    """n cubes.

    Each cube is locked in six axes to the previous cube. The first cube is locked to the world if
    `clamped`.

    Attributes:
        x: centres (n, 3) [m].
        R: rotation matrices (n, 3, 3).
        v, omega: linear and angular velocities in world axes (n, 3).
        impulse: impulses of the last step (rows,) [Ns or Nms].
    """

    def __init__(  # many parameters: keywords, passed by name
        self,
        x: np.ndarray,
        v: np.ndarray,
        omega: np.ndarray,
        *,
        edge: float,
        mass: float,
        gravity: np.ndarray,
        clamped: bool,
        compliance: float,
        damping_time: float,
        time_step: float,
    ) -> None:
        self.x, self.v, self.omega = x.copy(), v.copy(), omega.copy()
        self.R = np.tile(np.eye(3), (len(x), 1, 1))
        self.edge, self.gravity, self.time_step = edge, gravity, time_step
        self.mass = np.tile([mass] * 3 + [mass * edge**2 / 6.0] * 3, len(x))  # diagonal of M
        self.clamp = x[0] - [edge / 2, 0.0, 0.0] if clamped else None
        self.compliance, self.damping_time = compliance, damping_time
        self.impulse = np.zeros(0)

    def _frames(self):
        """Yield (a, b, pose of frame a, pose of frame b) for each joint. a is None for the world.

        A pose is (vector from the body's centre, point, axes, velocity of the centre, angular
        velocity).
        """
        half = np.array([self.edge / 2, 0.0, 0.0])
        zero = np.zeros(3)
        if self.clamp is not None:
            yield None, 0, (zero, self.clamp, np.eye(3), zero, zero), self._pose(0, -half)
        for k in range(len(self.x) - 1):
            yield k, k + 1, self._pose(k, half), self._pose(k + 1, -half)

    def _pose(self, k, local):
        arm = self.R[k] @ local
        return arm, self.x[k] + arm, self.R[k], self.v[k], self.omega[k]

    def rows(self):
        """Return G (rows, 6 n), errors g (rows,), and d2g/dt2 at constant velocities (rows,)."""
        G, g, bends = [], [], []
        for a, b, (arm_a, p_a, A, v_a, w_a), (arm_b, p_b, B, v_b, w_b) in self._frames():
            d = p_a - p_b
            d_rate = v_a + np.cross(w_a, arm_a) - v_b - np.cross(w_b, arm_b)
            d_bend = twice(w_a, arm_a) - twice(w_b, arm_b)
            e = A.T
            u, w = e[[1, 2, 0]], B.T[[2, 0, 1]]  # orthogonal without errors
            rows = np.zeros((6, len(self.x), 6))
            if a is not None:
                rows[:3, a, :3], rows[:3, a, 3:] = e, np.cross(arm_a - d, e)
                rows[3:, a, 3:] = np.cross(u, w)
            rows[:3, b, :3], rows[:3, b, 3:] = -e, -np.cross(arm_b, e)
            rows[3:, b, 3:] = -np.cross(u, w)
            G.append(rows.reshape(6, -1))
            g += [e @ d, dots(u, w)]
            bends.append(twice(w_a, e) @ d + 2 * np.cross(w_a, e) @ d_rate + e @ d_bend)
            both = 2 * dots(np.cross(w_a, u), np.cross(w_b, w))
            bends.append(dots(twice(w_a, u), w) + both + dots(u, twice(w_b, w)))
        return np.vstack(G), np.concatenate(g), np.concatenate(bends)

    def system(self):
        """Return the matrix and the right side of eq. 15, with the unknowns v+ and lambda.

        The rows are evaluated in the middle of the step, half a step after the old and before the
        new velocity. For the new velocity, the curvature d2g/dt2 over half a step is subtracted.
        The curvature terms of the old velocity and of the errors cancel, except in the damper.
        AGX's damper acts at the new velocity. Here a fraction `weight` of the damper acts at the
        new velocity, and the rest at the old velocity, according to the inverse masses of the rows.
        """
        G, g, bends = self.rows()
        h, tau, count = self.time_step, self.damping_time, len(self.mass)
        drag = tau * h * (G**2 / self.mass).sum(axis=1)
        spring = self.compliance
        weight = (3.0 * spring + drag) / (6.0 * spring + drag) if spring else np.ones(len(g))
        gamma = 1.0 / (1.0 + 4.0 * weight * tau / h)
        velocity = np.hstack([self.v, self.omega]).ravel()
        force = np.zeros((len(self.x), 6))
        force[:, :3] = self.mass[0] * self.gravity
        matrix = np.zeros((count + len(g), count + len(g)))
        matrix[:count, :count] = np.diag(self.mass)
        matrix[:count, count:] = -G.T
        matrix[count:, :count] = G
        matrix[count:, count:] = np.diag(4.0 / h**2 * spring * gamma)
        late, rate = 0.5 * h * bends, G @ velocity
        right = gamma * (rate - 4.0 / h * (g + (1.0 - weight) * tau * (rate - late))) - late
        return matrix, np.concatenate([self.mass * velocity + h * force.ravel(), right])

    def step(self, count: int = 1) -> None:
        """Make steps by eqs. 15 and 16: move for half a step, solve, move for half a step."""
        for _ in range(count):
            self._drift()
            solution = solve(*self.system())
            self.impulse = solution[len(self.mass) :]
            new = solution[: len(self.mass)].reshape(-1, 6)
            self.v, self.omega = new[:, :3], new[:, 3:]
            self._drift()

    def _drift(self) -> None:
        """Integrate positions for half a step at constant velocities."""
        half = 0.5 * self.time_step
        self.x = self.x + half * self.v
        self.R = Rotation.from_rotvec(half * self.omega).as_matrix() @ self.R


def centres(count: int = COUNT) -> np.ndarray:
    """Return the initial centres (count, 3) [m], along x about the origin."""
    positions = np.zeros((count, 3))
    positions[:, 0] = EDGE * (np.arange(count) - 0.5 * (count - 1))
    return positions


def motion(load: str, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gravity (3,), initial velocities (n, 3) and initial angular velocities (n, 3)."""
    gravity = np.array([0.0, 0.0, -GRAVITY if load == "cantilever" else 0.0])
    omega = np.array([0.0, 0.0, SPIN if load == "spinning" else 0.0])
    return gravity, np.cross(omega, positions), np.tile(omega, (len(positions), 1))


def our_beam(load: str, count: int = COUNT, *, solver=None, spring=None, **options) -> World:
    """Return an hrpsim world with the beam.

    A joint is in the middle between two cubes. The cantilever's joint with the world is at the
    outer face of the first cube.

    Args:
        load: name of the load.
        count: number of cubes.
        solver: solver of the world.
        spring: compliance and damping time of the joints. Joints are rigid by default.
        **options: options of World.
    """
    positions = centres(count)
    gravity, velocities, spins = motion(load, positions)
    world = World(TIME_STEP, gravity, **options)
    cubes = [
        world.add_body(Box((EDGE,) * 3), MASS, p, velocity=v, angular_velocity=w)
        for p, v, w in zip(positions, velocities, spins, strict=True)
    ]
    joints = {"kind": "fixed", "axis": (0, 0, 1), "x_axis": (1, 0, 0), "solver": solver}
    joints |= spring or {}
    half = np.array([0.5 * EDGE, 0.0, 0.0])
    if load == "cantilever":
        world.connect(None, cubes[0], point=positions[0] - half, **joints)
    for a, b, p in zip(cubes, cubes[1:], positions):
        world.connect(a, b, point=p + half, **joints)
    return world


def our_positions(world: World) -> np.ndarray:
    """Return the present centres (n, 3) [m]."""
    return np.array([body.position for body in world.bodies.values()])


def mujoco_beam(mujoco, load: str, solver: str, iterations: int):
    """Return (MjModel, MjData) of the same beam with MUJOCO_STIFFEST welds."""
    positions = centres()
    gravity, velocities, spins = motion(load, positions)
    bodies = [
        f'<body name="b{k}" pos="{p[0]:.17g} 0 0"><freejoint/><geom type="box" mass="{MASS}" '
        f'size="{EDGE / 2} {EDGE / 2} {EDGE / 2}" contype="0" conaffinity="0"/></body>'
        for k, p in enumerate(positions)
    ]
    welds = [f'<weld body1="b{k}" body2="b{k + 1}"/>' for k in range(COUNT - 1)]
    if load == "cantilever":
        welds.append('<weld body1="b0"/>')
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{TIME_STEP:.17g}" gravity="0 0 {gravity[2]}" jacobian="sparse"'
        f' solver="{solver}" iterations="{iterations}" tolerance="1e-10"/>'
        f"<default><equality {MUJOCO_STIFFEST}/></default>"
        f"<worldbody>{''.join(bodies)}</worldbody><equality>{''.join(welds)}</equality></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qvel[:] = np.hstack([velocities, spins]).ravel()
    return model, data


def distance_error(positions: np.ndarray) -> float:
    """Return the source document's error: the sum of |d_i - 0.1| over neighbours [m]."""
    apart = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    return float(np.abs(apart - EDGE).sum())


def bend(load: str, positions: np.ndarray) -> float:
    """Return the bending of the beam [m].

    For the cantilever, the result is the sag of the tip. For other loads, it is the largest
    distance of a centre from the straight line through both ends.
    """
    if load == "cantilever":
        return float(0.0 - positions[-1, 2])
    line = positions[-1] - positions[0]
    line /= np.linalg.norm(line)
    apart = positions - positions[0]
    return float(np.linalg.norm(apart - np.outer(apart @ line, line), axis=1).max())


def twice(omega: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return omega x (omega x x) for one vector or for rows of vectors."""
    return np.cross(omega, np.cross(omega, x))


def dots(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the dot products of the rows of two arrays."""
    return (a * b).sum(axis=1)
