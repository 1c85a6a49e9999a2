# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Results of the energy audit: balances for users, and a warning of energy gain in a body."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hrpsim.common.errors import ModelWarning
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.audit.records import DUE, REPORTED
from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

_MOST_NAMES = 3


@dataclass(frozen=True)
class EnergyFlow:
    """Energy that a world exchanged, created and lost over some steps [J].

    The energy of the world changes by work + created - dissipated + corrected.

    Attributes:
        work: work of actuators, motors, driven connections and users' wrenches.
        created: energy that the steps added without a physical cause. The energy oscillates about
            its mean, so the following steps remove most of this energy again, as part of
            `dissipated`.
        dissipated: energy taken by friction, dampers, impacts, the integrator and corrections.
        corrected: energy added by position corrections, which lift bodies out of others.
    """

    work: float
    created: float
    dissipated: float
    corrected: float


@dataclass(frozen=True)
class EnergyBalance:
    """Energy and energy balance of a world with `World(audit=True)`, after the last step [J].

    Attributes:
        kinetic: kinetic energy of all bodies and rotors. An elastic gear and the rotor behind it
            belong to the actuator.
        potential: energy of gravity, zero at the world's origin.
        elastic: energy of springs of joints and connections, compliant limits and compliant
            contacts.
        last_step: balance of the last step in which anything moved.
        since_reset: sum over the steps since the world was made or last reset.
        largest_gain: largest rise of the balance within one second, since the last reset. The rise
            is divided by the sum of the kinetic energy in that second and the work of inputs. A
            ModelWarning names a body without inputs whose gain is 1e-3 or more. The work of inputs
            has an error of second order.
        gaining: name of the robot or body with the largest gain, "" if there was no gain.
    """

    kinetic: float
    potential: float
    elastic: float
    last_step: EnergyFlow
    since_reset: EnergyFlow
    largest_gain: float
    gaining: str

    @property
    def total(self) -> float:
        """Sum of kinetic, potential and elastic energy [J]."""
        return self.kinetic + self.potential + self.elastic


def energy_of(scene: Scene, entities: Sequence[Entity]) -> EnergyBalance | None:
    """Return the energy and the energy balance, or None in a world without an energy audit."""
    trees, totals = scene.audit.trees, scene.audit.totals[0]
    if not len(trees):
        return None
    flows = ("work", "created", "dissipated", "corrected")
    largest = _by_gain(trees, np.arange(len(trees)))[0]
    gain = float(trees["gain_fraction"][largest])
    kinetic, potential, elastic = (
        float(trees[kind].sum()) for kind in ("kinetic", "potential", "elastic")
    )
    return EnergyBalance(
        kinetic,
        potential,
        elastic,
        last_step=EnergyFlow(*(float(totals[kind]) for kind in flows)),
        since_reset=EnergyFlow(*(float(totals[f"total_{kind}"]) for kind in flows)),
        largest_gain=gain,
        gaining=_owner(entities, int(largest)).name if gain > 0.0 else "",
    )


def warn_of_gains(
    scene: Scene, entities: Sequence[Entity], integrator: str, stacklevel: int
) -> None:
    """Warn of bodies that gained energy within a second without any input, once for each body."""
    trees, totals = scene.audit.trees, scene.audit.totals
    if not totals["due_count"][0]:
        return
    totals["due_count"] = 0
    due = _by_gain(trees, np.flatnonzero(trees["report"] == DUE))
    trees["report"][due] = REPORTED
    first, time_step = trees[due[0]], float(scene.settings["time_step"][0])
    owners = list(dict.fromkeys(_owner(entities, int(body)) for body in due))
    kind = "robot" if isinstance(owners[0], Robot) else "body"
    others = ", ".join(repr(owner.name) for owner in owners[1 : 1 + _MOST_NAMES])
    more = ", ..." if len(owners) > 1 + _MOST_NAMES else ""
    warnings.warn(
        f"{kind} {owners[0].name!r} gained {first['gain']:.3g} J within 1 s, "
        f"{100.0 * first['gain_fraction']:.2g} % of its kinetic energy, without any input"
        f"{f' (with it {others}{more})' if others else ''}: {_remedy(integrator, time_step)}",
        ModelWarning,
        stacklevel=stacklevel,
    )


def _by_gain(trees: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the chosen trees by decreasing gain. Trees with equal gains are ordered by motion."""
    order = np.lexsort((-trees["kinetic"][chosen], -trees["gain_fraction"][chosen]))
    return chosen[order]


def _owner(entities: Sequence[Entity], body: int) -> Entity:
    """Return the entity of a body of the scene."""
    return max((e for e in entities if e.first_body <= body), key=lambda e: e.first_body)


def _remedy(integrator: str, time_step: float) -> str:
    """Return advice to reduce the energy that steps create."""
    smaller = f"a time_step below {time_step:g} s"
    if INTEGRATORS[integrator].order == 1:
        return f"integrator 'semi_implicit' or 'rk4' keeps energy, {smaller} lowers the gain"
    other = "" if INTEGRATORS[integrator].is_staged else " or integrator 'rk4'"
    return f"use {smaller}{other}, or more damping if something vibrates"
