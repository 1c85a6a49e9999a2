# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measured motions of a robot or body, together with the commands."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hrpsim.common.errors import (
    FitError,
    FitWarning,
    require_different,
    require_name,
    require_names,
)
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import as_numbers
from hrpsim.fitting.recordings.command_table import first_command, held_commands
from hrpsim.fitting.recordings.recording_checks import check_recording, check_times, repeats
from hrpsim.fitting.signals.bound_signal import BoundSignal
from hrpsim.fitting.signals.encoders import encoder_offsets
from hrpsim.fitting.signals.signal import Signal
from hrpsim.fitting.signals.signal_kind import DELAY
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

# The compared quantities and their units.
KINDS = {
    "position": "rad or m",  # of joints
    "velocity": "rad/s or m/s",
    "base_position": "m",
    "base_rotation": "rad",
    "base_velocity": "m/s",
    "base_turning": "rad/s",
}
POSITIONS = ("position", "base_position", "base_rotation")
COMMANDS = ("positions", "velocities", "efforts")
SAMPLES = ("time", "positions", "velocities", "base", "base_velocity")
# The columns of each array: none, a number, or the field with the names of the columns.
_SHAPES: dict[str, str | int | None] = {"time": None, "command_time": None}
_SHAPES |= {"positions": "joints", "velocities": "joints", "base": 7, "base_velocity": 6}
_SHAPES |= {f"command_{key}": "command_joints" for key in COMMANDS}
_KINDS: dict[str, Any] = {"joints": Sequence[str], "command_joints": Sequence[str] | None}
_KINDS |= {"signals": Sequence[Signal], "name": str, "entity": str | None}
_KINDS |= {"interpolate": bool, "held_out": bool}
_QUATERNION_SLACK = 0.1  # relative error of the length, for rounding in files
_LEAST_COVER = 0.5  # least fraction of the samples within the time of the commands


def check_turns(what: str, quaternions: np.ndarray) -> None:
    """Raise FitError if a row of `quaternions` (n, 4) does not represent a rotation."""
    lengths = np.linalg.norm(quaternions, axis=1)
    wrong = np.flatnonzero(np.abs(lengths - 1.0) > _QUATERNION_SLACK)
    if wrong.size:
        k = int(wrong[0])
        raise FitError(
            f"{what}: the quaternion of sample {k} must have length 1, got {lengths[k]:.3g}"
        )


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples of the motion of one robot or body, with its commands. All times are of one clock.

    Samples that repeat the previous sample, as from a paused simulation, are left out. Samples
    before the first command of a joint are left out with a warning.

    Args:
        time: times of the samples (n,) [s], increasing.
        joints: names of the measured joints, in the order of columns.
        positions: positions of joints (n, joints) [rad or m].
        velocities: velocities of joints (n, joints) [rad/s or m/s]. By default, velocities are
            computed from positions, and are not compared.
        base: position [m] and quaternion x y z w of a free base or body (n, 7).
        base_velocity: linear [m/s] and angular [rad/s] velocity in the base frame (n, 6). By
            default, the velocity is computed from `base`.
        command_time: times of the commands (m,) [s]. Each command acts until the next.
        command_joints: names of the commanded joints. The default is `joints`.
        command_positions: (m, command joints) [rad or m].
        command_velocities: (m, command joints) [rad/s or m/s].
        command_efforts: (m, command joints) [Nm or N]. NaN in a command means that a value is not
            given. If all values of a joint are NaN, the joint keeps its command.
        signals: signals of sensors, with times of the same clock.
        interpolate: whether position targets move linearly between commands, as with controllers of
            hrpsim, and reach each target at the time of the next command. By default targets jump.
        name: name for reports.
        entity: the robot or body. The default is the entity of the fit.
        held_out: whether the recording is only predicted, not fitted to.

    Raises:
        FitError: array shapes do not match, values are not finite, times do not increase, or
            commands and samples do not overlap in time.
    """

    time: np.ndarray
    joints: tuple[str, ...] = ()
    positions: np.ndarray | None = None
    velocities: np.ndarray | None = None
    base: np.ndarray | None = None
    base_velocity: np.ndarray | None = None
    command_time: np.ndarray | None = None
    command_joints: tuple[str, ...] | None = None
    command_positions: np.ndarray | None = None
    command_velocities: np.ndarray | None = None
    command_efforts: np.ndarray | None = None
    signals: tuple[Signal, ...] = ()
    interpolate: bool = False
    name: str = "recording"
    entity: str | None = None
    held_out: bool = False

    def __post_init__(self) -> None:
        put = object.__setattr__  # the class is frozen
        for field, kind in _KINDS.items():
            require_fit(f"Recording.{field}", getattr(self, field), kind, FitError)
        put(self, "joints", tuple(map(str, self.joints)))
        named = self.joints if self.command_joints is None else self.command_joints
        put(self, "command_joints", tuple(map(str, named)))
        put(self, "signals", tuple(self.signals))
        names = [signal.name for signal in self.signals]
        require_different("signals", names, FitError, where=f"{self.name}: ")
        if self.positions is None and self.base is None:
            raise FitError(
                f"{self.name}: needs positions of joints or poses of a base, got neither"
            )
        for field, width in _SHAPES.items():
            if (array := getattr(self, field)) is not None:
                columns = len(getattr(self, width)) if isinstance(width, str) else width
                put(self, field, self._checked(field, array, columns))
        if self.base is not None:
            check_turns(f"{self.name}: base", self.base[:, 3:])
        commands = [f"command_{key}" for key in COMMANDS]
        self._keep(~repeats(self.time, [*self._arrays(SAMPLES[1:]).values()]))
        check_times(f"{self.name}: time", self.time)
        self._check_clocks()
        self._hold_commands(commands)

    def _arrays(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        arrays = {name: getattr(self, name) for name in names}
        return {name: array for name, array in arrays.items() if array is not None}

    def _keep(self, chosen: np.ndarray) -> None:
        for name, array in self._arrays(SAMPLES).items():
            object.__setattr__(self, name, array[chosen])

    def _hold_commands(self, names: Sequence[str]) -> None:
        """Expand commands of some joints to all joints, from the first command of each joint on."""
        if self.command_time is None:
            return
        label, fields = f"{self.name}: command_time", self._arrays(names)
        check_times(label, self.command_time, repeated=True)
        time, fields = held_commands(label, self.command_time, fields)
        first, fields = first_command(self.name, time, fields, self.command_joints)
        for name, array in {"command_time": time, **fields}.items():
            object.__setattr__(self, name, array)
        early = self.time < first
        if early.mean() > 1.0 - _LEAST_COVER:
            raise FitError(
                f"{self.name}: the first command of a joint is at {first:.9g} s, but samples begin "
                f"at {self.time[0]:.9g} s. Give a later begin, or earlier commands"
            )
        if early.any():
            warnings.warn(
                f"{self.name}: {early.sum()} samples before the first command are left out",
                FitWarning,
                stacklevel=4,
            )
            self._keep(~early)

    def _checked(self, what: str, given, columns: int | None) -> np.ndarray:
        array = as_numbers(f"{self.name}: {what}", given, FitError).copy()
        is_command = what.startswith("command_")
        rows = self.command_time if is_command else self.time
        shape: tuple[int, ...] = (array.size,)
        if columns is not None:
            if rows is None:
                raise FitError(f"{self.name}: {what} need command_time")
            shape = (len(rows), columns)
        if array.shape != shape or array.size == 0:
            raise FitError(f"{self.name}: {what} must have shape {shape}, got {array.shape}")
        may_lack = is_command and columns is not None
        wrong = np.argwhere(np.isinf(array) if may_lack else ~np.isfinite(array))
        for at in wrong[:1].tolist():
            of = self._column_of(what, *at[1:])
            raise FitError(f"{self.name}: {what}{of} in sample {at[0]} is {array[tuple(at)]}")
        return array

    def _column_of(self, what: str, column: int | None = None) -> str:
        """Return " of 'joint'" for a column of an array with one column per joint, else ""."""
        names = self.command_joints if what.startswith("command_") else self.joints
        if column is None or not names or "base" in what:
            return ""
        return f" of {names[column]!r}"

    def _check_clocks(self) -> None:
        if self.command_time is None:
            return
        if self.interpolate and len(self.command_time) < 2:
            raise FitError(f"{self.name}: interpolate needs at least two commands")
        if all(getattr(self, f"command_{key}") is None for key in COMMANDS):
            raise FitError(
                f"{self.name}: command_time is given, but no commands. Give both, or neither"
            )
        first, last = self.command_time[[0, -1]]
        gap = np.diff(self.command_time).max(initial=0.0)
        within = (self.time >= first) & (self.time <= last + gap + 1.0)
        if within.mean() < _LEAST_COVER:
            raise FitError(
                f"{self.name}: the clocks do not overlap. Samples are from {self.time[0]:.9g} to "
                f"{self.time[-1]:.9g} s, commands from {first:.9g} to {last:.9g} s"
            )

    def part(self, begin: float = -np.inf, end: float = np.inf, **changes) -> Recording:
        """Return the part of the recording within a time span. Optionally change other fields.

        Args:
            begin: first time [s].
            end: last time [s].
            **changes: new values by field.

        Raises:
            FitError: no sample lies in the span.
        """
        chosen = (self.time >= begin) & (self.time <= end)
        if not chosen.any():
            raise FitError(f"{self.name}: no sample lies between {begin:g} and {end:g} s")
        cut = {field: array[chosen] for field, array in self._arrays(SAMPLES).items()}
        return replace(self, **cut, **changes)


class BoundRecording:
    """A recording in the state coordinates of a world's robot or body.

    Attributes:
        q: configurations (n, nq), NaN for quantities that were not measured.
        v: velocities (n, nv), NaN for quantities that were not measured.
        compared: the compared kinds of quantities.
        q_of_starts, v_of_starts: indices of the joints whose initial states a fit may change.
            Joints that were not measured are included.
        is_whole: whether the whole state of the world was measured. The windows are then
            independent of each other.
    """

    def __init__(self, recording: Recording, world: World, entity: str | None) -> None:
        self.recording, self.time, self.name = recording, recording.time, recording.name
        if len(self.time) < 2:
            raise FitError(f"{self.name}: at least two samples are needed")
        self.entity = self._find_entity(world, entity)
        thing = world.entities[self.entity]
        self.q, self.v = (np.full((len(self.time), k), np.nan) for k in (thing.nq, thing.nv))
        robot = thing if isinstance(thing, Robot) else None
        self.free = robot is None or robot.model.base == "free"
        self._check_joints(robot)
        check_recording(recording, robot)
        self.compared: dict[str, np.ndarray] = {}  # columns of v, by kind
        self.q_of = self.q_of_starts = self.v_of_starts = np.zeros(0, dtype=int)
        if self.free:
            self._place_base()
        if robot is not None and recording.positions is not None:
            indices = robot.joint_index.indices(recording.joints)
            self.q_of = robot.joint_index.q[indices]
            self.v_of = robot.joint_index.v[indices]
            self.q[:, self.q_of] = recording.positions
            self._place("velocity", self.v_of, recording.velocities, recording.positions)
            self.compared["position"] = self.v_of
        if robot is not None:
            moves = robot.model.system.mimic_dof[robot.joint_index.v] < 0
            self.q_of_starts = robot.joint_index.q[moves]
            self.v_of_starts = robot.joint_index.v[moves]
        self.signals: list[BoundSignal] = []
        self.encoders = np.zeros(len(self.q_of))  # offsets of the encoders
        count = sum(each.nv for each in world.entities.values())
        self.is_whole = self.v.shape[1] == count and not np.isnan(self.v).any()

    def _find_entity(self, world: World, entity: str | None) -> str:
        """Return the robot or body of the recording. Raises FitError if the name is unknown."""
        name = self.recording.entity or entity
        if name is None:
            raise FitError(f"{self.name}: name the robot or body of the recording (`entity`)")
        require_name("entity", name, world.entities, FitError, where=self.name)
        return name

    def bind_signals(self, world: World, delays: Mapping[str, tuple[float, float]]) -> None:
        """Bind the signals to sensors, joints or links of a world.

        Args:
            world: a world with the entity of the recording.
            delays: smallest and largest possible delay, by path [s].

        Raises:
            FitError: the entity lacks a sensor, joint or link, or the times of a signal do not
                overlap with the samples.
        """
        for signal in self.recording.signals:
            known = signal.known.get(DELAY, 0.0)
            ends = delays.get(signal.path(DELAY), (known, known))
            if (
                not len(signal.time)
                or signal.time[-1] < self.time[0]
                or signal.time[0] > self.time[-1]
            ):
                raise FitError(
                    f"{self.name}: signal {signal.name} has no samples from {self.time[0]:.9g} to "
                    f"{self.time[-1]:.9g} s, the time of the states"
                )
            self.signals.append(BoundSignal(signal, world, self.entity, ends))

    def with_encoders(self, values: Mapping[str, float]) -> BoundRecording:
        """Subtract the offsets of encoders from measurements and commands.

        values: values of unknowns by path, including the offsets of encoders.
        """
        joints = self.recording.joints
        offsets = encoder_offsets(values, joints)
        if not offsets.any():
            return self
        changed, own = copy(self), self.recording
        changed.encoders, changed.q = offsets, self.q.copy()
        changed.q[:, self.q_of] -= offsets
        if own.command_positions is not None:
            commands = copy(own)
            of_commands = encoder_offsets(values, own.command_joints or ())
            object.__setattr__(commands, "command_positions", own.command_positions - of_commands)
            changed.recording = commands
        return changed

    def columns(self) -> list[tuple[str, np.ndarray]]:
        """Return each compared kind of quantity with its columns of v, in the order of KINDS."""
        return [(kind, self.compared[kind]) for kind in KINDS if kind in self.compared]

    def _check_joints(self, robot: Robot | None) -> None:
        known = () if robot is None else robot.joint_names
        recording = self.recording
        joints = (*recording.joints, *(recording.command_joints or ()))
        require_names("joint", joints, known, FitError, where=self.name)
        if robot is not None and recording.velocities is None:
            model = robot.model
            balls = [name for name in recording.joints if model.system.ball[model.joint(name).body]]
            if balls:
                raise FitError(
                    f"{self.name}: parts of ball joints need velocities (the angular velocity in"
                    f" the moved body): {', '.join(balls)}"
                )
        missing = [joint for joint in known if joint not in recording.joints]
        if missing:
            warnings.warn(
                f"{self.name}: joints without measurements keep their simulated state from one "
                f"window to the next: {', '.join(missing)}",
                FitWarning,
                stacklevel=2,
            )
        if self.free and recording.base is None:
            raise FitError(
                f"{self.name}: {self.entity!r} has a free base, so poses of the base are needed"
            )
        if not self.free and recording.base is not None:
            raise FitError(
                f"{self.name}: {self.entity!r} has no free base. Leave out the poses of the base"
            )

    def _place_base(self) -> None:
        from scipy.spatial.transform import Rotation

        recording = self.recording
        self.q[:, :7] = recording.base
        turns = Rotation.from_quat(recording.base[:, 3:7])
        speed = recording.base_velocity
        if speed is None:
            between = (turns[:-1].inv() * turns[1:]).as_rotvec() / np.diff(self.time)[:, None]
            turning = np.vstack([between, between[-1:]])
            linear = turns.inv().apply(np.gradient(recording.base[:, :3], self.time, axis=0))
            self.v[:, :6] = np.hstack([linear, turning])
        else:
            self.v[:, :6] = speed
            self.compared |= {"base_velocity": np.arange(3), "base_turning": np.arange(3, 6)}
        self.compared |= {"base_position": np.arange(3), "base_rotation": np.arange(3, 6)}

    def _place(self, kind: str, at: np.ndarray, given, positions) -> None:
        if given is None:
            self.v[:, at] = np.gradient(positions, self.time, axis=0)
        else:
            self.v[:, at] = given
            self.compared[kind] = at
