# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A humanoid whose ankles are driven through rods stands and walks as one with geared ankles."""

import numpy as np
import pytest
from world.rods import cranks, gradient

from hrpsim import World, load_model, share_path
from hrpsim.control import Walk, simulate_walk, walking_pattern

BENT = {2: -0.4538, 3: 0.8727, 4: -0.4189}
ROBOT = share_path("urdf/hrp2_like.urdf.xacro")


def standing():
    """Return a robot with rods at half-sitting, on rubber feet, settled."""
    world = World()
    world.add_ground(material="floor")
    world.set_friction("sole", "floor", 0.8, 0.8)
    model = load_model(ROBOT, xacro_arguments={"bush": True, "rods": True})
    q = model.neutral()
    q[2] = 0.6487
    for side in "LR":
        positions = {f"{side}LEG_JOINT{k}": angle for k, angle in BENT.items()}
        for k, angle in enumerate(cranks(BENT[4], 0.0)):
            positions[f"{side}LEG_ROD{k}_CRANK"] = angle
        for joint, position in positions.items():
            q[model.joint(joint).q_index] = position
    robot = world.add_robot(model, q=q)
    world.settle()
    return robot


def angles(robot, side):
    """Return pitch and roll of an ankle, and the angles of its cranks."""
    names = [f"{side}LEG_{part}" for part in ("JOINT4", "JOINT5", "ROD0_CRANK", "ROD1_CRANK")]
    q = robot.joint_positions[robot.joint_index.indices(names)]
    return q[:2], q[2:]


def test_it_stands_on_its_rods():
    """Law: cranks as the geometry has them, the ankle where it was commanded but for the load."""
    robot = standing()
    for side in "LR":
        ankle, turned = angles(robot, side)
        assert np.abs(ankle - [BENT[4], 0.0]).max() < 5e-3
        assert cranks(*ankle) == pytest.approx(turned, abs=1e-7)
    assert robot.q[2] == pytest.approx(0.6475, abs=2e-3)


@pytest.mark.long
def test_it_walks_on_its_rods(monkeypatch):
    """Law: commands of ankles through the geometry of the rods make all steps of the plan."""
    robot = standing()
    command = robot.command

    def through_rods(positions, velocities, efforts, names, over=0.0, **more):
        targets = dict(zip(names, np.stack([positions, velocities], axis=1), strict=True))
        for side in "LR":
            ankle = np.array([targets.pop(f"{side}LEG_JOINT{k}") for k in (4, 5)])
            turned, rates = cranks(*ankle[:, 0]), gradient(*ankle[:, 0]) @ ankle[:, 1]
            for k in (0, 1):
                targets[f"{side}LEG_ROD{k}_CRANK"] = turned[k], rates[k]
        q, v = np.array(list(targets.values())).T
        command(q, v, efforts, list(targets), over, **more)

    monkeypatch.setattr(robot, "command", through_rods)
    geared = load_model(ROBOT, xacro_arguments={"bush": True})
    plan = walking_pattern(geared, "E5")
    trial = simulate_walk(robot, Walk(plan.sequence), model=geared)
    assert trial.completed and trial.tilt.max() < 0.02
    way = plan.waist[-1, :2] - plan.waist[0, :2]
    assert np.linalg.norm(trial.q[-1][:2] - trial.q[0][:2] - way) < 0.01
    for side in "LR":
        ankle, turned = angles(robot, side)
        assert cranks(*ankle) == pytest.approx(turned, abs=1e-6)
