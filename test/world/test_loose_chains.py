# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Chains of free bodies in joints that fall from the horizontal and whip, in coarse steps."""

from itertools import pairwise

import numpy as np
import pytest
from world.scenes import show

from hrpsim import Box, World, WorldError, load_model

LENGTH = 0.2  # of a link [m]


def whipping_chain(kind: str, seed: int, time_step: float) -> World:
    """Four to ten links of 0.1 to 10 kg in a level line, from a pin, and a last one to 100 kg."""
    rng = np.random.default_rng(seed)
    world = World(time_step, solver="direct")
    masses = [*10.0 ** rng.uniform(-1.0, 1.0, rng.integers(3, 10)), 10.0 ** rng.uniform(-1.0, 2.0)]
    links = [
        world.add_body(Box((LENGTH, 0.05, 0.05)), mass, position=(LENGTH * (k + 0.5), 0.0, 2.0))
        for k, mass in enumerate(masses)
    ]
    axis = {"axis": (0, 1, 0)} if kind == "hinge" else {}
    world.connect(None, links[0], kind, point=(0, 0, 2), **axis)
    for a, b in pairwise(links):
        world.connect(a, b, kind, point=(a.position + b.position) / 2, **axis)
    return world


def whip(world: World) -> tuple[float, float]:
    """Let a chain fall for 3 s; return its fastest link [rad/s] and its worst error [m or rad]."""
    fastest = error = 0.0
    for _ in range(75):
        world.step(round(0.04 / world.time_step))
        fastest = max(fastest, *(np.linalg.norm(b.angular_velocity) for b in world.bodies.values()))
        error = max(error, *(np.abs(c.error).max() for c in world.connections.values()))
    show("chain: fastest link [rad/s], worst error [m or rad]", fastest, error)
    return fastest, error


@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize("seed", [*range(9), 27, 35])
def test_a_chain_that_whips_stays_together(kind, seed):
    """Law: masses from 0.1 to 100 kg, links at 20 to 120 rad/s, steps of 4 ms: joints hold.

    The correction of the joints adds no energy. So no link turns by more than half a radian a step.
    """
    fastest, error = whip(whipping_chain(kind, seed, 4e-3))
    assert 20.0 < fastest < 0.5 / 4e-3
    assert error < 0.025


@pytest.mark.parametrize("kind", ["hinge", "ball"])
@pytest.mark.parametrize("seed", [0, 35])
def test_the_error_of_a_chain_that_whips_falls_with_the_step(kind, seed):
    """Law: a quarter of the step leaves less than a twentieth of the error above."""
    fastest, error = whip(whipping_chain(kind, seed, 1e-3))
    assert 20.0 < fastest < 0.5 / 4e-3
    assert error < 1e-3


def taut_chain(integrator: str) -> World:
    """Ten links of 0.1 kg and 0.1 m in a level line, whose ends are pinned to the world."""
    world, count, length = World(1e-3, integrator=integrator), 10, 0.1
    links = [
        world.add_body(Box((0.09, 0.02, 0.02)), 0.1, position=(length * (k + 0.5), 0, 0))
        for k in range(count)
    ]
    world.connect(None, links[0], "ball", point=(0, 0, 0))
    for k, (a, b) in enumerate(pairwise(links)):
        world.connect(a, b, "ball", point=(length * (k + 1), 0, 0))
    world.connect(None, links[-1], "ball", point=(length * count, 0, 0))
    return world


def test_a_taut_chain_stays_taut():
    """It can only sag by stretching: less than 1 mm in 0.2 s, and no link whips."""
    world = taut_chain("semi_implicit")
    for _ in range(200):
        world.step()
        for body in world.bodies.values():
            assert abs(body.position[2]) < 1e-3 and np.abs(body.angular_velocity).max() < 5.0


LINK = """<link name="{0}"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="1e-3" iyy="2e-2" izz="2e-2" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
HINGE = """<joint name="to_{1}" type="continuous"><origin xyz="{2} 0 0"/><parent link="{0}"/>
<child link="{1}"/><axis xyz="0 1 0"/></joint>"""


def taut_robot(count: int, more: str = "") -> World:
    """Return a level chain of hinged links of 0.4 m, whose last end is pinned to the world."""
    names = ["base", *(f"link{k}" for k in range(count))]
    parts = ['<robot name="chain"><link name="base"/>', *(LINK.format(name) for name in names[1:])]
    parts += [HINGE.format(a, b, 0.4 if a != "base" else 0.0) for a, b in pairwise(names)]
    pin = f'<connection name="pin" to="base" kind="ball" xyz="0.4 0 0" to_xyz="{0.4 * count} 0 0"'
    parts += [f'<hrpsim reference="{names[-1]}">{pin} {more}/></hrpsim></robot>']
    world = World(1e-3)
    world.add_robot(load_model("".join(parts), base="fixed"))
    return world


@pytest.mark.parametrize("count", [2, 4, 10])
def test_a_taut_chain_of_joints_holds_by_a_pin_with_compliance(count):
    """It sags as the pin gives way: no link turns by more than 3 degrees, and none whips."""
    world = taut_robot(count, 'compliance="1e-7"')
    robot = world.robots["chain"]
    for _ in range(500):
        world.step()
        assert np.abs(robot.q).max() < 0.05
        assert np.abs(robot.v).max() < 5.0


def test_a_taut_chain_of_joints_that_fails_names_what_holds_it():
    """The state before the step is kept, and the error names the compliance."""
    world = taut_robot(6)
    with pytest.raises(WorldError, match="Give the connections a compliance"):
        world.step(1000)
    assert np.isfinite(world.robots["chain"].q).all()


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_a_taut_chain_that_fails_names_the_integrator_that_holds_it(integrator):
    with pytest.raises(WorldError, match="only with the integrator 'semi_implicit'"):
        taut_chain(integrator).step(1000)
