# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find a state of rest by dynamic relaxation with kinetic damping.

A robot that is put down with its joints at their targets sinks into its gains and sways for
seconds. Here the world moves as it always does, but loses all velocity whenever its kinetic energy
passes a peak, which is where a swing passes its equilibrium; a few swings are then enough.
"""

from __future__ import annotations

from typing import Protocol

from hrpsim.dynamics.articulated import place_inertias
from hrpsim.dynamics.recursive import kinetic_energy
from hrpsim.jit.compiled import kernel, prepared
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.step.arrays import Scene


@kernel
def _energy(forest, q, velocity, kinematics, articulated):
    """Return the kinetic energy of a forest, from its state alone [J]."""
    update_poses(forest, q, kinematics)
    update_velocities(forest, velocity, kinematics)
    place_inertias(forest, kinematics, articulated)
    return kinetic_energy(forest, kinematics, articulated, velocity)


_energy_of = prepared(_energy)  # the arrays of all scenes are of the same kinds


class Moving(Protocol):
    """A world, as far as settling needs it."""

    @property
    def scene(self) -> Scene:
        """The arrays that steps work on."""

    def step(self) -> None:
        """Advance by a step."""


def world_kinetic_energy(world: Moving) -> float:
    """Return the kinetic energy of everything, rotors included [J]."""
    s = world.scene
    return float(_energy_of(s.forest, s.q, s.velocity, s.kinematics, s.articulated))


def relax(world: Moving, step_limit: int, energy_tolerance: float) -> bool:
    """Step until the peak of kinetic energy [J] of a swing is within the tolerance; return success.

    Velocities end as zero. A swing that lasts under three steps is noise and not taken for one.
    """
    previous, peak_age = 0.0, 0
    for _ in range(step_limit):
        world.step()
        kinetic = world_kinetic_energy(world)
        peak_age += 1
        if kinetic < previous and peak_age >= 3:
            _stop(world)
            if previous <= energy_tolerance:
                return True
            previous, peak_age = 0.0, 0
        else:
            previous = kinetic
    _stop(world)
    return False


def _stop(world: Moving) -> None:
    """Set all velocities to zero, and drop the results of the steps before."""
    scene = world.scene
    scene.velocity[:] = 0.0
    scene.past_accelerations[:] = 0.0
    scene.momentum.trees["is_known"] = 0
