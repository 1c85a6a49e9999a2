# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A quadruped learns to follow commanded velocities, by PPO of rsl_rl, from its maker's file.

Needs `pip install rsl-rl-lib 'hrpsim[onnx]'`. The description of the Go2 is in
https://github.com/unitreerobotics/unitree_ros, robots/go2_description.

    python examples/learning/track_velocity.py go2_description/urdf/go2_description.urdf

The folder of the results gets the curve (curve.csv), the network (policy.onnx) and its description
(policy.yaml) for the controller `hrpsim.bridges:OnnxPolicy`.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim.learning import RobotCfg, Task, TaskBatch, VelocityRanges, velocity_task, write_policy

RANGES = VelocityRanges((-0.5, 1.0), (-0.3, 0.3), (-0.6, 0.6))


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
    task = velocity_task(go2, feet=".*_foot", trunk="base", ranges=RANGES, name="go2")
    events = {name: event for name, event in task.events.items() if name != "push"}
    return replace(task, events=events, time_step=0.01, decimation=2, episode_length_s=10.0)


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


def settings() -> dict:
    """Return the settings of PPO."""
    network = {"class_name": "MLPModel", "hidden_dims": [128, 128, 128], "activation": "elu"}
    spread = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
    return {
        "num_steps_per_env": 24,
        "save_interval": 10**9,
        "obs_groups": {"actor": ["policy"], "critic": ["critic"]},
        "actor": {**network, "distribution_cfg": spread},
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


def train(task: Task, count: int, minutes: float, folder: Path):
    """Train for some minutes. Write the curve, and return the runner."""
    import torch
    from rsl_rl.runners import OnPolicyRunner

    torch.manual_seed(1)
    torch.set_num_threads(1)
    worlds = Worlds(TaskBatch(task, count, seed=1))
    runner = OnPolicyRunner(worlds, settings(), log_dir=None)
    weights = np.array([cfg.weight * task.step_dt for cfg in task.rewards.values()])
    begin, rounds = time.monotonic(), 0
    with (folder / "curve.csv").open("w", encoding="utf-8") as curve:
        print("seconds,steps,reward,linear,turning", file=curve)
        while time.monotonic() < begin + 60.0 * minutes:
            runner.learn(10, init_at_random_ep_len=rounds == 0)
            runner.current_learning_iteration += 1
            rounds += 1
            steps = rounds * 10 * 24 * count
            means = worlds.sums / worlds.count
            worlds.sums[:], worlds.count = 0.0, 0
            linear, turning = (means / weights)[:2]
            row = [time.monotonic() - begin, steps, means.sum() / task.step_dt, linear, turning]
            print(",".join(f"{value:.5g}" for value in row), file=curve, flush=True)
    return runner


def main() -> None:
    """Learn, write the policy, and say how well the policy follows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("description")
    parser.add_argument("--worlds", type=int, default=128)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--folder", type=Path, default=Path("track_velocity"))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    task = go2_task(options.description)
    runner = train(task, options.worlds, options.minutes, options.folder)
    runner.export_policy_to_onnx(str(options.folder), "policy.onnx")
    tasks = TaskBatch(task, 32, seed=2)
    write_policy(options.folder / "policy.yaml", tasks, "policy.onnx")

    import onnxruntime

    network = onnxruntime.InferenceSession(str(options.folder / "policy.onnx"))
    name = network.get_inputs()[0].name

    def act(observed: np.ndarray) -> np.ndarray:
        rows = observed.astype(np.float32)
        return np.concatenate([network.run(None, {name: row[None]})[0] for row in rows])

    for who, policy in (("posture", lambda o: np.zeros((len(o), 12))), ("policy", act)):
        tasks.seed(2)
        found = evaluate(tasks, policy)
        print(
            f"{who}: errors {found['velocity']:.3f} m/s and {found['turning']:.3f} rad/s,"
            f" {found['standing']:.0%} never fall"
        )


if __name__ == "__main__":
    main()
