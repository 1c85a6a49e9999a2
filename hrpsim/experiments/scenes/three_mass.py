# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How a humanoid on bushed feet sways, estimated by three masses: Lagrange's equations, linear.

In the sagittal plane shanks, thighs and trunk (with head and arms), both legs in parallel, turn by
the pitches phi (n,) in the world about the axes of bushes, ankles, knees and hips, the feet resting
on the floor. Bushes and the servos' gains are springs k and dampers d of the pitches between
neighbours, theta = B phi, and rotors turn with theta. About the posture of the description,

    M phi'' + D phi' + (K + G) phi = 0,    K = B^T diag(k) B,  D = B^T diag(d) B,
    M = sum_i (m_i A_i A_i^T + J_i e_i e_i^T) + B^T diag(rotors) B,    G = -g diag(sum_i m_i A_i z)

where row j of A_i (n, 2) is the part of the way from the first axis to mass i that turns with
phi_j. Nothing here uses the simulator's dynamics: masses are summed from the links of the URDF.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from lxml import etree

from hrpsim.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.errors import HrpsimError
from hrpsim.experiments.scenes.standing import HALF_SITTING

BUSH, ANKLE, KNEE = "{}LEG_BUSH_PITCH", "{}LEG_JOINT4", "{}LEG_JOINT3"
HIP = "{}LEG_JOINT2"
WAIST = "CHEST_JOINT1"


class Mode(NamedTuple):
    """The kind of the slowest mode: "oscillates", "creeps back" (overdamped) or "falls" (unstable).

    `period` [s] is the damped one; it and the damping ratio are nan unless the mode oscillates.
    """

    kind: str
    period: float
    damping_ratio: float


def slowest_mode(poles: np.ndarray) -> Mode:
    """Return the mode of the pole [1/s] that is nearest to zero; one to the right of it falls.

    A pole -zeta w +- i w sqrt(1 - zeta^2) has the damped period 2 pi / (w sqrt(1 - zeta^2)).
    """
    if poles.real.max() > 0.0:
        return Mode("falls", math.nan, math.nan)
    slow = poles[np.argmin(np.abs(poles))]
    if slow.imag == 0.0:
        return Mode("creeps back", math.nan, math.nan)
    return Mode("oscillates", 2.0 * math.pi / abs(slow.imag), -slow.real / abs(slow))


class Chain(NamedTuple):
    """Bodies (n,) on hinges (n,), from the floor up; points (n, 2) are x, z in the world [m].

    Body i turns about hinge i, which stands on body i - 1, hinge 0 on the floor.
    """

    mass: np.ndarray  # [kg]
    centre: np.ndarray  # (n, 2)
    spin: np.ndarray  # moments of inertia about the centres [kg m^2]
    hinge: np.ndarray  # (n, 2)
    stiffness: np.ndarray  # [Nm/rad]
    damping: np.ndarray  # [Nms/rad]
    rotor: np.ndarray  # [kg m^2]
    least: np.ndarray  # rotor and the link next above the hinge, about its axis [kg m^2]


class Sway:
    """The linear motion of a chain about its equilibrium posture, held by springs."""

    def __init__(self, chain: Chain):
        n = len(chain.mass)
        self.chain = chain
        self.inertia, self.gravity = np.diag(chain.spin), np.zeros((n, n))
        self.lift = np.zeros(n)  # of the pitches' accelerations, in the moment about the floor
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
        """Return the matrix (2n, 2n) of d(phi, phi')/dt."""
        n = len(self.inertia)
        pull = np.linalg.solve(self.inertia, np.hstack([self.springs + self.gravity, self.damping]))
        return np.vstack([np.hstack([np.zeros((n, n)), np.eye(n)]), -pull])

    def poles(self) -> np.ndarray:
        """Return the poles (2n,) [1/s] of the motion in continuous time."""
        return np.linalg.eigvals(self.system()).astype(complex)

    def stepped_poles(self, time_step: float) -> np.ndarray:
        """Return what the poles (2n,) [1/s] become in semi-implicit steps of `time_step` [s].

        A step drifts to its middle, phi_m = phi + dt/2 v, where gravity acts; a spring acts at the
        mean of its ends, phi_m + dt/4 (v' - v), a damper at v + s (v' - v), s as `_late_share`:

            (M + dt D_s + dt^2/4 K) (v' - v) = -dt ((K + G) phi_m + D v),
            phi' = phi_m + dt/2 v'.

        An eigenvalue e of such a step stands for the pole ln(e) / dt.
        """
        n, dt = len(self.inertia), time_step
        turns = np.eye(n) - np.eye(n, k=-1)
        late = turns.T @ np.diag(self.chain.damping * self._late_share(dt)) @ turns
        held = self.inertia + dt * late + 0.25 * dt * dt * self.springs
        middle = np.hstack([np.eye(n), 0.5 * dt * np.eye(n)])
        speed = np.hstack([np.zeros((n, n)), np.eye(n)])
        force = (self.springs + self.gravity) @ middle + self.damping @ speed
        after = speed - dt * np.linalg.solve(held, force)
        return np.log(np.linalg.eigvals(np.vstack([middle + 0.5 * dt * after, after])) + 0j) / dt

    def _late_share(self, time_step: float) -> np.ndarray:
        """Return s = (1 + z) / (2 + z) of every hinge's damper, z = c dt / least.

        A damper on its least inertia alone then slows that by 1 / (1 + z + z^2 / 2).
        """
        z = self.chain.damping * time_step / self.chain.least
        return (1.0 + z) / (2.0 + z)

    def moment(self, tilt: float, times: np.ndarray) -> np.ndarray:
        """Return how the floor's pitch moment [Nm] about its origin changes, let go tilted.

        All bodies start at rest, turned by `tilt` [rad] about the first hinge. The floor gives what
        the masses' moments of momentum gain and what gravity does not: with x, z the centres,
        moment = sum_i (m_i (z_i x_i'' - x_i z_i'') + J_i phi_i'' - m_i g dx_i).
        """
        n, system = len(self.inertia), self.system()
        values, vectors = np.linalg.eig(system)
        start = np.concatenate([np.full(n, tilt), np.zeros(n)])
        shares = np.linalg.solve(vectors, start.astype(complex))
        states = (vectors * shares @ np.exp(np.outer(values, times))).real
        return self.lift @ (system @ states)[n:] + np.diag(self.gravity) @ states[:n]


def three_masses(urdf: str) -> Sway:
    """Return the sway of hrp2_like at half-sitting as shanks, thighs and trunk.

    What is between bushes and ankles has no mass, only the rotors; the waist does not bend.
    Raises HrpsimError where the URDF (text, bushes included) is not such a robot.
    """
    chain = _chain(urdf, (BUSH, ANKLE, KNEE, HIP))
    chain.mass[0] = chain.spin[0] = 0.0
    return Sway(chain)


def five_masses(urdf: str) -> Sway:
    """Return the sway with two masses more: between bushes and ankles, and above the waist."""
    return Sway(_chain(urdf, (BUSH, ANKLE, KNEE, HIP, WAIST)))


def _chain(urdf: str, hinges: tuple[str, ...]) -> Chain:
    """Sum the links between the pitch joints `hinges`; legs side by side count together."""
    robot = etree.fromstring(urdf.encode())
    poses, axes = _placed(robot)
    names = [[hinge.format(side) for side in ("LR" if "{}" in hinge else "-")] for hinge in hinges]
    cut = {name for pair in names for name in pair}
    missing = cut - set(axes)
    if missing:
        raise HrpsimError(f"robot {robot.get('name')!r} has no joints {sorted(missing)}")
    up_to_hip = [_rigid_with(robot, _end(robot, pair, "parent"), cut) for pair in names[:4]]
    bodies = up_to_hip + [_rigid_with(robot, _end(robot, p, "child"), cut) for p in names[4:]]
    sums = [_sum_of(robot, body, poses) for body in bodies]
    laws = np.array([np.sum([_law(robot, name) for name in pair], axis=0) for pair in names])
    return Chain(
        np.array([mass for mass, _, _ in sums]),
        np.array([centre for _, centre, _ in sums]),
        np.array([spin for _, _, spin in sums]),
        np.array([axes[pair[0]] for pair in names]),
        *laws.T.copy(),
    )


def _turn(angle: float) -> np.ndarray:
    """Return the matrix (2, 2) that turns x, z about y."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, s], [-s, c]])


def _vector(text: str | None) -> np.ndarray:
    return np.array((text or "0 0 0").split(), dtype=float)


def _placed(robot) -> tuple[dict, dict]:
    """Return where links (x, z, pitch) and the joints' axes (x, z) are, from under the ankles.

    Joint frames have to be parallel to their parents' at zero.
    """
    children: dict[str, list] = {}
    for joint in robot.findall("joint"):
        origin = joint.find("origin")
        if origin is not None and _vector(origin.get("rpy")).any():
            raise HrpsimError(f"the frame of joint {joint.get('name')!r} is turned: not planar")
        children.setdefault(joint.find("parent").get("link"), []).append(joint)
    angles = {f"{side}LEG_JOINT{k}": angle for side in "LR" for k, angle in HALF_SITTING.items()}
    below = {joint.find("child").get("link") for joint in robot.findall("joint")}
    (root,) = (link.get("name") for link in robot.findall("link") if link.get("name") not in below)
    poses, axes, ahead = {root: (np.zeros(2), 0.0)}, {}, [root]
    while ahead:
        at, pitch = poses[link := ahead.pop()]
        for joint in children.get(link, []):
            origin, name, child = joint.find("origin"), joint.get("name"), joint.find("child")
            way = np.zeros(3) if origin is None else _vector(origin.get("xyz"))
            axes[name] = at + _turn(pitch) @ way[[0, 2]]
            poses[child.get("link")] = (axes[name], pitch + angles.get(name, 0.0))
            ahead.append(child.get("link"))
    floor = poses["l_sole"][0]
    moved = {link: (at - floor, pitch) for link, (at, pitch) in poses.items()}
    return moved, {name: at - floor for name, at in axes.items()}


def _end(robot, joints: list[str], end: str) -> set[str]:
    return {robot.find(f"joint[@name='{name}']/{end}").get("link") for name in joints}


def _rigid_with(robot, links: set[str], cut: set[str]) -> set[str]:
    """Return all links that hang together with `links` when the joints `cut` are taken apart."""
    found, grown = set(), set(links)
    while grown != found:
        found = set(grown)
        for joint in robot.findall("joint"):
            pair = {joint.find(end).get("link") for end in ("parent", "child")}
            if joint.get("name") not in cut and pair & grown:
                grown |= pair
    return found


def _sum_of(robot, links: set[str], poses: dict) -> tuple[float, np.ndarray, float]:
    """Return mass [kg], centre (2,) [m] and moment of inertia about y [kg m^2] of links."""
    parts = []
    for link in robot.findall("link"):
        inertial = link.find("inertial")
        if link.get("name") not in links or inertial is None:
            continue
        at, pitch = poses[link.get("name")]
        way = _vector(inertial.find("origin").get("xyz"))[[0, 2]]
        mass = float(inertial.find("mass").get("value"))
        spin = float(inertial.find("inertia").get("iyy"))
        parts.append((mass, at + _turn(pitch) @ way, spin))
    total = sum(mass for mass, _, _ in parts)
    centre = sum(mass * at for mass, at, _ in parts) / total
    spin = sum(spin + mass * ((at - centre) ** 2).sum() for mass, at, spin in parts)
    return total, centre, spin


def _law(robot, joint: str) -> tuple[float, float, float, float]:
    """Return stiffness, damping, rotor inertia and least inertia of a joint's bush or servo.

    The least is the rotor's and that of the joint's child link about the axis, which is its y.
    """
    extension = robot.find(f"hrpsim[@reference='{joint}']")
    spring, gains = extension.find("spring"), extension.find("gains")
    law = (
        (spring.get("stiffness"), spring.get("damping"))
        if spring is not None
        else (gains.get("kp"), gains.get("kd"))
    )
    rotor = least = float(extension.find("rotor").get("inertia"))
    child = robot.find(f"joint[@name='{joint}']/child").get("link")
    inertial = robot.find(f"link[@name='{child}']/inertial")
    if inertial is not None:
        x, _, z = _vector(inertial.find("origin").get("xyz"))
        least += float(inertial.find("inertia").get("iyy"))
        least += float(inertial.find("mass").get("value")) * (x * x + z * z)
    return float(law[0]), float(law[1]), rotor, least
