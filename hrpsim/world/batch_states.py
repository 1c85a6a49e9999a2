# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Gather the states of entities of one name, in all worlds of a batch, to contiguous arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import StateError
from hrpsim.engine.compile.compiled import kernel, prepared
from hrpsim.engine.compile.kernel_types import Indices, Matrix, Tensor
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.layout import make_public
from hrpsim.world.followed_entities import FollowedEntities, alike, array_for
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.robot_reader import LinkSources, read_link_poses, read_link_velocities

reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")


class KernelState(NamedTuple):
    """The state of an entity, in the kernels' layout."""

    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,)


@kernel
def gather_positions(
    example: KernelState, addresses: Indices, worlds: Indices, out: Matrix
) -> None:
    """Write the configurations (count, nq) of an entity in some worlds.

    example: the KernelState of any world, used for the type. addresses (count,): addresses of the
    KernelStates of all worlds. worlds (m,): numbers of worlds.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        q = reference_at(example, addresses[k]).q
        for j in range(q.shape[0]):
            out[k, j] = q[j]


@kernel
def gather_velocities(
    example: KernelState, addresses: Indices, worlds: Indices, forest: Forest, out: Matrix
) -> None:
    """Write the velocities (count, nv), public layout, of an entity in some worlds.

    example: the KernelState of any world, used for the type. addresses (count,): addresses of the
    KernelStates of all worlds. worlds (m,): numbers of worlds. forest: the common forest of the
    entities.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        state = reference_at(example, addresses[k])
        for j in range(state.velocity.shape[0]):
            out[k, j] = state.velocity[j]
        make_public(forest, state.q, out[k])


@kernel
def gather_link_poses(
    example: LinkSources,
    addresses: Indices,
    worlds: Indices,
    positions: Tensor,
    orientations: Tensor,
) -> None:
    """Write the poses of the links in the chosen worlds.

    Args:
        example: the LinkSources of any world. Only the type of this argument is used.
        addresses: addresses of the LinkSources of all worlds (count,).
        worlds: numbers of the chosen worlds (m,).
        positions: positions in all worlds (count, links, 3) [m]. The rows of the other worlds do
            not change.
        orientations: quaternions x y z w in all worlds (count, links, 4), written in the same way.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        read_link_poses(reference_at(example, addresses[k]), positions[k], orientations[k])


@kernel
def gather_link_velocities(
    example: LinkSources, addresses: Indices, worlds: Indices, linear: Tensor, angular: Tensor
) -> None:
    """Write the velocities of the links in the chosen worlds, along the world's axes.

    linear, angular (count, links, 3): velocities of the links' origins [m/s] and angular velocities
    [rad/s]. The other arguments are as in `gather_link_poses`.
    """
    for number in range(worlds.shape[0]):
        k = worlds[number]
        read_link_velocities(reference_at(example, addresses[k]), linear[k], angular[k])


_gather_link_poses = prepared(gather_link_poses)
_gather_link_velocities = prepared(gather_link_velocities)
_gather_positions, _gather_velocities = prepared(gather_positions), prepared(gather_velocities)


class BatchStates(FollowedEntities):
    """The states of the entities of one name, one entity in each world."""

    def q(self, out: np.ndarray | None, worlds: list[int] | None) -> np.ndarray:
        """Return the configurations (count, nq), written to `out` if given."""
        self.follow()
        out = self._array(out, self.entities[0].nq, worlds)
        _gather_positions(self.example, self.addresses, self.chosen(worlds), out)
        return out

    def v(self, out: np.ndarray | None, worlds: list[int] | None) -> np.ndarray:
        """Return the public velocities (count, nv), written to `out` if given."""
        self.follow()
        out, chosen = self._array(out, self.entities[0].nv, worlds), self.chosen(worlds)
        if self._alike:
            forest = self.entities[0].forest
            _gather_velocities(self.example, self.addresses, chosen, forest, out)
        else:
            for k in chosen:
                out[k] = self.entities[k].v
        return out

    def _reference_to(self, entity: Entity) -> TupleReference:
        return TupleReference(KernelState(entity._q(), entity._velocity()))

    def _compare(self) -> None:
        first = self.entities[0]
        self._sizes_differ = any((e.nq, e.nv) != (first.nq, first.nv) for e in self.entities)
        self._alike = all(alike(entity, first) for entity in self.entities)

    def _array(self, out: np.ndarray | None, width: int, worlds: list[int] | None) -> np.ndarray:
        """Return `out`, or a new array (count, width) if `out` is None."""
        if self._sizes_differ:
            raise StateError(
                f"{self._name!r} has different numbers of joints in different worlds. Read q and v"
                " in each of `worlds`"
            )
        return array_for(out, (len(self.entities), width), worlds)


class BatchLinks(FollowedEntities):
    """The links of the robots of one name, one robot in each world."""

    def poses(self, worlds: list[int] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of all links in the world.

        Returns:
            (positions (count, links, 3) [m], quaternions x y z w (count, links, 4)).
        """
        result = self._array(3, worlds), self._array(4, worlds)
        _gather_link_poses(self.example, self.addresses, self.chosen(worlds), *result)
        return result

    def velocities(self, worlds: list[int] | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocities of all links, along the world's axes.

        Returns:
            (velocities [m/s], angular velocities [rad/s]), each (count, links, 3).
        """
        result = self._array(3, worlds), self._array(3, worlds)
        _gather_link_velocities(self.example, self.addresses, self.chosen(worlds), *result)
        return result

    def _array(self, width: int, worlds: list[int] | None) -> np.ndarray:
        """Return a new array (count, links, width).

        Raises StateError if links differ between worlds.
        """
        self.follow()
        if len({len(entity.frames) for entity in self.entities}) > 1:
            raise StateError(
                f"{self._name!r} has different numbers of links in different worlds. Read"
                " `link_poses` in each of `worlds`"
            )
        shape = len(self.entities), len(self.entities[0].frames), width
        return array_for(None, shape, worlds)

    def _reference_to(self, entity: Robot) -> TupleReference:
        return entity.access.links
