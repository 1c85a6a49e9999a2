"""The states of a world that one can return to: the start, rest, snapshots; and copies of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from hrpsim.errors import WorldError, shown_value
from hrpsim.step.late_kernels import provide_used
from hrpsim.world.results import Unmet
from hrpsim.world.settle import relax


class Keeping:
    """What `World` can do with states: settle, reset, snapshots, copies."""

    def __init__(self):
        self._identity = os.urandom(8).hex()  # copies have it too

    def settle(self, duration: float = 20.0, energy_tolerance: float = 1e-14) -> None:
        """Let everything come to rest under its present commands; time does not pass.

        What is at rest becomes the state that `reset` returns to. Raises WorldError, and changes
        nothing, if `duration` [s] of motion was not enough for the kinetic energy of a swing to
        fall to `energy_tolerance` [J].
        """
        start, sleeping = self.snapshot(), self.sleeping
        steps = self._steps_done
        self.sleeping = False
        try:
            settled = relax(self, int(duration / self.time_step), energy_tolerance)
        finally:
            self.sleeping = sleeping
        if not settled:
            self.restore(start)
            raise WorldError(f"the world did not come to rest within {duration:g} s of motion")
        self._steps_done = steps
        self._recall_convergence(start["convergence"])
        for part in self._with_state():
            part.keep_as_initial()

    def reset(self) -> None:
        """Return everything to the state it was added with or settled to, and time to zero."""
        self._refuse_while_stepping()
        self.scene  # noqa: B018  builds the arrays that initialise writes to
        self.wake()
        for part in self._with_state():
            part.initialise()
        self.refresh_exclusions()
        self.forget_contacts()
        self.scene.tally["wrench_count"] = 0
        self.scene.tally["contact_count"] = self.scene.tally["previous_count"] = 0
        self.scene.tally["impacts_cut"] = self.scene.tally["due"] = 0
        self.scene.tally["born_count"] = 0
        self.scene.islands.trees["rest_steps"] = 0
        self.scene.sensors["reading"] = 0.0
        self._steps_done = self._steps_before = 0
        self._unmet_in_call, self._unmet_since_reset = Unmet(), Unmet()

    def _with_state(self) -> tuple:
        """Return everything that keeps an initial state."""
        joined = (*self._connections.values(), *self._spring_hinges.values())
        return (*self._entities, *joined)

    def snapshot(self) -> dict[str, Any]:
        """Return all that the future depends on; `restore` continues from it bit for bit."""
        self._refuse_while_stepping()
        return {
            "world": self._identity,
            "parts": self._parts(),
            "convergence": (
                self._steps_before,
                replace(self._unmet_in_call),
                replace(self._unmet_since_reset),
            ),
            "sleep": self._sleep_state(),
            "arrays": [array.copy() for array in self._lasting()],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot of this world, or of one that it is a copy of.

        WorldError for another world's, and if anything came or went since.
        """
        self._refuse_while_stepping()
        if not isinstance(snapshot, Mapping) or "world" not in snapshot:
            raise WorldError(f"not a snapshot of a world: {shown_value(snapshot)}")
        if snapshot["world"] != self._identity:
            raise WorldError("the snapshot is another world's")
        if snapshot["parts"] != self._parts():
            raise WorldError(
                "the snapshot was taken with other robots, bodies or connections in the world"
            )
        self._prepare_sleep(snapshot["sleep"])
        for kept, array in zip(snapshot["arrays"], self._lasting(), strict=True):
            array[: len(kept)] = kept
        self._recall_convergence(snapshot["convergence"])
        self._resume_sleep()
        self.refresh_exclusions()

    def _recall_convergence(self, kept: tuple[int, Unmet, Unmet]) -> None:
        """Let the counts of steps that did not converge be those of a snapshot."""
        self._steps_before = kept[0]
        self._unmet_in_call, self._unmet_since_reset = replace(kept[1]), replace(kept[2])

    def copy(self):
        """Return an independent world in the same state; only robots' models are shared.

        `copy.copy` does the same.
        """
        self._refuse_while_stepping()
        return deepcopy(self, {id(robot.model): robot.model for robot in self.robots.values()})

    def __copy__(self):
        """Return an independent world: two that share arrays would ruin each other."""
        return self.copy()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the machine code of the step, which belongs to this process."""
        return self.__dict__ | {"_run": None, "_reference": None, "_reader": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Find the late kernels anew: another process has them elsewhere."""
        self.__dict__.update(state)
        if self._scene is not None:
            self._scene.late[:] = 0
            provide_used(self._scene)

    def _parts(self) -> tuple:
        return (
            tuple(entity.number for entity in self._entities),
            tuple(connection.number for connection in self._connections.values()),
            tuple(hinge.number for hinge in self._spring_hinges.values()),
        )

    def _lasting(self) -> tuple[np.ndarray, ...]:
        scene = self.scene
        return (
            scene.q,
            scene.velocity,
            scene.past_accelerations,
            scene.control,
            scene.joint_laws,
            scene.joint_holds,
            scene.joint_impulses,
            scene.joint_struck,
            scene.connections,
            scene.spring_hinges,
            scene.islands.trees,
            scene.collision.contacts,
            scene.collision.previous,
            scene.tally,
            scene.settings,
            scene.clock,
            scene.sensors,
            scene.wrenches,
        )
