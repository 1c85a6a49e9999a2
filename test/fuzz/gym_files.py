# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Files of legged_gym: a configuration in Python and the URDF that it names."""

from __future__ import annotations

from pathlib import Path

KINDS = {"gym_config": ".py", "gym_urdf": ".urdf"}
CONFIG = """class Base:
    class env:
        num_observations = 18
        num_actions = 2
    class init_state:
        default_joint_angles = {'hip': 0.1, 'knee': -1.5}
    class control:
        control_type = 'P'
        stiffness, damping = {}, {}
        stiffness = {'hip': 20., 'knee': 2 * 20.}
        damping: dict = {'hip': 0.5, 'knee': -(-1.0)}
        action_scale = 1 / 4
        decimation = 4
    class asset:
        file = "URDF"
        armature = 0.01
    class normalization:
        class obs_scales:
            lin_vel, ang_vel = 2.0, 0.25
            lin_vel = ang_vel = dof_pos = dof_vel = 1.0
        clip_observations = clip_actions = 100.
    class sim:
        dt = 0.005

class RobotCfg(Base):
    class control(Base.control):
        decimation = 8
"""
_JOINT = (
    '<joint name="{}" type="revolute"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>'
    "</joint>"
)
URDF = (
    '<robot name="r"><link name="a"/>'
    + _JOINT.format("hip", "a", "b")
    + _JOINT.format("knee", "b", "c")
    + "</robot>"
)
SEEDS = {"gym_config": CONFIG.replace("URDF", "input.urdf"), "gym_urdf": URDF}


def read_gym(kind: str, path: Path) -> None:
    """Read the description of a policy that names a damaged file."""
    from hrpsim.bridges.policy_description import read_policy

    config = path
    if kind == "gym_urdf":
        config = path.with_name("config.py")
        config.write_text(CONFIG.replace("URDF", path.name))
    else:
        path.with_name("input.urdf").write_text(URDF)
    description = path.with_name("gym.yaml")
    description.write_text(f"legged_gym: {config.name}\nclass: RobotCfg\npolicy: policy.pt\n")
    read_policy(description)
