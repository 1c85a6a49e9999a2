# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A four-bar linkage that swings under gravity: geometry, exact motion, and worlds.

In the x-z plane, the crank rotates about (0, 0) and the rocker about (GROUND, 0). The coupler joins
the tips. Angles are measured from x towards z. The crank's angle determines all bars in closed
form, so the exact motion follows from

    d/dt (I theta') = I_theta theta'^2 / 2 - V_theta,    I = sum m |dc/dtheta|^2 + J (dphi/dtheta)^2
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

from hrpsim import Box, World, load_model
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.5, 0.4, 0.5  # [m], Grashof: the crank can rotate completely
LENGTHS = np.array([CRANK, COUPLER, ROCKER])
MASSES = np.array([1.0, 1.5, 1.2])  # [kg]
WIDTH = 0.04  # [m]
SPINS = MASSES * (LENGTHS**2 + WIDTH**2) / 12.0  # moments of inertia about the centres [kg m^2]
START = math.radians(60.0)  # initial angle of the crank at rest [rad]
CLOSURE = ("x", "z")
NAMES = ("crank", "coupler", "rocker")


def _along(angle) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def angles_of(crank) -> np.ndarray:
    """Return the angles (3, ...) [rad] of crank, coupler and rocker, with the coupler above ground.

    The tips of crank and rocker are one coupler length apart, so a triangle with known sides gives
    the angles.
    """
    tip = CRANK * _along(crank)
    x, z = GROUND - tip[0], -tip[1]
    reach = np.hypot(x, z)
    opening = (COUPLER**2 + reach**2 - ROCKER**2) / (2.0 * COUPLER * reach)
    coupler = np.arctan2(z, x) + np.arccos(opening)
    end = tip + COUPLER * _along(coupler)
    return np.array([crank + 0.0 * x, coupler, np.arctan2(end[1], end[0] - GROUND)])


def angle_rates(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return first and second derivatives (3, ...) of the angles with respect to the crank's angle.

    The derivatives follow from the loop CRANK e(theta) + COUPLER e(phi) - ROCKER e(psi) = const.
    """
    theta, phi, psi = angles
    s = np.sin(phi - psi)
    first = np.array(
        [
            np.ones_like(theta),
            -CRANK * np.sin(theta - psi) / (COUPLER * s),
            CRANK * np.sin(phi - theta) / (ROCKER * s),
        ]
    )
    squares = np.array([CRANK, COUPLER, -ROCKER])[(slice(None),) + (None,) * theta.ndim] * first**2
    pull = np.einsum("i...,ij...->j...", squares, np.array([_along(a) for a in angles]))
    second = np.array(
        [
            np.zeros_like(theta),
            -(pull * _along(psi)).sum(axis=0) / (COUPLER * s),
            -(pull * _along(phi)).sum(axis=0) / (ROCKER * s),
        ]
    )
    return first, second


def _centre_arms():
    """Yield mass, spin inertia, and the vectors (length, bar) to the centre of each bar."""
    yield MASSES[0], SPINS[0], 0, [(CRANK / 2, 0)]
    yield MASSES[1], SPINS[1], 1, [(CRANK, 0), (COUPLER / 2, 1)]
    yield MASSES[2], SPINS[2], 2, [(ROCKER / 2, 2)]


def reduced(crank):
    """Return I [kg m^2], dI/dtheta, V [J] and dV/dtheta (...) for the crank's angle [rad]."""
    angles = angles_of(np.asarray(crank, dtype=float))
    first, second = angle_rates(angles)
    inertia, bend = np.zeros_like(angles[0]), np.zeros_like(angles[0])
    height, lift = np.zeros_like(inertia), np.zeros_like(inertia)
    for mass, spin, bar, arms in _centre_arms():
        way, turn = np.zeros_like(angles[:2]), np.zeros_like(angles[:2])
        for length, k in arms:
            e = _along(angles[k])
            n = np.array([-e[1], e[0]])
            way += length * n * first[k]
            turn += length * (n * second[k] - e * first[k] ** 2)
            height += mass * GRAVITY * length * e[1]
        inertia += mass * (way**2).sum(axis=0) + spin * first[bar] ** 2
        bend += 2.0 * (mass * (way * turn).sum(axis=0) + spin * first[bar] * second[bar])
        lift += mass * GRAVITY * way[1]
    return inertia, bend, height, lift


def energies(angles: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the energies of the bars at independent angles and rates (3, ...).

    If the loop is open, the coupler is attached to the crank.

    Returns:
        (kinetic energy, potential energy) [J].
    """
    kinetic, potential = np.zeros_like(angles[0]), np.zeros_like(angles[0])
    for mass, spin, bar, arms in _centre_arms():
        velocity = np.zeros_like(angles[:2])
        for length, k in arms:
            e = _along(angles[k])
            velocity += length * np.array([-e[1], e[0]]) * rates[k]
            potential += mass * GRAVITY * length * e[1]
        kinetic += 0.5 * mass * (velocity**2).sum(axis=0) + 0.5 * spin * rates[bar] ** 2
    return kinetic, potential


def exact_motion(duration: float):
    """Return a function of times (n,) [s] that gives theta [rad] for a motion from rest at START.

    The function integrates Hamilton's equations by DOP853 with tolerance 1e-12.
    """

    def flow(_, state):
        inertia, bend, _, lift = reduced(state[0])
        rate = state[1] / inertia
        return [rate, 0.5 * bend * rate**2 - lift]

    solution = solve_ivp(
        flow, (0.0, duration), [START, 0.0], "DOP853", rtol=1e-12, atol=1e-13, dense_output=True
    )
    return lambda times: solution.sol(times)[0]


def loop_gap(angles: np.ndarray) -> np.ndarray:
    """Return the distance between the coupler's end and the rocker's tip [m]."""
    theta, phi, psi = angles
    apart = CRANK * _along(theta) + COUPLER * _along(phi) - ROCKER * _along(psi)
    apart[0] -= GROUND
    return np.hypot(*apart)


def urdf() -> str:
    """Return the open tree: crank with coupler, and rocker."""
    at = {"crank": ("ground", 0.0), "coupler": ("crank", CRANK), "rocker": ("ground", GROUND)}
    parts = ['<link name="ground"/>']
    for name, length, mass, spin in zip(NAMES, LENGTHS, MASSES, SPINS, strict=True):
        parent, x = at[name]
        across = mass * WIDTH**2 / 6.0
        parts.append(
            f'<link name="{name}"><inertial><origin xyz="{length / 2} 0 0"/>'
            f'<mass value="{mass}"/><inertia ixx="{across}" iyy="{spin}" izz="{spin}" '
            'ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="{name}_pivot" type="continuous"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="{x} 0 0"/><axis xyz="0 -1 0"/></joint>'
        )
    return f'<robot name="linkage">{"".join(parts)}</robot>'


class Tree:
    """The tree of `urdf`, closed by a connection with two rows between coupler and rocker."""

    def __init__(self, **options) -> None:
        """Make the world. options: options of World."""
        self.world = World(gravity=(0.0, 0.0, -GRAVITY), **options)
        start = angles_of(START)
        q = [start[0], start[1] - start[0], start[2]]
        self.robot = self.world.add_robot(load_model(urdf(), base="fixed"), q=q)
        end = np.array([GROUND, 0.0, 0.0])
        end[[0, 2]] += ROCKER * _along(start[2])
        self.world.connect((self.robot, "coupler"), (self.robot, "rocker"), axes=CLOSURE, point=end)

    def look(self) -> np.ndarray:
        """Return the present angles and angular rates (2, 3) of the bars in the plane."""
        state = np.array([self.robot.joint_positions, self.robot.joint_velocities])
        state[:, 1] += state[:, 0]
        return state

    def gap(self) -> float:
        """Return the distance between the two connected points [m]."""
        return float(loop_gap(self.look()[0]))


class Bars:
    """Three free bodies and four hinges, two of which connect a body to the world."""

    def __init__(self, **options) -> None:
        """Make the world. options: options of World."""
        self.world = World(gravity=(0.0, 0.0, -GRAVITY), **options)
        angles = angles_of(START)
        tip = CRANK * _along(angles[0])
        end = tip + COUPLER * _along(angles[1])
        ground = np.array([GROUND, 0.0])
        self.bars = []
        for k, begin in enumerate((np.zeros(2), tip, ground)):
            x, z = begin + LENGTHS[k] / 2 * _along(angles[k])
            turn = (0.0, -math.sin(angles[k] / 2), 0.0, math.cos(angles[k] / 2))
            box = Box((LENGTHS[k], WIDTH, WIDTH))
            self.bars.append(
                self.world.add_body(
                    box, MASSES[k], position=(x, 0.0, z), orientation=turn, name=NAMES[k]
                )
            )
        crank, coupler, rocker = self.bars
        for a, b, (x, z) in (
            (None, crank, np.zeros(2)),
            (crank, coupler, tip),
            (coupler, rocker, end),
            (rocker, None, ground),
        ):
            self.world.connect(a, b, "hinge", point=(x, 0.0, z), axis=(0.0, 1.0, 0.0))
        self._turns = angles.copy()

    def look(self) -> np.ndarray:
        """Return the present angles and rates (2, 3).

        Angles are unwrapped relative to the previous call, so calls must be frequent.
        """
        new = np.array([-2.0 * math.atan2(b.orientation[1], b.orientation[3]) for b in self.bars])
        self._turns += np.remainder(new - self._turns + math.pi, 2.0 * math.pi) - math.pi
        return np.array([self._turns, [-b.angular_velocity[1] for b in self.bars]])

    def gap(self) -> float:
        """Return the largest distance between two points that a hinge connects [m]."""
        ends = []
        for bar, length in zip(self.bars, LENGTHS, strict=True):
            x, y, z, w = bar.orientation
            axis = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)])
            ends.append((bar.position - length / 2 * axis, bar.position + length / 2 * axis))
        (a, b), (c, d), (e, f) = ends
        ground = np.array([GROUND, 0.0, 0.0])
        return max(float(np.linalg.norm(v)) for v in (a, b - c, d - f, e - ground))


def mujoco_linkage(mujoco, time_step: float, integrator: str = "Euler", stiff: bool = False):
    """Return (MjModel, MjData) of the tree of `urdf`, closed by MuJoCo's connect equality.

    If `stiff`, the error of the loop is corrected within two steps, MuJoCo's minimum, instead of 20
    ms.
    """
    start = angles_of(START)
    keep_ground = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
    spec = mujoco.MjSpec.from_string(urdf().replace("</robot>", keep_ground))
    loop = spec.add_equality(name1="coupler", name2="rocker")
    loop.type = mujoco.mjtEq.mjEQ_CONNECT
    loop.objtype = mujoco.mjtObj.mjOBJ_BODY
    loop.data[:3] = COUPLER, 0.0, 0.0
    if stiff:
        loop.solref[:] = 2.0 * time_step, 1.0
    model = spec.compile()
    model.opt.timestep = time_step
    model.opt.gravity[:] = 0.0, 0.0, -GRAVITY
    model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    model.eq_data[0, 3:6] = ROCKER, 0.0, 0.0  # MuJoCo takes it from the open neutral posture
    data = mujoco.MjData(model)
    data.qpos[:] = start[0], start[1] - start[0], start[2]
    mujoco.mj_forward(model, data)
    return model, data
