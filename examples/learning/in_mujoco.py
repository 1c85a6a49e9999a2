# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compare a policy of track_velocity.py in hrpsim and in MuJoCo: the same file, network, commands.

Needs `pip install 'hrpsim[onnx,mjcf]'`, and the folder that track_velocity.py has written.

    python examples/learning/in_mujoco.py go2_description/urdf/go2_description.urdf --robot go2

Both simulators read the manufacturer's description. For MuJoCo, the script adds a free joint, a
floor, and the gains, rotor inertias and effort limits of the task. A robot has fallen if its base
tilts by more than 1 rad.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import onnxruntime
from track_velocity import ROBOTS

from hrpsim.learning import Task, TaskBatch

SETTLING = 50  # control periods before errors count
TILT = 1.0  # of a fallen robot [rad]
Policy = Callable[[np.ndarray], np.ndarray]


def quiet(task: Task) -> Task:
    """Return a task without noise and random events.

    Its commands do not change during an episode.
    """
    twist = replace(task.commands["twist"], resampling_time_range=(1e6, 1e6), rel_standing_envs=0.0)
    groups = {name: replace(group, enable_corruption=False) for name, group in task.groups.items()}
    return replace(task, events={}, observations=groups, commands={"twist": twist})


def network(path: Path) -> Policy:
    """Load a network. Return the function from an observation to an action."""
    session = onnxruntime.InferenceSession(str(path))
    name = session.get_inputs()[0].name
    return lambda row: session.run(None, {name: row[None].astype(np.float32)})[0][0]


def in_hrpsim(tasks: TaskBatch, policy: Policy, periods: int) -> np.ndarray:
    """Run a policy in hrpsim. Return velocities and cosine of the tilt (worlds, periods, 4).

    The velocities are forward, sideways [m/s] and yaw [rad/s].
    """
    state, observed, seen = tasks.state, tasks.reset()["policy"], []
    for _ in range(periods):
        observed = tasks.step(np.array([policy(row) for row in observed]))[0]["policy"]
        upright = -state.projected_gravity_b[:, 2]
        seen.append(
            np.column_stack([state.root_lin_vel_b[:, :2], state.root_ang_vel_b[:, 2], upright])
        )
    return np.swapaxes(seen, 0, 1)


class InMujoco:
    """The robot of a task in MuJoCo, from the same description."""

    def __init__(self, tasks: TaskBatch) -> None:
        self.tasks, self.state = tasks, tasks.state
        state = self.state
        text = Path(tasks.task.robot.description).read_text(encoding="utf-8")
        text = re.sub(r"<mujoco>.*?</mujoco>|<visual>.*?</visual>", "", text, flags=re.S)
        text = re.sub(
            r"<collision>(?:(?!</collision>).)*<mesh.*?</collision>", "", text, flags=re.S
        )
        settings = '<mujoco><compiler fusestatic="false"/></mujoco></robot>'
        spec = mujoco.MjSpec.from_string(text.replace("</robot>", settings))
        spec.worldbody.first_body().add_freejoint()
        for geom in spec.geoms:  # as in the task, links collide with the floor alone
            geom.contype, geom.conaffinity = 0, 1
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=1, conaffinity=0
        )
        spec.option.timestep = tasks.task.time_step
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
        system = tasks.batch.worlds[0].robots[state.robot_name].system
        for name, dof, kp, kd in zip(state.joint_names, state.v_index, *state.gains):
            spec.joint(name).armature = system.rotor_inertia[dof]
            actuator = spec.add_actuator(name=name, target=name)
            actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
            actuator.set_to_position(kp=kp, kv=kd)
            limit = system.effort_limit[dof]
            actuator.forcelimited, actuator.forcerange = True, [-limit, limit]
        self.model = model = spec.compile()
        joints = [model.joint(name) for name in state.joint_names]
        self.q = np.array([joint.qposadr[0] for joint in joints])
        self.v = np.array([joint.dofadr[0] for joint in joints])

    def course(self, policy: Policy, command: np.ndarray, periods: int) -> np.ndarray:
        """Run a policy in MuJoCo. Return velocities and cosine of the tilt (periods, 4).

        The velocities are forward, sideways [m/s] and yaw [rad/s].
        """
        state, task, model = self.state, self.tasks.task, self.model
        data, default_pos = mujoco.MjData(model), state.default_joint_pos
        data.qpos[:3], data.qpos[3:7] = state.default_q[:3], [1, 0, 0, 0]
        data.qpos[self.q] = default_pos
        mujoco.mj_forward(model, data)
        acting = [state.joint_names.index(name) for name in self.tasks.action_names]
        (joints,) = self.tasks.actions.values()
        action, targets, seen = np.zeros(len(acting)), default_pos.copy(), []
        numbers = np.zeros(9)  # of the base's rotation matrix
        for number in range(periods):
            mujoco.mju_quat2Mat(numbers, data.qpos[3:7])
            R = numbers.reshape(3, 3)
            terms = {
                "base_ang_vel": data.qvel[3:6],
                "projected_gravity": -R[2],
                "velocity_commands": command,
                "joint_pos": (data.qpos[self.q] - default_pos)[acting],
                "joint_vel": 0.05 * data.qvel[self.v][acting],
                "actions": action,
                "clock": _clock(task, number),
            }
            observed = np.concatenate([terms[name] for name in task.groups["policy"].terms])
            action = policy(observed)
            targets[acting] = joints.offset + joints.scale * action
            data.ctrl[:] = targets
            mujoco.mj_step(model, data, task.decimation)
            velocity = R.T @ data.qvel[:3]
            seen.append([*velocity[:2], data.qvel[5], R[2, 2]])
        return np.array(seen)


def _clock(task: Task, number: int) -> np.ndarray:
    clock = task.groups["policy"].terms.get("clock")
    if clock is None:
        return np.zeros(0)
    angle = 2.0 * np.pi * number * task.step_dt / clock.params["period"]
    return np.array([np.sin(angle), np.cos(angle)])


def report(who: str, courses: np.ndarray, commands: np.ndarray) -> None:
    """Print mean velocity errors [m/s, rad/s], and the number of falls.

    who: label of the run.
    """
    fell = (courses[:, :, 3] < np.cos(TILT)).any(axis=1)
    off = commands[:, None] - courses[:, SETTLING:, :3]
    linear, turning = np.linalg.norm(off[..., :2], axis=2).mean(), np.abs(off[..., 2]).mean()
    count = f"{fell.sum()} of {len(fell)} fall"
    print(f"{who}: errors {linear:.3f} m/s and {turning:.3f} rad/s, {count}")


def main() -> None:
    """Run the policy, and the constant default posture, in both simulators."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("description")
    parser.add_argument("--robot", choices=ROBOTS, default="go2")
    parser.add_argument("--folder", type=Path, default=Path("track_velocity"))
    parser.add_argument("--commands", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    task = quiet(ROBOTS[options.robot](options.description))
    tasks = TaskBatch(task, options.commands, seed=5)
    periods = round(options.seconds / task.step_dt)
    theirs, policy = InMujoco(tasks), network(options.folder / "policy.onnx")
    still = np.zeros(len(tasks.action_names))
    for who, act in (("posture", lambda row: still), ("policy", policy)):
        tasks.seed(5)
        course = in_hrpsim(tasks, act, periods)
        commands = tasks.state.commands["twist"].copy()
        report(f"{who} in hrpsim", course, commands)
        courses = np.array([theirs.course(act, command, periods) for command in commands])
        report(f"{who} in MuJoCo", courses, commands)


if __name__ == "__main__":
    main()
