# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run several controllers, each on a group of joints, and switch controllers without a jump."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.common.errors import require_name, unknown_name
from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
    period_of,
)
from hrpsim.control.framework.plugins import find_controller
from hrpsim.control.motion.motion_sequence import smooth_step
from hrpsim.model.model import Model

UNLOADED, UNCONFIGURED, INACTIVE = "unloaded", "unconfigured", "inactive"
ACTIVE, FINISHED = "active", "finished"
_ENTRY = ("controller", "joints", "parameters", "active", "loaded")
_PARAMETERS = ("members", "blend")


class Member:
    """One controller of a group, made from the controller's entry in the group's parameters.

    `mine` are the indices of the member's joints in the `names` of states and commands. `state` is
    UNLOADED, UNCONFIGURED, INACTIVE, ACTIVE or FINISHED (inactive, because the controller has
    nothing left to do). Raises ControllerError for an invalid entry.
    """

    def __init__(self, name: str, entry: Any, names: Sequence[str]) -> None:
        where = f"members.{name}"
        if not isinstance(entry, Mapping):
            raise ControllerError(f"{where} must be a mapping with keys from {', '.join(_ENTRY)}")
        refuse_unknown(f"entry of {where}", entry, _ENTRY)
        for needed in ("controller", "joints"):
            if needed not in entry:
                raise ControllerError(f"{where}: missing entry: {needed}")
        self.name = name
        self.plugin = str(entry["controller"])
        self.mine = _joint_indices(where, entry["joints"], names)
        self.begins_loaded = bool(entry.get("loaded", True))
        self.begins_active = bool(entry.get("active", self.begins_loaded))
        if self.begins_active and not self.begins_loaded:
            raise ControllerError(f"{where} is active but not loaded. Set loaded: true")
        self.controller: Controller | None = None
        self.state = UNLOADED
        self._parameters = dict(entry.get("parameters") or {})

    @property
    def active(self) -> bool:
        """Whether the member commands its joints."""
        return self.state == ACTIVE

    @property
    def is_configured(self) -> bool:
        """Whether the member is configured: it is active, or can be activated."""
        return self.state in (INACTIVE, ACTIVE, FINISHED)

    def load(self) -> None:
        """Construct the controller."""
        self.require("load", UNLOADED)
        self.controller = find_controller(self.plugin)()
        self.state = UNCONFIGURED

    def configure(self, model: Model) -> float:
        """Configure the controller for a model. Return the period of the controller [s]."""
        self.require("configure", UNCONFIGURED)
        self.controller.configure(model, dict(self._parameters))
        period = period_of(self.controller)
        self.state = INACTIVE
        return period

    def unload(self) -> None:
        """Stop and discard the controller."""
        self.require("unload", UNCONFIGURED, INACTIVE, FINISHED)
        self.controller.stop()
        self.controller, self.state = None, UNLOADED

    def stop(self) -> None:
        """Stop the controller, because the whole group stops."""
        if self.controller is not None:
            self.controller.stop()

    def require(self, action: str, *states: str) -> None:
        """Raise ControllerError unless the member is in one of the given states.

        The message names the action that needs one of these states.
        """
        if self.state not in states:
            raise ControllerError(
                f"cannot {action} {self.name!r}: it is {self.state}, not {' or '.join(states)}"
            )


class ControllerGroup(Controller):
    """Run controllers together. Each controller reads all states and commands its own joints.

    The parameters are:

    - `members`: {name: {controller: "module:Class", joints: patterns with * and ?, parameters: {},
      loaded: true, active: true}}.
    - `blend` [s]: time of a joint's transition from one controller's commands to another's (0.5). A
      longer `blend` makes transitions slower.

    Members must command positions. Velocities and efforts are feed-forward. Joints without an
    active member hold their last command. An activated member starts again (`initialize`), and
    other members with the same joints become inactive.

    Targets and their velocities are continuous at a switch. Within `blend`, the weight moves from
    the old trajectory to the new trajectory. The velocities are fed forward. A member that is not
    `loaded` at first can be loaded, configured and unloaded while others run.
    """

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.needs: Mapping[str, Any] = {}
        self._configured_once = False
        self._requested: list[tuple[Member, bool]] = []

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Make the members. Raises ControllerError for members that conflict."""
        refuse_unknown("parameter", parameters, _PARAMETERS)
        self._model, self._names = model, controlled_joints(model)
        members = parameters.get("members")
        if not isinstance(members, Mapping) or not members:
            raise ControllerError(
                "a group needs members. Give members: {NAME: {controller: ..., joints: ...}}"
            )
        self._blend = parameters.get("blend", 0.5)
        if not (isinstance(self._blend, (int, float)) and 0.0 <= self._blend <= 1e3):
            raise ControllerError(f"blend must be a time from 0 to 1000 s, got {self._blend!r}")
        self._period: float | None = None
        try:
            self.period = self._make_members(members)
        except BaseException:
            self.stop()
            raise
        self._configured_once = True

    def _make_members(self, given: Mapping[str, Any]) -> float:
        """Make all members. Load and configure the members that are loaded at first.

        Return the common period [s].
        """
        for name, entry in given.items():
            self.members[str(name)] = Member(str(name), entry, self._names)
        for name, member in self.members.items():
            if member.begins_loaded:
                self.load(name)
                self.configure_member(name)
        if self._period is None:
            raise ControllerError("all members of the group have loaded: false. Load at least one")
        self._refuse_overlap([m for m in self.members.values() if m.begins_active])
        return self._period

    def initialize(self, state: State) -> None:
        """Activate the initially active members, and make all other joints hold their positions."""
        count = len(self._names)
        self._target = np.array(state.joint_positions)
        self._speed = np.zeros(count)  # rates of the targets [rad/s or m/s]
        self._velocity, self._effort = np.zeros((2, count))  # feed-forward
        self._held_targets = self._target.copy()  # targets of joints without an active member
        self._since = np.full(count, np.inf)  # ticks since a change of member, inf: long ago
        self._left = np.zeros((4, count))  # target, rate, velocity and effort at that time
        for member in self.members.values():
            if member.state in (ACTIVE, FINISHED):
                member.state = INACTIVE
        self._requested = []
        for member in self.members.values():
            if member.begins_active and member.state == INACTIVE:
                self._begin(member, state)

    def control(self, state: State) -> Command:
        """Return the command that combines the active members' commands for their own joints."""
        for member, on in self._requested:
            self._switch(member, on, state)
        self._requested = []
        position, velocity, effort = self._held_targets.copy(), *np.zeros((2, len(self._names)))
        for member in self.members.values():
            if member.active:
                self._ask(member, state, position, velocity, effort)
        self._blend_in(position, velocity, effort)
        self._speed = (position - self._target) / self.period
        self._target, self._velocity, self._effort = position, velocity, effort
        return Command(position.copy(), velocity.copy(), effort.copy())

    def stop(self) -> None:
        """Stop all members."""
        for member in self.members.values():
            member.stop()

    def switch(self, name: str, on: bool) -> list[str]:
        """Activate or deactivate a member at the next tick.

        Return the members that are deactivated because they share joints with an activated member.

        Raises:
            ControllerError: for an unknown name, and for a member that is not configured.
        """
        return self.switch_several([name], []) if on else self.switch_several([], [name])

    def switch_several(self, on: Iterable[str], off: Iterable[str]) -> list[str]:
        """Deactivate members and activate others at the next tick. Return the replaced members.

        Nothing is switched after an error.

        Raises:
            ControllerError: for an unknown name, for a member that is not configured, and for two
                members to be activated that share a joint.
        """
        begin, end = self._configured("activate", on), self._configured("deactivate", off)
        self._refuse_overlap(begin)
        self._requested += [(member, False) for member in end]
        self._requested += [(member, True) for member in begin]
        rivals = {r.name for member in begin for r in self._rivals(member) if r not in end}
        return [name for name in self.members if name in rivals]

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints. The indices in `Member.mine` refer to these names."""
        return self._names

    def active_rivals(self, name: str) -> list[str]:
        """Return the active members that a member would replace."""
        return [rival.name for rival in self._rivals(self._member(name))]

    def load(self, name: str) -> None:
        """Construct a member's controller. Raises ControllerError on failure."""
        self._member(name).load()

    def configure_member(self, name: str) -> None:
        """Configure a loaded member. Raises ControllerError if the member conflicts with others.

        After an error the member stays unconfigured.
        """
        member = self._member(name)
        period = member.configure(self._model)
        if self._period is not None and period != self._period:
            member.unload()
            member.load()
            raise ControllerError(
                f"members have different periods: {name!r} {period:g} s, others {self._period:g} s"
            )
        try:
            self._join_needs(name, member.controller.needs)
        except ControllerError:
            member.unload()
            member.load()
            raise
        self._period = period

    def _join_needs(self, name: str, wanted: Mapping[str, Any]) -> None:
        """Add a member's needs to the group's needs. Raises ControllerError if they conflict."""
        joined = dict(self.needs)
        for need, value in wanted.items():
            if need == "contacts":
                joined[need] = sorted({*joined.get(need, ()), *value})
            elif joined.setdefault(need, value) != value:
                raise ControllerError(
                    f"members need different {need}: {name!r} {value!r}, others {joined[need]!r}"
                )
        if self._configured_once and joined != dict(self.needs):
            raise ControllerError(
                f"member {name!r} needs {', '.join(wanted)}, which no member needed at the start"
            )
        self.needs = joined

    def unload(self, name: str) -> None:
        """Stop and unload a member that is not active. The member can be loaded again."""
        self._member(name).unload()

    def _member(self, name: str) -> Member:
        require_name("member", name, self.members, ControllerError)
        return self.members[name]

    def _configured(self, action: str, names: Iterable[str]) -> list[Member]:
        members = [self._member(name) for name in names]
        for member in members:
            member.require(action, INACTIVE, FINISHED, ACTIVE)
        return members

    def _refuse_overlap(self, members: Sequence[Member]) -> None:
        for k, member in enumerate(members):
            for other in self._rivals(member, members[:k]):
                joint = self._names[np.intersect1d(member.mine, other.mine)[0]]
                raise ControllerError(
                    f"{other.name!r} and {member.name!r} both command {joint!r}: only one of "
                    "them can be active"
                )

    def _rivals(self, member: Member, among: Iterable[Member] | None = None) -> list[Member]:
        """Return the active members that share joints with a member.

        among: members to compare with, instead of the active members.
        """
        if among is None:
            among = [candidate for candidate in self.members.values() if candidate.active]
        others = (candidate for candidate in among if candidate is not member)
        return [other for other in others if np.intersect1d(other.mine, member.mine).size]

    def _switch(self, member: Member, on: bool, state: State) -> None:
        if on == member.active or (on and member.state not in (INACTIVE, FINISHED)):
            return  # already done, or unloaded since
        if on:
            for rival in self._rivals(member):
                self._end(rival)
            self._begin(member, state)
        else:
            self._end(member)
        self._leave(member.mine)

    def _begin(self, member: Member, state: State) -> None:
        member.controller.finished = False
        member.controller.initialize(state)
        member.state = ACTIVE

    def _end(self, member: Member) -> None:
        member.state = INACTIVE
        self._leave(member.mine)

    def _leave(self, joints: np.ndarray) -> None:
        """Record the last commands of joints, and start their transition.

        If no member commands a joint, its command ends at the present target.
        """
        commands = self._target, self._speed, self._velocity, self._effort
        self._left[:, joints] = np.stack(commands)[:, joints]
        self._held_targets[joints] = self._target[joints]
        self._since[joints] = 1.0

    def _ask(self, member: Member, state: State, position, velocity, effort) -> None:
        command, mine = member.controller.control(state), member.mine
        is_command = isinstance(command, Command)
        if not is_command or command.positions is None or command.modes is not None:
            raise ControllerError(f"member {member.name!r} of a group must command positions")
        for combined, part in zip((position, velocity, effort), command[:3]):
            if part is not None:
                values = np.asarray(part, dtype=float)
                if values.shape != combined.shape:
                    raise ControllerError(
                        f"member {member.name!r} must command {combined.size} joints, got "
                        f"{values.size}"
                    )
                combined[mine] = values[mine]
        if member.controller.finished:
            member.state = FINISHED
            self._leave(mine)
            self._held_targets[mine] = position[mine]  # the last command of the member

    def _blend_in(self, position, velocity, effort) -> None:
        """Blend the new commands of joints in transition with the fading old commands."""
        going = np.flatnonzero(self._since * self.period < self._blend)
        if going.size:
            x = self._since[going] * self.period / self._blend
            target, speed, old_velocity, old_effort = self._left[:, going]
            weight = smooth_step(x)
            rate = 30.0 * (x * (1.0 - x)) ** 2 / self._blend
            fading = (1.0 - x) ** 2 * (1.0 - 4.0 * x)  # the derivative of x (1 - x)^3
            old = target + speed * self._blend * x * (1.0 - x) ** 3
            gap = position[going] - old
            position[going] = old + weight * gap
            velocity[going] = (
                (1.0 - weight) * fading * old_velocity + weight * velocity[going] + rate * gap
            )
            effort[going] = (1.0 - weight) * old_effort + weight * effort[going]
        self._since += 1.0


def refuse_unknown(kind: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ControllerError if `given` has a key that is not in `known`."""
    for name in given:
        require_name(kind, name, known, ControllerError)


def _joint_indices(where: str, patterns: Any, names: Sequence[str]) -> np.ndarray:
    patterns = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(patterns, Sequence) or not patterns:
        raise ControllerError(f"{where}.joints must be a list of names or patterns with * and ?")
    indices: set[int] = set()
    for pattern in map(str, patterns):
        matched = [k for k, n in enumerate(names) if fnmatch.fnmatchcase(n, pattern)]
        if not matched:
            raise ControllerError(f"{where}: {unknown_name('joint', pattern, names)}")
        indices.update(matched)
    return np.array(sorted(indices))
