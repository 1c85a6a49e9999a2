# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rows of connections against derivatives of their errors, taken numerically along the motion."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from world.joined import ENDS, KINDS, error_rate, jacobian, moved, random_frame, scattered_world
from world.scenes import show, weightless

from hrpsim import Sphere
from hrpsim.engine.constraints.rows import CONNECTION, DRIVE
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses, update_velocities
from hrpsim.model.system import FREE


def rows_of(world) -> np.ndarray:
    rows = world.scene.rows.rows[: world.stats.row_count]
    return rows[np.isin(rows["kind"], (CONNECTION, DRIVE))]


def row_rates(world, q, velocity) -> np.ndarray:
    """J times the motion of the constraint bodies, for every row of connections."""
    scene = world.scene
    motion = new_kinematics(len(scene.forest.bodies))
    update_poses(scene.forest, q, motion)
    update_velocities(scene.forest, velocity, motion)
    constrained = scene.constrained.bodies
    rates = []
    for row in rows_of(world):
        rate = row["J_a"] @ motion[constrained[row["constrained_a"]]["body"]]["v"]
        if row["constrained_b"] >= 0:
            rate += row["J_b"] @ motion[constrained[row["constrained_b"]]["body"]]["v"]
        rates.append(rate)
    return np.array(rates)


def middle_of_step(world) -> np.ndarray:
    """Return the configuration (nq,) where the last step of a semi-implicit world found forces."""
    scene = world.scene
    q = moved(world, scene.start.q, scene.start.velocity, 0.5 * world.time_step)
    for body, here in zip(scene.forest.bodies, scene.kinematics, strict=True):
        if body["joint_type"] == FREE:
            at = body["q_index"]
            q[at : at + 3] = here["p"] + here["origin"]
            q[at + 3 : at + 7] = Rotation.from_matrix(here["R"]).as_quat()
    return q


def strained(rng, ends, kind, **options):
    """A world with a connection whose frames are anywhere, before and after one step of it."""
    world = scattered_world(rng, **options)
    length = {"length": 0.7} if kind.get("kind") == "distance" else {}
    connection = world.connect(
        *ends, **kind, **length, frame_a=random_frame(rng), frame_b=random_frame(rng)
    )
    return world, connection


@pytest.mark.quick_cases("*-links of one tree", "*-world and body")
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_rows_are_derivatives_of_the_errors(kind, ends):
    rng = np.random.default_rng(1)
    for _ in range(3):
        world, connection = strained(rng, ends, kind)
        scene = world.scene
        held = scene.connections["axes"][0] == 1
        world.step()
        q = middle_of_step(world)
        velocity = rng.normal(size=len(scene.velocity))
        truth = error_rate(world, connection, q, velocity)[held]
        assert np.abs(row_rates(world, q, velocity) - truth).max() < 1e-9 * np.abs(velocity).sum()


@pytest.mark.quick_cases("*-links of one tree", "fixed-*")
@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_one_step_of_a_spinning_pair_leaves_an_error_of_third_order(kind, ends):
    errors = []
    for time_step in (2e-3, 1e-3, 5e-4):
        world, connection = closed_and_spinning(kind, ends, time_step)
        world.step()
        errors.append(np.abs(connection.error).max())
    show("error after one step", *errors)
    assert errors[2] < errors[1] / 7.0 or errors[2] < 1e-13
    assert errors[1] < errors[0] / 7.0 or errors[1] < 1e-13


def closed_and_spinning(kind, ends, time_step: float):
    """A closed connection whose ends move with each other."""
    rng = np.random.default_rng(2)
    world = scattered_world(rng, time_step=time_step, tolerance=1e-14, sweep_limit=20000)
    if kind.get("kind") == "distance":
        connection = world.connect(*ends, **kind)
    else:
        connection = world.connect(*ends, **kind, frame_a=random_frame(rng))
    scene = world.scene
    J = jacobian(world, connection, scene.q)
    velocity = scene.velocity.copy()
    velocity -= np.linalg.pinv(J, rcond=1e-8) @ (J @ velocity)
    scene.velocity[:] = velocity
    return world, connection


def test_a_driven_axis_measures_how_fast_b_turns_about_it():
    rng = np.random.default_rng(3)
    world = scattered_world(rng)
    connection = world.connect("one", "two", "ball", frame_a=random_frame(rng))
    for k, axis in enumerate(("rx", "ry", "rz")):
        connection.drive(axis, 0.1 * (k + 1), 1e9)
    scene = world.scene
    world.step()
    q = middle_of_step(world)
    rows = rows_of(world)
    assert rows["target"][3:] == pytest.approx([-0.1, -0.2, -0.3])
    velocity = rng.normal(size=len(scene.velocity))
    one, two = (world.bodies[name].first_v for name in ("one", "two"))
    turning = velocity[two : two + 3] - velocity[one : one + 3]
    record = scene.connections[0]
    axes_a = scene.kinematics[record["body_a"]]["R"] @ record["R_a"]
    assert row_rates(world, q, velocity)[3:] == pytest.approx(-(axes_a.T @ turning), abs=1e-12)


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_what_turns_is_not_stretched(integrator):
    """A body on a hinge 1 m away at 1 rad/s: an uncorrected step would leave 2.5e-7 m."""
    world = weightless(integrator=integrator, tolerance=1e-10)
    body = world.add_body(
        Sphere(0.1), 1.0, (1, 0, 0), velocity=(0, 1, 0), angular_velocity=(0, 0, 1)
    )
    hinge = world.connect(None, body, "hinge", point=(0, 0, 0), axis=(0, 0, 1))
    world.step(2000)
    show(f"{integrator}: error while turning", np.abs(hinge.error).max())
    assert np.abs(hinge.error).max() < 2e-9
