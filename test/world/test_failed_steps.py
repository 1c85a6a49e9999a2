# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step that cannot be done has not been: all that lasts is as before, bit by bit."""

import copy

import numpy as np
import pytest
from world.scenes import joint_text

import hrpsim
from hrpsim import WorldError

# What a step works with, in records that last: it writes them before it reads them.
WORK = {
    "connections": ("row", "error", "impact_impulse_before"),
    "sensors": ("wrench", "measured"),
    "step_stats": ("direct_work", "worst_row"),
    "continuous": ("start_force",),
    "impacts": ("had_before", "wider_searches", "updates"),
    "rests": ("keeps_awake", "grounded", "island"),
    "momentum": ("expected", "moves"),
}


def lasting(world) -> dict[str, np.ndarray]:
    """Return what the future of a world depends on, and what users read, without work."""
    scene = world.scene
    counts = scene.counts[0]
    arrays = {
        "q": scene.q,
        "velocity": scene.velocity,
        "past": scene.past_accelerations,
        "control": scene.control,
        "holds": scene.joint_holds,
        "impulses": scene.joint_impulses,
        "impact_impulse": scene.joint_impact_impulses,
        "connections": scene.connections,
        "rests": scene.rests,
        "momentum": scene.momentum.trees,
        "contacts": scene.collision.contacts[: counts["contact_count"]],
        "previous": scene.collision.previous[: counts["previous_count"]],
        "step_stats": scene.step_stats,
        "counts": scene.counts,
        "worst": scene.worst,
        "continuous": scene.continuous.state,
        "impacts": scene.impacts.state,
        "clock": scene.clock,
        "settings": scene.settings,
        "sensors": scene.sensors,
        "wrenches": scene.wrenches[: counts["wrench_count"]],
    }
    kept = {name: array.copy() for name, array in arrays.items()}
    for name, fields in WORK.items():
        for field in fields:
            kept[name][field] = 0
    return kept


def assert_same(before: dict, after: dict) -> None:
    for name, array in before.items():
        assert array.tobytes() == after[name].tobytes(), name


def busy_world(integrator: str, **options):
    """Return a world with a bit of everything, some of it sliding, bouncing, pressing, sleeping."""
    world = hrpsim.World(integrator=integrator, **options)
    world.add_ground()
    world.set_friction("rubber", "rubber", 0.5, restitution=0.7)
    world.set_friction("rubber", "default", 0.5, restitution=0.7)
    box = hrpsim.Box((0.1, 0.1, 0.1))
    world.add_body(box, 1.0, (0.0, 0.0, 0.05), velocity=(1.0, 0.0, 0.0), name="sliding")
    ball = hrpsim.Sphere(0.05)
    world.add_body(ball, 1.0, (1.0, 0.0, 0.06), material="rubber", name="bouncing")
    world.add_body(hrpsim.Cylinder(0.1, 0.1), 1.0, (-1.0, 0, 0.05), angular_velocity=(1, 2, 30))
    a = world.add_body(box, 1.0, (0.0, 1.0, 1.0))
    b = world.add_body(box, 1.0, (0.2, 1.0, 1.0), velocity=(0.0, 0.0, -3.0))
    world.connect(a, b, "hinge", point=(0.1, 1.0, 1.0), axis=(0.0, 1.0, 0.0))
    c = world.add_body(box, 1.0, (0.05, 2.0, 1.0), angular_velocity=(0.0, 0.0, 2.0))
    spring = world.connect(c, None, "ball", point=(0.0, 2.0, 1.0), compliance=1e-3)
    spring.drive("rz", 0.0, 0.05)
    text = joint_text(
        at="0 0 0.2",
        limit='lower="-1" upper="1" effort="3" velocity="100"',
        dynamics='damping="0.1" friction="0.1"',
    )
    fixed = world.add_robot(hrpsim.load_model(text, base="fixed"), name="arm")
    fixed.set_gains(100.0, 1.0)
    fixed.command(positions=[0.5], over=0.05)
    free = joint_text(at="0 0 0.2").replace(
        '<link name="base"/>',
        '<link name="base"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" '
        'ixy="0" ixz="0" iyz="0"/></inertial></link>',
    )
    model = hrpsim.load_model(free, base="free")
    q = model.neutral()
    q[:3] = (0.0, -2.0, 3.0)
    world.add_robot(model, q, v=np.ones(model.nv), name="floating")
    return world


def push(body, force):
    """Push a body in the next step, also beyond the bounds of `apply_wrench`."""
    body.world.add_wrench(body.first_body, (0.0, 0.0, 0.0), force, (0.0, 0.0, 0.0))


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "euler"])
@pytest.mark.parametrize("age", [0, 1, 7, 120])
def test_a_failed_step_changes_nothing(integrator, age):
    """Compared bit by bit before and after, and over 50 steps with a world that never failed."""
    world = busy_world(integrator)
    world.step(age)
    untroubled = world.copy()
    before, stats = lasting(world), world.stats
    with pytest.raises(WorldError, match="would give numbers that are not finite, or beyond"):
        push(world.bodies["bouncing"], (1e300, 0.0, 0.0))
        world.step()
    assert_same(before, lasting(world))
    assert world.stats == stats or not stats.converged
    world.step(50)
    untroubled.step(50)
    assert_same(lasting(untroubled), lasting(world))


def test_the_steps_before_a_failed_one_are_done():
    """Too strong a gravity for long: time, count and state are those of the failed step's start."""
    world = busy_world("rk4")
    world.gravity = (0.0, 0.0, 1e6)
    away = world.add_body(hrpsim.Sphere(0.1), 1.0, (0.0, 0.0, 1e3))
    away.v = (0.0, 0.0, 1e9 - 2e4, 0.0, 0.0, 0.0)  # the limit is reached within 0.02 s
    twin = world.copy()
    with pytest.raises(WorldError, match="Fastest is"):
        world.step(10_000)
    done = round(world.time / world.time_step)
    assert 0 < done < 10_000
    twin.step(done)
    assert_same(lasting(twin), lasting(world))


def test_contacts_of_a_set_state_start_from_nothing_also_after_a_failed_step():
    world = hrpsim.World()
    world.add_ground()
    body = world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 1.0, (0.0, 0.0, 0.05))
    world.step(10)
    body.q = body.q
    twin, before = world.copy(), lasting(world)
    push(body, (0.0, 1e300, 0.0))
    with pytest.raises(WorldError):
        world.step()
    assert_same(before, lasting(world))
    for each in (world, twin):
        each.step()
    assert_same(lasting(twin), lasting(world))


def test_what_sleeps_sleeps_on_after_a_failed_step():
    world = hrpsim.World()
    world.add_ground()
    for k in range(3):
        world.add_body(hrpsim.Box((0.1, 0.1, 0.1)), 1.0, (k, 0.0, 0.05))
    flying = world.add_body(hrpsim.Sphere(0.1), 1.0, (0.0, 5.0, 50.0))
    world.step(1500)
    assert len(world.asleep) == 3
    before = lasting(world)
    push(flying, (1e300, 0.0, 0.0))
    with pytest.raises(WorldError, match="Fastest is 'sphere'"):
        world.step()
    assert len(world.asleep) == 3
    assert_same(before, lasting(world))


def test_a_quaternion_of_length_zero_or_infinity_is_no_state():
    """rk4's sum of the stages' rates may be both where a body turns by 1e9 rad in a step."""
    for speed in np.geomspace(1.0, 1e9, 40):
        world = hrpsim.World(time_step=1.0, integrator="rk4", gravity=(0.0, 0.0, 0.0))
        moments = np.diag([1.0, 2.0, 2.9])
        body = world.add_body(hrpsim.Sphere(1.0), 1.0, inertia=moments)
        arm = world.add_robot(hrpsim.load_model(joint_text(at="0 0 0.2"), base="fixed"))
        body.v, arm.v = [0.0, 0.0, 0.0, speed, 1e-3 * speed, speed], [speed]
        for _ in range(5):
            before = lasting(world)
            try:
                world.step()
            except WorldError:
                assert_same(before, lasting(world))
                break
            assert np.isfinite(body.v).all() and np.isfinite(arm.v).all()
            assert np.linalg.norm(body.orientation) == pytest.approx(1.0, abs=1e-9)


def test_what_no_step_can_follow_is_refused():
    world = hrpsim.World()
    body = world.add_body(hrpsim.Sphere(0.1), 1.0)
    arm = world.add_robot(hrpsim.load_model(joint_text(), base="fixed"))
    before = lasting(world)
    for what, wrong in (("v", 1e160), ("v", -1.1e9), ("q", 1e13)):
        for entity in (body, arm):
            state = getattr(entity, what).copy()
            state[0] = wrong
            with pytest.raises(hrpsim.StateError, match="must be at most 1e\\+"):
                setattr(entity, what, state)
    with pytest.raises(hrpsim.StateError, match=r"velocity\[2\] must be .* got 1e\+160"):
        world.add_body(hrpsim.Sphere(0.1), 1.0, velocity=(0.0, 0.0, 1e160))
    with pytest.raises(hrpsim.StateError, match="v of 'one_2'"):
        world.add_robot(arm.model, v=[2e9])
    assert_same(before, lasting(world))
    body.velocity  # noqa: B018
    world.step()


def test_what_ran_beyond_the_limits_names_the_fastest():
    world = hrpsim.World(gravity=(0.0, 0.0, -1e6))
    world.add_body(hrpsim.Sphere(0.1), 1.0, velocity=(0.0, 0.0, -(1e9 - 5e3)))
    with pytest.raises(WorldError, match=r"beyond 1e\+09 m/s or rad/s or 1e\+12 m"):
        world.step(10)
    assert world.time < 0.01


def test_a_contradiction_is_named_and_is_not_a_lack_of_inertia():
    """Two rods of different lengths between the same points: no force can hold both."""
    world = hrpsim.World()
    a, b = (world.add_body(hrpsim.Sphere(0.1), 1.0, (x, 0.0, 0.0)) for x in (0.0, 1.0))
    for length in (0.5, 1e10):
        world.connect(a, b, "distance", length=length, solver="direct")
    with pytest.raises(WorldError, match="load of connections on it, which may contradict each"):
        world.step(2000)
    assert np.isfinite(a.q).all()


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1.0, 1e6, 1e8])
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_the_size_of_bodies_does_not_matter_to_their_fall(size, integrator):
    """Inertias from 1e-18 to 1e16 kg m^2 beside a mass of 1 kg; v = g t, and turning goes on."""
    world = hrpsim.World(integrator=integrator)
    box = hrpsim.Box((size, 0.5 * size, 0.1 * size))
    body = world.add_body(box, 1.0, angular_velocity=(0.0, 0.0, 1.0))
    world.step(100)
    np.testing.assert_allclose(body.velocity, (0.0, 0.0, -0.980665), atol=1e-12)
    np.testing.assert_allclose(body.angular_velocity, (0.0, 0.0, 1.0), atol=1e-12)


def test_a_needle_that_rounding_leaves_without_inertia_is_refused_by_name():
    world = hrpsim.World()
    with pytest.raises(hrpsim.ModelError, match="Make the solid thicker, or give its inertia"):
        world.add_body(hrpsim.Box((1e-9, 1e-9, 1.0)), 1.0)
    body = world.add_body(hrpsim.Box((1e-9, 1e-9, 1.0)), 1.0, inertia=np.eye(3))
    world.step()
    assert np.isfinite(body.q).all()


def test_a_shallow_copy_is_a_world_of_its_own():
    world = busy_world("semi_implicit")
    world.step(3)
    other = copy.copy(world)
    before = lasting(world)
    other.step(5)
    assert_same(before, lasting(world))
    world.step(5)
    assert_same(lasting(other), lasting(world))
