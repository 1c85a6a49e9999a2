# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Events that change the parameters of worlds: friction, masses and gains."""

from __future__ import annotations

import numpy as np

from hrpsim.common.errors import require_name
from hrpsim.common.typed_values import Interval
from hrpsim.learning.terms.observations import Names
from hrpsim.learning.terms.selection import EVERY
from hrpsim.learning.terms.task_state import TaskState

Range = Interval
_OPERATIONS = "scale", "add", "abs"


def _changed(operation: str, values: np.ndarray, draws: np.ndarray) -> np.ndarray:
    """Apply an operation ("scale", "add" or "abs") with draws to values.

    Raises WorldError for an unknown operation.
    """
    require_name("operation", operation, _OPERATIONS)
    return {"scale": values * draws, "add": values + draws, "abs": draws + 0.0 * values}[operation]


def randomize_rigid_body_material(
    state: TaskState,
    worlds: np.ndarray,
    static_friction_range: Range,
    dynamic_friction_range: Range | None = None,
    restitution_range: Range = (0.0, 0.0),
    materials: tuple[str, str] | None = None,
) -> None:
    """Draw friction and restitution of a pair of materials.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        static_friction_range: bounds of the coefficient of static friction.
        dynamic_friction_range: bounds of the coefficient of kinetic friction. A draw is limited to
            the static coefficient. The default is the static coefficient.
        restitution_range: bounds of the coefficient of restitution.
        materials: the pair. The default is each pair of a material of the robot and a material of a
            fixed shape.
    """
    static = state.random.uniform(worlds, *static_friction_range)[:, 0]
    kinetic = static
    if dynamic_friction_range is not None:
        kinetic = np.minimum(static, state.random.uniform(worlds, *dynamic_friction_range)[:, 0])
    restitution = state.random.uniform(worlds, *restitution_range)[:, 0]
    pairs = [materials] if materials else _pairs(state)
    for k, mu, sliding, bounce in zip(worlds.tolist(), static, kinetic, restitution):
        for a, b in pairs:
            state.batch.worlds[k].set_friction(a, b, mu, sliding, bounce)


def _pairs(state: TaskState) -> list[tuple[str, str]]:
    """Return the pairs of a material of the robot and a material of a fixed shape."""
    own = sorted({shape.material for shape in state.model.shapes})
    fixed = sorted({shape.material for shape in state.batch.worlds[0].fixed_shapes})
    return [(a, b) for a in own for b in fixed]


def randomize_rigid_body_mass(
    state: TaskState,
    worlds: np.ndarray,
    mass_distribution_params: Range,
    operation: str = "scale",
    link_names: Names | None = None,
) -> None:
    """Draw the masses of links. The inertias change in the same proportion.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        mass_distribution_params: bounds of the draws. A draw is a factor with "scale", and a mass
            [kg] with "add" and "abs".
        operation: "scale" multiplies the described mass by the draw, "add" adds the draw, and "abs"
            replaces the mass by the draw.
        link_names: regular expressions of links, with a draw for each link. By default one factor
            is drawn for the whole robot, which needs the operation "scale".
    """
    if link_names is None:
        require_name("operation without link_names", operation, ("scale",))
        factors = state.random.uniform(worlds, *mass_distribution_params)
        names = None
    else:
        names = [state.link_names[k] for k in state.links(link_names)]
        bodies = [state.model.frame(name).body for name in names]
        masses = state.model.system.mass[bodies]
        draws = state.random.uniform(worlds, *mass_distribution_params, len(names))
        factors = _changed(operation, masses[None], draws) / masses
    for k, row in zip(worlds.tolist(), factors):
        row = row if names is not None else row[0]
        state.batch.worlds[k].robots[state.robot_name].scale_inertias(row, names)


def randomize_actuator_gains(
    state: TaskState,
    worlds: np.ndarray,
    stiffness_distribution_params: Range | None = None,
    damping_distribution_params: Range | None = None,
    operation: str = "scale",
    joint_names: Names = EVERY,
    by_joint: bool = True,
) -> None:
    """Draw the gains of the joints' servos, relative to the task's gains.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        stiffness_distribution_params: bounds of the draws for kp. By default kp does not change.
        damping_distribution_params: bounds of the draws for kd. By default kd does not change.
        operation: "scale", "add" or "abs".
        joint_names: regular expressions of the joints.
        by_joint: whether to draw for each joint. Otherwise one draw acts on kp and kd of all
            joints.
    """
    at, gains = state.joints(joint_names), []
    columns = len(at) if by_joint else 1
    draws: np.ndarray | None = None
    bounds = stiffness_distribution_params, damping_distribution_params
    for own, ends in zip(state.gains, bounds):
        rows = np.tile(own[at], (state.count, 1))
        if ends is not None:
            if draws is None or by_joint:
                draws = state.random.uniform(worlds, *ends, columns)
            rows[worlds] = _changed(operation, rows[worlds], draws)
        gains.append(rows)
    names = [state.joint_names[k] for k in at]
    kp, kd = gains
    state.batch.set_gains(state.robot_name, kp, kd, names, worlds=worlds)
