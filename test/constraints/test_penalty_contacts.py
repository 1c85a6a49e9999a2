# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Penalty contacts: springs with a maximum extension, friction that sticks to anchors and slips."""

import numpy as np
import pytest
from world.scenes import check_snapshot_and_reset, show, weightless

from hrpsim import Box, Sphere, World, WorldError, load_model, load_world
from robots import HRP2_LIKE

G = 9.8
SIZE = (0.4, 0.4, 0.1)


def table(time_step=1e-3, static=0.5, kinetic=None, solver="penalty", **spring) -> World:
    world = World(time_step, gravity=(0.0, 0.0, -G), solver=solver)
    world.set_friction("table", "box", static=static, kinetic=kinetic)
    world.set_penalty("table", "box", **spring)
    world.add_ground(material="table")
    return world


def box_on(world: World, height=0.0, **state):
    position = (0.0, 0.0, SIZE[2] / 2 + height)
    return world.add_body(Box(SIZE), 1.0, position=position, material="box", **state)


@pytest.mark.parametrize("shape, points", [(Box(SIZE), 4), (Sphere(0.05), 1)])
def test_a_body_at_rest_sinks_by_its_weight_over_the_stiffness(shape, points):
    """Depth m g / (n k), forces of m g / n at each point."""
    k, mass = 2e4, 3.0
    world = table(stiffness=k, damping_ratio=0.5, max_extension=0.1)
    body = world.add_body(shape, mass, position=(0.0, 0.0, 0.05), material="box")
    world.step(3000)
    sunk = 0.05 - body.position[2]
    show("sunk by [m], theory", float(sunk), mass * G / (points * k))
    assert sunk == pytest.approx(mass * G / (points * k), rel=1e-9)
    forces = [abs(contact.force[2]) for contact in world.contacts]
    np.testing.assert_allclose(forces, mass * G / points, rtol=1e-9)


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.3])
def test_a_bounce_keeps_what_the_damped_oscillator_keeps(ratio):
    """exp(-zeta w t), t being when the force ends: tan(w_d t) = -2 zeta s / (1 - 2 zeta^2).

    The ratio is of the mass that the point feels least, along the surface: 2 m / 7 at a sphere.
    """
    k, mass = 1e8, 2.0
    world = World(1e-7, gravity=(0.0, 0.0, 0.0), solver="penalty")
    world.set_friction("default", "default", static=0.0)
    world.set_penalty("default", "default", k, ratio, max_extension=1.0)
    world.add_ground()
    ball = world.add_body(Sphere(0.1), mass, position=(0.0, 0.0, 0.1), velocity=(0.0, 0.0, -1.0))
    world.step(6000)
    zeta = ratio * np.sqrt(2.0 / 7.0)
    w, s = np.sqrt(k / mass), np.sqrt(1.0 - zeta**2)
    end = (np.pi - np.arctan2(2.0 * zeta * s, 1.0 - 2.0 * zeta**2)) / (w * s)
    expected = np.exp(-zeta * w * end)
    show("speed after the bounce, theory", float(ball.velocity[2]), float(expected))
    assert ball.velocity[2] == pytest.approx(expected, rel=1e-3)


def push(world, box, force: float, duration: float, ramp: float = 2.0) -> None:
    """Push at the height of the plane, so that all points bear alike; ramp up, hold."""
    steps = round(ramp / world.time_step)
    for k in range(steps):
        box.apply_wrench((force * (k + 1) / steps, 0.0, 0.0), point=box.position - (0, 0, 0.05))
        world.step()
    box.apply_wrench((force, 0.0, 0.0), point=box.position - (0, 0, 0.05))
    world.step(round(duration / world.time_step))


@pytest.mark.parametrize("rate, share", [(50, 0.95), (1000, 0.99)])
def test_below_the_static_bound_the_anchors_hold(rate, share):
    """Held for 15 s the springs give F / (4 k), and nothing more comes.

    The end of the ramp makes soft springs swing, at dt 1/50 s by 2 % of the load, and they let the
    box lean, so that its centre goes less far.
    """
    world = table(1.0 / rate, static=0.6, kinetic=0.4)
    box = box_on(world)
    force = share * 0.6 * G
    push(world, box, force, 6.0)
    given = box.position[0]
    box.apply_wrench((force, 0.0, 0.0), point=box.position - (0, 0, 0.05))
    world.step(9 * rate)
    show("creep in 9 s [m], given [m]", float(box.position[0] - given), float(given))
    assert abs(box.position[0] - given) < 1e-9
    stiffness = world.scene.collision.contacts["stiffness"][:4].sum()
    assert given == pytest.approx(force / stiffness, rel=0.15 if rate == 50 else 0.01)
    held = sum(abs(contact.force[0]) for contact in world.contacts)
    assert held == pytest.approx(force, rel=1e-9)


def test_above_the_static_bound_it_slides_with_kinetic_friction():
    """1.02 mu' m g: (F - mu m g) / m, mu being the kinetic coefficient."""
    world = table(1e-3, static=0.6, kinetic=0.4)
    box = box_on(world)
    force = 1.02 * 0.6 * G
    push(world, box, force, 1.0)
    before = box.velocity[0]
    assert before > 0.1
    box.apply_wrench((force, 0.0, 0.0), point=box.position - (0, 0, 0.05))
    world.step(1000)
    assert box.velocity[0] - before == pytest.approx(force - 0.4 * G, rel=1e-3)


def test_a_thrown_box_slows_by_mu_g_and_stops():
    world = table(1e-3)
    box = box_on(world, velocity=(3.0, 0.0, 0.0))
    world.step(200)
    before = box.velocity[0]
    world.step(200)
    assert before - box.velocity[0] == pytest.approx(0.2 * 0.5 * G, rel=1e-3)
    world.step(2000)
    assert abs(box.velocity[0]) < 1e-9
    assert box.position[0] == pytest.approx(3.0**2 / (2 * 0.5 * G), rel=5e-3)


def test_a_ball_rolls_without_loss():
    """Its anchors follow the point of contact: v = 5/7 v0 once it rolls, for metres."""
    world = table(1e-3, stiffness=1e5, damping_ratio=0.3, max_extension=0.01)
    ball = world.add_body(
        Sphere(0.1), 1.0, (0.0, 0.0, 0.1 - G / 1e5), velocity=(2.0, 0.0, 0.0), material="box"
    )
    world.step(1000)
    rolling = ball.velocity[0]
    assert rolling == pytest.approx(2.0 * 5.0 / 7.0, rel=2e-3)
    assert ball.angular_velocity[1] == pytest.approx(rolling / 0.1, rel=2e-3)
    world.step(4000)
    show("speed when it rolls [m/s], 4 s later", float(rolling), float(ball.velocity[0]))
    assert ball.velocity[0] == pytest.approx(rolling, rel=1e-6)


@pytest.mark.parametrize("rate", [50, 100, 1000])
def test_what_sinks_deeper_than_its_springs_is_a_constraint(rate):
    """5 m/s at dt 1/50 s: never deeper than the maximum extension, and energy only falls."""
    w = 0.02
    world = table(1.0 / rate, max_extension=w)
    box = box_on(world, height=0.1, velocity=(0.0, 0.0, -5.0))
    energies, deepest = [0.5 * 25.0 + G * 0.15], 0.0
    for _ in range(4 * rate):
        world.step()
        energies.append(0.5 * box.velocity @ box.velocity + G * box.position[2])
        deepest = max(deepest, 0.05 - box.position[2])
    show("deepest [m], fastest upwards", deepest, max(energies))
    assert deepest <= w + 1e-8
    assert max(energies[1:]) <= energies[0] * (1.0 + 1e-9) + G * 0.1 / rate * 5.0
    assert np.abs(box.velocity).max() < 1e-2


def test_a_pair_keeps_its_momentum():
    """Two spinning spheres meet off centre, with friction and damping."""
    world = weightless(1e-4, solver="penalty")
    world.set_friction("default", "default", static=0.7)
    world.set_penalty("default", "default", stiffness=1e5, max_extension=0.05)
    a = world.add_body(Sphere(0.1), 1.0, (-0.11, 0.02, 0.0), velocity=(1.0, 0.0, 0.2),
                       angular_velocity=(0.0, 5.0, 3.0))  # fmt: skip
    b = world.add_body(Sphere(0.15), 2.5, (0.15, 0.0, 0.01), velocity=(-0.5, 0.1, 0.0))

    def momenta():
        p, h = np.zeros(3), np.zeros(3)
        for body, r in ((a, 0.1), (b, 0.15)):
            p += body.mass * body.velocity
            h += body.mass * np.cross(body.position, body.velocity)
            h += 0.4 * body.mass * r**2 * body.angular_velocity
        return p, h

    before = momenta()
    world.step(2000)
    after = momenta()
    assert abs(a.velocity[0] - 1.0) > 0.1  # they did meet
    np.testing.assert_allclose(after[0], before[0], atol=1e-13)
    np.testing.assert_allclose(after[1], before[1], atol=1e-7)  # positions: to first order in dt


def test_snapshots_continue_bit_for_bit_and_reset_repeats():
    world = table(1.0 / 100, static=0.5)
    box = box_on(world, velocity=(0.8, 0.3, 0.0), angular_velocity=(0.0, 0.0, 2.0))

    def run(steps):
        path = []
        for _ in range(steps):
            world.step()
            path.append(np.concatenate([box.q, box.v]))
        return np.array(path)

    check_snapshot_and_reset(world, run, 12, 60)


def test_energy_falls_under_damping():
    """A box that bobs on its springs, always touching: each swing is lower than the one before."""
    world = table(1e-5, stiffness=1e4, damping_ratio=0.05, max_extension=0.1)
    box = box_on(world, height=-4e-4)
    heights = []
    for _ in range(4000):
        world.step(10)
        heights.append(box.position[2])
    heights = np.array(heights)
    rest = 0.05 - G / 4e4
    inner = heights[1:-1]
    peaks = np.abs(inner - rest)[(inner - heights[:-2]) * (heights[2:] - inner) <= 0.0]
    assert len(peaks) > 10 and (np.diff(peaks) < 0.0).all()


def test_the_stiffness_of_modes_is_the_largest_eigenvalue():
    """Of J M^-1 J^T K dt^2, K and M by hand, for a cube on four corners."""
    side, dt, k = 0.2, 1e-3, 2e4
    world = World(dt, solver="penalty")
    world.set_penalty("default", "default", stiffness=k, damping_ratio=0.0, max_extension=1.0)
    world.add_ground()
    world.add_body(Box((side,) * 3), 1.0, position=(0.0, 0.0, side / 2 - 1e-9))
    world.step()
    J = []
    for x in (-0.1, 0.1):
        for y in (-0.1, 0.1):
            r = np.array([x, y, -0.1])
            J += [np.concatenate([np.cross(r, e), e]) for e in np.eye(3)]
    J = np.array(J)
    M = np.diag([side**2 / 6.0] * 3 + [1.0] * 3)
    expected = k * dt**2 * np.linalg.eigvals(np.linalg.solve(M, J.T @ J)).real.max()
    found = float(world.scene.failure["stiffness"][0])
    show("k dt^2 / m of the stiffest mode, eigenvalue", found, float(expected))
    assert found <= expected * (1.0 + 1e-9)
    assert found == pytest.approx(expected, rel=0.02)


def test_springs_too_stiff_for_the_step_are_refused():
    world = table(1e-2, stiffness=1e6)
    box_on(world, height=-1e-4)
    with pytest.raises(WorldError, match=r"table|ground.*too stiff.*below 4"):
        world.step(3)


@pytest.mark.parametrize("integrator", ["rk4", "euler"])
def test_other_integrators_are_refused(integrator):
    with pytest.raises(WorldError, match="semi_implicit"):
        World(integrator=integrator, solver="penalty")
    world = World(integrator=integrator)
    with pytest.raises(WorldError, match=integrator):
        world.add_solver_rule("penalty", kind="contact")


def test_one_pair_may_be_penalty_and_another_not():
    world = table(solver=[{"solver": "penalty", "bodies": "soft"}], stiffness=1e4)
    for name, x in (("soft", 0.0), ("hard", 2.0)):
        world.add_body(Box(SIZE), 1.0, position=(x, 0.0, 0.05), material="box", name=name)
    world.step(3000)
    assert 0.05 - world.bodies["soft"].position[2] == pytest.approx(G / 4e4, rel=1e-6)
    assert 0.05 - world.bodies["hard"].position[2] < 2e-6


def test_penalty_contacts_carry_what_a_direct_hinge_hangs_on_them():
    """A box on springs holds a second one, beside it, by a stiff hinge and a lock of its angle."""
    world = World(1e-3, gravity=(0.0, 0.0, -G), solver=[{"solver": "penalty", "kind": "contact"}])
    world.set_friction("default", "default", static=0.8)
    world.set_penalty("default", "default", stiffness=1e5, damping_ratio=0.3, max_extension=0.05)
    world.add_ground()
    low = world.add_body(Box((0.6, 0.6, 0.1)), 4.0, position=(0.0, 0.0, 0.05))
    high = world.add_body(Box((0.1, 0.1, 0.4)), 1.0, position=(0.2, 0.0, 0.3))
    hinge = world.connect(low, high, kind="hinge", point=(0.2, 0.0, 0.1), axis=(0, 1, 0))
    hinge.drive("rz", 0.0, 100.0)
    worst = 0.0
    for _ in range(4000):
        world.step()
        worst = max(worst, np.abs(hinge.error).max())
    assert hinge.solver == "direct" and worst < 1e-6
    vertical = [abs(contact.force[2]) for contact in world.contacts]
    assert len(vertical) == 4
    assert sum(vertical) == pytest.approx(5.0 * G, rel=1e-9)
    assert hinge.wrench[2] == pytest.approx(1.0 * G, rel=1e-6)
    points = np.array([contact.point[0] for contact in world.contacts])
    centre = (points * vertical).sum() / sum(vertical)
    assert centre == pytest.approx((4.0 * low.position[0] + high.position[0]) / 5.0, abs=1e-6)


def test_foot_sensors_feel_penalty_contacts():
    """A humanoid at rest: its feet carry what they do on the constraint solver's contacts."""
    model = load_model(HRP2_LIKE)
    q = model.neutral()
    q[2] = 0.6487
    for side in "LR":
        for k, angle in ((2, -0.4538), (3, 0.8727), (4, -0.4189)):
            q[model.joint(f"{side}LEG_JOINT{k}").q_index] = angle
    sums = []
    for solver in ("penalty", "iterative"):
        world = World(1e-3, solver=[{"solver": solver, "kind": "contact"}])
        world.add_ground()
        robot = world.add_robot(model, q=q)
        world.settle(duration=60.0)  # springs sway for long
        world.step(100)
        sums.append(sum(robot.sensors[name].force[2] for name in ("lfsensor", "rfsensor")))
        touching = sum(abs(contact.force[2]) for contact in world.contacts)
        assert touching == pytest.approx(model.mass * 9.80665, rel=1e-5)
    show("feet on springs [N], on constraints", *map(float, sums))
    assert sums[0] == pytest.approx(sums[1], rel=1e-5)


def test_numbers_that_make_no_spring_are_refused():
    world = World()
    for bad in ({"stiffness": 0.0}, {"stiffness": -1.0}, {"damping_ratio": np.nan},
                {"max_extension": -0.1}):  # fmt: skip
        with pytest.raises(WorldError):
            world.set_penalty("a", "b", **bad)


def test_a_world_file_says_the_same(tmp_path):
    path = tmp_path / "springs.yaml"
    path.write_text(
        """
world: {gravity: [0, 0, -9.8]}
ground: {material: table}
penalties:
  - {between: [table, box], stiffness: 2.0e4, damping_ratio: 0.5, max_extension: 0.1}
solvers:
  - {solver: penalty, kind: contact, bodies: crate}
bodies:
  - {name: crate, shape: {box: [0.4, 0.4, 0.1]}, mass: 3, position: [0, 0, 0.05], material: box}
"""
    )
    world = load_world(path)
    world.step(3000)
    assert 0.05 - world.bodies["crate"].position[2] == pytest.approx(3.0 * G / 8e4, rel=1e-9)
    path.write_text(path.read_text().replace("stiffness", "stiffnes"))
    with pytest.raises(WorldError, match=r"springs.yaml.*penalties.*stiffness"):
        load_world(path)
