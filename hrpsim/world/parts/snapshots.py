# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Saved states of a world: start, rest and snapshots, with the version of hrpsim."""

from __future__ import annotations

import hashlib
import operator
import os
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError, shown_value
from hrpsim.common.sealing import sealed
from hrpsim.engine.compile.fields import Life, at, declared_fields
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.parts.exclusions import Exclusions
from hrpsim.world.parts.part import Core

_RECORDS = [  # records of the last step
    path
    for path, field in declared_fields(Scene)
    if field.shape == (1,) and field.life is Life.STATE and path not in ("settings", "clock")
]


class SavedFormat(NamedTuple):
    """The version of hrpsim and a digest of the scene's field table, to reject other versions."""

    version: str
    fields: str

    def __reduce__(self) -> tuple[Any, ...]:
        """Make unpickling refuse data saved by another version."""
        return _unpickled, tuple(self)


def _unpickled(version: str, fields: str) -> SavedFormat:
    refuse_other_format("world or snapshot", (version, fields))
    return saved_format()


@cache
def saved_format() -> SavedFormat:
    """Return the format of data saved by this version of hrpsim."""
    from hrpsim.common.version import __version__

    table = [(path, field.dtype.descr, str(field.shape)) for path, field in declared_fields(Scene)]
    return SavedFormat(__version__, hashlib.sha256(repr(table).encode()).hexdigest()[:16])


def refuse_other_format(what: str, saved: tuple[str, str] | None) -> None:
    """Raise WorldError unless `what` was saved by this version of hrpsim.

    saved: the recorded format. Old versions recorded None. Worlds and snapshots are states of one
    version and are not converted.
    """
    present = saved_format()
    if saved == present:
        return
    if not isinstance(saved, tuple) or len(saved) != len(present):
        saved = None
    theirs = "an earlier version" if saved is None else f"version {saved[0]}"
    if saved is not None and saved[0] == present.version:
        theirs = f"another revision of version {saved[0]}"
    raise WorldError(
        f"the {what} was saved by {theirs} of hrpsim. Its state has other fields than in "
        f"this version, {present.version}. Load the {what} with that version, or make a new one"
    )


class Snapshot(dict[str, Any]):
    """A snapshot of a world, for `World.restore`. Do not change a snapshot.

    Changes are detected by a checksum of the arrays and by copies of the other contents.
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        super().__init__(parts)
        self._parts = tuple(parts.items())
        self._arrays = tuple(self["arrays"])
        self._checksum = _checksum_of(self["arrays"])

    def is_whole(self) -> bool:
        """Return whether the snapshot is unchanged."""
        names = tuple(self) == tuple(name for name, _ in self._parts)
        if not (names and all(self[name] is part for name, part in self._parts)):
            return False
        arrays = self["arrays"]
        same = len(arrays) == len(self._arrays) and all(map(operator.is_, arrays, self._arrays))
        return same and _checksum_of(arrays) == self._checksum

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the snapshot with a checksum."""
        return sealed("snapshot", self["format"], _Parts(self))


class _Parts:
    """The parts of a snapshot in a pickle."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.parts = dict(snapshot)

    def __reduce__(self) -> tuple[Any, ...]:
        """Make unpickling return a snapshot."""
        return Snapshot, (self.parts,)


def _checksum_of(arrays: Iterable[np.ndarray]) -> int:
    result = 0
    try:
        for array in arrays:
            result = zlib.crc32(array, result)
    except (TypeError, ValueError, BufferError):  # no arrays, or views of other arrays
        return -1
    return result


class Snapshots(Exclusions):
    """Mixin of World: saved states."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._identity = os.urandom(8).hex()  # the same in copies

    def _keep_as_initial(self) -> None:
        """Save the present state as the state that `reset` restores."""
        for part in self._contents.with_initial_state:
            part.keep_as_initial()

    def reset(self) -> None:
        """Return all objects to their initial or settled state, and set time to zero."""
        self._contents.refuse_while_stepping()
        scene = self._scenes.scene  # initialise writes to it
        self._sleep.wake()
        for part in self._contents.with_initial_state:
            part.initialise()
        self.refresh_exclusions()
        self._scenes.forget_contacts()
        scene = self._scenes.scene
        for record in _RECORDS:
            at(scene, record)[:] = 0
        scene.search["candidate_count"] = scene.step_stats["worst_row"] = -1
        scene.rests["rest_steps"] = 0
        scene.audit.trees[:] = 0
        scene.sensors["reading"] = scene.past_readings[:] = 0.0
        self._contents.clock[0] = 0
        for sampler in self._contents.samplers:
            sampler.forget()
        self._convergence.reset()

    def snapshot(self) -> Snapshot:
        """Return a snapshot of all data that the future motion depends on.

        `restore` continues from the snapshot bit for bit.
        """
        self._contents.refuse_while_stepping()
        return Snapshot(
            {
                "format": saved_format(),
                "world": self._identity,
                "parts": self._parts(),
                "convergence": self._convergence.copy(),
                "sleep": self._sleep.state(),
                "fixed": tuple(self._contents.fixed_numbers),
                "inertias": tuple(entity._inertias for entity in self._contents.entities),
                "samples": tuple(sampler.state() for sampler in self._contents.samplers),
                "frames": tuple(frame.placement for frame in self._contents.frames.values()),
                "arrays": self._scenes.lasting_arrays(),
            }
        )

    def _refuse_other(self, snapshot: Any) -> None:
        """Raise WorldError unless the argument is an unchanged snapshot of this world."""
        if not isinstance(snapshot, Mapping) or "world" not in snapshot:
            raise WorldError(
                f"snapshot must be from `snapshot()` of a world, got {shown_value(snapshot)}"
            )
        refuse_other_format("snapshot", snapshot.get("format"))
        if not (isinstance(snapshot, Snapshot) and snapshot.is_whole()):
            raise WorldError(
                "the snapshot was changed after `snapshot()` returned it. Restore an unchanged one"
            )
        if snapshot["world"] != self._identity:
            raise WorldError("the snapshot belongs to another world")
        if snapshot["parts"] != self._parts():
            raise WorldError(
                "the snapshot was taken with other robots, bodies or connections in the world"
            )
        if not set(snapshot["fixed"]) <= set(self._contents.fixed_numbers):
            raise WorldError("the snapshot was taken with a fixed shape that was removed since")

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot of this world, or of the world from which this world was copied.

        Properties that are not part of the state do not change: gains, inertias, friction. Fixed
        shapes that were added after the snapshot stay in the world, and wake all bodies.

        Raises:
            WorldError: the snapshot belongs to another world or another version of hrpsim, or was
                changed. Robots, bodies or connections were added or removed after the snapshot, or
                a fixed shape was removed.
        """
        self._contents.refuse_while_stepping()
        self._refuse_other(snapshot)
        self._scenes.scene  # noqa: B018  builds the arrays with all fixed shapes
        self._sleep.prepare(snapshot["sleep"])
        self._scenes.restore(snapshot["arrays"])
        self._convergence.restore(snapshot["convergence"])
        self._sleep.resume()
        if len(snapshot["fixed"]) < len(self._contents.fixed):
            self._sleep.renumber_shapes(self._present_numbers(snapshot["fixed"]))
            self._sleep.wake()
        for entity, inertias in zip(self._contents.entities, snapshot["inertias"], strict=True):
            entity.forget_momentum_of(inertias)
        for robot in self._contents.robots.values():
            robot.restore_gains()
        for sampler, state in zip(self._contents.samplers, snapshot["samples"], strict=True):
            sampler.restore(state)
        for frame, placement in zip(
            self._contents.frames.values(), snapshot["frames"], strict=True
        ):
            frame.put(placement)
        self.refresh_exclusions()

    def _present_numbers(self, fixed: tuple[int, ...]) -> np.ndarray:
        """Return the present numbers of the shapes that an earlier scene had, fixed shapes first.

        fixed: `fixed_numbers` of the earlier contents.
        """
        present = self._contents.fixed_numbers
        moving = np.arange(len(present), len(self._scenes.owners))
        return np.concatenate([np.searchsorted(present, fixed), moving]).astype(np.int64)

    def _parts(self) -> tuple:
        contents = self._contents
        collections = contents.entities, contents.connections.values()
        numbers = tuple(tuple(part.number for part in parts) for parts in collections)
        actuators = tuple(tuple(r.acting_actuators) for r in contents.robots.values())
        return numbers, actuators, tuple(contents.frames)
