# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cooperative callbacks: a long callback pauses regularly to let other callbacks run.

Turns run in a separate callback group. In a shared group rclpy would block other callbacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hrpsim.common.errors import WorldError
from hrpsim.engine.compile.lazy_kernels import KernelsAbsent
from hrpsim.ros.core.simulation import Simulation

TURN = 0.02  # [s, wall]
_Result = TypeVar("_Result")


class NextTurn:
    """An awaitable. The callback continues in the next turn of the executor."""

    def __await__(self):
        yield


async def when_compiled(simulation: Simulation, action: Callable[[], _Result]) -> _Result:
    """Return `action()`. If the action lacks kernels, repeat it after they are compiled.

    Raises WorldError if the state of the simulation was replaced meanwhile.
    """
    era = simulation.era
    while True:
        try:
            return action()
        except KernelsAbsent:
            while simulation.kernels.is_busy:
                simulation.kernels.wait(TURN)
                await NextTurn()
                _require_same(simulation, era)


async def make_steps(simulation: Simulation, steps: int) -> None:
    """Make steps of a paused simulation, then publish its state.

    Raises WorldError if a step fails, if the simulation is resumed, or if its state is replaced
    meanwhile. The error states the number of steps that were made.
    """
    simulation.contents.require_world()
    era, made = simulation.era, 0

    def advance() -> None:  # other requests may make steps between two turns
        nonlocal made
        start = simulation.clock.steps
        try:
            simulation.advance(steps - made, longest=TURN)
        finally:
            made += simulation.clock.steps - start

    try:
        while True:
            await when_compiled(simulation, advance)
            if made == steps:
                break
            _require_same(simulation, era)
            await NextTurn()
            _require_same(simulation, era)
            if not simulation.paused:
                raise WorldError("the simulation was resumed in the meantime")
    except WorldError as error:
        raise WorldError(f"made {made} of {steps} steps: {error}") from error
    finally:
        if simulation.era == era:
            simulation.publish_last()


def _require_same(simulation: Simulation, era: int) -> None:
    if simulation.is_ending:
        raise WorldError("the node is ending")
    if simulation.era != era:
        raise WorldError("another state of the world was set in the meantime")
