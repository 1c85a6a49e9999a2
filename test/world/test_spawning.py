# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Entities come to a world that steps, and leave it: in place, as if all arrays were made anew."""

import numpy as np
import pytest
from world.joined import TREE
from world.scenes import one_joint
from world.scripted import SHAPES, bits, everything
from world.sensing_robot import free_box

from hrpsim import Box, Cylinder, Mesh, Sphere, World, WorldError, load_model

_IMU = '<sensor name="imu" type="imu" latency="0.004"/>'

_DRIVE = '<gains kp="9" kd="1"/><actuator delay="0.002" viscous_friction="0.1"/>'


def _octahedron(size: float) -> Mesh:
    """Return a solid of eight triangles."""
    corners = size * np.concatenate([np.eye(3), -np.eye(3)])
    upper = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2]]
    lower = [[b, a, 5] for a, b, _ in upper]
    return Mesh(corners, np.array(upper + lower))


def _come_and_go(world: World, anew: bool):
    """Yield the bits of a world after each change of a script; `anew` remakes all arrays then."""
    random, guests, count = np.random.default_rng(1), [], 0

    def settled():
        if anew:
            world.rebuild_scene()
        world.step(3)
        return bits(world)

    for turn in range(28):
        kind = turn % 7
        place = (*random.uniform(-0.5, 0.5, 2), 1.0 + 0.3 * turn)
        if kind in (0, 2):
            shape = SHAPES[turn % 4]
            for name in (f"body{turn}", f"more{turn}"):
                guests.append(world.add_body(shape, 1.0, place, name=name, material="pile"))
                place = (place[0] + 0.7, *place[1:])
        elif kind == 1:
            model = load_model(TREE) if turn % 4 == 1 else free_box(_IMU)
            q = model.neutral()
            q[:3] = place[0], place[1] + 2.0, place[2]
            guests.append(world.add_robot(model, q=q, name=f"robot{turn}"))
        elif kind == 3:
            drive = _DRIVE if world.integrator == "semi_implicit" else '<gains kp="9" kd="1"/>'
            arm = one_joint(at=f"0 0.{turn} 0", extension=drive)
            guests.append(world.add_robot(arm, name=f"arm{turn}"))
            a, b = list(world.bodies.values())[-2:]
            world.connect(a, b, "distance", name=f"rod{turn}")
        elif kind == 4:
            for k in range(2):
                place = 0.1 * turn, k, 0.2
                world.add_static(
                    SHAPES[(turn + k) % 4], place, material=f"m{turn}", name=f"s{turn}"
                )
            if turn >= 18:
                world.remove_static(f"s{turn - 7}")
        else:
            count = int(random.integers(len(guests)))
            world.remove(guests.pop(count))
        yield settled()


@pytest.mark.quick_cases("semi_implicit")
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_a_world_in_place_continues_as_one_made_anew(integrator):
    """Bodies, robots, connections, fixed shapes; among them, what leaves first."""
    worlds = [everything(integrator, 3) for _ in range(2)]
    for world in worlds:
        world.step(5)
    for in_place, made_anew in zip(
        _come_and_go(worlds[0], False), _come_and_go(worlds[1], True), strict=True
    ):
        assert in_place == made_anew
    for world in worlds:
        world.step(200)
    assert bits(worlds[0]) == bits(worlds[1])
    assert worlds[0].stats.contact_count > 10


def test_solids_come_and_go():
    """With meshes each shape has a solid; once the last mesh has left, none has."""

    def scene(anew: bool):
        world = World()
        world.add_ground()
        world.add_body(Cylinder(0.1, 0.2), 1.0, (0.0, 0.0, 0.1), name="first")
        world.step(2)
        for k in range(5):
            size = 0.1 + 0.02 * k
            world.add_body(_octahedron(size), 1.0, (0.3 * k, 0.0, size), name=f"solid{k}")
            world.add_body(Cylinder(0.05, size), 1.0, (0.3 * k, 0.4, size), name=f"can{k}")
            place = 0.3 * k, 0.4, -size
            world.add_static(_octahedron(2.0 * size), place, name=f"slab{k}")
            if anew:
                world.rebuild_scene()
            world.step(20)
        states = [bits(world)]
        for k in (2, 0, 4, 1, 3):
            world.remove(f"solid{k}")
            world.remove_static(f"slab{k}")
            if anew:
                world.rebuild_scene()
            world.step(5)
            states.append(bits(world))
        return states

    assert scene(anew=False) == scene(anew=True)


def test_sleepers_wake_for_what_comes_and_sleep_again():
    def scene(anew: bool):
        world = World(time_step=5e-3)
        world.add_ground()
        for k in range(4):
            world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (k, 0, 0.1), name=f"box{k}")
        world.step(150)
        asleep = [world.asleep]
        guest = world.add_body(Sphere(0.1), 1.0, (0.0, 0.0, 0.31), name="guest")
        if anew:
            world.rebuild_scene()
        world.step(150)
        asleep.append(world.asleep)
        world.remove("box1")
        if anew:
            world.rebuild_scene()
        world.step(150)
        world.remove(guest)
        world.step(150)
        return [*asleep, world.asleep], bits(world)

    asleep, state = scene(anew=False)
    assert (asleep, state) == scene(anew=True)
    assert [len(names) for names in asleep] == [4, 5, 3]


def test_states_readings_and_commands_stay_as_they_are_when_something_comes():
    world = everything("semi_implicit", 3)
    robot = world.robots["hrp2_like"]
    world.step(20)
    robot.command(positions=robot.joint_positions + 0.01)
    before, stats = bits(world), world.stats
    forces = [(c.a, c.b, c.force.tobytes()) for c in world.contacts]
    guest = world.add_body(Sphere(0.1), 1.0, (9.0, 9.0, 9.0))
    assert bits(world)[: len(guest.q)] == before[: len(guest.q)]
    assert [(c.a, c.b, c.force.tobytes()) for c in world.contacts] == forces
    assert world.stats.contact_count == stats.contact_count
    world.remove(guest)
    assert bits(world) == before
    assert [(c.a, c.b, c.force.tobytes()) for c in world.contacts] == forces


def test_snapshots_and_copies_of_a_world_that_grew():
    """A snapshot returns to the present contents; a copy shares no memory with its original."""
    world = World()
    world.add_ground()
    for k in range(20):
        world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.3 * k, 0, 0.2), name=f"box{k}")
        world.step()
    saved, copy = world.snapshot(), world.copy()
    world.step(30)
    copy.step(10)
    expected = bits(world)
    copy.step(20)
    assert bits(copy) == expected
    world.remove("box3")
    copy.add_body(Sphere(0.1), 1.0, (0, 0, 3), name="late")
    copy.step(5)
    with pytest.raises(Exception, match="other robots"):
        world.restore(saved)
    again = world.snapshot()
    world.step(10)
    expected = bits(world)
    world.restore(again)
    world.step(10)
    assert bits(world) == expected


@pytest.mark.parametrize("steps", [50, 700])
def test_a_fixed_shape_added_after_a_snapshot_stays_when_the_snapshot_returns(steps):
    """Law: the world continues as a copy made then, to which the shape was added. All wake."""
    world = World()
    world.add_ground()
    world.add_static(Box((1.0, 1.0, 0.1)), (3.0, 0.0, 0.05), name="tile")
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0.0, 0.0, 0.1))
    world.add_body(Sphere(0.1), 1.0, (1.0, 0.0, 0.3))
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (3.0, 0.0, 0.2), name="on tile")
    world.step(steps)
    assert ("on tile" in world.asleep) == (steps == 700)
    saved, copy = world.snapshot(), world.copy()
    world.step(5)
    for one in (world, copy):
        one.add_static(Box((0.2, 0.2, 0.2)), (5.0, 0.0, 0.0))
    world.restore(saved)
    for n in (1, 100):
        world.step(n)
        copy.step(n)
        assert bits(world) == bits(copy)
    world.remove_static("tile")
    with pytest.raises(WorldError, match="fixed shape that was removed"):
        world.restore(saved)
