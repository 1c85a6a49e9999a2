# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures of an analysed motion, drawn on matplotlib figures."""

import numpy as np
from scipy.spatial import ConvexHull

from hrpsim.analysis.summary import AnalysedMotion, phase_spans
from hrpsim.common.figures import fill_between, new_figure, style
from hrpsim.model.system import FREE

_COLOURS = ("#1f6fb4", "#d1495b", "#3a8f5d", "#8d6cab", "#b5852b", "#4f5d75")
_ZMP, _COM, _CAPTURE = _COLOURS[1], _COLOURS[0], _COLOURS[2]
_SHOWN_TORQUES = 6
_DRAWN = 2000  # largest number of samples in a line of a figure


def draw_plan(result: AnalysedMotion, axes) -> None:
    """Draw the soles, the centre of mass and the ZMP from above."""
    trajectory = result.found
    for sole in result.analyser.soles:
        bears = trajectory.fixed[:, trajectory.links.index(sole.link)]
        if not bears.any() or len(sole.vertices) == 0:
            continue
        at = trajectory.support(sole.link)
        colour = _COLOURS[3 + trajectory.links.index(sole.link) % 3]
        for k in np.flatnonzero(np.diff(bears.astype(int), prepend=0) == 1):
            corners = at["position"][k, :2] + sole.vertices @ at["R"][k, :2, :2].T
            axes.fill(*corners.T, facecolor=colour, alpha=0.15, edgecolor=colour, lw=1.0)
            axes.annotate(sole.link, corners.mean(axis=0), ha="center", fontsize=7, color=colour)
    every = _thinned(len(result.motion.times))
    samples = trajectory.samples[every]
    axes.plot(*samples["com"].T[:2], color=_COM, lw=1.2, label="centre of mass")
    axes.plot(*samples["zmp"].T[:2], color=_ZMP, lw=1.0, label="ZMP")
    axes.set(xlabel="x [m]", ylabel="y [m]", title="Seen from above")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(fontsize=7, frameon=False)


def draw_along_axis(result: AnalysedMotion, axes, axis: int) -> None:
    """Draw centre of mass, ZMP and capture point along x (axis 0) or y (axis 1) over time.

    The range of the support polygon is shaded.
    """
    times, trajectory = result.motion.times, result.found
    every = _thinned(len(times))
    low, high = _support_range(result, axis)
    fill_between(
        axes, times[every], low[every], high[every], step="post", color="#e8e4d8", label="support"
    )
    samples = trajectory.samples[every]
    axes.plot(times[every], samples["com"][:, axis], color=_COM, label="centre of mass")
    axes.plot(times[every], samples["zmp"][:, axis], color=_ZMP, lw=1.0, label="ZMP")
    axes.plot(
        times[every], samples["capture_point"][:, axis], ":", color=_CAPTURE, label="capture point"
    )
    axes.set(xlabel="time [s]", ylabel=f"{'xy'[axis]} [m]")
    _mark_phases(result, axes)


def draw_forces(result: AnalysedMotion, axes) -> None:
    """Draw the normal forces on the fixed links."""
    times, trajectory = result.motion.times, result.found
    every = _thinned(len(times))
    for k, link in enumerate(trajectory.links):
        if trajectory.fixed[:, k].any():
            force = trajectory.supports["force"][every, k, 2]
            axes.plot(times[every], force, color=_COLOURS[3 + k % 3], label=link)
    axes.set(xlabel="time [s]", ylabel="normal force [N]")
    axes.legend(fontsize=7, frameon=False)
    _mark_phases(result, axes)


def draw_torques(result: AnalysedMotion, axes) -> None:
    """Draw the torques closest to their limits, or the largest torques if no joint has a limit."""
    model, times = result.analyser.model, result.motion.times
    limits, every = model.system.effort_limit, _thinned(len(times))
    joints = [joint for joint in model.joints if joint.joint_type != FREE]
    limited = any(np.isfinite(limits[joint.v_index]) for joint in joints)
    loads = {}
    for joint in joints:
        limit = limits[joint.v_index] / 100.0 if limited else 1.0
        loads[joint.name] = result.found.tau[:, joint.v_index] / limit
    worst = sorted(loads, key=lambda name: -np.abs(loads[name]).max())[:_SHOWN_TORQUES]
    for colour, name in zip(_COLOURS, worst):
        axes.plot(times[every], loads[name][every], color=colour, lw=1.0, label=name)
    axes.set(xlabel="time [s]", ylabel="torque [% of limit]" if limited else "torque [Nm]")
    axes.legend(fontsize=6, frameon=False, ncol=2)
    _mark_phases(result, axes)


def overview(result: AnalysedMotion):
    """Return one figure with all plots above, without a display. HrpsimError without matplotlib."""
    figure = new_figure(11.0, 10.0)
    axes = figure.subplots(3, 2)
    draw_plan(result, axes[0, 0])
    draw_forces(result, axes[0, 1])
    draw_along_axis(result, axes[1, 0], 0)
    draw_along_axis(result, axes[1, 1], 1)
    axes[1, 0].legend(fontsize=7, frameon=False)
    draw_torques(result, axes[2, 0])
    times = result.motion.times
    every = _thinned(len(times))
    margin = 1e3 * result.found.samples["margin"][every]
    axes[2, 1].plot(times[every], margin, color=_ZMP, label="ZMP")
    axes[2, 1].axhline(0.0, color="black", lw=0.8)
    axes[2, 1].set(xlabel="time [s]", ylabel="margin in the support [mm]")
    _mark_phases(result, axes[2, 1])
    for panel in axes.flat:
        style(panel)
    return figure


def support_outline(result: AnalysedMotion, sample: int) -> np.ndarray:
    """Return the corners (k, 2) [m] of the support polygon at a sample, empty without outlines."""
    trajectory, corners = result.found, [np.zeros((0, 2))]
    for index, sole in enumerate(result.analyser.soles):
        if trajectory.fixed[sample, index] and len(sole.vertices):
            at = trajectory.supports[sample, index]
            R, h = at["R"], sole.height
            corners.append(at["position"][:2] + sole.vertices @ R[:2, :2].T + h * R[:2, 2])
    points = np.concatenate(corners)
    return points[ConvexHull(points).vertices] if len(points) else points


def _support_range(result: AnalysedMotion, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and greatest coordinate of the support polygon at each sample (T,) [m]."""
    low = np.full(len(result.motion.times), np.nan)
    high = low.copy()
    phases = result.found.phases
    for k, phase in enumerate(phases):
        end = phases[k + 1].begin if k + 1 < len(phases) else len(low)
        corners = support_outline(result, phase.begin)
        if len(corners):
            low[phase.begin : end] = corners[:, axis].min()
            high[phase.begin : end] = corners[:, axis].max()
    return low, high


def _mark_phases(result: AnalysedMotion, axes) -> None:
    for begin, _, _ in phase_spans(result)[1:]:
        axes.axvline(begin, color="#9aa1ac", lw=0.6, ls="--", zorder=0)


def _thinned(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, _DRAWN)).astype(int))
