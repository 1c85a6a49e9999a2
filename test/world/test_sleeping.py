# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sleep: what is at rest stays as it is, wakes at every cause, and goes on as if it never had."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, show, tilted
from world.scripted import bits

from hrpsim import Box, Sphere, World, load_model
from robots import HRP2_LIKE

REST_SPEED = 1e-6  # [m/s] with the default tolerance and time step

integrators = pytest.mark.parametrize("integrator", INTEGRATORS)


def towers(heights=(3,), **options) -> World:
    """Towers of cubes of 1 kg, edges 0.2 m, a metre apart, on the ground."""
    world = World(**options)
    world.add_ground()
    for tower, height in enumerate(heights):
        for k in range(height):
            world.add_body(
                Box((0.2, 0.2, 0.2)), 1.0, position=(tower, 0, 0.1 + 0.2 * k), name=f"{tower}_{k}"
            )
    return world


def dormant(heights=(3,), **options) -> World:
    world = towers(heights, **options)
    world.step(1000)
    assert set(world.asleep) == set(world.bodies)
    return world


def upward(world: World, name: str) -> float:
    """Return the force that contacts push a body up with [N]."""
    total = 0.0
    for contact in world.contacts:
        total += (contact.a[0] == name) * contact.force[2]
        total -= (contact.b[0] == name) * contact.force[2]
    return total


@integrators
def test_a_tower_asleep_keeps_its_forces_its_place_and_its_time(integrator):
    awake, world = (towers((4, 2), integrator=integrator, sleeping=flag) for flag in (False, True))
    while not world.asleep and world.time < 1.0:
        awake.step()
        world.step()
    assert 0.5 <= world.time < 1.0
    for name, body in world.bodies.items():
        assert (body.q == awake.bodies[name].q).all()
        assert not (body.asleep and body.v.any())
    assert world.stats.contact_count == awake.stats.contact_count == 24
    for ours, theirs in zip(world.contacts, awake.contacts, strict=True):
        assert (ours.a, ours.b, ours.gap) == (theirs.a, theirs.b, theirs.gap)
        assert (ours.point == theirs.point).all() and (ours.force == theirs.force).all()
    world.step(1000)
    assert world.stats.asleep == 6
    assert world.stats.converged and world.stats.row_count == 0
    time, places = world.time, {n: b.q.copy() for n, b in world.bodies.items()}
    for name in world.bodies:
        assert upward(world, name) == pytest.approx(GRAVITY, rel=1e-6)
    world.step(5000)
    assert world.time == pytest.approx(time + 5.0)
    assert all((world.bodies[n].q == q).all() for n, q in places.items())


def change_support(world):
    world.remove("0_0")


CAUSES = {
    "a wrench": lambda w: w.bodies["0_2"].apply_wrench(force=(0.1, 0, 0)),
    "a configuration": lambda w: setattr(w.bodies["0_2"], "q", w.bodies["0_2"].q.copy()),
    "a velocity": lambda w: setattr(w.bodies["0_1"], "v", np.zeros(6)),
    "gravity": lambda w: setattr(w, "gravity", (0.1, 0, -9.8)),
    "friction": lambda w: w.set_friction("default", "default", static=0.3),
    "how contacts yield": lambda w: w.set_contact("default", "default", compliance=1e-6),
    "a connection made": lambda w: w.connect(w.bodies["0_2"], None, "ball"),
    "a fixed shape": lambda w: w.add_static(Box((1, 1, 1)), position=(9, 9, 9)),
    "what it leans on removed": change_support,
    "no sleep any more": lambda w: setattr(w, "sleeping", False),
    "a reset": lambda w: w.reset(),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_it_wakes(cause):
    world = dormant()
    CAUSES[cause](world)
    assert world.asleep == ()
    assert not any(body.asleep for body in world.bodies.values())
    world.step()
    assert world.stats.row_count > 0


def test_what_leaned_on_something_that_is_gone_falls():
    world = dormant()
    world.remove("0_0")
    world.step(100)
    assert world.bodies["0_1"].velocity[2] == pytest.approx(-GRAVITY * 0.1, rel=1e-9)


def test_only_the_island_that_is_disturbed_wakes():
    world = dormant((3, 3, 1))
    world.bodies["1_2"].apply_wrench(force=(0, 0, 1.0))
    assert set(world.asleep) == {"0_0", "0_1", "0_2", "2_0"}
    world.step(100)
    assert set(world.asleep) == {"0_0", "0_1", "0_2", "2_0"}
    world.step(1000)
    assert set(world.asleep) == set(world.bodies)
    assert list(world.bodies) == ["0_0", "0_1", "0_2", "1_0", "1_1", "1_2", "2_0"]
    for name in world.bodies:
        assert upward(world, name) == pytest.approx(GRAVITY, rel=1e-6)


def test_a_push_is_felt_as_if_it_had_never_slept():
    """The push lifts two of three boxes' worth of weight: nothing of the start was forgotten."""
    worlds = dormant(), towers(sleeping=False)
    worlds[1].step(1000)
    for world in worlds:
        world.bodies["0_2"].apply_wrench(force=(4.0, 0, 0), point=(0, 0, 0.6))
        world.step(300)
    for name in worlds[0].bodies:
        one, other = (w.bodies[name] for w in worlds)
        np.testing.assert_allclose(one.position, other.position, atol=1e-7)
        np.testing.assert_allclose(one.velocity, other.velocity, atol=1e-6)
    assert not worlds[0].asleep


@integrators
def test_a_ball_hits_a_sleeping_tower_as_it_hits_one_awake(integrator):
    """The ball's momentum and the tower's are those of a world that is all awake."""
    worlds = [towers((4,), integrator=integrator, sleeping=flag) for flag in (True, False)]
    ends = []
    for world in worlds:
        world.set_friction("default", "ball", static=0.3, restitution=0.4)
        ball = world.add_body(
            Sphere(0.05), 0.5, position=(-1, 0.02, 20.0), material="ball", name="ball"
        )
        world.step(1500)  # the ball falls; the tower comes to rest
        assert len(world.asleep) == (4 if world.sleeping else 0)
        assert ball.position[2] > 1.0
        steps = 0
        scene, v, q = world.scene, ball.first_v, ball.first_q
        scene.velocity[v : v + 6] = 0, 0, 0, 3.0, 0, 0  # to the tower, which must not wake of that
        scene.q[q : q + 3] = -0.601, 0.02, 0.9
        scene.search["candidate_count"] = -1
        assert len(world.asleep) == (4 if world.sleeping else 0)
        while ball.velocity[0] > 2.9 and steps < 3000:
            world.step()
            steps += 1
        hit = [b.velocity for b in world.bodies.values()]
        world.step(100)
        ends.append((steps, hit, [b.position for b in world.bodies.values()]))
    show("steps to the hit; the ball's velocity after it", ends[0][0], *ends[0][1][-1])
    assert not worlds[0].asleep
    assert ends[0][0] == ends[1][0] < 3000
    np.testing.assert_allclose(ends[0][1], ends[1][1], atol=1e-5)
    np.testing.assert_allclose(ends[0][2], ends[1][2], atol=1e-5)
    assert max(abs(v[0]) for v in ends[0][1][:4]) > 0.1


def disturbed(world: World) -> None:
    """What happens to a world of towers over 1.6 s: sleep, pushes, one sleeping beside another."""
    world.step(200)
    world.bodies["0_1"].apply_wrench(force=(3.0, 1.0, 0))
    world.step(150)
    world.step(600)
    world.bodies["1_0"].v = (0.3, 0, 0, 0, 0, 0)
    world.step(650)


@pytest.mark.quick_cases("semi_implicit")
@integrators
def test_a_snapshot_of_what_sleeps_continues_bit_for_bit(integrator):
    world = towers((3, 2), integrator=integrator)
    world.step(520)
    ball = world.add_body(Sphere(0.1), 1.0, position=(5, 0, 0.1), velocity=(0.5, 0, 0))
    world.step(600)
    assert 0 < len(world.asleep) < 6
    kept, names = world.snapshot(), world.asleep
    disturbed(world)
    expected = bits(world)
    for _ in range(2):
        world.restore(kept)
        assert world.asleep == names
        assert upward(world, "0_0") == pytest.approx(GRAVITY, rel=1e-6)
        disturbed(world)
        assert bits(world) == expected
    world.restore(kept)
    world.wake()
    world.step(40)
    late = world.snapshot()
    disturbed(world)
    expected = bits(world)
    world.restore(kept)
    world.step(3)
    world.restore(late)
    assert world.asleep == ()
    disturbed(world)
    assert bits(world) == expected
    assert ball.position[0] > 5.1


@pytest.mark.quick_cases("semi_implicit")
@integrators
def test_sleep_does_not_depend_on_how_steps_are_counted(integrator):
    at_once, one_by_one = (towers((3, 2), integrator=integrator) for _ in range(2))
    at_once.add_body(Sphere(0.1), 1.0, position=(0.5, 0, 3.0))
    one_by_one.add_body(Sphere(0.1), 1.0, position=(0.5, 0, 3.0))
    at_once.step(1500)
    for _ in range(1500):
        one_by_one.step()
    assert at_once.asleep == one_by_one.asleep != ()
    assert bits(at_once) == bits(one_by_one)


def energy(world: World) -> float:
    total = 0.0
    for body in world.bodies.values():
        total += 0.5 * body.mass * body.velocity @ body.velocity
        total += 0.5 * body.mass * 0.2**2 / 6.0 * body.angular_velocity @ body.angular_velocity
        total += body.mass * GRAVITY * body.position[2]
    return total


def test_no_energy_comes_from_falling_asleep_or_waking():
    """Woken every 0.2 s to 0.7 s, for no reason: kinetic and potential energy never rise."""
    world = towers((3, 1))
    random = np.random.default_rng(2)
    world.step(50)
    before, rise, slept = energy(world), 0.0, 0
    for _ in range(40):
        world.step(int(random.integers(200, 700)))
        slept += bool(world.asleep)
        now = energy(world)
        rise, before = max(rise, now - before), now
        world.wake(*random.choice(list(world.bodies.values()), 2))
    show("times asleep, largest rise of energy [J]", slept, rise)
    assert slept > 5
    assert rise < 1e-9


@pytest.fixture(scope="module")
def hrp2():
    return load_model(HRP2_LIKE)


def beside_a_robot(model, sleeping: bool, reach: bool = False) -> World:
    """A robot that sinks into its gains between boxes that stand; it may fall onto one of them."""
    world = World(sleeping=sleeping)
    world.add_ground()
    world.add_body(Box((0.3, 0.3, 0.3)), 5.0, position=(-1.0, 0, 0.15), name="behind")
    q = model.neutral()
    q[2] = 0.7
    world.add_robot(model, q=q)
    world.add_body(Box((0.3, 0.3, 0.3)), 5.0, position=(0.9, 0, 0.15), name="before")
    world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(0.9, 0, 0.35), name="upon")
    return world


def test_a_robot_moves_by_the_same_bits_beside_what_sleeps(hrp2):
    """Arrays change their order as bodies fall asleep; what robots do and feel does not change."""
    asleep, awake = (beside_a_robot(hrp2, flag) for flag in (True, False))
    robots = [next(iter(w.robots.values())) for w in (asleep, awake)]
    joint = robots[0].joint_names[3]
    seen = set()
    for _ in range(16):
        for world, robot in zip((asleep, awake), robots, strict=True):
            robot.command(positions=[robot.joint_positions[3] + 0.02], names=[joint])
            world.step(75)
        one, other = robots
        seen.add(asleep.asleep)
        if len(asleep.asleep) < 3:
            continue
        assert (one.q == other.q).all() and (one.v == other.v).all()
        assert (one.tau == other.tau).all()
        for name in one.sensors:
            if one.sensors[name].description.kind == "imu":
                a, b = (
                    one.sensors[name].linear_acceleration,
                    other.sensors[name].linear_acceleration,
                )
            else:
                a, b = one.sensors[name].wrench, other.sensors[name].wrench
            assert (a == b).all()
        assert not asleep.sleeps(one)
    assert ("behind", "before", "upon") in seen


def test_a_robot_that_falls_on_a_box_wakes_it(hrp2):
    world = beside_a_robot(hrp2, True)
    robot = next(iter(world.robots.values()))
    world.step(700)
    assert "upon" in world.asleep
    robot.apply_wrench("WAIST_LINK0" if "WAIST_LINK0" in hrp2.link_names else hrp2.link_names[0])
    for _ in range(3000):
        robot.apply_wrench(hrp2.link_names[0], force=(300.0, 0, 0))
        world.step()
        if "before" not in world.asleep or "upon" not in world.asleep:
            break
    touched = {c.a[0] for c in world.contacts} | {c.b[0] for c in world.contacts}
    assert robot.name in touched
    assert not {"before", "upon"} & set(world.asleep)
    assert world.asleep == ("behind",)


def on_a_slope(degrees: float, sleeping: bool, **options) -> tuple[World, np.ndarray]:
    normal, downhill, orientation = tilted(degrees)
    world = World(sleeping=sleeping, **options)
    world.set_friction("default", "default", static=0.5)
    world.add_ground(normal=normal)
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=0.1 * normal, orientation=orientation)
    return world, downhill


def test_a_box_that_friction_just_holds_sleeps_where_it_would_have_stayed():
    """0.5 holds up to 26.565 degrees."""
    (asleep, downhill), (awake, _) = (on_a_slope(26.5, flag) for flag in (True, False))
    for world in (asleep, awake):
        world.step(4000)
    one, other = (next(iter(w.bodies.values())).position @ downhill for w in (asleep, awake))
    show("creep awake and asleep in 4 s [m]", other, one)
    assert asleep.asleep
    assert abs(one - other) < 4.0 * REST_SPEED
    assert abs(other) < 1e-6


def test_a_box_that_friction_does_not_hold_never_sleeps():
    world, downhill = on_a_slope(26.63, True)
    box = next(iter(world.bodies.values()))
    acceleration = GRAVITY * (math.sin(math.radians(26.63)) - 0.5 * math.cos(math.radians(26.63)))
    for _ in range(40):
        world.step(100)
        assert not world.asleep
    show("acceleration [m/s^2]", acceleration)
    assert box.velocity @ downhill == pytest.approx(4.0 * acceleration, rel=1e-2)


@pytest.mark.parametrize("speed", (5e-4, 2.0 * REST_SPEED))
def test_what_slides_slowly_keeps_sliding(speed):
    """On ice, at 0.5 mm/s, and at twice the speed of rest."""
    world = World()
    world.set_friction("default", "default", static=0.0)
    world.add_ground()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1), velocity=(speed, 0, 0))
    world.step(3000)
    assert not world.asleep
    assert box.position[0] == pytest.approx(3.0 * speed, rel=1e-6)


def test_what_floats_may_drift_as_slowly_as_it_likes():
    world = World(gravity=(0, 0, 0))
    body = world.add_body(Sphere(0.1), 1.0, velocity=(1e-9, 0, 0))
    world.step(3000)
    assert not world.asleep
    assert body.position[0] == pytest.approx(3e-9, rel=1e-9)


@pytest.mark.parametrize(("arm", "angle"), ((0.3, 0.1), (0.3, 1e-3), (1e-4, 0.05)))
def test_a_pendulum_does_not_stop_where_it_turns(arm, angle):
    """The last one takes 6.3 s to swing once; speeds at the turn fall below that of rest."""
    worlds = []
    for flag in (True, False):
        world = World(sleeping=flag)
        body = world.add_body(
            Sphere(0.05),
            1.0,
            position=(arm * math.sin(angle), 0, -arm * math.cos(angle)),
            orientation=(0, -math.sin(angle / 2), 0, math.cos(angle / 2)),
        )
        world.connect(body, None, "hinge", point=(0, 0, 0), axis=(0, 1, 0))
        worlds.append((world, body))
    for _ in range(50):
        for world, _ in worlds:
            world.step(200)
            assert not world.asleep
    assert (worlds[0][1].q == worlds[1][1].q).all()
    assert (worlds[0][1].v == worlds[1][1].v).all()


def test_what_begins_to_tip_is_not_held_back():
    """A cube on its edge, 1e-5 rad off balance, has fallen within two seconds."""
    off = math.pi / 4 - 1e-5
    worlds = []
    for flag in (True, False):
        world = World(sleeping=flag)
        world.add_ground()
        body = world.add_body(
            Box((0.2, 0.2, 0.2)),
            1.0,
            position=(0.1 * math.sqrt(2) * math.sin(1e-5), 0, 0.1 * math.sqrt(2) * math.cos(1e-5)),
            orientation=(0, math.sin(off / 2), 0, math.cos(off / 2)),
        )
        worlds.append((world, body))
    for world, _ in worlds:
        world.step(2000)
    (one, body), (_, other) = worlds
    assert abs(body.position[0]) > 0.05
    np.testing.assert_allclose(body.position, other.position, atol=1e-7)
    one.step(1000)
    assert one.asleep


def hanging(**options) -> tuple[World, list, list]:
    """Three links that hang from the world at rest, and a box that stands elsewhere."""
    world = World(**options)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(2, 0, 0.1))
    links, last, joints = [], None, []
    for k in range(3):
        links.append(world.add_body(Box((0.05, 0.05, 0.2)), 1.0, position=(0, 0, 1.9 - 0.2 * k)))
        joints.append(world.connect(last, links[-1], "ball", point=(0, 0, 2.0 - 0.2 * k)))
        last = links[-1]
    far = world.add_body(Sphere(0.1), 1.0, position=(4, 0, 1.0))
    joints.append(world.connect(None, far, "hinge", point=(4, 0, 2.0), axis=(0, 1, 0)))
    far.v = (0.5, 0, 0, 0, 0, 0)
    return world, links, joints


def test_connections_among_what_sleeps_keep_their_forces():
    world, links, joints = hanging()
    world.step(1000)
    assert all(link.asleep for link in links)
    assert len(world.asleep) == 4
    for k, joint in enumerate(joints[:3]):
        assert joint.force[2] == pytest.approx((3 - k) * GRAVITY, rel=1e-6)
        assert np.abs(joint.error).max() < 1e-9
        assert joint.enabled
    assert joints[3].force[2] > 5.0
    world.step(400)
    assert joints[0].force[2] == pytest.approx(3 * GRAVITY, rel=1e-6)


CHANGES = {
    "enabled": lambda joint: setattr(joint, "enabled", False),
    "compliance": lambda joint: setattr(joint, "compliance", 1e-6),
    "damping_time": lambda joint: setattr(joint, "damping_time", 0.01),
    "force_limit": lambda joint: setattr(joint, "force_limit", 1.0),
    "solver": lambda joint: setattr(joint, "solver", "iterative"),
    "drive": lambda joint: joint.drive("ry", 0.5, 1.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_connection_that_is_changed_wakes_what_it_holds(change):
    world, links, joints = hanging()
    world.step(1000)
    height = links[2].position[2]
    CHANGES[change](joints[1])
    assert not any(link.asleep for link in links)
    assert len(world.asleep) == 1  # the box
    world.step(200)
    if change in ("enabled", "force_limit"):
        assert links[2].position[2] < height - 0.1
    if change == "drive":
        assert abs(links[1].angular_velocity[1]) > 0.01
    assert [c.name for c in world.connections.values()] == [c.name for c in joints]


def test_settling_is_not_cut_short_by_sleep():
    worlds = []
    for flag in (True, False):
        world = towers((2,), sleeping=flag)
        world.add_body(Sphere(0.1), 1.0, position=(3, 0, 0.1 - 1e-4))
        world.step(700 if flag else 0)
        world.wake()
        world.reset()
        world.settle()
        worlds.append(world)
        assert world.sleeping == flag
        assert world.asleep == ()
    for name in worlds[0].bodies:
        assert (worlds[0].bodies[name].q == worlds[1].bodies[name].q).all()


def test_boxes_that_come_and_go_while_others_sleep():
    """Entities added and removed among sleeping ones leave every other state as it was."""
    world = dormant((3, 2))
    kept = {name: body.q.copy() for name, body in world.bodies.items()}
    world.add_body(Sphere(0.1), 1.0, position=(4, 0, 0.1), name="more")
    world.step(700)
    assert "0_2" in world.asleep
    world.remove("0_1")
    for name, body in world.bodies.items():
        if name in kept:
            np.testing.assert_allclose(body.q, kept[name], atol=1e-8)
    world.step(1200)
    assert world.bodies["0_2"].position[2] == pytest.approx(0.3, abs=1e-5)
    assert set(world.asleep) == set(world.bodies)
    for name in world.bodies:
        assert upward(world, name) == pytest.approx(GRAVITY, rel=1e-6)
