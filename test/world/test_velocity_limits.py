# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Actuators at the velocity limits of their joints: the speed they hold and the effort for it."""

from typing import NamedTuple

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import pair_of
from hypothesis import given, settings
from hypothesis import strategies as st
from world.scenes import GRAVITY, one_joint, show

import hrpsim
from hrpsim import World

MASS, LEVER, MOMENT, STEP = 2.0, 0.3, 0.01, 1e-3
INERTIA = MOMENT + MASS * LEVER**2
WEIGHT = MASS * GRAVITY * LEVER  # about the joint, with the arm held out along x [Nm]
integrators = pytest.mark.parametrize("integrator", ["semi_implicit", "euler", "rk4"])


class Motion(NamedTuple):
    """Of one joint: n steps, and n + 1 positions and velocities at their ends."""

    q: np.ndarray
    v: np.ndarray
    effort: np.ndarray
    constraints: np.ndarray

    @property
    def weight(self):
        """Mean of the weight's moment over each step, the speed being constant in it [Nm]."""
        middle, turn = 0.5 * (self.q[1:] + self.q[:-1]), np.diff(self.q)
        return WEIGHT * np.cos(middle) * np.sinc(turn / (2.0 * np.pi))


def arm(velocity=1.0, effort=50.0, gains=(0.0, 0.0), lower=-90.0, upper=90.0, rotor=0.0):
    """An arm that its weight turns back; its angle is that above the horizontal."""
    return one_joint(
        mass=MASS,
        at=f"{LEVER} 0 0",
        axis="0 -1 0",
        moment=MOMENT,
        limit=f'lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"',
        extension=f'<rotor inertia="{rotor}"/><gains kp="{gains[0]}" kd="{gains[1]}"/>',
    )


def move(model, integrator, steps, command, q=0.0, v=0.0, time_step=STEP) -> Motion:
    world = World(integrator=integrator, time_step=time_step)
    robot = world.add_robot(model, q=[q], v=[v])
    robot.command(**{name: [value] for name, value in command.items()})
    states, efforts = [(q, v)], []
    for _ in range(steps):
        world.step()
        states.append((robot.q[0], robot.v[0]))
        efforts.append((robot.tau[0], robot.constraint_efforts()[0]))
    return Motion(*np.array(states).T, *np.array(efforts).T)


@pytest.mark.quick_cases("*semi_implicit*")
@pytest.mark.filterwarnings("ignore:rk4 integrates springs")  # at their limit, gains are no matter
@integrators
@pytest.mark.parametrize(
    "gains, command",
    [
        ((2000.0, 20.0), {"positions": 80.0}),
        ((1e6, 1e5), {"positions": 80.0}),
        ((0.0, 20.0), {"velocities": 3.0}),
        ((0.0, 0.0), {"efforts": 50.0}),
    ],
)
@pytest.mark.parametrize("velocity, rotor", [(1.0, 0.0), (2.0, 1.0)])
def test_a_lift_at_the_limit_takes_the_moment_of_the_weight(
    integrator, gains, command, velocity, rotor
):
    """I dv/dt = 0 = effort - m g l cos q. Nothing passes the limit, on the way there either."""
    model = arm(velocity, gains=gains, rotor=rotor)
    found = move(model, integrator, 600, command)
    cruise = slice(100, None)
    error = np.abs(found.effort - found.weight)[cruise].max()
    show(f"{integrator}, {command}: largest error of the effort [Nm]", error)
    assert np.abs(found.v).max() <= velocity * (1.0 + 1e-6)
    assert np.abs(found.v[cruise] / velocity - 1.0).max() < 1e-6
    assert error < (1e-5 if integrator != "euler" else WEIGHT * velocity * STEP)
    assert np.abs(found.effort).max() <= 50.0 * (1.0 + 1e-9)
    assert np.all(found.constraints == 0.0)  # it is the actuator that holds the limit


@integrators
@pytest.mark.parametrize("moment, effort, velocity", [(0.01, 100.0, 5.0), (1e-6, 1.0, 3.0)])
def test_a_free_joint_stays_at_its_limit_without_effort(integrator, moment, effort, velocity):
    """A link of any size, driven with all that there is: v = limit and no effort from there on."""
    limit = f'lower="-1e9" upper="1e9" effort="{effort}" velocity="{velocity}"'
    model = one_joint(moment=moment, at="0 0 0", axis="0 0 1", limit=limit)
    found = move(model, integrator, 100, {"efforts": effort})
    assert np.abs(found.v).max() <= velocity * (1.0 + 1e-6)
    assert found.v[-50:] == pytest.approx(velocity, rel=1e-6)
    assert np.abs(found.effort[-50:]).max() < 1e-6 * effort


@integrators
@pytest.mark.parametrize("gains", [(0.0, 0.0), (2000.0, 20.0)])
def test_a_load_is_braked_with_the_effort_limit_at_most(integrator, gains):
    """Beyond its limit a falling arm loses 4 Nm of the moment that its weight has.

    By energy, from the limit v0 at q0 on, where the weight's moment passes 4 Nm:
    I (v^2 - v0^2) / 2 = m g l (sin q0 - sin q) - 4 (q0 - q).
    """
    effort, velocity = 4.0, 1.0
    found = move(arm(velocity, effort, gains), integrator, 1100, {"positions": -80.0}, q=1.5)
    beyond = found.v[1:] < -velocity * (1.0 + 1e-6)
    before = ~beyond & (found.v[:-1] < -velocity * (1.0 - 1e-9))
    if gains == (0.0, 0.0):
        assert np.abs(found.effort - found.weight)[before].max() < (
            1e-5 if integrator != "euler" else WEIGHT * STEP
        )
        q0 = np.arccos(effort / WEIGHT)
        energy = WEIGHT * (np.sin(q0) - np.sin(found.q[1:])) - effort * (q0 - found.q[1:])
        fastest = np.sqrt(velocity**2 + 2.0 * energy[beyond] / INERTIA)
        tolerance = 1e-2 if integrator == "euler" else 1e-3
        assert -found.v[1:][beyond] == pytest.approx(fastest, rel=tolerance)
    assert beyond.sum() > 100
    assert found.effort[beyond][1:] == pytest.approx(effort, rel=1e-9)
    assert np.abs(found.effort).max() <= effort * (1.0 + 1e-9)


@integrators
def test_what_moves_faster_is_braked_to_the_limit(integrator):
    """Begun at 6 rad/s without gravity: dv/dt = -50 Nm / I until the limit, then none."""
    world = World(integrator=integrator, gravity=(0, 0, 0))
    robot = world.add_robot(arm(), q=[0.0], v=[6.0])
    for step in range(1, 41):
        world.step()
        assert robot.v[0] == pytest.approx(max(6.0 - step * STEP * 50.0 / INERTIA, 1.0), rel=1e-9)


@integrators
def test_a_joint_without_an_effort_limit_holds_any_load(integrator):
    """An arm that falls turns at its velocity limit; its weight's moment is the effort."""
    found = move(arm(0.5, effort=0.0), integrator, 1500, {"efforts": 0.0}, q=1.0)
    assert found.v.min() >= -0.5 * (1.0 + 1e-6)
    assert found.v[-500:] == pytest.approx(-0.5, rel=1e-6)
    assert np.abs(found.effort - found.weight)[-500:].max() < 5e-3


@integrators
def test_a_joint_comes_to_its_position_limit_at_its_velocity_limit(integrator):
    """It moves at the speed to the stop, which then bears what the servo and the weight do not."""
    model = arm(gains=(2000.0, 20.0), upper=0.5)
    found = move(model, integrator, 800, {"positions": 3.0})
    assert found.v.max() <= 1.0 + 1e-6
    assert found.v[300] == pytest.approx(1.0, abs=1e-6)
    assert found.q[-1] == pytest.approx(0.5, abs=1e-6)
    assert np.abs(found.effort).max() <= 50.0 * (1.0 + 1e-9)
    assert found.effort[-1] == pytest.approx(50.0)
    assert found.constraints[-1] == pytest.approx(WEIGHT * np.cos(0.5) - 50.0, rel=1e-6)


@integrators
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_pusher_at_its_limit_bears_the_friction_of_what_it_pushes(integrator, restitution):
    """A block of 4 kg that slides at 0.4 m/s: effort = mu m g; both move at the limit."""
    world = World(integrator=integrator)
    world.add_ground()
    world.set_friction("default", "default", static=0.5, kinetic=0.5, restitution=restitution)
    world.set_friction("smooth", "default", static=0.0, kinetic=0.0, restitution=restitution)
    robot = world.add_robot(hrpsim.load_model(PUSHER, base="fixed"))
    block = world.add_body(hrpsim.Box((0.2, 0.2, 0.2)), 4.0, position=(0.3, 0.0, 0.1))
    robot.command(positions=[9.0])
    for _ in range(1500):
        world.step()
        assert robot.v[0] <= 0.4 * (1.0 + 1e-6)
        assert abs(robot.tau[0]) <= 60.0 * (1.0 + 1e-9)
    assert robot.v[0] == pytest.approx(0.4, rel=1e-6)
    assert block.velocity[0] == pytest.approx(0.4, rel=1e-6)
    assert robot.tau[0] == pytest.approx(0.5 * 4.0 * GRAVITY, rel=1e-4)


PUSHER = """<robot name="pusher">
  <link name="base"/>
  <link name="head"><inertial><mass value="2"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>
  <joint name="j" type="prismatic"><parent link="base"/><child link="head"/>
    <origin xyz="0 0 0.1"/><axis xyz="1 0 0"/>
    <limit lower="-5" upper="5" effort="60" velocity="0.4"/></joint>
  <hrpsim reference="j"><gains kp="2000" kd="50"/></hrpsim>
  <hrpsim reference="head"><material name="smooth"/></hrpsim>
</robot>"""

FASTEST, STRONGEST = 1.5, 80.0


def chain(count: int) -> str:
    """A chain of links of 3 kg and less, and servos; each is weaker than the one before."""
    parts = ['<robot name="chain"><link name="l0"/>']
    for k in range(count):
        size, axis = 0.6**k, ("0 0 1", "0 1 0", "1 0 0.3")[k % 3]
        parts.append(
            f'<link name="l{k + 1}"><inertial><origin xyz="0.1 0.02 0"/><mass value="{3 * size}"/>'
            f'<inertia ixx="{0.02 * size}" iyy="{0.025 * size}" izz="{0.015 * size}" ixy="0"'
            ' ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k}" type="revolute"><parent link="l{k}"/><child link="l{k + 1}"/>'
            f'<origin xyz="{0.2 if k else 0} 0 0"/><axis xyz="{axis}"/><limit lower="-99"'
            f' upper="99" effort="{STRONGEST * 0.7**k}" velocity="{FASTEST}"/></joint>'
            f'<hrpsim reference="j{k}"><rotor inertia="{1e-4 * size}" gear_ratio="30"/>'
            f'<gains kp="{2000 * 0.5**k}" kd="{30 * 0.5**k}"/></hrpsim>'
        )
    return "".join(parts) + "</robot>"


@pytest.mark.quick_cases("semi_implicit")
@integrators
def test_the_efforts_of_a_chain_change_its_momentum(integrator):
    """d(M v)/dt = tau + C^T v - g, by Pinocchio, while joints come to their limits and leave them.

    The integral over a step is taken by the trapezoidal rule, from one steep point of the law to
    the next.
    """
    model, oracle, data, _ = pair_of(chain(4), "fixed")
    world = World(integrator=integrator, time_step=2e-4)
    robot = world.add_robot(model, q=[0.3, -0.5, 0.2, 0.4])
    robot.command(positions=[1.0, 0.5, -1.0, 1.5])
    gained, given, held = np.zeros(4), np.zeros(4), 0
    before = momentum(oracle, data, robot)
    for _ in range(2500):
        world.step()
        after = momentum(oracle, data, robot)
        gained += after[0] - before[0] - 1e-4 * (before[1] + after[1])
        given += 2e-4 * robot.tau
        held += np.count_nonzero(np.abs(np.abs(robot.v) - FASTEST) < 1e-6)
        before = after
    show(f"{integrator}: impulses of the actuators, of the momentum [Nms]", given, gained)
    assert held > 1000
    scale = np.abs(given).max()
    assert gained == pytest.approx(given, abs=(1e-3 if integrator == "euler" else 1e-5) * scale)


def momentum(oracle, data, robot):
    """Return M v, and its rate without actuators (n,)."""
    q, v = robot.q, robot.v
    pinocchio.crba(oracle, data, q)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    coriolis = pinocchio.computeCoriolisMatrix(oracle, data, q, v)
    oracle.gravity.linear[:] = (0.0, 0.0, -GRAVITY)
    return M @ v, coriolis.T @ v - pinocchio.computeGeneralizedGravity(oracle, data, q)


@pytest.fixture(scope="module")
def chain_model():
    return hrpsim.load_model(chain(5), base="fixed")


@settings(max_examples=15, deadline=None)
@given(
    integrator=st.sampled_from(["semi_implicit", "euler", "rk4"]),
    seed=st.integers(0, 2**32 - 1),
    by=st.sampled_from(["positions", "efforts", "velocities"]),
)
def test_every_joint_of_a_chain_obeys_the_law(chain_model, integrator, seed, by):
    """|v| <= limit, or it brakes with its effort limit; |effort| <= its limit."""
    random = np.random.default_rng(seed)
    world = World(integrator=integrator)
    robot = world.add_robot(chain_model, q=random.uniform(-1, 1, 5))
    limits = STRONGEST * 0.7 ** np.arange(5)
    most = {"positions": 3.0, "velocities": 4.0, "efforts": limits}[by]
    for _ in range(4):
        robot.command(**{by: most * random.uniform(-1, 1, 5)})
        for _ in range(60):
            world.step()
            assert np.all(np.abs(robot.tau) <= limits * (1.0 + 1e-9))
            beyond = np.abs(robot.v) > FASTEST * (1.0 + 1e-6)
            braked = -np.sign(robot.v[beyond]) * limits[beyond]
            assert robot.tau[beyond] == pytest.approx(braked, rel=1e-6)
