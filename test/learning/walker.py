# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A small robot on four legs of one joint each, and its task."""

from hrpsim.learning import (
    EventTermCfg,
    JointPositionActionCfg,
    ObservationTermCfg,
    RewardTermCfg,
    RobotCfg,
    Task,
    TerminationTermCfg,
)

MASS, LEG = 4.0, 0.2  # of the body [kg], of a leg [m]
LEGS = ("FL", "FR", "RL", "RR")


def _leg(name: str) -> str:
    x, y = (0.15 if name[0] == "F" else -0.15), (0.1 if name[1] == "L" else -0.1)
    return f"""
<link name="{name}_leg"><inertial><origin xyz="0 0 -{LEG / 2}"/><mass value="0.2"/>
<inertia ixx="0.002" iyy="0.002" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="{name}_hip" type="revolute"><parent link="body"/><child link="{name}_leg"/>
<origin xyz="{x} {y} 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="20" velocity="10"/></joint>
<link name="{name}_foot"><collision><geometry><sphere radius="0.02"/></geometry></collision></link>
<joint name="{name}_ankle" type="fixed"><parent link="{name}_leg"/><child link="{name}_foot"/>
<origin xyz="0 0 -{LEG}"/></joint>"""


WALKER = f"""<robot name="walker"><link name="body"><inertial><mass value="{MASS}"/>
<inertia ixx="0.03" iyy="0.05" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.3 0.2 0.1"/></geometry></collision></link>
{"".join(map(_leg, LEGS))}</robot>"""
ROBOT = RobotCfg(
    description=WALKER, on_floor=True, joint_pos={".*_hip": 0.1}, stiffness=60.0, damping=2.0
)


def task(**settings) -> Task:
    """Return the task to stand, with given entries replaced."""
    entries = {
        "name": "walker",
        "robot": ROBOT,
        "observations": {
            "gravity": ObservationTermCfg("projected_gravity"),
            "rate": ObservationTermCfg("base_ang_vel"),
            "positions": ObservationTermCfg("joint_pos_rel"),
            "rates": ObservationTermCfg("joint_vel"),
            "action": ObservationTermCfg("last_action"),
        },
        "actions": {"hips": JointPositionActionCfg(scale=0.25)},
        "rewards": {"alive": RewardTermCfg("is_alive", 1.0)},
        "terminations": {
            "time_out": TerminationTermCfg("time_out", time_out=True),
            "tilt": TerminationTermCfg("bad_orientation", {"limit_angle": 0.8}),
        },
        "episode_length_s": 1.0,
    }
    return Task(**{**entries, **settings})


TURNED = EventTermCfg(
    "reset_root_state_uniform",
    params={"pose_range": {"yaw": (-3.0, 3.0)}, "velocity_range": {"x": (-0.5, 0.5)}},
)
BENT = EventTermCfg("reset_joints_by_offset", params={"position_range": (-0.1, 0.1)})
