# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read foot wrenches, centres of pressure and ZMP from a bag, and plot them. Needs no ROS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hrpsim.bag.reader import BagError, full_name, messages, points, topic_types, wrenches
from hrpsim.common import figures
from hrpsim.common.errors import HrpsimError
from hrpsim.common.figures import new_figure
from hrpsim.control.estimation.base_estimator import sole_depth
from hrpsim.model.load import load_model

_LOADED = 0.05  # fraction of the weight, below which division would amplify noise
_AHEAD, _ASIDE = "#6a3d9a", "#2a8a5c"
_LINES = "-", "--", ":"  # x, y, z
LEFT, RIGHT, SUM = "#0b6fa4", "#d1611b", "#8a8f98"
_BEARING = 0.5  # least load of the other foot during a swing, as a fraction of the weight
_SHORTEST_SWING = 0.2  # [s]


def swings(times, force, other) -> np.ndarray:
    """Return the swing intervals of a foot, from lift-off to touch-down (k, 2) [s].

    times: (n,) [s]. force, other (n,): vertical force on this foot and on the other foot [N]. A
    gap is not a step if the gap is short, or if the other foot does not bear the weight.
    """
    times, force, other = map(np.asarray, (times, force, other))
    weight = float(np.median(force + other))
    up = np.concatenate([[False], force < _LOADED * weight, [False]])
    begins, ends = np.flatnonzero(up[1:] & ~up[:-1]), np.flatnonzero(~up[1:] & up[:-1])
    intervals = [
        (times[a], times[b])
        for a, b in zip(begins, np.minimum(ends, len(times) - 1))
        if a > 0
        and ends.size
        and times[b] - times[a] >= _SHORTEST_SWING
        and np.median(other[a:b]) > _BEARING * weight
    ]
    return np.array(intervals).reshape(-1, 2)


def draw_foot_forces(axes, times, left, right, labels=("left foot", "right foot")) -> None:
    """Plot F_z on both feet (n,) [N] and the sum. Number steps in the swing foot's colour."""
    both = np.add(left, right)
    axes.plot(times, both, color=SUM, lw=0.8, label="both feet", zorder=1)
    steps = []
    for force, other, colour, label in (
        (left, right, LEFT, labels[0]),
        (right, left, RIGHT, labels[1]),
    ):
        axes.plot(times, force, color=colour, lw=1.3, label=label)
        figures.fill_between(axes, times, 0.0, force, color=colour, alpha=0.13, lw=0.0)
        steps += [(begin, end, colour) for begin, end in swings(times, force, other)]
    top = 1.12 * max(np.percentile(both, 99.5), 1.0)
    for number, (begin, end, colour) in enumerate(sorted(steps), 1):
        axes.text(0.5 * (begin + end), top, number, color=colour, ha="center", va="center")
    limit = (1.08 if steps else 1.0) * top
    axes.set_ylim(-0.04 * top, limit)
    peak = int(np.argmax(both))
    if both[peak] > limit:
        peak_label = f" \u2191 {both[peak]:.0f} N"
        axes.annotate(peak_label, (times[peak], limit), color=SUM, va="top", fontsize="small")
    axes.set_ylabel("vertical force [N]")
    style(axes, legend_columns=3)


def style(axes, legend_columns: int = 0) -> None:
    """Style time axes: a grid, no box, and a legend above the axes if `legend_columns` is not 0."""
    axes.margins(x=0.0)
    figures.style(axes)
    if legend_columns:
        position = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
        axes.legend(ncol=legend_columns, frameon=False, **position)


@dataclass(frozen=True)
class Foot:
    """The wrenches of one foot over time, with one row for each stamp."""

    topic: str  # full name
    time: np.ndarray  # (n,) ascending [s]
    force: np.ndarray  # (n, 3) in the sensor frame [N]
    torque: np.ndarray  # (n, 3) in and about the sensor frame [Nm]
    sole_depth: float | None  # depth of the sole below the sensor [m], None if unknown

    def center_of_pressure(self, least_force: float) -> np.ndarray:
        """Return the centre of pressure x, y [m] in the sensor frame (n, 2).

        The plane is the sole, or z = 0 if the sole is unknown. The result is NaN if F_z is below
        `least_force` [N]. (Kajita et al., Introduction to Humanoid Robotics, section 3.2.)
        """
        depth = self.sole_depth or 0.0
        f_z = np.where(self.force[:, 2] >= least_force, self.force[:, 2], np.nan)
        x = -(self.torque[:, 1] + depth * self.force[:, 0]) / f_z
        y = (self.torque[:, 0] - depth * self.force[:, 1]) / f_z
        return np.column_stack([x, y])


@dataclass(frozen=True)
class FootWrenches:
    """Both feet of a bag, and the ZMP if recorded."""

    left: Foot
    right: Foot
    zmp_time: np.ndarray  # (k,) [s], empty without a topic zmp
    zmp: np.ndarray  # (k, 3) in the frame of the messages [m]

    @property
    def least_force(self) -> float:
        """Least vertical force of a loaded foot [N]."""
        _, left, right = self.vertical_forces()
        return _LOADED * float(np.median(left + right))

    def vertical_forces(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the vertical forces F_z of both feet at the times of the left foot.

        The force of the right foot is interpolated linearly between the stamps. Raises BagError if
        the stamps do not overlap.

        Returns:
            (times [s], F_z of the left foot [N], F_z of the right foot [N]), each (n,).
        """
        left, right = self.left, self.right
        both = (left.time >= right.time[0]) & (left.time <= right.time[-1])
        if np.count_nonzero(both) < 2:
            spans = [f"{f.topic} {f.time[0]:.3f} to {f.time[-1]:.3f} s" for f in (left, right)]
            raise BagError(f"the time stamps of the feet do not overlap: {', '.join(spans)}")
        time = left.time[both]
        return time, left.force[both, 2], np.interp(time, right.time, right.force[:, 2])


def read_foot_wrenches(
    bag: Path, left: str = "lfsensor", right: str = "rfsensor", zmp: str | None = None
) -> FootWrenches:
    """Return the wrenches of both feet and the ZMP in a bag.

    The topic robot_description, if recorded, gives the pose of the soles below the sensors.

    Args:
        bag: file or folder.
        left: topic of the left foot's sensor, a full name or the end of a name.
        right: topic of the right foot's sensor.
        zmp: topic of the ZMP. The default is the topic zmp in the namespace of the left foot, if
            recorded.

    Raises:
        BagError: a topic is missing or of another type, or a foot's topic has no message.
    """
    left_foot, right_foot = (
        _foot(bag, full_name(bag, name, "geometry_msgs/msg/WrenchStamped"))
        for name in (left, right)
    )
    namespace = left_foot.topic.rpartition("/")[0]
    zmp = zmp or f"{namespace}/zmp"
    if zmp == f"{namespace}/zmp" and zmp not in topic_types(bag):
        return FootWrenches(left_foot, right_foot, np.zeros(0), np.zeros((0, 3)))
    time, points_of_zmp = _ascending(*points(bag, zmp))
    return FootWrenches(left_foot, right_foot, time, points_of_zmp)


def _foot(bag: Path, topic: str) -> Foot:
    recorded = wrenches(bag, topic)
    if not len(recorded.time):
        raise BagError(f"{bag}: no message on {topic}")
    time, force, torque = _ascending(*recorded)
    return Foot(topic, time, force, torque, _depth_of_sole(bag, topic))


def _ascending(time: np.ndarray, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Sort rows by stamp, and drop repeated stamps. A paused simulation repeats its state."""
    time, first = np.unique(time, return_index=True)
    return time, *(column[first] for column in columns)


def _depth_of_sole(bag: Path, topic: str) -> float | None:
    namespace, _, name = topic.rpartition("/")
    try:
        description = next(messages(bag, f"{namespace}/robot_description"), None)
        model = load_model(description.data) if description else None
    except HrpsimError:  # not recorded, or not readable for hrpsim
        return None
    if model is None:
        return None
    sensors = [sensor for sensor in model.sensors if sensor.name == name]
    return sole_depth(model, sensors[0]) if sensors else None


def plot_foot_wrenches(
    bag: Path,
    picture: Path,
    left: str = "lfsensor",
    right: str = "rfsensor",
    zmp: str | None = None,
) -> Path:
    """Plot the wrenches of the topics `left` and `right`, the centres of pressure and the ZMP.

    The default of `zmp` is the topic zmp in the namespace of `left`. Without this topic the ZMP is
    not plotted. Returns `picture`, a PNG file. Raises the errors of `read_foot_wrenches`, and
    HrpsimError if matplotlib is missing.
    """
    feet = read_foot_wrenches(bag, left, right, zmp)
    has_zmp = feet.zmp_time.size > 0
    figure = new_figure(9.6, 12.6 if has_zmp else 10.4, dpi=150.0)
    heights = (1.6, 1.0, 1.0, 1.0, 1.0)[: 5 if has_zmp else 4]
    panels = figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights})
    names = f"left foot ({left})", f"right foot ({right})"
    draw_foot_forces(panels[0], *feet.vertical_forces(), names)
    panels[0].set_title("Floor on feet", loc="left", fontweight="bold")
    _draw_feet(panels[1], feet, lambda foot: foot.force, "xy")
    panels[1].set_ylabel("horizontal force [N]")
    _draw_feet(panels[2], feet, lambda foot: foot.torque, "xyz")
    panels[2].set_ylabel("torque [Nm]")
    _draw_centers_of_pressure(panels[3], feet)
    if has_zmp:
        _draw_zmp(panels[4], feet)
    panels[-1].set_xlabel("time of the stamps [s]")
    picture.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(picture)
    except ValueError as error:  # suffix of an unknown image format
        raise HrpsimError(f"{picture}: {error}") from error
    return picture


def _draw_feet(axes, feet: FootWrenches, of: Callable[[Foot], np.ndarray], names: str) -> None:
    """Plot columns of both feet's data against time.

    of: returns the data (n, columns) of a foot.
    """
    for foot, side, colour in ((feet.left, "left", LEFT), (feet.right, "right", RIGHT)):
        values = of(foot)
        for column, (name, line) in enumerate(zip(names, _LINES)):
            axes.plot(foot.time, values[:, column], line, color=colour, lw=1.0)
            axes.plot([], [], line, color=colour, label=f"{side} {name}")
    style(axes, legend_columns=2 * len(names))


def _draw_centers_of_pressure(axes, feet: FootWrenches) -> None:
    known = feet.left.sole_depth is not None and feet.right.sole_depth is not None
    where = "on the sole" if known else "on the sensors' plane z = 0"
    axes.set_title(f"in the sensor's frame, {where}", loc="left", fontsize="medium")
    axes.set_ylabel("centre of pressure [m]")
    _draw_feet(axes, feet, lambda foot: foot.center_of_pressure(feet.least_force), "xy")


def _draw_zmp(axes, feet: FootWrenches) -> None:
    for column, (name, colour) in enumerate((("x", _AHEAD), ("y", _ASIDE))):
        axes.plot(feet.zmp_time, feet.zmp[:, column], color=colour, lw=1.1, label=name)
    axes.axhline(0.0, color=SUM, lw=0.6)
    axes.set_ylabel("ZMP [m]")
    style(axes, legend_columns=2)
