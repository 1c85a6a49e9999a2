# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots stand still on the meshes of their own feet, and so does a sole of 500 vertices.

The robots are those of example-robot-data that stand, half sitting as their SRDF says, under PD.
"""

import warnings

import numpy as np
import pytest
from collision.solids import sole_mesh
from lxml import etree
from world.scenes import GRAVITY, show

from hrpsim import Box, World, load_model
from hrpsim.world.objects.body import rotation_matrix
from robots import EXAMPLE_ROBOTS, NONPHYSICAL_ROBOTS

# robot -> SRDF beside its folder
STANDING = {
    "talos_data/talos_reduced": "srdf/talos.srdf",
    "talos_data/talos_full_v2": "srdf/talos.srdf",
    "icub_description/icub": "srdf/icub.srdf",
    "romeo_description/romeo": "srdf/romeo.srdf",
    "simple_humanoid_description/simple_humanoid": "srdf/simple_humanoid.srdf",
    "g1_description/g1_29dof_rev_1_0": None,
    "alex_description/alex_nub_hands": "srdf/alex_nub_hands.srdf",
}


def load_standing(name):
    """The model of a robot and the configuration that its SRDF names."""
    path = EXAMPLE_ROBOTS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_model(path, accept_nonphysical_inertia=name in NONPHYSICAL_ROBOTS)
    q = model.neutral()
    if STANDING[name] is not None:
        root = etree.parse(str(path.parent.parent / STANDING[name])).getroot()
        states = {state.get("name"): state for state in root.iterfind("group_state")}
        values = states.get("half_sitting", states.get("default"))
        for joint in values.iterfind("joint"):
            numbers = [float(v) for v in joint.get("value").split()]
            if joint.get("name") in model.joint_names:
                q[model.joint(joint.get("name")).q_index] = numbers[0]
            elif joint.get("name") == "root_joint":
                q[3:7] = np.array(numbers[3:]) / np.linalg.norm(numbers[3:])
    return model, q


def put_on_ground(model, q):
    """Return q with the base as high as its lowest shape asks for."""
    world = World()
    robot = world.add_robot(model, q=q)
    lowest = np.inf
    poses = dict(zip(model.link_names, zip(*robot.link_poses(), strict=True), strict=True))
    for shape in model.shapes:
        frame = model.frames[shape.link]
        position, orientation = poses[shape.link]
        R = rotation_matrix(orientation) @ frame.R.T @ shape.R
        p = position + rotation_matrix(orientation) @ frame.R.T @ (shape.p - frame.p)
        lowest = min(lowest, p[2] - reach_down(shape.geometry, R[2]))
    q = q.copy()
    q[2] -= lowest
    return q


def reach_down(geometry, n):
    """How far a shape reaches below its origin; n is the world's vertical in its frame."""
    kind = type(geometry).__name__
    if kind == "Mesh":
        return -(geometry.vertices @ n).min()
    if kind == "Box":
        return np.abs(n) @ geometry.size
    if kind == "Sphere":
        return geometry.radius
    across = 1.0 if kind == "Capsule" else np.hypot(n[0], n[1])
    return abs(n[2]) * 0.5 * geometry.length + across * geometry.radius


def wrenches(world):
    """What the ground exerts on each link: forces, and moments about the world's origin."""
    found = {}
    for contact in world.contacts:
        link, sign = (contact.b, -1.0) if contact.a[0] == "world" else (contact.a, 1.0)
        force = sign * contact.force
        found[link] = found.get(link, 0.0) + np.concatenate([force, np.cross(contact.point, force)])
    return found


@pytest.mark.quick_cases("simple_humanoid*", "icub*")
@pytest.mark.parametrize("name", STANDING)
def test_a_robot_that_stands_on_its_own_meshes_comes_to_rest(name):
    """Wrenches vary by less than 1e-3 N and Nm, rates are below 1e-6 rad/s, after 10 s."""
    model, q = load_standing(name)
    q = put_on_ground(model, q)
    world = World()
    world.add_ground()
    robot = world.add_robot(model, q=q)
    kp = 10.0 * model.mass * GRAVITY * q[2]  # ten times what it falls over with, each joint
    robot.set_gains(kp, 0.1 * kp)
    robot.command(positions=robot.joint_positions)
    world.step(9900)
    rate, seen = 0.0, []
    for _ in range(100):
        world.step()
        rate = max(rate, np.abs(robot.joint_velocities).max())
        seen.append(wrenches(world))
    assert all(set(found) == set(seen[0]) for found in seen)
    chatter = max(np.ptp([found[link] for found in seen], axis=0).max() for link in seen[0])
    show(f"{name}: chatter [N, Nm], rate [rad/s], links", chatter, rate, sorted(seen[0]))
    assert chatter < 1e-3
    assert rate < 1e-6
    weight = sum(found[2] for found in seen[-1].values())
    assert weight == pytest.approx(model.mass * GRAVITY, rel=1e-6)


ROUGH = np.random.default_rng(1).uniform(0.0, 1e-5, 500)
MOTIONS = {
    "stands": {},
    "rocks": {"angular_velocity": (0.3, 0.5, 0.0)},
    "lands": {"height": 0.05, "orientation": np.array([0.05, 0.08, 0.02, 0.9953])},
    "slides": {"velocity": (0.5, 0.2, 0.0)},
    "spins": {"angular_velocity": (0.0, 0.0, 6.0)},
}
# What a vertex may sink in besides the slop [m]: a twentieth of what it moves in a step, at 0.1 m/s
# and 1 m/s.
DEEPEST = {"rocks": 5e-6, "lands": 5e-5}
PLANE, SLAB = None, Box((1.0, 1.0, 1.0))
CASES = [(heights, motion, PLANE) for heights in ("flat", "rough") for motion in MOTIONS]
CASES += [("rough", "stands", SLAB), ("rough", "lands", SLAB)]


@pytest.mark.quick_cases(
    "flat-stands-None", "rough-rocks-None", "rough-lands-*", "flat-slides-None", "rough-spins-None"
)
@pytest.mark.parametrize("heights, motion, floor", CASES)
def test_a_sole_of_500_vertices_comes_to_rest_and_none_of_them_sinks_in(heights, motion, floor):
    """Coplanar or within 1e-5 m; every vertex is looked at, whether it has a contact or not."""
    world = World(sleeping=False)
    if floor is None:
        world.add_ground()
    else:
        world.add_static(floor, (0.0, 0.0, -0.5))
    start = dict(MOTIONS[motion])
    orientation = start.pop("orientation", np.array([0.0, 0.0, 0.0, 1.0]))
    orientation = orientation / np.linalg.norm(orientation)
    height = start.pop("height", 0.0)
    sole = sole_mesh(0.0 if heights == "flat" else ROUGH)
    scratch = World().add_body(sole, 10.0)
    vertices = scratch.shapes[0].geometry.vertices @ scratch.shapes[0].R.T + scratch.shapes[0].p
    height -= (vertices @ rotation_matrix(orientation)[2]).min()
    foot = world.add_body(
        sole, 10.0, (0.0, 0.0, height), orientation, inertia=np.diag([0.05, 0.08, 0.06]), **start
    )
    deepest, forces, names = 0.0, [], set()
    # What is thrown against what it touches goes on to the middle of the first step.
    thrown = 0.5e-3 * np.linalg.norm(vertices, axis=1).max() * np.linalg.norm(foot.angular_velocity)
    for step in range(800):
        world.step()
        low = foot.position[2] + (vertices @ rotation_matrix(foot.orientation)[2]).min()
        assert -low < thrown + 1.1e-6 or step > 20
        if step > 20:
            deepest = max(deepest, -low)
        if step >= 750:
            forces.append(sum(contact.force for contact in world.contacts))
            count = int(world.scene.counts["contact_count"][0])
            names.add(tuple(world.scene.collision.contacts["feature"][:count]))
    chatter = np.ptp(forces, axis=0).max()
    show("deepest vertex [m], chatter [N], rate [rad/s]", deepest, chatter, foot.angular_velocity)
    assert len(names) == 1
    assert chatter < 1e-6
    assert np.abs(foot.angular_velocity).max() < 1e-9
    assert deepest < DEEPEST.get(motion, 1.1e-6)
