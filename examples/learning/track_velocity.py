# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

r"""A robot learns to follow commanded velocities, from the manufacturer's description.

The Go2 learns by PPO of rsl_rl, and the G1 by imitation.

Needs `pip install rsl-rl-lib onnx 'hrpsim[onnx]'`. The description of the Go2 is in
https://github.com/unitreerobotics/unitree_ros, robots/go2_description. The G1 imitates a policy of
its manufacturer. https://github.com/unitreerobotics/unitree_rl_gym has the policy and the
description.

    python examples/learning/track_velocity.py go2_description/urdf/go2_description.urdf
    python examples/learning/track_velocity.py resources/robots/g1_description/g1_12dof.urdf \
        --robot g1 --teacher deploy/pre_train/g1/motion.pt --worlds 128

The script writes the network (policy.onnx), its description for the controller
`hrpsim.bridges:OnnxPolicy` (policy.yaml), and the curve of PPO (curve.csv).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from hrpsim.learning import (
    ObservationGroupCfg,
    ObservationTermCfg,
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
    """Return the task of the G1 with 12 joints, to imitate the manufacturer's policy.

    Posture, gains, clock, and the scales of the group "teacher" are taken from unitree_rl_gym.
    """
    g1 = RobotCfg(
        description=description,
        position=(0.0, 0.0, 0.8),
        on_floor=True,
        meshes="none",
        joint_pos={".*_hip_pitch_joint": -0.1, ".*_knee_joint": 0.3, ".*_ankle_pitch_joint": -0.2},
        stiffness={".*_hip_.*": 100.0, ".*_knee_.*": 150.0, ".*_ankle_.*": 40.0},
        damping={".*_hip_.*": 2.0, ".*_knee_.*": 4.0, ".*_ankle_.*": 2.0},
        armature=0.01,
    )
    ranges = VelocityRanges((-0.3, 0.8), (-0.3, 0.3), (-0.5, 0.5))
    task = velocity_task(g1, feet=".*_ankle_roll_link", ranges=ranges, name="g1")
    clock = {"clock": ObservationTermCfg("gait_phase", {"period": 0.8})}
    groups = {name: {**group.terms, **clock} for name, group in task.groups.items()}
    factors: dict[str, float | tuple[float, ...]]
    factors = {"base_ang_vel": 0.25, "velocity_commands": (2.0, 2.0, 0.25)}
    groups["teacher"] = {
        name: replace(term, scale=factors.get(name, term.scale))
        for name, term in groups["policy"].items()
    }
    exact = {name: ObservationGroupCfg(terms, False) for name, terms in groups.items()}
    return _without_pushes(replace(task, observations=exact))


def _without_pushes(task: Task) -> Task:
    """Return a task for a short training: without pushes, and with a new command every 5 s."""
    events = {name: event for name, event in task.events.items() if name != "push"}
    twist = replace(task.commands["twist"], resampling_time_range=(5.0, 5.0))
    return replace(task, events=events, commands={"twist": twist}, episode_length_s=10.0)


ROBOTS = {"go2": go2_task, "g1": g1_task}


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
        """The number of elapsed control periods of each episode, sharing the task's memory."""
        return self._torch.from_numpy(self.tasks.state.episode_length)

    @episode_length_buf.setter
    def episode_length_buf(self, lengths) -> None:
        self.tasks.state.episode_length[:] = lengths.numpy()

    def restart(self):
        """Start new episodes in all worlds, and return the observations."""
        self.observed = self.tasks.reset()
        return self.get_observations()

    def get_observations(self):
        """Return the present observations by group."""
        torch = self._torch
        narrow = {g: torch.from_numpy(o.astype(np.float32)) for g, o in self.observed.items()}
        return self._group(narrow, batch_size=[self.num_envs])

    def step(self, actions):
        """Advance all worlds by one control period.

        Start a new episode in each world that has ended.
        """
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
    """Return the settings of rsl_rl's PPO."""
    network = {
        "class_name": "MLPModel",
        "hidden_dims": [128, 128],
        "activation": "elu",
        "obs_normalization": True,
    }
    normal = {"class_name": "GaussianDistribution", "init_std": 1.0, "std_type": "scalar"}
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
    """Return the velocity errors [m/s, rad/s] and the fraction of worlds that never fall."""
    state, observed = tasks.state, tasks.reset()
    stands, errors = np.ones(len(tasks), dtype=bool), []
    for _ in range(round(seconds / state.step_dt) - 1):
        observed, _, terminated, _ = tasks.step(act(observed["policy"]))
        stands &= ~terminated
        command = state.commands["twist"]
        off = np.linalg.norm(command[:, :2] - state.root_lin_vel_b[:, :2], axis=1)
        errors.append([off.mean(), np.abs(command[:, 2] - state.root_ang_vel_b[:, 2]).mean()])
    linear, turning = np.mean(errors[50:], axis=0)
    return {"velocity": linear, "turning": turning, "standing": float(stands.mean())}


def make_runner(task: Task, count: int):
    """Return rsl_rl's PPO runner for a task in `count` worlds."""
    import torch
    from rsl_rl.runners import OnPolicyRunner

    torch.manual_seed(1)
    torch.set_num_threads(1)
    runner = OnPolicyRunner(Worlds(TaskBatch(task, count, seed=1)), settings(), log_dir=None)
    runner.logger.log = lambda **found: None
    return runner


def train(runner, iterations: int, folder: Path) -> None:
    """Train for some iterations of PPO, and write the learning curve."""
    worlds = runner.env
    task, count = worlds.tasks.task, worlds.num_envs
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


def learn_from(runner, teacher: Path) -> None:
    """Imitate a teacher, and print the progress."""
    from imitate import imitate

    for falls, error in imitate(runner.alg.actor, runner.env, teacher):
        print(f"imitation: {falls} falls, error of actions {error:.3f}", flush=True)


def main() -> None:
    """Learn, write the policy, and print how well the policy tracks velocities."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("description")
    parser.add_argument("--robot", choices=ROBOTS, default="go2")
    parser.add_argument("--teacher", type=Path, help="policy to imitate (TorchScript)")
    parser.add_argument("--worlds", type=int, default=256)
    parser.add_argument("--iterations", type=int, default=350)
    parser.add_argument("--folder", type=Path, default=Path("track_velocity"))
    options = parser.parse_args()

    import onnx
    import onnxruntime

    options.folder.mkdir(parents=True, exist_ok=True)
    task = ROBOTS[options.robot](options.description)
    runner = make_runner(task, options.worlds)
    if options.teacher is None:
        train(runner, options.iterations, options.folder)
    else:
        learn_from(runner, options.teacher)
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
        results = evaluate(tasks, policy)
        print(
            f"{who}: errors {results['velocity']:.3f} m/s and {results['turning']:.3f} rad/s,"
            f" {results['standing']:.0%} never fall"
        )


if __name__ == "__main__":
    main()
