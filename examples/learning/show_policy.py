# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Draw the learning curve of track_velocity.py, and film the learned policy.

Needs `pip install 'hrpsim[onnx,camera]' matplotlib pillow`. The film shows collision shapes in real
time. The script writes curve.png and film.gif into the folder.

    python examples/learning/show_policy.py go2_description/urdf/go2_description.urdf
"""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
from in_mujoco import Policy, network, quiet
from PIL import Image
from track_velocity import ROBOTS

from hrpsim.learning import Task, TaskBatch, VelocityRanges

SIZE = 320, 200  # [pixels]
AWAY = np.array([0.9, -1.5, 0.5])  # of the camera, for a robot 1 m high
SECONDS, EVERY = 4.0, 4  # length of the film, control periods between pictures


def draw(folder: Path) -> None:
    """Draw the tracking rewards over the number of control steps."""
    from matplotlib import pyplot

    curve = np.genfromtxt(folder / "curve.csv", delimiter=",", names=True)
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    for name in curve.dtype.names or ():
        if name.startswith("track"):
            axes.plot(curve["steps"] / 1e6, curve[name], label=name)
    axes.set(xlabel="control steps [millions]", ylabel="mean of the term", ylim=(0, 1))
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(folder / "curve.png", dpi=110)


def film(task: Task, policy: Policy, path: Path) -> None:
    """Film one world with a camera that follows the robot."""
    tasks = TaskBatch(task, 1, seed=1)
    state, world = tasks.state, tasks.batch.worlds[0]
    height, pictures = float(state.default_q[2]), []
    observed = tasks.reset()["policy"]
    for number in range(round(SECONDS / state.step_dt)):
        observed = tasks.step(policy(observed[0])[None])[0]["policy"]
        if number % EVERY:
            continue
        target = np.array([*state.q[0, :2], 0.6 * height])
        seen = world.render(
            target + 1.9 * height * AWAY, target=target, width=2 * SIZE[0], height=2 * SIZE[1]
        )
        assert seen.color is not None
        picture = Image.fromarray(seen.color).resize(SIZE)
        pictures.append(picture.quantize(32, dither=Image.Dither.NONE))
    duration = round(1000.0 * EVERY * state.step_dt)
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=duration, loop=0, optimize=True
    )


def main() -> None:
    """Draw the learning curve and film the policy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("description", type=Path)
    parser.add_argument("--robot", choices=ROBOTS, default="go2")
    parser.add_argument("--folder", type=Path, default=Path("track_velocity"))
    parser.add_argument("--command", type=float, nargs=3, default=(0.8, 0.0, 0.3))
    options = parser.parse_args()
    draw(options.folder)
    task = quiet(ROBOTS[options.robot](str(options.description)))
    text = options.description.read_text(encoding="utf-8")
    robot = replace(
        task.robot, description=re.sub("<visual>.*?</visual>", "", text, flags=re.DOTALL)
    )
    ranges = VelocityRanges(*((speed, speed) for speed in options.command))
    twist = replace(task.commands["twist"], ranges=ranges)
    task = replace(task, robot=robot, commands={"twist": twist})
    film(task, network(options.folder / "policy.onnx"), options.folder / "film.gif")


if __name__ == "__main__":
    main()
