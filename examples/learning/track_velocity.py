# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot learns to follow commanded velocities, by PPO of rsl_rl, from its maker's file.

Needs `pip install rsl-rl-lib onnx 'hrpsim[onnx]'`. The descriptions of the Go2 and the G1 are in
https://github.com/unitreerobotics/unitree_ros, robots/go2_description and robots/g1_description.

    python examples/learning/track_velocity.py go2_description/urdf/go2_description.urdf
    python examples/learning/track_velocity.py g1_description/g1_23dof_rev_1_0.urdf --robot g1

The folder of the results gets the curve (curve.csv), the network (policy.onnx) and its description
(policy.yaml) for the controller `hrpsim.bridges:OnnxPolicy`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim.learning import (
    JointPositionActionCfg,
    ObservationGroupCfg,
    ObservationTermCfg,
    RewardTermCfg,
    RobotCfg,
    Task,
    TaskBatch,
    VelocityRanges,
    velocity_task,
    write_policy,
)

STEPS = 24  # control periods of all worlds in an iteration of PPO
COMMAND = {"command_name": "twist"}


def go2_task(description: str) -> Task:
    """Return the task of the Go2, with the posture, gains and scales of Isaac Lab."""
    go2 = RobotCfg(
        description=description,
        position=(0.0, 0.0, 0.4),
        on_floor=True,
        meshes="none",
        joint_pos={
            ".*L_hip_joint": 0.1,
            ".*R_hip_joint": -0.1,
            "F[LR]_thigh_joint": 0.8,
            "R[LR]_thigh_joint": 1.0,
            ".*_calf_joint": -1.5,
        },
        stiffness=25.0,
        damping=0.5,
        armature=0.01,
    )
    ranges = VelocityRanges((0.3, 1.0), (-0.2, 0.2), (-0.5, 0.5))
    task = velocity_task(go2, feet=".*_foot", trunk="base", ranges=ranges, name="go2")
    steps = replace(task.rewards["feet_air_time"], weight=1.0)
    return _without_pushes(replace(task, rewards={**task.rewards, "feet_air_time": steps}))


def g1_task(description: str) -> Task:
    """Return the task of the G1: its legs act, and its other joints hold their posture.

    Posture, gains and rewards are those of unitree_rl_lab. The policy observes a clock.
    """
    legs, arms = ".*_(hip|knee|ankle)_?.*joint", ".*_(shoulder|elbow|wrist)_.*"
    g1 = RobotCfg(
        description=description,
        position=(0.0, 0.0, 0.8),
        on_floor=True,
        meshes="none",
        joint_pos={
            ".*_hip_pitch_joint": -0.1,
            ".*_knee_joint": 0.3,
            ".*_ankle_pitch_joint": -0.2,
            ".*_shoulder_pitch_joint": 0.3,
            "left_shoulder_roll_joint": 0.25,
            "right_shoulder_roll_joint": -0.25,
            ".*_elbow_joint": 0.97,
        },
        stiffness={".*_hip_.*": 100.0, ".*_knee_.*": 150.0, ".*_ankle_.*": 40.0, "waist_.*": 200.0}
        | {arms: 40.0},
        damping={".*_hip_.*": 2.0, ".*_knee_.*": 4.0, ".*_ankle_.*": 2.0, "waist_.*": 5.0}
        | {arms: 1.0},
        armature=0.01,
    )
    feet = {"link_names": ".*_ankle_roll_link"}
    ranges = VelocityRanges((0.3, 0.7), (-0.1, 0.1), (-0.3, 0.3))
    task = velocity_task(g1, feet=feet["link_names"], ranges=ranges, name="g1")
    gait = {"period": 0.8, "offset": (0.0, 0.5), "threshold": 0.55, **feet, **COMMAND}
    clearance = {"target_height": 0.1, "std": 0.05, "tanh_mult": 2.0, **feet}
    chosen = {"joint_names": legs}
    rewards = {
        "track_lin_vel_xy": RewardTermCfg(
            "track_lin_vel_xy_yaw_frame_exp", 1.0, {"std": 0.3, **COMMAND}
        ),
        "track_ang_vel_z": RewardTermCfg("track_ang_vel_z_exp", 0.5, {"std": 0.5, **COMMAND}),
        "alive": RewardTermCfg("is_alive", 0.15),
        "lin_vel_z": RewardTermCfg("lin_vel_z_l2", -2.0),
        "ang_vel_xy": RewardTermCfg("ang_vel_xy_l2", -0.05),
        "flat": RewardTermCfg("flat_orientation_l2", -5.0),
        "height": RewardTermCfg("base_height_l2", -10.0, {"target_height": 0.78}),
        "joint_vel": RewardTermCfg("joint_vel_l2", -1.0e-3, chosen),
        "joint_acc": RewardTermCfg("joint_acc_l2", -2.5e-7, chosen),
        "action_rate": RewardTermCfg("action_rate_l2", -0.01),
        "limits": RewardTermCfg("joint_pos_limits", -5.0, chosen),
        "hips": RewardTermCfg("joint_deviation_l1", -0.5, {"joint_names": ".*_hip_(roll|yaw)_.*"}),
        "gait": RewardTermCfg("feet_gait", 0.5, gait),
        "slide": RewardTermCfg("feet_slide", -0.2, feet),
        "clearance": RewardTermCfg("foot_clearance_reward", 0.5, clearance),
    }
    groups = {}
    for name, group in task.groups.items():
        terms = {
            what: replace(term, params={**term.params, **chosen})
            if what in ("joint_pos", "joint_vel")
            else term
            for what, term in group.terms.items()
        }
        terms["clock"] = ObservationTermCfg("gait_phase", {"period": gait["period"]})
        groups[name] = ObservationGroupCfg(terms, group.enable_corruption)
    action = {"joint_pos": JointPositionActionCfg(legs, scale=0.25)}
    return _without_pushes(replace(task, observations=groups, actions=action, rewards=rewards))


def _without_pushes(task: Task) -> Task:
    """Return a task for a short training: no pushes, and a new command after 5 s."""
    events = {name: event for name, event in task.events.items() if name != "push"}
    twist = replace(task.commands["twist"], resampling_time_range=(5.0, 5.0))
    return replace(task, events=events, commands={"twist": twist}, episode_length_s=10.0)


ROBOTS = {"go2": go2_task, "g1": g1_task}
SPREADS = {"go2": 1.0, "g1": 0.6}  # of the first actions


class Worlds:
    """The worlds of a task, with the interface that rsl_rl expects."""

    def __init__(self, tasks: TaskBatch) -> None:
        import torch
        from tensordict import TensorDict

        self._torch, self._group = torch, TensorDict
        self.cfg: dict = {}
        self.tasks, self.device = tasks, "cpu"
        self.num_envs, self.num_actions = len(tasks), len(tasks.action_names)
        self.max_episode_length = tasks.state.max_episode_length
        self.observed = tasks.reset()
        self.sums, self.count = np.zeros(tasks.reward_terms.shape[1]), 0

    @property
    def episode_length_buf(self):
        """The number of periods of each episode, in the memory of the task."""
        return self._torch.from_numpy(self.tasks.state.episode_length)

    @episode_length_buf.setter
    def episode_length_buf(self, lengths) -> None:
        self.tasks.state.episode_length[:] = lengths.numpy()

    def get_observations(self):
        """Return the present observations by group."""
        torch = self._torch
        narrow = {g: torch.from_numpy(o.astype(np.float32)) for g, o in self.observed.items()}
        return self._group(narrow, batch_size=[self.num_envs])

    def step(self, actions):
        """Advance all worlds, and begin the next episode where one has ended."""
        torch, tasks = self._torch, self.tasks
        self.observed, reward, terminated, truncated = tasks.step(actions)
        self.sums += tasks.reward_terms.mean(axis=0)
        self.count += 1
        over = np.flatnonzero(terminated | truncated)
        if len(over):
            for group, first in tasks.reset(over).items():
                self.observed[group][over] = first
        extras = {"time_outs": torch.from_numpy(truncated)}
        done = torch.from_numpy(terminated | truncated)
        reward = torch.from_numpy(reward.astype(np.float32))
        return self.get_observations(), reward, done, extras


def settings(spread: float) -> dict:
    """Return the settings of PPO. `spread` is the first standard deviation of actions."""
    network = {
        "class_name": "MLPModel",
        "hidden_dims": [128, 128],
        "activation": "elu",
        "obs_normalization": True,
    }
    normal = {"class_name": "GaussianDistribution", "init_std": spread, "std_type": "scalar"}
    return {
        "num_steps_per_env": STEPS,
        "save_interval": 10**9,
        "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
        "actor": {**network, "distribution_cfg": normal},
        "critic": dict(network),
        "algorithm": {
            "class_name": "PPO",
            "entropy_coef": 0.01,
            "learning_rate": 1e-3,
            "num_learning_epochs": 5,
            "num_mini_batches": 4,
            "desired_kl": 0.01,
        },
    }


def evaluate(tasks: TaskBatch, act, seconds: float = 10.0) -> dict[str, float]:
    """Return the errors of velocity [m/s, rad/s] and the share of worlds that never fall."""
    state, observed = tasks.state, tasks.reset()
    stands, errors = np.ones(len(tasks), dtype=bool), []
    for _ in range(round(seconds / state.step_dt) - 1):
        observed, _, terminated, _ = tasks.step(act(observed["policy"]))
        stands &= ~terminated
        wanted = state.commands["twist"]
        off = np.linalg.norm(wanted[:, :2] - state.root_lin_vel_b[:, :2], axis=1)
        errors.append([off.mean(), np.abs(wanted[:, 2] - state.root_ang_vel_b[:, 2]).mean()])
    linear, turning = np.mean(errors[50:], axis=0)
    return {"velocity": linear, "turning": turning, "standing": float(stands.mean())}


def train(task: Task, count: int, iterations: int, folder: Path):
    """Train for some iterations of PPO. Write the curve, and return the runner."""
    import torch
    from rsl_rl.runners import OnPolicyRunner

    torch.manual_seed(1)
    torch.set_num_threads(1)
    worlds = Worlds(TaskBatch(task, count, seed=1))
    runner = OnPolicyRunner(worlds, settings(SPREADS[task.name]), log_dir=None)
    runner.logger.log = lambda **found: None
    weights = np.array([cfg.weight * task.step_dt for cfg in task.rewards.values()])
    begin = time.monotonic()
    with (folder / "curve.csv").open("w", encoding="utf-8") as curve:
        print("seconds,steps,reward," + ",".join(task.rewards), file=curve)
        for done in range(10, iterations + 1, 10):
            runner.learn(10, init_at_random_ep_len=done == 10)
            runner.current_learning_iteration += 1
            means = worlds.sums / worlds.count
            worlds.sums[:], worlds.count = 0.0, 0
            head = [time.monotonic() - begin, done * STEPS * count, means.sum() / task.step_dt]
            row = [*head, *(means / weights)]
            print(",".join(f"{value:.5g}" for value in row), file=curve, flush=True)
            if done % 100 == 0 or done + 10 > iterations:
                runner.save(str(folder / "last.pt"))
    return runner


def main() -> None:
    """Learn, write the policy, and say how well the policy follows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("description")
    parser.add_argument("--robot", choices=ROBOTS, default="go2")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=350)
    parser.add_argument("--folder", type=Path, default=Path("track_velocity"))
    options = parser.parse_args()

    import onnx
    import onnxruntime

    options.folder.mkdir(parents=True, exist_ok=True)
    task = ROBOTS[options.robot](options.description)
    runner = train(task, options.worlds, options.iterations, options.folder)
    network_file = str(options.folder / "policy.onnx")
    runner.export_policy_to_onnx(str(options.folder), "policy.onnx")
    onnx.save_model(onnx.load(network_file), network_file)  # the weights in the same file
    tasks = TaskBatch(task, 32, seed=2)
    write_policy(options.folder / "policy.yaml", tasks, "policy.onnx")

    network = onnxruntime.InferenceSession(network_file)
    name = network.get_inputs()[0].name

    def act(observed: np.ndarray) -> np.ndarray:
        rows = observed.astype(np.float32)
        return np.concatenate([network.run(None, {name: row[None]})[0] for row in rows])

    for who, policy in (
        ("posture", lambda o: np.zeros((len(o), len(tasks.action_names)))),
        ("policy", act),
    ):
        tasks.seed(2)
        found = evaluate(tasks, policy)
        print(
            f"{who}: errors {found['velocity']:.3f} m/s and {found['turning']:.3f} rad/s,"
            f" {found['standing']:.0%} never fall"
        )


if __name__ == "__main__":
    main()
