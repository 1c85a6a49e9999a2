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
