# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Do a step up to the solution of its constraint rows, to obtain a test problem for solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.dynamics.response import constrained_velocities
from hrpsim.engine.spatial.vector import copy_vector
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.motion.unconstrained_motion import unconstrained_dynamics
from hrpsim.engine.step.rows.prepare_rows import prepare_rows
from hrpsim.engine.step.scene.status import DONE
from hrpsim.engine.step.step import begin_step, find_contacts, forward_kinematics
from hrpsim.world.arrays.change import grow

if TYPE_CHECKING:
    from hrpsim.world.world import World


@kernel
def _prepare(s: Scene) -> int:
    """Do a step up to its constraint rows. Return the status of the step.

    The velocities of the constrained bodies are set to the unconstrained velocities.
    """
    begin_step(s)
    forward_kinematics(s)
    status = find_contacts(s)
    if status == DONE:
        status = unconstrained_dynamics(s)
    if status == DONE:
        status = prepare_rows(s)
    if status == DONE:
        change, dt = s.work.change, s.settings[0].time_step
        for k in range(change.shape[0]):
            change[k] = s.velocity[k] + dt * s.work.dv[k]
        constrained_velocities(
            s.forest, s.kinematics, change, s.counts[0].constrained_count, s.constrained
        )
    copy_vector(s.start.q, s.q)
    copy_vector(s.start.velocity, s.velocity)
    return status


def prepared(world: World) -> Scene:
    """Return the scene of a semi-implicit world just before the solution of its next step."""
    while (status := _prepare(TupleReference(world.scene))) != DONE:
        world._scenes.present = grow(world.scene, status)
    return world.scene
