# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tasks of the package: humanoids that stand or walk, and velocity tracking of any robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from hrpsim.learning.configs import (
    EventTermCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    RobotCfg,
    TerminationTermCfg,
    UniformNoiseCfg,
)
from hrpsim.learning.task import Task
from hrpsim.learning.terms.actions import JointPositionActionCfg
from hrpsim.learning.terms.commands import UniformVelocityCommandCfg, VelocityRanges
from hrpsim.world.fall import LARGEST_TILT, LOWEST_HEIGHT_RATIO

VELOCITIES = VelocityRanges((-1.0, 1.0), (-0.5, 0.5), (-1.0, 1.0))
_LEGS = ".LEG_JOINT[0-5]"
_COMMAND = {"command_name": "twist"}


def _obs(func: str, noise: float = 0.0, **settings) -> ObservationTermCfg:
    noise_cfg = UniformNoiseCfg(-noise, noise) if noise else None
    return ObservationTermCfg(func, noise=noise_cfg, **settings)


_HUMANOID_OBSERVATIONS = {
    "gravity": _obs("projected_gravity", scale=-1.0),
    "velocity": _obs("base_lin_vel"),
    "rate": _obs("base_ang_vel"),
    "height": _obs("base_pos_z_rel"),
    "positions": _obs("joint_pos_rel", params={"joint_names": _LEGS}),
    "rates": _obs("joint_vel_rel", params={"joint_names": _LEGS}),
    "action": _obs("last_action"),
    "wanted": _obs("generated_commands", params=_COMMAND),
}
_HUMANOID_EVENTS = {
    "friction": EventTermCfg(
        "randomize_rigid_body_material",
        params={"static_friction_range": (0.4, 1.0), "materials": ("sole", "floor")},
    ),
    "masses": EventTermCfg(
        "randomize_rigid_body_mass", params={"mass_distribution_params": (0.95, 1.05)}
    ),
    "gains": EventTermCfg(
        "randomize_actuator_gains",
        params={
            "stiffness_distribution_params": (0.9, 1.1),
            "damping_distribution_params": (0.9, 1.1),
            "by_joint": False,
        },
    ),
    "posture": EventTermCfg(
        "reset_joints_by_offset", params={"position_range": (-0.017, 0.017), "joint_names": _LEGS}
    ),
}
_UPRIGHT = {
    "upright": RewardTermCfg("upright", 1.0),
    "effort": RewardTermCfg("action_l2", -0.01 / 12.0),
    "fall": RewardTermCfg("is_terminated", -10.0),
}
_STANDING = Task(
    "standing",
    world="config/stand.yaml",
    robot=RobotCfg("hrp2"),
    observations=_HUMANOID_OBSERVATIONS,
    actions={"legs": JointPositionActionCfg(joint_names=_LEGS, scale=0.3, bound=1.0, ramp=True)},
    rewards={
        **_UPRIGHT,
        "velocity": RewardTermCfg("lin_vel_xy_world_l2", -0.5),
        "rate": RewardTermCfg("ang_vel_l2", -0.05),
    },
    terminations={
        "time_out": TerminationTermCfg("time_out", time_out=True),
        "tilt": TerminationTermCfg("bad_orientation", {"limit_angle": LARGEST_TILT}),
        "low": TerminationTermCfg("root_height_below_ratio", {"ratio": LOWEST_HEIGHT_RATIO}),
    },
    commands={"twist": UniformVelocityCommandCfg(VelocityRanges((0, 0), (0, 0), (0, 0)))},
    events=_HUMANOID_EVENTS,
    episode_length_s=10.0,
    time_step=0.002,
    decimation=10,
    scale_rewards_by_dt=False,
    xacro_arguments={"bush": False},
)
_PUSHES = EventTermCfg(
    "push_by_impulse",
    "interval",
    (1.5, 3.5),
    {"impulse_range": (5.0, 30.0), "link": "BODY", "duration": 0.1},
)
_PUSH_RECOVERY = replace(
    _STANDING, name="push_recovery", events={**_HUMANOID_EVENTS, "pushes": _PUSHES}
)
_WALKING = replace(
    _STANDING,
    name="walking",
    rewards={
        **_UPRIGHT,
        "velocity": RewardTermCfg("track_lin_vel_xy_yaw_frame_exp", 2.0, {"std": 0.2, **_COMMAND}),
        "turning": RewardTermCfg(
            "track_ang_vel_z_world_exp", 1.0, {"std": math.sqrt(0.1), **_COMMAND}
        ),
    },
    commands={
        "twist": UniformVelocityCommandCfg(VelocityRanges((-0.2, 0.4), (-0.1, 0.1), (-0.3, 0.3)))
    },
)
_HEIGHTS = _obs(
    "height_scan", params={"sensor": "ground", "offset": None}, scale=-1.0, clip=(-1.0, 1.0)
)
TASKS = {
    task.name: task
    for task in (
        _STANDING,
        _PUSH_RECOVERY,
        _WALKING,
        replace(
            _WALKING,
            name="rough_walking",
            world="config/rough_ground.yaml",
            observations={**_HUMANOID_OBSERVATIONS, "heights": _HEIGHTS},
        ),
    )
}


_POLICY = {
    "base_ang_vel": _obs("base_ang_vel", 0.2),
    "projected_gravity": _obs("projected_gravity", 0.05),
    "velocity_commands": _obs("generated_commands", params=_COMMAND),
    "joint_pos": _obs("joint_pos_rel", 0.01),
    "joint_vel": _obs("joint_vel_rel", 1.5, scale=0.05),
    "actions": _obs("last_action"),
}
_TRACKING = {"std": 0.5, **_COMMAND}
_VELOCITY_REWARDS = {
    "track_lin_vel_xy_exp": RewardTermCfg("track_lin_vel_xy_exp", 1.5, _TRACKING),
    "track_ang_vel_z_exp": RewardTermCfg("track_ang_vel_z_exp", 0.75, _TRACKING),
    "lin_vel_z_l2": RewardTermCfg("lin_vel_z_l2", -2.0),
    "ang_vel_xy_l2": RewardTermCfg("ang_vel_xy_l2", -0.05),
    "flat_orientation_l2": RewardTermCfg("flat_orientation_l2", -2.5),
    "dof_torques_l2": RewardTermCfg("joint_torques_l2", -2.0e-4),
    "dof_acc_l2": RewardTermCfg("joint_acc_l2", -2.5e-7),
    "action_rate_l2": RewardTermCfg("action_rate_l2", -0.01),
}
_VELOCITY_EVENTS = {
    "friction": EventTermCfg(
        "randomize_rigid_body_material", "startup", params={"static_friction_range": (0.6, 1.2)}
    ),
    "reset_base": EventTermCfg(
        "reset_root_state_uniform", params={"pose_range": {"yaw": (-math.pi, math.pi)}}
    ),
    "reset_joints": EventTermCfg("reset_joints_by_scale", params={"position_range": (0.8, 1.2)}),
    "floor": EventTermCfg("place_on_floor"),
    "push": EventTermCfg(
        "push_by_setting_velocity",
        "interval",
        (6.0, 10.0),
        {"velocity_range": {"x": (-0.5, 0.5), "y": (-0.5, 0.5)}},
    ),
}


def velocity_task(
    robot: RobotCfg,
    feet: str,
    *,
    ranges: VelocityRanges = VELOCITIES,
    action_scale: float | Mapping[str, float] = 0.25,
    trunk: str = "",
    name: str = "velocity",
) -> Task:
    """Return a task of velocity tracking, with terms and weights of Isaac Lab.

    Only the critic observes the velocity of the base.

    Args:
        robot: robot from a description, with posture and gains.
        feet: regular expression of the links that touch the ground.
        ranges: bounds of the commanded velocities.
        action_scale: change of a joint target for an action of 1 [rad], one number or {regular
            expression: value}.
        trunk: regular expression of links that end the episode by contact. "" means none.
        name: name of the task.
    """
    critic = {"base_lin_vel": _obs("base_lin_vel"), **_POLICY}
    terminations = {
        "time_out": TerminationTermCfg("time_out", time_out=True),
        "bad_orientation": TerminationTermCfg("bad_orientation", {"limit_angle": 1.0}),
    }
    if trunk:
        touch = {"threshold": 1.0, "link_names": trunk}
        terminations["base_contact"] = TerminationTermCfg("illegal_contact", touch)
    steps = RewardTermCfg("feet_air_time", 0.25, {"link_names": feet, "threshold": 0.2, **_COMMAND})
    return Task(
        name,
        robot=robot,
        observations={
            "policy": ObservationGroupCfg(_POLICY),
            "critic": ObservationGroupCfg(critic, enable_corruption=False),
        },
        actions={"joint_pos": JointPositionActionCfg(scale=action_scale)},
        rewards={**_VELOCITY_REWARDS, "feet_air_time": steps},
        terminations=terminations,
        commands={"twist": UniformVelocityCommandCfg(ranges, rel_standing_envs=0.02)},
        events=_VELOCITY_EVENTS,
    )
