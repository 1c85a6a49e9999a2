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

from hrpsim.ros.bag_reader import BagError, Wrenches, wrenches

_LEFT, _RIGHT, _SUM = "#0b6fa4", "#d1611b", "#8a8f98"


def plot_foot_forces(
    bag: Path, picture: Path, left: str = "lfsensor", right: str = "rfsensor"
) -> Path:
    """Draw F_z of the topics `left` and `right` and their sum to the PNG file `picture`.

    F_z is the force of the floor on the foot along z of the sensor frame, vertical for a level
    foot [N]. Returns `picture`; raises BagError where a topic is missing or empty.
    """
    feet = {name: wrenches(bag, name) for name in (left, right)}
    for name, data in feet.items():
        if len(data.time) == 0:
            raise BagError(f"{bag}: no message on {name}")
    figure, axes = plt.subplots(figsize=(11, 4.5), dpi=130, layout="constrained")
    try:
        axes.plot(*_sum_of(feet[left], feet[right]), color=_SUM, lw=1.0, label="both feet")
        for (name, data), color, side in zip(feet.items(), (_LEFT, _RIGHT), ("left", "right")):
            axes.plot(data.time, data.force[:, 2], color=color, lw=1.3, label=f"{side} ({name})")
        axes.set(xlabel="simulated time [s]", ylabel="vertical force [N]")
        axes.set_title("Force of the floor on each foot", loc="left", fontweight="bold")
        axes.margins(x=0.0)
        axes.grid(color="#e3e5e8", lw=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, frameon=False, borderaxespad=0.2
        )
        picture.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(picture)
    finally:
        plt.close(figure)
    return picture


def _sum_of(left: Wrenches, right: Wrenches):
    """Return (time, sum of F_z) where both feet have a message with the same stamp."""
    ticks_left, ticks_right = (np.round(foot.time * 1e9) for foot in (left, right))
    _, at_left, at_right = np.intersect1d(ticks_left, ticks_right, return_indices=True)
    return left.time[at_left], left.force[at_left, 2] + right.force[at_right, 2]


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
