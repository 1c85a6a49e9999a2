# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random worlds of extreme but finite numbers: no hang, no number that is not finite, true errors.

`HRPSIM_FUZZ_MINUTES` sets for how long further seeds are tried; without it there are ten.
"""

import time

import numpy as np
import pytest
from fuzz.found_worlds import FOUND
from fuzz.fuzzing import first_seed, minutes
from fuzz.random_worlds import STEPS, load_kernels, outcome, recipe, shrunk

import hrpsim
from hrpsim.engine.constraints.rows import LOWER_LIMIT

MOST_FINDS = 5  # then the others wait
FEW = range(10)
LONG = {"direct contacts without end"}  # each step takes as long as one may
FEW_STEPS = 10


@pytest.fixture(scope="module", autouse=True)
def _kernels():
    load_kernels()


@pytest.mark.long
@pytest.mark.timeout(1200.0 + 90.0 * minutes())
def test_random_worlds_step_or_say_why_not():
    """100 steps of each; a failure is shrunk to the calls that it needs, which are printed."""
    end = time.monotonic() + 60.0 * minutes()
    first, done, finds = first_seed(), 0, []
    while (done < len(FEW) or time.monotonic() < end) and len(finds) < MOST_FINDS:
        calls = recipe(first + done)
        told = outcome(calls)
        if told:
            calls = shrunk(calls, lambda shorter: bool(outcome(shorter)))
            listed = "\n".join(map(repr, calls))
            finds.append(f"random world {first + done}:\n{listed}\n{told}")
        done += 1
    print(f"{done} random worlds from seed {first}, {len(finds)} finds")
    assert not finds, "\n\n".join(finds)


def test_a_recipe_is_the_same_each_time():
    for seed in FEW:
        assert repr(recipe(seed)) == repr(recipe(seed))


def test_what_goes_wrong_in_a_child_is_told():
    """The watchdog sees what does not come back, what dies, and what is not finite."""
    assert outcome([("world", {"time_step": 1e-3})]) == ""
    assert "TypeError" in outcome([("world", {}), ("ground", {"no_such_option": 1.0})])
    calls = [("world", {}), ("ground", {}), ("ground", {"no_such_option": 1.0}), ("ground", {})]
    assert shrunk(calls, lambda some: "TypeError" in outcome(some)) == [calls[0], calls[2]]


# -- what was found, shrunk ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault", [pytest.param(f, marks=pytest.mark.long) if f in LONG else f for f in FOUND]
)
def test_what_was_found_is_mended(fault):
    assert outcome(FOUND[fault], FEW_STEPS if fault in LONG else STEPS) == ""


def test_a_plate_thinner_than_rounding_lets_things_slide():
    """1e-12 m, against a box that slides at 10 m/s: no stride of the search is that short."""
    world = hrpsim.World()
    world.add_static(hrpsim.Box((9.0, 9.0, 1e-12)))
    box = world.add_body(
        hrpsim.Box((0.1, 0.1, 0.1)), 1.0, (0.0, 0.0, 0.05), velocity=(10.0, 0.0, 0.0)
    )
    world.step(100)
    assert 0.9 < box.position[0] < 1.0
    assert world.stats.ccd_queries < 100


@pytest.mark.parametrize("shape", ["hull", "box", "cylinder"])
def test_what_slides_along_a_plate_needs_few_looks(shape):
    """At 250 m/s over 5 m a step, on a plate of 5 mm: the normal says that nothing is met."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    shapes = {
        "hull": hrpsim.ConvexHull(corners * 0.05),
        "box": hrpsim.Box((0.1, 0.1, 0.1)),
        "cylinder": hrpsim.Cylinder(0.05, 0.1),
    }
    world = hrpsim.World(time_step=0.02)
    if shape == "hull":
        world.add_static(hrpsim.ConvexHull(corners * (50.0, 50.0, 0.0025)))
    else:
        world.add_static(hrpsim.Box((100.0, 100.0, 0.005)))
    body = world.add_body(shapes[shape], 1.0, (-40.0, 0.0, 0.0525), velocity=(250.0, 0.0, 0.0))
    for _ in range(10):
        world.step()
        assert world.stats.ccd_queries < 20
    assert world.stats.impacts_cut == 0
    law = -40.0 + 250.0 * 0.2 - 0.5 * 0.8 * 9.80665 * 0.2**2
    assert body.position[0] == pytest.approx(law, abs=1e-3)
    assert body.position[2] == pytest.approx(0.0525, abs=1e-5)


def test_a_plate_that_spins_on_another_needs_few_looks():
    """It turns about the normal: 2 rad a step, thin as paper."""
    world = hrpsim.World(time_step=0.02, gravity=(0.0, 0.0, -1.0))
    world.add_static(hrpsim.Box((3.0, 3.0, 1e-3)))
    plate = world.add_body(
        hrpsim.Box((1.0, 1.0, 1e-3)), 1.0, (0.0, 0.0, 1e-3), angular_velocity=(0.0, 0.0, 100.0)
    )
    for _ in range(10):
        world.step()
        assert world.stats.ccd_queries < 40
    assert world.stats.impacts_cut == 0
    assert plate.position[2] == pytest.approx(1e-3, abs=1e-5)


@pytest.mark.parametrize("shape", [hrpsim.Cylinder(0.05, 0.1), hrpsim.Capsule(0.05, 0.1)])
def test_what_rolls_on_a_thin_plate_needs_few_looks(shape):
    """A turn about its own axis moves no surface: it rolls on as far as v t, the plate 0.1 mm."""
    world = hrpsim.World(time_step=5e-3)
    world.add_static(hrpsim.Box((99.0, 9.0, 1e-4)))
    lying = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
    roll = world.add_body(
        shape,
        1.0,
        (-40.0, 0.0, 0.05005),
        lying,
        velocity=(20.0, 0.0, 0.0),
        angular_velocity=(0.0, 400.0, 0.0),
    )
    for _ in range(20):
        world.step()
        assert world.stats.ccd_queries < 60
    assert world.stats.impacts_cut == 0
    assert roll.position[0] == pytest.approx(-38.0, abs=1e-3)
    assert roll.position[2] == pytest.approx(0.05005, abs=1e-5)


@pytest.mark.parametrize(
    "spin, friction, is_cut", [((1.0, 20.0, 3.0), 0.8, False), ((5.0, 100.0, 30.0), 0.0, True)]
)
def test_a_search_that_is_cut_off_stops_what_it_is_about(spin, friction, is_cut):
    """A box tumbles along the thinnest of plates: it stays on its side, and users are told."""
    world = hrpsim.World(time_step=0.02)
    world.set_friction("default", "default", friction)
    world.add_static(hrpsim.Box((9.0, 9.0, 1e-7)))
    box = world.add_body(
        hrpsim.Box((0.1, 0.1, 0.1)),
        1.0,
        (0.0, 0.0, 0.06),
        velocity=(1.0, 0.0, -1.0),
        angular_velocity=spin,
    )
    for _ in range(30):
        world.step()
        assert box.position[2] > 0.0
    assert (world.stats.impacts_cut > 0) == is_cut
    world.reset()
    assert world.stats.impacts_cut == 0


def test_a_robot_without_any_moving_link_may_stand_last():
    """It has no body in the arrays, which end where it would begin."""
    world = hrpsim.World()
    world.add_body(hrpsim.Sphere(0.1), 1.0)
    world.add_robot(hrpsim.load_model('<robot name="post"><link name="a"/></robot>', base="fixed"))
    world.step()
    assert world.time == 0.001


def test_a_constraint_is_named_beside_a_robot_without_any_moving_link():
    """Law: of robots that begin at one place of the arrays, the one with the joint is named."""
    arm = """<robot name="arm"><link name="base"/><link name="rod"><inertial>
      <origin xyz="0 0 -1"/><mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    world = hrpsim.World()
    for name, text in (("post", '<robot name="post"><link name="a"/></robot>'), ("arm", arm)):
        world.add_robot(hrpsim.load_model(text, base="fixed"), name=name)
    world.step()
    assert world._scenes.naming().name(LOWER_LIMIT, 0, -1).endswith("of arm/hinge")


@pytest.mark.quick_cases("direct-*")
@pytest.mark.parametrize("law", ["simultaneous", "sequential"])
@pytest.mark.parametrize("solver", ["iterative", "direct", "split"])
def test_impacts_without_end_have_one(law, solver):
    """Bodies that are thrown together between plates, with e = 0.9 and connections that pull."""
    rng = np.random.default_rng(3)
    world = hrpsim.World(impact_law=law, solver=solver)
    world.add_ground()
    world.set_friction("default", "default", 1.0, restitution=0.9)
    world.add_static(hrpsim.Box((3.0, 3.0, 0.1)), (0.0, 0.0, 0.35))
    bodies = [
        world.add_body(
            hrpsim.Box((0.3, 0.2, 0.25)), 10.0 ** rng.uniform(-3, 3), rng.uniform(-0.3, 0.3, 3)
        )
        for _ in range(6)
    ]
    world.connect(bodies[0], bodies[1], "universal")
    world.connect(bodies[0], bodies[1], "slider", compliance=1e-11)
    assert run_steps(world, 5)


def test_impacts_of_a_step_that_is_begun_anew_are_bounded():
    """A ball of 10 km around thrown boxes: each pass takes 1e6 updates of contacts at most."""
    rng = np.random.default_rng(84)
    world = hrpsim.World(time_step=0.2, gravity=(0.0, 0.0, 0.0))
    world.set_friction("default", "default", 0.9, restitution=0.85)
    world.add_static(hrpsim.Sphere(0.3), (-0.6, 0.1, -0.1))
    world.add_static(hrpsim.Sphere(0.3), (-0.2, -0.1, -0.2))
    for _ in range(4):
        world.add_body(
            hrpsim.Box((0.3, 0.2, 0.25)),
            10.0 ** rng.uniform(-3, 3),
            rng.uniform(-0.3, 0.3, 3),
            velocity=rng.normal(size=3),
            angular_velocity=3.0 * rng.normal(size=3),
        )
    world.add_body(hrpsim.Sphere(1e4), 0.2, (0.1, 0.5, 0.1), angular_velocity=(0.0, 0.0, -5.0))
    assert run_steps(world, 1)
    assert world.stats.impact_passes > 2 and world.stats.impacts_left > 0
    updates = world.scene.impacts.state[0]["updates"]
    assert 1e6 < updates < 1.05e6 * (world.stats.impact_passes + 1)


def run_steps(world, count: int) -> bool:
    """Step; return whether all is finite at the end, also where a step was refused."""
    try:
        world.step(count)
    except hrpsim.WorldError:
        pass
    return all(np.isfinite(body.q).all() for body in world.bodies.values())


def test_looks_at_hulls_that_lie_in_each_other_are_bounded():
    """Eight in one place, thrown about: two searches a step of 16 384 + 64 a pair, a look is 64."""
    rng = np.random.default_rng(5)
    world = hrpsim.World(time_step=0.02)
    world.set_friction("default", "default", 0.5, restitution=0.9)
    points = rng.normal(size=(20, 3)) * 0.1
    for _ in range(8):
        world.add_body(
            hrpsim.ConvexHull(points),
            1.0,
            rng.uniform(-0.1, 0.1, 3),
            rng.normal(size=4),
            velocity=rng.normal(size=3) * 50.0,
            angular_velocity=rng.normal(size=3) * 50.0,
        )
    for _ in range(5):
        world.step()
        assert world.stats.ccd_queries < 2 * (16_384 + 64 * 28) / 64 + 256
    assert all(np.isfinite(body.q).all() for body in world.bodies.values())
