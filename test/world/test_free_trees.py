# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Trees that tumble and swing: second order, and an energy that swings and has no trend."""

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


def chain(base: str, axes=("0 1 0", "0 0 1", "0 1 0")):
    """Return links one behind the other, and joints with these axes between them."""
    text = LINK.format(k=0, mass=1.0)
    for k, axis in enumerate(axes, 1):
        text += LINK.format(k=k, mass=1.0 + 0.3 * k)
        text += JOINT.format(k=k, above=k - 1, axis=axis)
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


PAIR_RATES = [0.1, 0.2, 0.0, 0.0, 0.0, 0.5, 8.0]


def energies(model, rates, time_step: float, steps: int) -> np.ndarray:
    """Return by how much of itself the energy is off, 1000 times over some steps."""
    world = World(time_step, gravity=(0, 0, 0), sleeping=False)
    robot = world.add_robot(model, v=rates)

    def kinetic() -> float:
        return sum(energy(model, robot.q, robot.v, gravity=(0, 0, 0)))

    start, found = kinetic(), []
    for _ in range(1000):
        world.step(steps // 1000)
        found.append(kinetic() / start - 1.0)
    return np.array(found)


def test_the_energy_of_a_regular_motion_swings_by_h2_and_drifts_by_h5():
    """Two links that tumble in a plane, where motion is not chaotic: 1600 s at 8 and 4 ms.

    A step that took velocity products at its start would drift by h.
    """
    model, swings, drifts = chain("free", axes=("0 0 1",)), [], []
    for time_step, steps in ((8e-3, 200_000), (4e-3, 400_000)):
        parts = energies(model, PAIR_RATES, time_step, steps).reshape(10, -1)
        swings.append(np.ptp(parts[0]))
        drifts.append(abs(parts[-1].mean() - parts[0].mean()))
    show("swings and drifts at 8 and 4 ms", *swings, *drifts)
    assert swings[0] < 1e-3 and swings[0] / swings[1] > 4.0
    assert drifts[0] < 1e-3 and drifts[0] / drifts[1] > 20.0


@pytest.mark.long
def test_the_energy_of_a_chaotic_motion_has_no_trend():
    """10^6 steps of 4 ms, 4000 s: changes add up as those of a random walk do, not in proportion.

    Over n equal parts these come to about sqrt(n) of a typical one, changes of one sign to n. By
    how much, the last bits decide; a law of chance does not depend on them.
    """
    change = np.diff(energies(chain("free"), BASE + RATES, 4e-3, 1_000_000)[::10])
    trend = change.sum() / np.sqrt((change**2).sum())
    show("energy: typical change in 1e4 steps, in all, trend", change.std(), change.sum(), trend)
    assert abs(change.sum()) < 1e-2 and abs(trend) < 4.0
