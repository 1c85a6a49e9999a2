# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Trees that tumble and swing: second order, and an energy that swings about its start."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show

from hrpsim import World, energy, load_model

LINK = """<link name="l{k}"><inertial><origin xyz="0.2 0 0"/><mass value="{mass}"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="j{k}" type="continuous"><parent link="l{above}"/><child link="l{k}"/>
  <origin xyz="0.4 0 0"/><axis xyz="{axis}"/></joint>"""
RATES = [1.0, -2.0, 1.5]
BASE = [0.1, 0.2, 0.0, 0.3, -0.2, 0.5]


def chain(base: str):
    """Four links, the joints' axes in turn across each other."""
    text = LINK.format(k=0, mass=1.0)
    for k in range(1, 4):
        text += LINK.format(k=k, mass=1.0 + 0.3 * k)
        text += JOINT.format(k=k, above=k - 1, axis=f"0 {k % 2} {1 - k % 2}")
    return load_model(f'<robot name="chain">{text}</robot>', base=base)


def moved(base: str, gravity: float, time_step: float, integrator: str) -> np.ndarray:
    """Return q and v of the chain after half a second."""
    world = World(time_step, gravity=(0, 0, -gravity), integrator=integrator)
    v = RATES if base == "fixed" else BASE + RATES
    robot = world.add_robot(chain(base), v=v)
    world.step(round(0.5 / time_step))
    return np.concatenate([robot.q, robot.v])


@pytest.mark.parametrize(("base", "gravity"), [("fixed", GRAVITY), ("free", 0.0)])
def test_three_joints_swinging_or_tumbling_are_of_second_order(base, gravity):
    """The error falls by four where the step is halved; truth is rk4 at 0.1 ms."""
    truth = moved(base, gravity, 1e-4, "rk4")
    steps = (2e-3, 1e-3, 5e-4)
    found = [moved(base, gravity, h, "semi_implicit") for h in steps]
    errors = np.array([np.abs(each - truth).max() for each in found])
    ratios = errors[:-1] / errors[1:]
    show(f"{base} chain: errors, ratios", *errors, *ratios)
    assert (3.9 < ratios).all() and (ratios < 4.1).all()


def test_the_energy_of_a_tumbling_tree_does_not_drift():
    """10^6 steps of 4 ms, 4000 s: within 6e-4 of its start, in the last tenth as in the first."""
    world = World(4e-3, gravity=(0, 0, 0), sleeping=False)
    model = chain("free")
    robot = world.add_robot(model, v=BASE + RATES)

    def kinetic() -> float:
        return sum(energy(model, robot.q, robot.v, gravity=(0, 0, 0)))

    start, worst = kinetic(), []
    for _ in range(10):
        seen = []
        for _ in range(100):
            world.step(1000)
            seen.append(abs(kinetic() / start - 1.0))
        worst.append(max(seen))
    show(
        "largest relative change of energy in the first, last and worst 1e5 steps",
        worst[0],
        worst[-1],
        max(worst),
    )
    assert max(worst) < 6e-4
