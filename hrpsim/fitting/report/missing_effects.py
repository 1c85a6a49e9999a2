# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find effects that are missing in a model and would explain the residuals of a fit.

A small amount of each suspected effect is added to the world. Let d be the resulting change of the
predictions, and r the residuals. The components of d and r that changes of parameters or initial
states could explain are removed. The effect then explains the fraction (d . r)^2 / (d . d)(r . r)
of the remaining sum of squares. The t value is computed with windows as clusters (White 1980).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.fitting.predict import Predictor, scenario_of, unknowns_of
from hrpsim.fitting.recordings.measured_motion import BoundRecording, Recording
from hrpsim.fitting.result import FitResult
from hrpsim.fitting.slopes import Slopes
from hrpsim.fitting.starts import Starts
from hrpsim.fitting.unknowns import DELAY
from hrpsim.model.actuator import Actuator
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World

_WINDOWS, _JOINTS = 100, 8  # largest numbers, those with the largest residuals
_NAMES = {"friction": "dry friction", "damping": "damping", "rotor_inertia": "rotor inertia"}
_SMALL = 0.02  # size of an effect, relative to the efforts
_GEAR = 300.0  # ratio of a gear's stiffness to the servo's gain if only backlash is added
_SOFT = 30.0  # the same ratio for an elastic gear
_LOOSE = np.geomspace(1e-3, 2e-2, 14)  # tried backlashes [rad or m]
_LATE, _TURNED, _HEAVY = 2e-3, 5e-3, 1.05  # delay [s], zero of an encoder [rad or m], mass factor
SURE, NOTICED = 4.0, 0.03  # least t value and least fraction of a reported effect


class Suspect(NamedTuple):
    """An effect that the model may lack.

    Attributes:
        name: name, such as "backlash of KNEE".
        share: fraction of the remaining sum of squares that the effect would explain.
        t: estimated size of the effect divided by its standard deviation.
        more: whether the effect is larger in the recordings than in the model.
    """

    name: str
    share: float
    t: float
    more: bool

    @property
    def named(self) -> bool:
        """Whether the effect is both significant and large enough to be reported."""
        return abs(self.t) >= SURE and self.share >= NOTICED

    def text(self) -> str:
        """Return a sentence that describes the effect."""
        direction = "more" if self.more else "less"
        return (
            f"{direction} {self.name} would explain {100.0 * self.share:.0f} % of what remains "
            f"(t = {abs(self.t):.0f})"
        )


@dataclass(frozen=True)
class _Effect:
    """A suspected effect: a change of the world, of values by path, or of the recordings.

    base: a reference change without the effect. Needed if making the change possible alters the
    motion.
    """

    name: str
    world: Callable[[Robot], None] | None = None
    values: Mapping[str, float] | None = None
    recording: Callable[[Recording], Recording] | None = None
    base: Callable[[Robot], None] | None = None


class _Changed:
    """A scenario that applies a change to each world after construction."""

    def __init__(
        self, scenario: WorldScenario, entity: str, change: Callable[[Robot], None] | None
    ):
        self._scenario, self._entity, self._change = scenario, entity, change

    def world_of(self, values: Mapping[str, float], seed: int) -> tuple[World, Any]:
        """Return a world with the change applied."""
        world, model = self._scenario.world_of(values, seed)
        if self._change is not None:
            self._change(world.robots[self._entity])
        return world, model


def suspects(
    world: Any,
    recordings: Sequence[Recording],
    parameters: Mapping[str, Any],
    result: FitResult,
    *,
    entity: str | None = None,
    window: float = 0.2,
    **_others: Any,
) -> list[Suspect]:
    """Return effects that the model of a robot may lack, in decreasing order of `share`.

    Args:
        world: as for `hrpsim.fit`.
        recordings: as for `hrpsim.fit`. Recordings with `held_out` are not used.
        parameters: as for `hrpsim.fit`.
        result: result of the fit.
        entity: as for `hrpsim.fit`.
        window: as for `hrpsim.fit` [s].
        **_others: other options of `hrpsim.fit`, which are ignored.

    Raises:
        FitError: as `hrpsim.fit`.
    """
    test = _Test(world, recordings, parameters, result, entity, window)
    if test.robot is None:
        return []
    suspect_of: dict[str, Suspect] = {}
    for effect in test.effects():
        suspect = test.judge(effect)
        if (
            suspect is not None
            and suspect.share > suspect_of.get(suspect.name, suspect._replace(share=0.0)).share
        ):
            suspect_of[suspect.name] = suspect
    return sorted(suspect_of.values(), key=lambda one: -one.share)


class _Test:
    """Residuals of a fit, without the component that parameters and initial states can explain."""

    def __init__(self, world, recordings, parameters, result, entity, window) -> None:
        self._scenario = scenario_of(world)
        unknowns = unknowns_of(parameters, self._scenario, recordings)
        self._u = unknowns.to_u(result.values)
        self._values = unknowns.by_path(self._u)
        first = self._scenario.world_of(self._values, seed=0)[0]
        self._entity = entity or self._scenario.robot or next(iter(first.entities))
        self.robot: Robot | None = first.robots.get(self._entity)
        links = f"robots.{self._entity}.links."
        self._links = [p for p in self._scenario.parameters() if p.startswith(links)]
        self._world, self._window = first, window
        self._recordings = [recording for recording in recordings if not recording.held_out]
        predictor = self._predictor(_Effect(""), None)
        rows = predictor.rows()
        labels = [joint for recording in predictor.recordings for joint in _labels(recording)]
        self._of_window = rows.window
        base = predictor.differences([self._values])[0]
        slopes = Slopes(predictor, unknowns, 1e-4, "auto")
        derivatives = slopes.at(self._u, np.ones(len(self._u), dtype=bool), None, base, True)
        sizes = np.sqrt(
            np.bincount(rows.kind, base**2, len(predictor.kinds))
            / np.bincount(rows.kind, minlength=len(predictor.kinds)).clip(1)
        )
        self._weights = 1.0 / np.maximum(sizes, 1e-12)[rows.kind]
        self._starts = Starts(predictor)
        assert derivatives.by_starts is not None
        self._starts.weigh(derivatives.by_starts, self._weights)
        J = self._starts.without(derivatives.by_parameters * self._weights[:, None])
        self._basis = np.linalg.qr(J[:, J.any(axis=0)])[0]  # sensors' unknowns do not change states
        self._base = base
        self._remaining = self._without(base)
        self._joints = _worst(labels, np.bincount(rows.signal, self._remaining**2))

    def _predictor(self, effect: _Effect, change: Callable[[Robot], None] | None) -> Predictor:
        recordings = self._recordings
        if effect.recording is not None:
            recordings = [effect.recording(recording) for recording in recordings]
        bound = [BoundRecording(recording, self._world, self._entity) for recording in recordings]
        scenario: Any = self._scenario
        if change is not None:
            scenario = _Changed(self._scenario, self._entity, change)
        predictor = Predictor(scenario, bound, self._window, False)
        count = sum(map(len, predictor.windows))
        if count <= _WINDOWS or not all(recording.is_whole for recording in bound):
            return predictor
        return predictor.only(np.linspace(0, count - 1, _WINDOWS).astype(int), None)[0]

    def _without(self, differences: np.ndarray) -> np.ndarray:
        remaining = self._starts.without((differences * self._weights)[:, None])[:, 0]
        return remaining - self._basis @ (self._basis.T @ remaining)

    def _predicted(self, effect: _Effect, change: Callable[[Robot], None] | None) -> np.ndarray:
        values = {**self._values, **(effect.values or {})}
        return self._predictor(effect, change).differences([values])[0]

    def judge(self, effect: _Effect) -> Suspect | None:
        """Return an effect with the fraction of the residuals that it explains.

        The result is None if no world can have the effect.
        """
        try:
            base = self._base if effect.base is None else self._predicted(effect, effect.base)
            change = self._without(self._predicted(effect, effect.world) - base)
        except HrpsimError:
            return None
        size = float(change @ change)
        if size <= 0.0:
            return None
        amount = -float(change @ self._remaining) / size
        left = self._remaining + amount * change
        scores = np.bincount(self._of_window, change * left)
        fraction = amount**2 * size / float(self._remaining @ self._remaining)
        t = amount * size / max(float(np.sqrt(scores @ scores)), 1e-300)
        return Suspect(effect.name, fraction, t, t > 0.0)

    # -- effects ---------------------------------------------------------------------------------

    def effects(self) -> Iterator[_Effect]:
        """Yield the suspected effects of joints, links, encoders and the clock."""
        assert self.robot is not None
        speeds, efforts = self._sizes()
        for joint in self._joints:
            yield from self._of_joint(joint, speeds[joint], efforts[joint])
        for path in self._links:
            if path.endswith(".mass_factor") and path not in self._values:
                link = path.split(".")[-2]
                yield _Effect(f"mass of {link}", values={path: _HEAVY})
        if DELAY not in self._values and self._recordings[0].command_time is not None:
            yield _Effect("delay of the commands", values={DELAY: _LATE})

    def _sizes(self) -> tuple[dict[str, float], dict[str, float]]:
        """Return the root mean square speed and effort of each joint."""
        assert self.robot is not None
        recording, kp = self._recordings[0], dict(zip(self.robot.joint_names, self.robot.gains[0]))
        speeds, efforts = {}, {}
        for k, joint in enumerate(recording.joints):
            q = recording.positions[:, k]
            speeds[joint] = float(np.sqrt(np.mean(np.gradient(q, recording.time) ** 2)))
            efforts[joint] = _commanded_effort(recording, joint, kp[joint], q)
        return speeds, efforts

    def _fixed(self, joint: str, properties: Iterable[str]) -> list[str]:
        """Return those `properties` of a joint that are not parameters of the fit."""
        path = f"robots.{self._entity}.joints.{joint}"
        return [key for key in properties if f"{path}.{key}" not in self._values]

    def _of_joint(self, joint: str, speed: float, effort: float) -> Iterator[_Effect]:
        assert self.robot is not None
        index = self.robot.joint_index.indices([joint])[0]
        properties = {k: float(v[index]) for k, v in self.robot.joint_properties().items()}
        kp, kd = (float(own[index]) for own in self.robot.gains)
        sizes = {"friction": effort, "damping": effort / max(speed, 1e-9)}
        sizes["rotor_inertia"] = max(properties["rotor_inertia"], effort * 0.1 / max(speed, 1e-9))
        for key in self._fixed(joint, sizes):
            more = {key: properties[key] + _SMALL * sizes[key]}
            yield _Effect(f"{_NAMES[key]} of {joint}", world=_properties(joint, more))
        if kp > 0.0:
            yield _Effect(
                f"gain of {joint} (its servo, or its gear ratio)",
                world=_gains(joint, kp * (1.0 + _SMALL), kd * (1.0 + _SMALL)),
            )
        if any(recording.command_efforts is not None for recording in self._recordings):
            yield _Effect(
                f"gain of {joint} (its torque constant, or its gear ratio)",
                recording=_stronger(joint),
            )
        yield _Effect(f"zero of the encoder of {joint}", recording=_turned(joint))
        if joint not in self.robot.fitted_actuators and min(kp, properties["rotor_inertia"]) > 0.0:
            yield from self._of_gear(joint, kp, properties["rotor_inertia"])

    def _of_gear(self, joint: str, kp: float, rotor: float) -> Iterator[_Effect]:
        def gear(stiff: float, backlash: float) -> Callable[[Robot], None]:
            stiffness = stiff * kp
            damping = 0.2 * float(np.sqrt(stiffness * rotor))
            return _actuator(
                joint, Actuator(stiffness=stiffness, damping=damping, backlash=backlash)
            )

        stiff = gear(_GEAR, 0.0)
        yield _Effect(f"compliance of the gear of {joint}", world=gear(_SOFT, 0.0), base=stiff)
        for size in _LOOSE:
            yield _Effect(f"backlash of {joint}", world=gear(_GEAR, float(size)), base=stiff)


def _labels(one: BoundRecording) -> list[str]:
    """Return the joint of each compared column, or "" for columns of the base or a sensor."""
    joints = one.recording.joints
    states = [
        "" if kind.startswith("base") else joints[n]
        for kind, own in one.columns()
        for n in range(len(own))
    ]
    return states + ["" for signal in one.signals for _ in signal.signal.quantities]


def _worst(labels: Sequence[str], squares: np.ndarray) -> list[str]:
    """Return the joints with the largest sums of squared residuals.

    Args:
        labels: joint of each column.
        squares: sum of squared residuals of each column.
    """
    sums: dict[str, float] = {}
    for joint, own in zip(labels, squares):
        if joint:
            sums[joint] = sums.get(joint, 0.0) + float(own)
    return sorted(sums, key=lambda joint: -sums[joint])[:_JOINTS]


def _commanded_effort(one: Recording, joint: str, kp: float, q: np.ndarray) -> float:
    """Return the root mean square of the effort that the commands demand of a joint."""
    if one.command_time is None or joint not in (one.command_joints or ()):
        return 1.0
    column = (one.command_joints or ()).index(joint)
    if one.command_efforts is not None:
        return float(np.sqrt(np.nanmean(one.command_efforts[:, column] ** 2))) or 1.0
    if one.command_positions is None:
        return 1.0
    targets = np.interp(one.time, one.command_time, one.command_positions[:, column])
    return kp * float(np.sqrt(np.nanmean((targets - q) ** 2))) or 1.0


def _properties(joint: str, values: Mapping[str, float]) -> Callable[[Robot], None]:
    return lambda robot: robot.set_joint_properties(joint, **values)


def _gains(joint: str, kp: float, kd: float) -> Callable[[Robot], None]:
    return lambda robot: robot.set_gains(kp, kd, joint)


def _actuator(joint: str, actuator: Actuator) -> Callable[[Robot], None]:
    return lambda robot: robot.set_actuator(actuator, joint)


def _stronger(joint: str) -> Callable[[Recording], Recording]:
    def change(one: Recording) -> Recording:
        if one.command_efforts is None:
            return one
        more = 1.0 + _SMALL * (np.array(one.command_joints) == joint)
        return replace(one, command_efforts=one.command_efforts * more)

    return change


def _turned(joint: str) -> Callable[[Recording], Recording]:
    def change(one: Recording) -> Recording:
        by = _TURNED * (np.array(one.joints) == joint)
        changes: dict[str, Any] = {"positions": one.positions + by}
        if one.command_positions is not None:
            by = _TURNED * (np.array(one.command_joints) == joint)
            changes["command_positions"] = one.command_positions + by
        return replace(one, **changes)

    return change
