# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E10's figure: moments of the game, how girder and heart are held, and what everything slipped."""

from __future__ import annotations

import numpy as np

from hrpsim import link_pose
from hrpsim.crane import scene as scene
from hrpsim.experiments.framework.experiment import Result
from hrpsim.experiments.framework.film_strip import Parts, draw_solids
from hrpsim.experiments.scenes import crane_hooks as hooks
from hrpsim.world.objects.body import rotation_matrix

_MOMENTS = ("gripped", "held for {:.0f} s", "over the goal", "released", "after an abrupt move")
_SPACING = 0.36  # between moments [m]
_ROPE = 0.3  # taller parts are not drawn [m]
_RIGHT = np.array([0.6, 0.8, 0.0])  # of the moments' view
_CORNERS = 0.5 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
_COLOURS = {"box": "#e38b4f", "girder": "#5689b9", "heart": "#c2436b"}
_STYLES = ("-", "--", ":")
_GOAL_COLOUR, _PAD_COLOUR, _EDGE = "#8fbf8f", "#33333a", "#2b2f38"
_PAD = (0.020, 0.012)  # of a claw, seen from above [m]
_FLOOR = 1e-13  # slips below what numbers of this size resolve are drawn there [m]


def draw(result: Result, figure) -> None:
    """Five moments of the box above; below the girder, the heart, and the slips of all three."""
    figure.set_size_inches(9.0, 6.6)
    grid = figure.add_gridspec(2, 3, height_ratios=(1.25, 1.0), width_ratios=(1.0, 1.0, 2.2))
    parts = Parts(result.data["model"])
    duration = next(iter(result.data["held"].values())).times[-1]
    labels = [moment.format(duration) for moment in _MOMENTS]
    _draw_moments(figure.add_subplot(grid[0, :]), parts, result.data["postures"], labels)
    hooked = result.data["hooked"]
    _draw_girder(figure.add_subplot(grid[1, 0]), parts, *hooked["girder"])
    _draw_heart(figure.add_subplot(grid[1, 1]), result.data["model"], *hooked["heart"])
    _draw_slips(figure.add_subplot(grid[1, 2]), result.data["held"])


def _drawn(parts: Parts, crane: np.ndarray) -> list:
    return [(p, c) for p, c in parts.placed(crane) if np.ptp(p[:, 2]) < _ROPE]


def _draw_moments(axes, parts: Parts, postures, labels: list[str]) -> None:
    for k, ((crane, box), label) in enumerate(zip(postures, labels)):
        middle = np.array([crane[0], crane[1], 0.0])
        shift = k * _SPACING - middle @ _RIGHT
        corners = box[:3] + scene.EDGE * _CORNERS @ rotation_matrix(box[3:]).T
        solids = [*_drawn(parts, crane), (corners, _COLOURS["box"])]
        if np.linalg.norm(middle[:2] - scene.GOAL) < 0.1:
            goal = np.array([*scene.GOAL, scene.GOAL_SIZE[2] / 2]) + _CORNERS * scene.GOAL_SIZE
            solids.append((goal, _GOAL_COLOUR))
        draw_solids(axes, solids, _RIGHT, shift)
        axes.text(k * _SPACING, -0.03, label, ha="center", va="top", fontsize=8)
    axes.axhline(0.0, color="black", lw=1.0)
    axes.set(xlim=(-0.6 * _SPACING, 4.6 * _SPACING), ylim=(-0.06, 0.65), aspect="equal")
    axes.set_axis_off()


def _draw_girder(axes, parts: Parts, crane: np.ndarray, girder: np.ndarray) -> None:
    """Draw crane and girder as seen along x."""
    draw_solids(axes, _drawn(parts, crane), np.array([0.0, 1.0, 0.0]), 0.0)
    vertices = hooks.girder_load().shape.vertices
    ring = vertices[: len(vertices) // 2] @ rotation_matrix(girder[3:]).T + girder[:3]
    _fill(axes, ring[:, 1:], _COLOURS["girder"], 3)
    _finish(axes, "girder, hung by its flange")


def _draw_heart(axes, model, crane: np.ndarray, heart: np.ndarray) -> None:
    """Draw pads and heart as seen from above."""
    vertices = hooks.heart_load().shape.vertices
    ring = vertices[: len(vertices) // 2 - 1] @ rotation_matrix(heart[3:]).T + heart[:3]
    _fill(axes, ring[:, :2], _COLOURS["heart"], 2)
    corners = 0.5 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * _PAD
    for claw in scene.CLAWS:
        position, R = link_pose(model, crane, claw)
        _fill(axes, position[:2] + corners @ R[:2, :2].T, _PAD_COLOUR, 3)
    _finish(axes, "heart from above,\npads in its notch and at its tip")


def _fill(axes, ring: np.ndarray, colour: str, order: int) -> None:
    axes.fill(*ring.T, facecolor=colour, edgecolor=_EDGE, lw=0.6, zorder=order)


def _finish(axes, title: str) -> None:
    axes.set(aspect="equal")
    axes.set_title(title, fontsize=8)
    axes.set_axis_off()


def _draw_slips(axes, held: dict) -> None:
    rates = list(dict.fromkeys(rate for _, rate in held))
    styles = dict(zip(rates, _STYLES))
    for (name, rate), watched in held.items():
        slips = 1e3 * np.maximum(watched.slips, _FLOOR)
        axes.semilogy(watched.times, slips, styles[rate], color=_COLOURS[name], lw=1.2)
    axes.axhline(1e3 * scene.LARGEST_SLIP, color="black", lw=0.8)
    axes.text(0.0, 1.3e3 * scene.LARGEST_SLIP, "largest allowed", fontsize=7)
    for name, colour in _COLOURS.items():
        axes.plot([], [], color=colour, label=name)
    for rate in rates:
        axes.plot([], [], styles[rate], color="grey", label=f"dt 1/{rate} s")
    axes.legend(fontsize=7, frameon=False, ncol=2, loc=(0.52, 0.08))
    axes.set(xlabel="time held [s]", ylabel="slip in the claws [mm]")
