# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A world gets the kernels that it uses, when it uses them, and no others."""

import pickle
import subprocess
import sys

import pytest
from meshes import box as box_mesh

import hrpsim
from hrpsim import Box, Mesh, Sphere, World
from hrpsim.engine.compile.lazy_kernels import declared_lazy_kernels
from robots import HRP2_LIKE

# What free bodies use, in any integrator and in a semi-implicit step.
FREE = {"write_free_accelerations", "expect_free_turns", "bend_contacts"}
FREE |= {"count_rest", "find_sleepers"}
LOOSE = FREE | {"drift_with_free_bodies", "turn_to_end"}
# What a robot uses whose legs begin in the ground, with stretched knees.
IN_THE_GROUND = {"keep_momentum", "write_joints", "meet_simple", "solve_displacement"}


def kernels(world: World) -> set[str]:
    """Return which lazily compiled kernels a world has, besides those of every step."""
    present = {name for name in declared_lazy_kernels() if world.scene.lazy_kernels[name][0]}
    return present - {"find_contacts", "prepare_rows", "solve_rows"}


def on_the_ground(**options) -> World:
    world = World(**options)
    world.add_ground()
    return world


def test_a_robot_that_stands_needs_next_to_none():
    world = on_the_ground(solver="iterative")
    world.add_robot(hrpsim.load_model(HRP2_LIKE))
    world.step(20)
    assert world.stats.contact_count > 0
    # Of its floating base, of knees that are stretched to their limits, and of legs in the ground.
    assert kernels(world) == IN_THE_GROUND


def test_boxes_on_boxes_are_asked_for_when_they_meet():
    world = on_the_ground()
    for k in range(2):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(0.0, 0.0, 0.05 + 0.3 * k))
    world.step(10)
    assert kernels(world) == LOOSE
    world.step(400)
    assert world.bodies["box_2"].position[2] == pytest.approx(0.15, abs=1e-5)
    assert kernels(world) == LOOSE | {"meet_convex", "solve_by_newton_method"}


def test_rk4_steps_have_theirs_and_connections_bring_the_rest():
    world = on_the_ground(integrator="rk4", sleeping=False)
    a = world.add_body(Sphere(0.1), 1.0, position=(0.0, 0.0, 1.0))
    b = world.add_body(Sphere(0.1), 1.0, position=(0.3, 0.0, 1.0))
    rk4 = FREE | {"resolve_inelastic_impacts", "integrate_rk4", "change_held_forces"}
    rk4 |= {"bound_rolling_energy"}
    world.step(2)
    assert kernels(world) == rk4
    world.connect(a, b, "ball", point=(0.15, 0.0, 1.0))
    world.step(2)
    joined = {"write_connections", "add_geometric_stiffness", "begin_stages", "solve_stage"}
    joined |= {"write_direct_system", "solve_direct_island"}
    assert kernels(world) == rk4 | joined


def test_a_command_may_ask_for_the_direct_solver():
    world = on_the_ground(solver=[dict(solver="iterative", kind="contact")])
    robot = world.add_robot(hrpsim.load_model(HRP2_LIKE))
    world.step()
    robot.lock(robot.joint_names[0])
    world.step()
    direct = {"write_direct_system", "solve_direct_island"}
    assert kernels(world) == IN_THE_GROUND | direct


def test_what_is_fast_asks_for_times_of_impact_and_a_mesh_for_its_contacts():
    world = on_the_ground(sleeping=False)
    bullet = world.add_body(Sphere(0.01), 0.01, position=(0, 0, 0.5), velocity=(300.0, 0, 0))
    world.step()
    assert "let_nothing_pass" in kernels(world)
    assert "meet_meshes" not in kernels(world)
    corners, triangles = box_mesh((0.1, 0.1, 0.1))
    corners[corners[:, 2] > 0.0] *= (0.5, 0.5, 1.0)  # a box would collide as one
    world.add_body(Mesh(corners, triangles), 1.0, position=(0, 0, 0.049))
    world.step()
    assert "meet_meshes" in kernels(world)
    assert bullet.velocity[0] == pytest.approx(300.0)


def test_a_pickled_world_goes_on_in_another_process():
    """Addresses of machine code are left behind: the other process has its own."""
    world = on_the_ground()
    for k in range(2):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(0.01 * k, 0.0, 0.05 + 0.11 * k))
    world.step(100)
    program = (
        "import pickle, sys; w = pickle.load(sys.stdin.buffer); w.step(50); "
        "sys.stdout.buffer.write(w.scene.q.tobytes())"
    )
    other = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(world),
        capture_output=True,
        timeout=500,
        check=True,
    )
    world.step(50)
    assert other.stdout == world.scene.q.tobytes()


def test_every_kernel_on_demand_comes_with_the_step():
    """Which fields a scene has for them does not depend on what else was imported."""
    program = (
        "import importlib, pkgutil, hrpsim;"
        " from hrpsim.engine.compile.lazy_kernels import declared_lazy_kernels as f;"
        "from hrpsim import World; before = f();"
        "[importlib.import_module(m.name) for room in ('engine', 'world')"
        " for m in pkgutil.walk_packages([f'{hrpsim.__path__[0]}/{room}'], f'hrpsim.{room}.')];"
        "assert f() == before and len(before) == 54, before"
    )
    subprocess.run([sys.executable, "-c", program], timeout=500, check=True)
    program = "from hrpsim.commands.warm_up import parts; assert len(parts()) == 58"
    subprocess.run([sys.executable, "-c", program], timeout=500, check=True)
