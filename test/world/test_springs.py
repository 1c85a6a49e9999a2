# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Joint springs, dampers and pendulums against closed forms and a precise solver of the ODE."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from world.scenes import GRAVITY, one_joint, show, weightless

import hrpsim
from hrpsim import World, load_model

# OpenHRP3's bush constants (DESIGN section 6): 5e5 N/m along, 1e3 Nm/rad about
SLIDE = dict(k=5.0e5, mass=29.0, rotor=0.1)
TURN = dict(k=1.0e3, moment=5.0, rotor=0.014)
START = 0.002


def slide_bush(damping: float = 0.0):
    spring = f'<spring stiffness="{SLIDE["k"]}" damping="{damping}"/>'
    rotor = f'<rotor inertia="{SLIDE["rotor"]}"/>'
    return one_joint("prismatic", axis="0 0 1", mass=SLIDE["mass"], extension=spring + rotor)


def released(model, integrator: str, time_step: float, duration: float, gravity=0.0):
    """State of a joint released at START, after `duration`."""
    world = World(time_step, gravity=(0, 0, -gravity), integrator=integrator)
    robot = world.add_robot(model, q=[START])
    world.step(round(duration / time_step))
    return robot.q[0], robot.v[0]


def oscillation(t: float, k: float, m: float, c: float = 0.0, load: float = 0.0):
    """Position and rate of m x'' + c x' + k x = load from rest at START (underdamped)."""
    rest = load / k
    decay = c / (2 * m)
    w = math.sqrt(k / m - decay**2)
    a = START - rest
    e = math.exp(-decay * t)
    x = rest + a * e * (math.cos(w * t) + decay / w * math.sin(w * t))
    return x, -a * e * (w + decay**2 / w) * math.sin(w * t)


def errors(integrator: str, steps, damping: float = 0.0, gravity: float = 0.0) -> np.ndarray:
    """Error in the state's own norm after 0.08 s, for each time step."""
    model = slide_bush(damping)
    m = SLIDE["mass"] + SLIDE["rotor"]
    x, v = oscillation(0.08, SLIDE["k"], m, damping, -gravity * SLIDE["mass"])
    w = math.sqrt(SLIDE["k"] / m)
    found = [released(model, integrator, dt, 0.08, gravity) for dt in steps]
    return np.array([math.hypot(q - x, (r - v) / w) for q, r in found])


@pytest.mark.parametrize("damping, gravity", [(0.0, 0.0), (0.0, GRAVITY), (1000.0, GRAVITY)])
def test_rk4_is_of_fourth_order_on_a_bush(damping, gravity):
    error = errors("rk4", (1e-3, 5e-4, 2.5e-4), damping, gravity)
    show(f"rk4 bush, damping {damping:g}: errors, ratios", *error, *(error[:-1] / error[1:]))
    assert (error[:-1] / error[1:] >= 14.0).all()


@pytest.mark.parametrize("damping, gravity", [(0.0, 0.0), (0.0, GRAVITY), (1000.0, GRAVITY)])
def test_the_semi_implicit_step_is_of_second_order_on_a_bush(damping, gravity):
    error = errors("semi_implicit", (5e-4, 2.5e-4, 1.25e-4), damping, gravity)
    ratio = error[:-1] / error[1:]
    show(f"semi_implicit bush, damping {damping:g}: errors, ratios", *error, *ratio)
    assert (3.8 < ratio).all() and (ratio < 4.3).all()


def test_rk4_keeps_the_energy_of_an_undamped_bush():
    """The published rotational bush under 5 kg m^2, 10 s at 1 ms, by the energy's own formula."""
    extension = f'<spring stiffness="{TURN["k"]}"/><rotor inertia="{TURN["rotor"]}"/>'
    world = weightless(1e-3, "rk4")
    robot = world.add_robot(one_joint(moment=TURN["moment"], extension=extension), q=[0.1])
    energy = 0.5 * TURN["k"] * 0.1**2
    worst = 0.0
    for _ in range(100):
        world.step(100)
        moment = TURN["moment"] + TURN["rotor"]
        now = 0.5 * moment * robot.v[0] ** 2 + 0.5 * TURN["k"] * robot.q[0] ** 2
        worst = max(worst, abs(now / energy - 1.0))
    show("rk4 undamped bush: energy drift in 10 s (relative)", worst)
    assert worst < 1e-6


def test_the_semi_implicit_step_never_adds_energy_to_a_spring():
    """Linearly implicit: the energy only falls, at any stiffness."""
    for stiffness in (1e2, 1e5, 1e9):
        spring = f'<spring stiffness="{stiffness}"/>'
        world = weightless()
        robot = world.add_robot(one_joint(extension=spring), q=[START])
        energy = 0.5 * stiffness * START**2
        for _ in range(300):
            world.step()
            now = 0.5 * 0.01 * robot.v[0] ** 2 + 0.5 * stiffness * robot.q[0] ** 2
            assert now <= energy * (1 + 1e-12)
            energy = now


def test_a_damped_spring_decays_as_its_closed_form():
    x, v = oscillation(0.5, SLIDE["k"], SLIDE["mass"] + SLIDE["rotor"], 200.0)
    q, rate = released(slide_bush(200.0), "rk4", 1e-4, 0.5)
    assert abs(q - x) < 1e-9 * START / 1e-3
    assert abs(rate - v) < 1e-6


def test_a_spring_rests_where_it_carries_the_weight():
    """x = -m g / k, the same for every integrator."""
    for integrator in ("semi_implicit", "rk4"):
        q, v = released(slide_bush(3000.0), integrator, 1e-4, 2.0, GRAVITY)
        assert abs(q + SLIDE["mass"] * GRAVITY / SLIDE["k"]) < 1e-12
        assert abs(v) < 1e-12


def pendulum(extension: str = ""):
    """A link of 2 kg, centre 0.5 m below a joint about y, 0.03 kg m^2 about its own centre."""
    return one_joint(mass=2.0, at="0 0 -0.5", moment=0.03, extension=extension)


def test_a_pendulum_swings_as_the_ode_says():
    """(m l^2 + I + rotor) q'' = -m g l sin q, from 2.5 rad, 5 s."""
    world = World(1e-3, integrator="rk4")
    robot = world.add_robot(pendulum('<rotor inertia="0.05"/>'), q=[2.5])
    world.step(5000)
    moment = 2.0 * 0.25 + 0.03 + 0.05
    truth = solve_ivp(
        lambda t, y: (y[1], -2.0 * GRAVITY * 0.5 / moment * math.sin(y[0])),
        (0.0, 5.0),
        (2.5, 0.0),
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    error = np.abs(np.array([robot.q[0], robot.v[0]]) - truth.y[:, -1]).max()
    show("rk4 pendulum, error after 5 s [rad, rad/s]", error)
    assert error < 1e-8


TWO_LINKS = """<robot name="two">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0.05 -0.3"/><mass value="3"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.02 0 -0.2"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0.002" iyz="0"/></inertial></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0 0 -0.6"/><axis xyz="1 0 0"/></joint>
</robot>"""


def test_two_links_keep_their_energy():
    """A chaotic double pendulum with crossed axes: no closed form, but energy is one."""
    model = load_model(TWO_LINKS, base="fixed")
    world = World(1e-3, integrator="rk4")
    robot = world.add_robot(model, q=[2.0, -1.0])
    kinetic, potential = hrpsim.energy(model, robot.q, robot.v)
    start = kinetic + potential
    scale = (3.0 * 0.3 + 1.5 * 0.8) * GRAVITY
    worst = 0.0
    for _ in range(100):
        world.step(100)
        worst = max(worst, abs(sum(hrpsim.energy(model, robot.q, robot.v)) - start) / scale)
    show("rk4 double pendulum: energy drift in 10 s (relative)", worst)
    assert worst < 1e-7


def bush(joints, mass: float = 2.0):
    """Joints (type, axis, k, c) one beneath the other; the last link alone has a mass."""
    text = '<robot name="bush"><link name="base"/>'
    for i, (kind, axis, k, c) in enumerate(joints):
        inertial = f"""<inertial><mass value="{mass}"/>
          <inertia ixx="0.02" iyy="0.03" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>"""
        above = f"l{i - 1}" if i else "base"
        text += f"""<link name="l{i}">{inertial if i == len(joints) - 1 else ""}</link>
          <joint name="j{i}" type="{kind}"><parent link="{above}"/><child link="l{i}"/>
          <axis xyz="{axis}"/><limit lower="-9" upper="9" effort="0" velocity="0"/></joint>
          <hrpsim reference="j{i}"><spring stiffness="{k}" damping="{c}"/></hrpsim>"""
    return load_model(text + "</robot>", base="fixed")


SLIDES = tuple(("prismatic", axis) for axis in ("1 0 0", "0 1 0", "0 0 1"))
TURNS = tuple(("revolute", axis) for axis in ("1 0 0", "0 1 0", "0 0 1"))


@pytest.mark.parametrize("k, c", [(2e4, 40.0), (5e5, 1e3), (2e4, 800.0)])
@pytest.mark.parametrize("moved", [0, 1, 2])
def test_slides_before_links_without_mass_are_as_exact_as_that_of_the_body(moved, k, c):
    """Each of three slides moves 2 kg: second order, and the same error for all of them."""
    joints = [(*slide, k, c) for slide in SLIDES]
    ends, last = (_ends(joints, which, 0.02) for which in (moved, 2))
    np.testing.assert_allclose(ends, last, atol=1e-9 * START)
    error = np.abs(ends - _decayed(k, c, 2.0, 0.02))
    assert (error[:-1] / error[1:] > (3.6 if c < 500.0 else 2.9)).all(), error


@pytest.mark.parametrize("moved, moment", [(0, 0.02), (1, 0.03), (2, 0.05)])
def test_turns_before_links_without_mass_are_of_second_order(moved, moment):
    """Each of three turns about axes through the centre moves the body's moment about it."""
    ends = _ends([(*turn, 1e3, 1.0) for turn in TURNS], moved, 0.05)
    error = np.abs(ends - _decayed(1e3, 1.0, moment, 0.05))
    assert (error[:-1] / error[1:] > 3.6).all(), error


def _ends(joints, moved: int, duration: float) -> np.ndarray:
    """Position of one joint, released alone at START, after `duration`; steps are halved."""
    model, ends = bush(joints), []
    for dt in (1e-3, 5e-4, 2.5e-4, 1.25e-4):
        world = World(dt, gravity=(0, 0, 0))
        q = [START if i == moved else 0.0 for i in range(len(joints))]
        robot = world.add_robot(model, q=q)
        world.step(round(duration / dt))
        ends.append(robot.q[moved])
    return np.array(ends)


def _decayed(k: float, c: float, m: float, t: float) -> float:
    """Position of m x'' + c x' + k x = 0 from rest at START, damped as it may be."""
    roots = np.roots([m, c, k]).astype(complex)
    one, two = roots
    return float((START * (two * np.exp(one * t) - one * np.exp(two * t)) / (two - one)).real)


def orbit(integrator: str, time_step: float, k: float = 400.0, c: float = 2.0) -> np.ndarray:
    """Place of 1 kg after 1 s, that started at 5 m/s across a spring of 0.8 m stretched to 1 m."""
    world = World(time_step, gravity=(0, 0, 0), integrator=integrator)
    body = world.add_body(hrpsim.Sphere(0.05), 1.0, (1, 0, 0), velocity=(0, 5, 0))
    ends, soft = ((0, 0, 0), (1, 0, 0)), dict(compliance=1.0 / k, damping_time=c / k)
    world.connect(None, body, "distance", point=ends, length=0.8, **soft)
    world.step(round(1.0 / time_step))
    return body.position[:2]


@pytest.mark.parametrize("integrator, order", [("semi_implicit", 2.0), ("rk4", 1.0)])
def test_the_spring_of_a_connection_that_turns_has_the_documented_order(integrator, order):
    """Against a precise solver of x'' = -(k (r - 0.8) + c r') x / r."""

    def rates(t, y):
        r = math.hypot(*y[:2])
        pull = 400.0 * (r - 0.8) + 2.0 * (y[:2] @ y[2:]) / r
        return np.concatenate((y[2:], -pull * y[:2] / r))

    exact = solve_ivp(rates, (0.0, 1.0), (1, 0, 0, 5.0), method="DOP853", rtol=1e-11, atol=1e-12)
    error = [np.linalg.norm(orbit(integrator, dt) - exact.y[:2, -1]) for dt in (2e-3, 1e-3, 5e-4)]
    show(f"orbit on a spring, {integrator}: errors [m]", *map(float, error))
    assert np.abs(np.log2(error[:-1] / np.array(error[1:])) - order).max() < 0.1


@pytest.mark.parametrize("k, c", [(400.0, 0.4), (400.0, 8.0), (1e4, 20.0)])
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_the_spring_and_damper_of_a_connection_are_of_second_order(integrator, k, c):
    """One axis of a body of 1 kg, against the closed form of the damped oscillation."""
    error = []
    for dt in (1e-3, 5e-4, 2.5e-4):
        world = World(dt, gravity=(0, 0, 0), integrator=integrator)
        body = world.add_body(hrpsim.Sphere(0.05), 1.0)
        world.connect(None, body, axes=["x"], compliance=1.0 / k, damping_time=c / k)
        body.q = (START, 0, 0, *body.q[3:])
        world.step(round(0.1 / dt))
        error.append(abs(body.position[0] - _decayed(k, c, 1.0, 0.1)))
    assert (np.array(error[:-1]) / error[1:] > 3.6).all(), error
