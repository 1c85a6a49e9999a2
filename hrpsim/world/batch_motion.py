# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The part of a batch that reads states and commands robots, many worlds in one call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.world.batch_arguments import BatchArguments
from hrpsim.world.batch_commands import BatchCommands
from hrpsim.world.batch_contacts import BatchContacts
from hrpsim.world.batch_states import BatchLinks, BatchStates


class BatchMotion(BatchArguments):
    """States and commands of the robots or bodies of one name."""

    _states: dict[str, BatchStates]
    _links: dict[str, BatchLinks]
    _commands: dict[str, BatchCommands]
    _contacts: dict[str, BatchContacts]

    def q(
        self,
        name: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the configurations (count, nq) of the robots or bodies called `name`.

        One kernel gathers the rows. The array is contiguous, so torch and jax take the array by
        `__dlpack__` without a copy. The next call with the same `out` changes these values too.

        Args:
            name: name of the robots or bodies.
            out: array (count, nq) of float64 to fill and return. The default is a new array.
            worlds: numbers of worlds, or a truth value for each world. The default is all worlds.
                Only rows of these worlds are written. Other rows of a new array are NaN.

        Raises:
            StateError: `out` does not fit, or the robots have different numbers of joints.
            WorldError: a world does not exist.
        """
        return self._states_of(name).q(out, self._numbers_of(worlds))

    def v(
        self,
        name: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the velocities (count, nv) of the robots or bodies called `name`.

        Args:
            name: name of the robots or bodies.
            out: array (count, nv) of float64 to fill and return. The default is a new array.
            worlds: as for `q`.
        """
        return self._states_of(name).v(out, self._numbers_of(worlds))

    def efforts(
        self,
        name: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the efforts of the actuators in the last step (count, joints) [Nm or N].

        The columns have the order of `Robot.joint_names`. One kernel gathers the rows.

        Args:
            name: name of the robots.
            out: array (count, joints) of float64 to fill and return. The default is a new array.
            worlds: as for `q`.

        Raises:
            StateError: `out` does not fit, or the robots have different joints.
            WorldError: a world does not exist.
        """
        return self._commands_of(name).efforts(out, self._numbers_of(worlds))

    def contact_forces(
        self,
        name: str,
        out: np.ndarray | None = None,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the sum of the contact forces on each link in the last step [N].

        The forces (count, links, 3) act on the links, along the world's axes. The links have the
        order of `Model.frames`. One kernel adds the forces of all worlds.

        Args:
            name: name of the robots or bodies.
            out: array (count, links, 3) of float64 to fill and return. The default is a new array.
            worlds: as for `q`.

        Raises:
            StateError: `out` does not fit, or the robots have different links.
            WorldError: a world does not exist.
        """
        if name not in self._contacts:
            self._contacts[name] = BatchContacts(self.worlds, "entities", name)
        return self._contacts[name].forces(out, self._numbers_of(worlds))

    def link_poses(
        self, name: str, worlds: Sequence[int] | np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of all links of the robots called `name`.

        The links have the order of `Model.frames`. One kernel reads the links of all worlds.

        Args:
            name: name of the robots.
            worlds: as for `q`.

        Returns:
            (positions (count, links, 3) [m], quaternions x y z w (count, links, 4)), new arrays.

        Raises:
            StateError: the robots have different numbers of links.
            WorldError: a world does not exist.
        """
        return self._links_of(name).poses(self._numbers_of(worlds))

    def link_velocities(
        self, name: str, worlds: Sequence[int] | np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocities of all links of the robots called `name`, along the world's axes.

        Arguments, order of the links and errors are the same as for `link_poses`.

        Returns:
            (velocities of the links' origins [m/s], angular velocities [rad/s]), each (count,
            links, 3).
        """
        return self._links_of(name).velocities(self._numbers_of(worlds))

    def place(
        self,
        name: str,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        *,
        worlds: Sequence[int] | np.ndarray | None = None,
    ) -> None:
        """Set configurations and velocities of the robots or bodies called `name`.

        Commands stay, as for `Robot.place`.

        Args:
            name: name of the robots or bodies.
            q: configurations (count, nq). The default leaves the configurations.
            v: velocities (count, nv). The default leaves the velocities.
            worlds: worlds to change, as for `q`. Each world uses its own row.

        Raises:
            StateError: the number of rows is wrong, or a row is refused. Worlds before the refused
                row have changed then.
            WorldError: a world does not exist.
        """
        positions = None if q is None else self._rows("q", q)
        velocities = None if v is None else self._rows("v", v)
        entities = self._called("entities", name)
        for k in self.numbers(worlds):
            if positions is not None:
                entities[k].place(positions[k])
            if velocities is not None:
                entities[k].v = velocities[k]

    def _numbers_of(self, worlds: Sequence[int] | np.ndarray | None) -> list[int] | None:
        return None if worlds is None else self.numbers(worlds)

    def _states_of(self, name: str) -> BatchStates:
        """Return the `BatchStates` of the robots or bodies called `name`."""
        if name not in self._states:
            self._states[name] = BatchStates(self.worlds, "entities", name)
        return self._states[name]

    def _links_of(self, name: str) -> BatchLinks:
        """Return the `BatchLinks` of the robots called `name`."""
        if name not in self._links:
            self._links[name] = BatchLinks(self.worlds, "robots", name)
        return self._links[name]

    def _commands_of(self, name: str) -> BatchCommands:
        """Return the `BatchCommands` of the robots called `name`."""
        if name not in self._commands:
            self._commands[name] = BatchCommands(self.worlds, "robots", name)
        return self._commands[name]

    def command(
        self,
        name: str,
        names: str | Sequence[str] | None = None,
        over: float = 0.0,
        *,
        worlds: Sequence[int] | np.ndarray | None = None,
        **values: ArrayLike | None,
    ) -> None:
        """Command the robots called `name`, each by one row, as `Robot.command` does.

        One kernel writes the rows of positions, velocities and efforts. The call does not copy
        arrays of float64. Nor does the call copy arrays of torch or jax that offer memory by
        `__dlpack__`.

        Args:
            name: name of the robots.
            names: joints, in the order of the columns. The default is all joints.
            over: time [s] over which position targets change.
            worlds: numbers of the worlds to command, or a truth value for each world. Each world
                uses its own row of the values. The default is all worlds.
            **values: positions, velocities, efforts, kp and kd, each (count, joints).

        Raises:
            StateError: the number of rows is wrong, or a robot refuses a row. No row of positions,
                velocities or efforts is written then.
            WorldError: a world does not exist.
        """
        rows = {target: self._rows(target, v) for target, v in values.items() if v is not None}
        chosen = self._numbers_of(worlds)
        commands = self._commands_of(name)
        if commands.accepts(rows, len(commands.indices(names))):
            floats = {k: np.ascontiguousarray(v, dtype=np.float64) for k, v in rows.items()}
            commands.command(floats, names, over, chosen)
            return
        robots = self._called("robots", name)
        for k in range(len(self)) if chosen is None else chosen:
            row = {target: array[k] for target, array in rows.items()}
            robots[k].command(names=names, over=over, **row)
