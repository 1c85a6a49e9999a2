# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Hinges of four constrained springs: statics, torque, friction, limits, and their solvers."""

import numpy as np
import pytest
from world.scenes import check_snapshot_and_reset, one_joint, show, weightless

from hrpsim import Box, World, WorldError
from hrpsim.experiments.scenes.double_pendulum import Lagrange, Sprung, swing, times

G = 9.8
SOLVERS = ("iterative", "direct", "steepest_descent")
HINGE = {"point": (0.0, 0.0, 0.0), "axis": (1.0, 0.0, 0.0), "half_width": 0.2, "radius": 0.2}


def hung(time_step=1e-3, gravity=G, angle=0.0, **options):
    """A world, a rod of 2 kg that hangs 0.5 m below its hinge, and the hinge."""
    world = World(time_step, gravity=(0.0, 0.0, -gravity))
    down = np.array([0.0, np.sin(angle), -np.cos(angle)])
    turn = (np.sin(angle / 2), 0.0, 0.0, np.cos(angle / 2))
    rod = world.add_body(Box((0.1, 0.1, 1.0)), 2.0, position=0.5 * down, orientation=turn)
    options = {"max_extension": 0.05, **HINGE, **options}
    return world, rod, world.add_spring_hinge(None, rod, angle=angle, **options)


def test_two_axis_springs_carry_the_weight():
    world, _, hinge = hung(stiffness=4e3, damping_ratio=0.3)
    world.step(8000)
    expected = 2.0 * G / (2.0 * 4e3)
    show("extension [m], m g / (2 k)", float(hinge.extension[0]), expected)
    assert hinge.extension[:2] == pytest.approx([expected] * 2, rel=1e-6)
    assert hinge.tension[:2] == pytest.approx([G] * 2, rel=1e-6)
    assert hinge.phase == "free" and (hinge.tension[2:] == 0.0).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_beyond_the_maximum_extension_a_constraint_carries_it(solver):
    """Springs that would give 0.02 m, and may give 0.002 m."""
    world, _, hinge = hung(stiffness=490.0, max_extension=0.002, solver=solver)
    world.step(4000)
    show(f"{solver}: extension [m], tension [N]", *map(float, hinge.extension[:2]))
    assert hinge.extension[:2] == pytest.approx([0.002] * 2, rel=1e-3)
    assert hinge.tension[:2].sum() == pytest.approx(2.0 * G, rel=1e-6)


def test_the_torque_is_a_couple():
    """Two free bodies: no net force, no net moment, tau / I_x apart."""
    world = weightless(1e-3)
    a = world.add_body(Box((0.1, 0.1, 0.1)), 1.0)
    b = world.add_body(Box((0.1, 0.1, 0.1)), 3.0)
    hinge = world.add_spring_hinge(a, b, max_extension=0.01, **HINGE)
    hinge.torque = 0.02
    world.step(100)
    moments = [body.mass * 0.1**2 / 6.0 for body in (a, b)]
    assert b.angular_velocity[0] == pytest.approx(0.1 * 0.02 / moments[1], rel=1e-9)
    assert a.angular_velocity[0] == pytest.approx(-0.1 * 0.02 / moments[0], rel=1e-9)
    assert np.abs([a.velocity, b.velocity]).max() < 1e-15


def test_a_pair_keeps_its_momentum():
    world = weightless(1e-3)
    a = world.add_body(Box((0.1, 0.2, 0.5)), 1.0, (0.0, 0.0, 0.3), velocity=(0.3, 0.5, 0.0))
    b = world.add_body(Box((0.2, 0.1, 0.4)), 3.0, (0.0, 0.0, -0.3), velocity=(0.0, -0.4, 0.1))
    world.add_spring_hinge(a, b, max_extension=0.01, friction=0.05, **HINGE)

    def momenta():
        p, h = np.zeros(3), np.zeros(3)
        for body, size in ((a, (0.1, 0.2, 0.5)), (b, (0.2, 0.1, 0.4))):
            squares = np.square(size)
            inertia = np.diag(body.mass / 12.0 * (squares.sum() - squares))
            x, y, z, w = body.orientation
            R = np.array([
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ])  # fmt: skip
            p += body.mass * body.velocity
            h += body.mass * np.cross(body.position, body.velocity)
            h += R @ inertia @ R.T @ body.angular_velocity
        return p, h

    before = momenta()
    world.step(2000)
    after = momenta()
    np.testing.assert_allclose(after[0], before[0], atol=1e-12)
    np.testing.assert_allclose(after[1], before[1], atol=5e-3 * np.linalg.norm(before[1]))


def test_friction_holds_what_is_below_it():
    """Held at m g r sin(angle) < static; torn loose above, and slowed by the kinetic torque."""
    angle = 0.4
    needed = 2.0 * G * 0.5 * np.sin(angle)
    world, _, hinge = hung(angle=angle, friction=1.05 * needed, damping_ratio=1.0)
    world.step(2000)
    before = hinge.angle
    world.step(8000)
    show("creep in 8 s [rad]", abs(hinge.angle - before))
    assert hinge.phase == "held" and abs(hinge.angle - before) < 1e-6
    world, _, hinge = hung(angle=angle, friction=0.5 * needed, damping_ratio=1.0)
    world.step(200)
    before = hinge.rate
    world.step(25)
    torque = 2.0 * G * 0.5 * np.sin(hinge.angle) - 0.5 * needed
    world.step(25)
    expected = -0.05 * torque / (2.0 * ((0.1**2 + 1.0) / 12.0 + 0.25))
    show("change of the rate in 0.05 s, torque / I", hinge.rate - before, float(expected))
    assert hinge.phase != "held"
    assert hinge.rate - before == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_bound_the_angle(solver):
    """Beyond a limit by no more than the maximum extension over the radius."""
    w = 0.02
    world, _, hinge = hung(
        angle=1.0, limits=(-0.3, 1.2), max_extension=w, solver=solver, damping_ratio=0.5
    )
    seen = []
    for _ in range(3000):
        world.step()
        seen.append(hinge.angle)
    show("least angle [rad], limit", min(seen), -0.3)
    assert min(seen) < -0.3
    assert min(seen) > -0.3 - 1.05 * w / 0.2
    assert abs(seen[-1] - seen[-1000]) < 0.6


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("w, rate", [(0.4, 50), (0.1, 50), (0.05, 50), (0.05, 200)])
def test_springs_are_never_longer_than_they_may_be(w, rate, solver):
    """The thesis's pendulum at its w and dt: 2 % for the line along which the bound is kept."""
    model = Sprung(1.0 / rate, w, solver=solver)
    path = swing(model, 3.0)
    error = np.abs(path - Lagrange().angles(times(1.0 / rate, 3.0))).max()
    show(f"{solver}, w {w}, dt 1/{rate}: longest [m], error [rad]", model.longest, float(error))
    assert model.longest < 1.02 * w
    assert error < 0.1


def test_snapshots_continue_bit_for_bit_and_reset_repeats():
    world, rod, hinge = hung(5e-3, angle=1.2, friction=0.5, limits=(-0.5, 2.0))

    def run(steps):
        path = []
        for _ in range(steps):
            world.step()
            path.append([*rod.q, *rod.v, hinge.angle])
        return np.array(path)

    check_snapshot_and_reset(world, run, 150, 300)
    copied = world.copy()
    world.step(50)
    copied.step(50)
    np.testing.assert_array_equal(world.bodies["box"].q, copied.bodies["box"].q)


def test_hinges_come_and_go():
    world, rod, hinge = hung()
    other = world.add_body(Box((0.1,) * 3), 1.0, (3.0, 0.0, 0.0), name="other")
    second = world.add_spring_hinge(rod, other, max_extension=0.1, name="second", **HINGE)
    world.step(10)
    assert list(world.spring_hinges) == [hinge.name, "second"]
    world.remove(rod)
    assert not world.spring_hinges
    world.step(10)
    with pytest.raises(WorldError, match="taken out"):
        second.angle  # noqa: B018
    world, rod, hinge = hung()
    world.step()
    world.remove_spring_hinge(hinge)
    world.step(1000)
    assert rod.velocity[2] == pytest.approx(-G, rel=1e-2)


def test_what_makes_no_hinge_is_refused():
    world = World(1e-3)
    box = world.add_body(Box((0.1,) * 3), 1.0)
    robot = world.add_robot(one_joint(), name="one")
    good = {"a": None, "b": box, "max_extension": 0.1, **HINGE}
    for bad, named in (
        ({"axis": (0, 0, 0)}, "axis"),
        ({"radius": 0.0}, "radius"),
        ({"max_extension": -1.0}, "max_extension"),
        ({"b": robot}, "robot"),
        ({"b": None}, "same"),
        ({"solver": "split"}, "steepest_descent"),
        ({"limits": (1.0, 0.0)}, "limits"),
        ({"friction": 2.0, "static_friction": 1.0}, "static_friction"),
        ({"stiffness": 1e9}, "too stiff"),
    ):
        with pytest.raises(WorldError, match=named):
            world.add_spring_hinge(**{**good, **bad})
    assert not world.spring_hinges
    with pytest.raises(WorldError, match="semi_implicit"):
        World(integrator="rk4").add_spring_hinge(**good)
