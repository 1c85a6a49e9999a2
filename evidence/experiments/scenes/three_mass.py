# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Linear model with three masses of the sway of a humanoid on rubber bushes.

The model is planar (sagittal), with both legs in parallel and the feet at rest on the floor.
Shanks, thighs and trunk (with head and arms) rotate about the axes of bushes, ankles, knees and
hips. Their pitch angles in the world are phi (n,). Bushes and servo gains are springs k and dampers
d that act on the relative pitch angles theta = B phi. Rotors rotate with theta. The equations,
linearised about the posture of the description, are

    M phi'' + D phi' + (K + G) phi = 0
    K = B^T diag(k) B
    D = B^T diag(d) B
    M = sum_i (m_i A_i A_i^T + J_i e_i e_i^T) + B^T diag(rotors) B
    G = -g diag(sum_i m_i A_i z)

Row j of A_i (n, 2) is the component of the vector from the first axis to mass i that rotates with
phi_j. The model does not use the simulator's dynamics. Masses are sums over the bodies of the
description.
"""

import math
from typing import NamedTuple

import numpy as np

from evidence.experiments.scenes.standing import half_sitting
from hrpsim import Joint, Model, link_pose
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY

LEGS = tuple(  # hinges from the floor upwards: bushes, ankles, knees, hips
    (f"LLEG_{name}", f"RLEG_{name}") for name in ("BUSH_PITCH", "JOINT4", "JOINT3", "JOINT2")
)
WAIST = ("CHEST_JOINT1",)


class Mode(NamedTuple):
    """The kind of the slowest mode: "oscillates", "creeps back" (overdamped) or "falls" (unstable).

    `period` [s] is the damped period. Period and damping ratio are NaN unless the mode oscillates.
    """

    kind: str
    period: float
    damping_ratio: float


def slowest_mode(poles: np.ndarray) -> Mode:
    """Return the mode of the pole [1/s] nearest to zero. A pole with positive real part falls.

    A pole -zeta w +- i w sqrt(1 - zeta^2) has the damped period 2 pi / (w sqrt(1 - zeta^2)).
    """
    if poles.real.max() > 0.0:
        return Mode("falls", math.nan, math.nan)
    slow = poles[np.argmin(np.abs(poles))]
    if slow.imag == 0.0:
        return Mode("creeps back", math.nan, math.nan)
    return Mode("oscillates", 2.0 * math.pi / abs(slow.imag), -slow.real / abs(slow))


class Chain(NamedTuple):
    """Bodies (n,) on hinges (n,), from the floor up. Points (n, 2) are x, z in the world [m].

    Hinge i carries body i, and is fixed on body i - 1. Hinge 0 is fixed on the floor.
    """

    mass: np.ndarray  # [kg]
    centre: np.ndarray  # (n, 2)
    spin: np.ndarray  # moments of inertia about the centres [kg m^2]
    hinge: np.ndarray  # (n, 2)
    stiffness: np.ndarray  # [Nm/rad]
    damping: np.ndarray  # [Nms/rad]
    rotor: np.ndarray  # [kg m^2]
    least: np.ndarray  # rotor and next link above the hinge, about the hinge's axis [kg m^2]


class Sway:
    """The linear motion of a chain about an equilibrium posture that springs hold."""

    def __init__(self, chain: Chain) -> None:
        n = len(chain.mass)
        self.chain = chain
        self.inertia, self.gravity = np.diag(chain.spin), np.zeros((n, n))
        self.lift = np.zeros(n)  # coefficients of pitch accelerations in the floor's moment
        for i, mass in enumerate(chain.mass):
            arms = np.zeros((n, 2))
            arms[: i + 1] = np.diff(np.vstack([chain.hinge[: i + 1], chain.centre[i]]), axis=0)
            self.inertia += mass * arms @ arms.T
            self.gravity -= GRAVITY * mass * np.diag(arms[:, 1])
            self.lift += mass * arms @ chain.centre[i] + chain.spin[i] * np.eye(n)[i]
        turns = np.eye(n) - np.eye(n, k=-1)
        self.inertia += turns.T @ np.diag(chain.rotor) @ turns
        self.damping = turns.T @ np.diag(chain.damping) @ turns
        self.springs = turns.T @ np.diag(chain.stiffness) @ turns

    def system(self) -> np.ndarray:
        """Return the system matrix (2n, 2n) for the time derivative of (phi, phi')."""
        n = len(self.inertia)
        pull = np.linalg.solve(self.inertia, np.hstack([self.springs + self.gravity, self.damping]))
        return np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), -pull])

    def poles(self) -> np.ndarray:
        """Return the continuous-time poles (2n,) [1/s]."""
        return np.linalg.eigvals(self.system()).astype(complex)

    def stepped_poles(self, time_step: float) -> np.ndarray:
        """Return the equivalent poles (2n,) [1/s] of semi-implicit steps of `time_step` [s].

        A step moves to the middle, phi_m = phi + dt/2 v, where gravity is evaluated. A spring acts
        at the mean of both ends, phi_m + dt/4 (v' - v). A damper acts at v + s (v' - v), with s
        from `_late_share`:

            (M + dt D_s + dt^2/4 K) (v' - v) = -dt ((K + G) phi_m + D v),
            phi' = phi_m + dt/2 v'.

        An eigenvalue e of the step corresponds to the pole ln(e) / dt.
        """
        n, dt = len(self.inertia), time_step
        turns = np.eye(n) - np.eye(n, k=-1)
        late = turns.T @ np.diag(self.chain.damping * self._late_share(dt)) @ turns
        effective_inertia = self.inertia + dt * late + 0.25 * dt * dt * self.springs
        middle = np.hstack([np.eye(n), 0.5 * dt * np.eye(n)])
        speed = np.hstack([np.zeros((n, n)), np.eye(n)])
        force = (self.springs + self.gravity) @ middle + self.damping @ speed
        after = speed - dt * np.linalg.solve(effective_inertia, force)
        return np.log(np.linalg.eigvals(np.vstack([middle + 0.5 * dt * after, after])) + 0j) / dt

    def _late_share(self, time_step: float) -> np.ndarray:
        """Return s = (1 + z) / (2 + z) for the damper of every hinge, with z = c dt / least.

        c is the damping and `least` the smallest inertia at the hinge. A damper alone then slows
        this inertia by the factor 1 / (1 + z + z^2 / 2).
        """
        z = self.chain.damping * time_step / self.chain.least
        return (1.0 + z) / (2.0 + z)

    def moment(self, tilt: float, times: np.ndarray) -> np.ndarray:
        """Return the change of the floor's pitch moment about the origin after a tilted start [Nm].

        All bodies start at rest, rotated by `tilt` [rad] about the first hinge. The floor's moment
        is the rate of change of angular momentum minus the moment of gravity. With the centres x,
        z, moment = sum_i (m_i (z_i x_i'' - x_i z_i'') + J_i phi_i'' - m_i g dx_i).
        """
        n, system = len(self.inertia), self.system()
        values, vectors = np.linalg.eig(system)
        start = np.concatenate([np.full(n, tilt), np.zeros(n)])
        shares = np.linalg.solve(vectors, start.astype(complex))
        states = (vectors * shares @ np.exp(np.outer(values, times))).real
        return self.lift @ (system @ states)[n:] + np.diag(self.gravity) @ states[:n]


def three_masses(model: Model) -> Sway:
    """Return the sway model of hrp2_like in half-sitting with shanks, thighs and trunk.

    Parts between bushes and ankles have no mass, only rotors. The waist does not bend. Raises
    ModelError if the model does not have these joints and bushes.
    """
    chain = _chain(model, LEGS)
    chain.mass[0] = chain.spin[0] = 0.0
    return Sway(chain)


def five_masses(model: Model) -> Sway:
    """Return the sway model with two more masses: from bush to ankle, and above the waist."""
    return Sway(_chain(model, (*LEGS, WAIST)))


def _chain(model: Model, hinges: tuple[tuple[str, ...], ...]) -> Chain:
    """Sum the bodies between successive pitch joints, over both legs, for each of the `hinges`."""
    joints = [[model.joint(name) for name in names] for names in hinges]
    poses, moved = _body_poses(model), _moved_by(model, joints)
    sums = [_sum_of(model, bodies, poses) for bodies in moved]
    laws = np.array(
        [np.sum([hinge_law(model, joint) for joint in pair], axis=0) for pair in joints]
    )
    return Chain(
        np.array([mass for mass, _, _ in sums]),
        np.array([centre for _, centre, _ in sums]),
        np.array([spin for _, _, spin in sums]),
        np.array([poses[pair[0].body][0] for pair in joints]),
        *laws.T.copy(),
    )


def _body_poses(model: Model) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return origin (x, z) relative to a point below the ankles, and attitude, by body index."""
    q, poses = half_sitting(model), {}
    floor = link_pose(model, q, "l_sole")[0]
    for link, frame in model.frames.items():
        p, R = link_pose(model, q, link)
        attitude = R @ frame.R.T
        poses[frame.body] = (p - floor - attitude @ frame.p)[[0, 2]], attitude
    return poses


def _moved_by(model: Model, joints: list[list[Joint]]) -> list[list[int]]:
    """Return the bodies that each hinge moves if the soles are fixed.

    The tree's root is in the trunk. A leg's body is moved by the hinge below its upper joint.
    """
    cut = {joint.body: k for k, pair in enumerate(joints) for joint in pair}
    moved: list[list[int]] = [[] for _ in joints]
    for body in range(model.body_count):
        i = body
        while i >= 0 and i not in cut:
            i = model.system.parent[i]
        hinge = cut.get(i, len(LEGS))
        if hinge > 0:
            moved[hinge - 1 if hinge < len(LEGS) or i < 0 else hinge].append(body)
    return moved


def _sum_of(model: Model, bodies: list[int], poses: dict) -> tuple[float, np.ndarray, float]:
    """Return mass [kg], centre (2,) [m] and moment of inertia about y [kg m^2] of bodies."""
    system, parts = model.system, []
    for body in bodies:
        at, R = poses[body]
        spin = float((R @ system.inertia[body] @ R.T)[1, 1])
        parts.append((float(system.mass[body]), at + (R @ system.com[body])[[0, 2]], spin))
    total = sum(mass for mass, _, _ in parts)
    centre = sum(mass * at for mass, at, _ in parts) / total
    spin = sum(spin + mass * ((at - centre) ** 2).sum() for mass, at, spin in parts)
    return total, centre, spin


def hinge_law(model: Model, joint: Joint) -> tuple[float, float, float, float]:
    """Return stiffness, damping, rotor inertia and smallest inertia of a joint's bush or servo.

    The smallest inertia is the rotor inertia plus the inertia of the joint's body about the body's
    z axis.
    """
    system, k, body = model.system, joint.v_index, joint.body
    bush = float(system.stiffness[k]), float(system.damping[k])
    x, y, _ = system.com[body]
    own = system.inertia[body, 2, 2] + system.mass[body] * (x * x + y * y)
    rotor = float(system.rotor_inertia[k])
    return *model.gains.get(joint.name, bush), rotor, rotor + float(own)
