# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Constraints that contradict or repeat each other, and bodies where and as fast as none should be.

No number that is not finite ever reaches the state, and the step reports what it could not satisfy:
world.stats.converged, residual and worst, and Connection.error.
"""

import numpy as np
import pytest
from world.scenes import GRAVITY, contact_force, one_joint, show

from hrpsim import Box, HrpsimError, Sphere, StateError, World, WorldError, load_model

SOLVERS = ("iterative", "direct", "split")
each_solver = pytest.mark.parametrize("solver", SOLVERS)


def finite_steps(world: World, steps: int) -> float:
    """Step; the state stays finite after each. Return the greatest speed [m/s or rad/s]."""
    fastest = 0.0
    for _ in range(steps):
        world.step()
        assert np.isfinite(world.scene.q).all()
        fastest = max(fastest, np.abs(world.scene.velocity).max())
        assert np.isfinite(fastest)
    return fastest


def table(across: int, along: int):
    """A table top of 40 kg whose feet are balls that touch the ground when it is at 0.4 m."""
    feet = "".join(
        f'<collision name="foot{i}_{j}">'
        f'<origin xyz="{0.1 * (i - (across - 1) / 2)} {0.1 * (j - (along - 1) / 2)} -0.35"/>'
        '<geometry><sphere radius="0.05"/></geometry></collision>'
        for i in range(across)
        for j in range(along)
    )
    return load_model(
        f'<robot name="table"><link name="top"><inertial><mass value="40"/><inertia ixx="4" '
        f'iyy="14" izz="18" ixy="0" ixz="0" iyz="0"/></inertial>{feet}</link></robot>'
    )


@each_solver
def test_a_table_with_100_feet_stands(solver):
    """Three feet would do: 297 rows repeat what others say. They share the weight."""
    world = World(solver=solver)
    world.add_ground()
    model = table(10, 10)
    q = model.neutral()
    q[2] = 0.4
    robot = world.add_robot(model, q=q)
    fastest = finite_steps(world, 20)
    assert world.stats.row_count == 300
    assert world.stats.converged
    assert world.stats.worst == ""
    show(f"{solver}: greatest speed, feet that press", fastest)
    assert fastest < 1e-8
    assert robot.q[2] == pytest.approx(0.4, abs=1e-8)
    weight = contact_force(world, robot.name)[2]
    assert weight == pytest.approx(40 * GRAVITY, rel=1e-6)


@pytest.mark.parametrize("solver", [*SOLVERS, "auto"])
@pytest.mark.parametrize("masses", [(1e6, 1e-6), (1e-6, 1e6)], ids=["light on heavy", "heavy on"])
def test_a_mass_ratio_of_1e12(solver, masses):
    """What a solver cannot carry sinks in slowly, and this is said; nothing is thrown out."""
    world = World(solver=solver)
    world.add_ground()
    places = [(0, 0, 0.1 + 0.2 * k) for k in range(2)]
    bodies = [
        world.add_body(Box((0.2, 0.2, 0.2)), mass, place)
        for mass, place in zip(masses, places, strict=True)
    ]
    finite_steps(world, 100)
    show(f"{solver}: depth, residual", world.stats.max_penetration, world.stats.residual)
    for body, place in zip(bodies, places, strict=True):
        assert np.linalg.norm(body.position - place) < 0.1
    if masses[0] > masses[1]:
        assert world.stats.converged
        assert world.stats.max_penetration < 1e-9
        return
    assert not world.stats.converged
    assert world.stats.worst.startswith("contact of ")
    if solver == "auto":
        assert world.stats.max_penetration < 1e-6
    elif solver == "direct":
        assert world.stats.max_penetration < 1e-3


@each_solver
def test_a_body_of_1e_9_kg_between_two_of_100_kg(solver):
    world = World(solver=solver)
    heavy, light = Box((0.2, 0.2, 0.2)), Box((0.1, 0.1, 0.1))
    a = world.add_body(heavy, 100.0, (0, 0, 2))
    b = world.add_body(light, 1e-9, (0, 0, 1.8))
    c = world.add_body(heavy, 100.0, (0, 0, 1.6))
    joints = [(None, a, 2.1), (a, b, 1.85), (b, c, 1.75)]
    held = [world.connect(p, q, "ball", point=(0, 0, z)) for p, q, z in joints]
    finite_steps(world, 200)
    error = max(np.abs(connection.error).max() for connection in held)
    show(f"{solver}: largest error [m], residual", error, world.stats.residual)
    if solver == "iterative":
        assert error > 0.1
        assert not world.stats.converged
        assert world.stats.worst in ("connection 'ball_2'", "connection 'ball_3'")
    else:
        assert error < 1e-9
        assert held[0].force[2] == pytest.approx(200.0 * GRAVITY, rel=1e-6)


@each_solver
def test_two_connections_that_ask_for_different_poses_are_reported(solver):
    """0.1 m and 45 degrees apart: neither is kept, the residual and both errors say so."""
    world = World(solver=solver)
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 1))
    own = ((0, 0, 0), (0, 0, 0, 1))
    world.connect(None, box, frame_a=((0, 0, 1), (0, 0, 0, 1)), frame_b=own)
    turned = (0, 0, np.sin(np.pi / 8), np.cos(np.pi / 8))
    world.connect(None, box, frame_a=((0.1, 0, 1), turned), frame_b=own)
    finite_steps(world, 400)
    errors = {name: np.abs(c.error).max() for name, c in world.connections.items()}
    show(f"{solver}: residual, errors", world.stats.residual, *errors.values())
    assert max(errors.values()) > 0.3
    assert np.linalg.norm(box.position - (0.05, 0, 1)) < 0.1
    if solver != "iterative":  # which takes errors back as displacements, at a bounded speed
        assert not world.stats.converged
        assert world.stats.residual > 0.5  # each asks for 1 m/s, the other way
        assert world.stats.worst in ("connection 'fixed'", "connection 'fixed_2'")
    world.connections["fixed"].enabled = False
    world.step(8000 if solver == "iterative" else 1500)  # at 0.1 or 1 rad/s
    assert np.abs(world.connections["fixed_2"].error).max() < 1e-6
    assert world.stats.converged


@pytest.mark.quick_cases("1.5-direct", "0.01-iterative")
@each_solver
@pytest.mark.parametrize("missing", [0.01, 1.5])
def test_a_loop_that_cannot_close_is_reported(solver, missing):
    """Three links of 0.5 m between hinges that are further apart.

    Where the links would have to jump by metres in a step, it is refused and the state is kept.
    """
    world = World(solver=solver)
    links = [world.add_body(Box((0.5, 0.05, 0.05)), 1.0, (0.5 * k, 0, 1)) for k in range(3)]
    axis = dict(axis=(0, 1, 0))
    world.connect(None, links[0], "hinge", point=(-0.25, 0, 1), **axis)
    for k in range(2):
        world.connect(links[k], links[k + 1], "hinge", point=(0.5 * k + 0.25, 0, 1), **axis)
    turned = (-np.sqrt(0.5), 0, 0, np.sqrt(0.5))
    frame_a, frame_b = ((1.25 + missing, 0, 1), turned), ((0.25, 0, 0), turned)
    world.connect(None, links[2], "hinge", frame_a=frame_a, frame_b=frame_b)
    try:
        finite_steps(world, 500)
        assert sum(np.abs(c.error).max() for c in world.connections.values()) > 0.9 * missing
    except WorldError:
        assert missing > 1.0
        assert np.isfinite(world.scene.q).all()
        assert np.isfinite(world.scene.velocity).all()
    if solver != "iterative":
        assert not world.stats.converged
        assert world.stats.worst.startswith("connection 'hinge")


@each_solver
@pytest.mark.parametrize("limit", [1e3, np.inf])
def test_a_lock_and_a_motor_on_one_joint(solver, limit):
    """A motor with a limit loses against the lock; without one the step says that both cannot."""
    world = World(solver=solver)
    robot = world.add_robot(one_joint())
    robot.lock("j")
    robot.drive("j", 5.0, limit)
    finite_steps(world, 300)
    assert abs(robot.joint_velocities[0]) < 5.1
    if np.isinf(limit):
        assert not world.stats.converged
        assert world.stats.worst in ("motor of one/j", "lock of one/j")
        robot.release()
        world.step(100)
    else:
        assert robot.constraint_efforts("lock")[0] == pytest.approx(-limit, rel=1e-9)
        assert robot.constraint_efforts("motor")[0] == pytest.approx(limit, rel=1e-9)
    assert world.stats.converged
    assert abs(robot.joint_velocities[0]) < 1e-6


@each_solver
def test_a_universal_joint_at_90_degrees(solver):
    """Where both axes are parallel no turn makes them square; once off that, it comes back."""
    world = World(solver=solver, gravity=(0, 0, 0))
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 1))
    half = np.sqrt(0.5)  # frame b turned by 90 degrees about z: y of b is -x of a
    frame_a, frame_b = ((0, 0, 1), (0, 0, 0, 1)), ((0, 0, 0), (0, 0, half, half))
    world.connect(None, box, "universal", frame_a=frame_a, frame_b=frame_b)
    limit = 4 / 9 / world.time_step  # what the spring takes back of 1 rad in a step
    for turn in ((0, 0, 0), (0.1, 0.2, 0.3), (3, 0, 0)):
        box.v = np.concatenate([np.zeros(3), turn])
        assert finite_steps(world, 300) < 1.01 * limit
    if solver != "iterative":  # which would take 16 s at its bounded speed
        finite_steps(world, 1000)
        assert np.abs(world.connections["universal"].error).max() < 1e-6


@each_solver
def test_points_that_coincide_are_moved_to_their_distance(solver):
    world = World(solver=solver, gravity=(0, 0, 0))
    a, b = (world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 1), name=n) for n in "ab")
    world.connect(a, b, "distance", length=0.3, point=((0, 0, 1), (0, 0, 1)))
    finite_steps(world, 3500 if solver == "iterative" else 350)  # 0.1 or 1 m/s
    for body in (a, b):
        body.v = np.zeros(6)
    finite_steps(world, 100)
    assert np.linalg.norm(a.position - b.position) == pytest.approx(0.3, abs=1e-6)


def test_numbers_that_are_not_finite_are_refused_and_nothing_changes():
    world = World()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 1))
    robot = world.add_robot(one_joint())
    hinge = world.connect(None, box, "hinge", point=(0, 0, 1))
    world.step(3)
    before = world.snapshot()
    nan = np.nan
    refused = [
        lambda: setattr(box, "v", [0, 0, nan, 0, 0, 0]),
        lambda: setattr(box, "q", [0, nan, 1, 0, 0, 0, 1]),
        lambda: setattr(robot, "v", [nan]),
        lambda: box.apply_wrench(force=(nan, 0, 0)),
        lambda: robot.command(efforts=[nan]),
        lambda: robot.command(positions=[np.inf]),
        lambda: robot.lock("j", nan),
        lambda: robot.drive("j", nan, 1.0),
        lambda: robot.drive("j", 1.0, nan),
        lambda: robot.set_constraint("lock", compliance=nan),
        lambda: hinge.drive("rz", nan, 1.0),
        lambda: hinge.drive("rz", 1.0, nan),
        lambda: setattr(hinge, "compliance", nan),
        lambda: setattr(hinge, "damping_time", nan),
        lambda: setattr(hinge, "force_limit", nan),
        lambda: setattr(world, "gravity", (0, 0, nan)),
        lambda: world.add_body(Box((1, 1, 1)), 1.0, velocity=(nan, 0, 0)),
        lambda: world.connect(None, box, "ball", point=(nan, 0, 0)),
    ]
    for number, attempt in enumerate(refused):
        with pytest.raises((StateError, WorldError, HrpsimError)):
            attempt()
            pytest.fail(f"attempt {number} was not refused")
    after = world.snapshot()
    for a, b in zip(before["arrays"], after["arrays"], strict=True):
        assert a.tobytes() == b.tobytes()
    finite_steps(world, 3)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_a_force_beyond_all_numbers_leaves_the_state(integrator):
    world = World(integrator=integrator)
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 1))
    world.step(5)
    before = box.q, box.v
    for torque in ((0, 1e308, 0), (0, 0, 0)):
        world.add_wrench(box.first_body, (0, 0, 0), (1e308, 0, 0), torque)
    with pytest.raises(WorldError, match="state before the step remains"):
        world.step()
    assert (box.q == before[0]).all()
    assert (box.v == before[1]).all()
    finite_steps(world, 5)


@pytest.mark.quick_cases("wall-*", "gripper-*", "pile-iterative")
@each_solver
@pytest.mark.parametrize("target", ["wall", "pile", "gripper"])
def test_a_body_thrown_in_at_1_km_a_second(solver, target):
    world = World(solver=solver)
    world.add_ground()
    if target == "wall":
        world.add_static(Box((0.5, 4, 4)), (2, 0, 0))
    elif target == "pile":
        for k in range(12):
            place = (2 + 0.21 * (k % 3), 0, 0.1 + 0.2 * (k // 3))
            world.add_body(Box((0.2, 0.2, 0.2)), 1.0, place)
    else:
        grip(world, (2, 0, 0.3), 50.0)
    ball = world.add_body(Sphere(0.1), 1.0, (0, 0, 0.3), velocity=(1e3, 0, 0))
    fastest = finite_steps(world, 100)
    show(f"{solver} {target}: fastest, ball at", fastest, *ball.position)
    if target == "wall":
        assert ball.position[0] < 1.75 - 0.1 + 1e-6
    energy = 0.5 * sum(b.mass * b.velocity @ b.velocity for b in world.bodies.values())
    assert energy < 0.5 * 1e6 * (1 + 1e-6)


def grip(world, place, force):
    """A box between two fingers on sliders that are driven towards it."""
    x, y, z = place
    for side in (-1, 1):
        at = (x, y + side * 0.1251, z)
        finger = world.add_body(Box((0.3, 0.05, 0.2)), 0.5, at)
        slider = world.connect(None, finger, "slider", point=at, axis=(0, 1, 0))
        slider.drive("z", -0.1 * side, force)
    return world.add_body(Box((0.2, 0.2, 0.2)), 1.0, place)


@each_solver
def test_a_body_made_deep_inside_another_comes_out_slowly(solver):
    """Penetration is taken back at correction_speed: nothing is shot away."""
    world = World(solver=solver)
    world.add_ground()
    world.add_body(Box((1, 1, 1)), 100.0, (0, 0, 0.5))
    world.add_body(Box((0.3, 0.3, 0.3)), 1.0, (0.01, 0, 0.5))
    world.add_body(Sphere(0.2), 1.0, (0, 0.02, 0.5))
    assert finite_steps(world, 500) < 10.0
    assert all(np.linalg.norm(b.position) < 2.0 for b in world.bodies.values())


@pytest.mark.quick_cases("1000.0-*", "inf-direct")
@each_solver
@pytest.mark.parametrize("force", [1e3, np.inf])
def test_a_box_squeezed_by_two_driven_fingers(solver, force):
    """With all the force there is, fingers and box cannot both have their way: each step says so.

    Corrections of position, which contradict each other as well, do not throw the box out.
    """
    world = World(solver=solver)
    box = grip(world, (0, 0, 0.5), force)
    finite_steps(world, 60)
    unmet = 0
    for _ in range(100):
        finite_steps(world, 1)
        assert len(world.contacts) > 0
        unmet += not world.stats.converged
        assert world.stats.converged == (world.stats.worst == "")
        if np.isinf(force):
            assert not world.stats.converged
    if np.isfinite(force):
        assert abs(box.position[2] - 0.5) < 1e-3
        assert unmet < 50


@pytest.mark.quick_cases("*0", "*5")
@pytest.mark.parametrize("seed", range(30))
def test_corrections_of_position_do_not_throw_out_what_they_cannot_free(seed):
    """Contact points move at most ten times as fast as rows ask, at 0.1 m/s: 1 mm in a step."""
    world = World(solver="direct")
    place = np.random.default_rng(seed).uniform(-1e-3, 1e-3, 3)
    box = grip(world, place + (0, 0, 0.5), np.inf)
    for _ in range(160):
        before = box.position
        finite_steps(world, 1)
        assert np.linalg.norm(box.position - before) < 2e-3  # its centre may go further than they
        assert len(world.contacts) > 0
