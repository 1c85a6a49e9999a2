# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a step that ends early asks for: room, sleep, waking; or why it cannot be done."""

from __future__ import annotations

from hrpsim.errors import WorldError
from hrpsim.step.scene.status import DIVERGED, DONE, FALLS_ASLEEP, SINGULAR, TOO_STIFF, WAKES
from hrpsim.world.arrays.capacity import grow
from hrpsim.world.parts.failure import why_step_failed
from hrpsim.world.parts.part import Part


class Interruptions(Part):
    """Serves what interrupts the compiled step."""

    def serve(self, status: int) -> None:
        """Do what the step that ended with `status` asks for; WorldError if that is nothing."""
        scene, contents = self._scenes.present, self._contents
        if status in (SINGULAR, DIVERGED, TOO_STIFF):
            naming, time = self._scenes.naming(), int(contents.clock[0]) * contents.time_step
            raise WorldError(why_step_failed(scene, contents.entities, naming, status, time))
        if status == FALLS_ASLEEP:
            self._sleep.fall_asleep()
            scene.step_stats["due"] = DONE
        elif status == WAKES:
            self._sleep.wake_shape(int(scene.step_stats["needed"][0]))
        else:
            self._scenes.present = grow(scene, status)
