"""Plots the vertical force under each foot against time, from a bag to a PNG file.

python -m hrpsim.ros.wrench_plot my_bag forces.png
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from hrpsim.ros.bag_reader import BagError, wrenches
from hrpsim.ros.foot_force_axes import draw_foot_forces


def foot_forces(
    bag: Path, left: str = "lfsensor", right: str = "rfsensor"
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return times [s] and F_z of the topics `left` and `right` [N], three arrays (n,).

    F_z is the force of the floor on the foot along z of the sensor frame, vertical for a level
    foot. Times are those for which both have a message. Raises BagError where a topic is missing or
    empty.
    """
    feet = [wrenches(bag, name) for name in (left, right)]
    for name, data in zip((left, right), feet):
        if len(data.time) == 0:
            raise BagError(f"{bag}: no message on {name}")
    ticks = [np.round(foot.time * 1e9) for foot in feet]
    _, at_left, at_right = np.intersect1d(*ticks, return_indices=True)
    return feet[0].time[at_left], feet[0].force[at_left, 2], feet[1].force[at_right, 2]


def plot_foot_forces(
    bag: Path, picture: Path, left: str = "lfsensor", right: str = "rfsensor"
) -> Path:
    """Draw F_z of the topics `left` and `right` and their sum to the PNG file `picture`.

    Returns `picture`; raises what `foot_forces` raises.
    """
    curves = foot_forces(bag, left, right)
    figure, axes = plt.subplots(figsize=(9.6, 4.2), dpi=150, layout="constrained")
    try:
        draw_foot_forces(axes, *curves, (f"left foot ({left})", f"right foot ({right})"))
        axes.set_xlabel("simulated time [s]")
        axes.set_title("Force of the floor on each foot", loc="left", fontweight="bold")
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(picture)
    finally:
        plt.close(figure)
    return picture


def main(arguments: list[str] | None = None) -> int:
    """Plot the bag that the command line names."""
    parser = argparse.ArgumentParser(prog="wrench_plot", description=__doc__.splitlines()[0])
    parser.add_argument("bag", type=Path)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--left", default="lfsensor", metavar="TOPIC")
    parser.add_argument("--right", default="rfsensor", metavar="TOPIC")
    options = parser.parse_args(arguments)
    try:
        print(plot_foot_forces(options.bag, options.picture, options.left, options.right))
    except (BagError, FileNotFoundError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
