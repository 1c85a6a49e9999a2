# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find differences between a policy's description, a network, a robot and a recorded run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hrpsim.bridges.exported_entries import ENTRIES, NAMES, list_in
from hrpsim.bridges.network_files import open_network
from hrpsim.bridges.onnx_policy import OnnxPolicy
from hrpsim.bridges.policy_actuators import beyond_limits
from hrpsim.bridges.policy_description import PolicyDescription, read_policy
from hrpsim.bridges.policy_exported import as_exported, in_motion, of_observations
from hrpsim.bridges.policy_network import Answer, Question
from hrpsim.bridges.policy_terms import Observation
from hrpsim.common.errors import unknown_name
from hrpsim.common.foreign.arrays import read_npz
from hrpsim.common.foreign.number_table import number_table
from hrpsim.common.foreign.text import read_text
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import ControllerError, controlled_joints
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.engine.dynamics.functions import mass_matrix
from hrpsim.world.objects.robot import Robot

_ALIKE = 0.9  # least correlation of columns of the same quantity
_SAME = 1.5  # largest ratio of the same quantity in two simulators
_MUCH_BETTER = 0.5  # remaining fraction of the difference with another order of histories
_STILL = 0.02  # largest relative standard deviation of a constant column
_CLOSE = 0.01  # relative difference of gains and scales, for rounding by exporters
_POSTURE = 0.02  # [rad]
_ANSWER = 1e-3  # largest difference of actions from the same network
_TABLES = ("observations", "actions")
_IN_METADATA = "in the network's metadata"


def differing_columns(
    names: Sequence[str], here: np.ndarray, there: np.ndarray, tolerance: float = 0.2
) -> Iterator[str]:
    """Report each observed column that differs from the recording, and the column that matches.

    Two columns differ if the root mean square of their difference exceeds `tolerance` times the
    recorded column's root mean square (at least 0.1). The Hungarian method assigns each differing
    column of the recording to a column of the present run. The cost is the smaller of two measures:
    the difference with either sign, and one minus the correlation. A column departs from the
    recording if it matches no other column, and does not match itself at another scale or offset.

    Args:
        names: names of the columns (n,), such as "gravity[2]".
        here: observations of the present run (t, n).
        there: observations of the recording (t, n).
        tolerance: relative tolerance. Larger values report fewer columns.
    """
    from scipy.optimize import linear_sum_assignment

    sizes = np.maximum(np.sqrt(np.mean(there**2, axis=0)), 0.1)
    differs = np.flatnonzero(np.sqrt(np.mean((here - there) ** 2, axis=0)) > tolerance * sizes)
    recorded, size = there[:, differs], sizes[differs, None]
    equal, sign = _residuals(here, recorded, size)
    correlation, slope = _related(here, recorded, size)
    scaled = 1.0 - np.abs(correlation) + 0.01 * np.minimum(np.abs(np.log(np.abs(slope))), 1.0)
    terms = np.array([name.partition("[")[0] for name in names])
    strange = 0.05 * (terms[differs, None] != terms)
    rows, matches = linear_sum_assignment(np.minimum(equal, scaled) + strange)
    at, own = (rows, matches), differs[rows]
    observed, means = here[:, matches], recorded[:, rows].mean(axis=0)
    is_equal = equal[at] <= tolerance
    factors = np.where(is_equal, sign[at], slope[at])
    offsets = np.where(is_equal, 0.0, means - factors * observed.mean(axis=0))
    is_alike = np.minimum(equal[at], 1.0 - np.abs(correlation[at])) < 1.0 - _ALIKE
    is_shifted = np.abs(offsets) > tolerance * sizes[own]
    moves = np.maximum(np.std(recorded[:, rows], axis=0), np.std(here[:, own], axis=0))
    is_still = (moves < _STILL * sizes[own]) & ~is_alike
    is_itself = (own == matches) & (1.0 / _SAME < factors) & (factors < _SAME) & ~is_shifted
    departs = ~is_still & (~is_alike | is_itself)
    for k in np.flatnonzero(~departs):
        name = names[own[k]]
        if is_still[k]:
            yield f"{name}: {here[:, own[k]].mean():.4g} here, {means[k]:.4g} recorded"
        else:
            more = f" {offsets[k]:+.2g}" if is_shifted[k] else ""
            formula = f"{factors[k]:.2g} * {names[matches[k]]}{more}"
            yield f"{name}: the recorded column is {formula} here"
    if departs.any():
        departed = ", ".join(names[k] for k in own[departs])
        yield f"differ from the recording and match no other column here: {departed}"


def _residuals(here, there, size) -> tuple[np.ndarray, np.ndarray]:
    """Return the relative difference of each pair of columns, and the better sign.

    Row j and column k of both results compare column j of `there` with column k of `here`.
    """
    squares = np.mean(there**2, axis=0)[:, None] + np.mean(here**2, axis=0)
    products = there.T @ here / len(here)
    left = np.sqrt(np.maximum(squares - 2.0 * np.abs(products), 0.0)) / size
    return np.minimum(left, 2.0), np.where(products < 0.0, -1.0, 1.0)


def _related(here, there, size) -> tuple[np.ndarray, np.ndarray]:
    """Return correlation and slope of each column of `there` over each column of `here`.

    Row j and column k of both results compare column j of `there` with column k of `here`.
    """
    a, b = here - here.mean(axis=0), there - there.mean(axis=0)
    products = b.T @ a / len(here)
    squares, lengths = np.mean(a**2, axis=0), np.sqrt(np.mean(b**2, axis=0))[:, None]
    moves = (lengths > _STILL * size) & (squares > 1e-12)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = products / (lengths * np.sqrt(squares))
        slope = products / squares
    moves &= products != 0.0
    return np.where(moves, correlation, 0.0), np.where(moves, slope, 1.0)


class TrainingRun(NamedTuple):
    """A run recorded in the training simulator, with one row for each evaluation of the policy."""

    observations: np.ndarray  # (t, n)
    actions: np.ndarray  # actions of the network before clip and scale (t, m)
    joint_names: tuple[str, ...]  # joints of the actions, () if not recorded


def read_recording(path: Path, joint_count: int) -> TrainingRun:
    """Read a recording from an .npz or CSV file.

    An .npz has `observations`, `actions` and, if known, `joint_names`. A CSV has one header line,
    and a row for each evaluation: the observation, then `joint_count` actions. Raises
    ControllerError for other files.
    """
    names: tuple[str, ...] = ()
    if path.suffix == ".npz":
        arrays = read_npz(path, ControllerError, "SEQUENCE_SIZE", (*_TABLES, "joint_names"))
        if missing := [name for name in _TABLES if name not in arrays]:
            raise ControllerError(f"{path}: not a recording: array {missing[0]!r} is missing")
        if any(arrays[name].dtype.kind == "U" for name in _TABLES):
            raise ControllerError(f"{path}: not a recording: its arrays are text, not numbers")
        tables = arrays["observations"].astype(float), arrays["actions"].astype(float)
        names = tuple(map(str, arrays.get("joint_names", np.empty(0)).ravel().tolist()))
    else:
        lines = read_text(path, ControllerError, "SEQUENCE_SIZE", "recording").splitlines()
        rows = number_table(lines[1:], path, ControllerError)
        tables = rows[:, :-joint_count], rows[:, -joint_count:]
    if any(table.ndim != 2 or not np.isfinite(table).all() for table in tables) or not (
        0 < len(tables[0]) == len(tables[1])
    ):
        raise ControllerError(
            f"{path}: must have observations (t, n) and actions (t, m) of finite numbers, with the "
            "same number of rows"
        )
    return TrainingRun(tables[0], tables[1], names)


def check_policy(
    description: Path, robot: Robot, recording: Path | None = None, duration: float = 1.0
) -> list[str]:
    """Compare a policy with a robot, with its network and with a recording.

    Args:
        description: path of the policy's description.
        robot: the robot in its initial state.
        recording: path of a recording for `read_recording`, or None.
        duration: duration of the compared runs [s].

    Returns:
        One line for each difference.
    """
    policy = read_policy(description)
    result = list(_of_robot(policy, robot))
    if os.path.isfile(policy.observation.network):
        network = open_network(policy.observation.network, tuple(policy.inputs))
        result += _of_export(policy, network.metadata, robot, duration)
        network.close()
    replay = _Replay()
    try:
        loop = ControlLoop(robot, replay, {"description": str(description)})
    except ControllerError as error:
        known = any(line in str(error) for line in result)
        return result if known else [*result, str(error)]
    with loop:
        try:
            result += _of_first_action(policy, robot, replay.first_answer())
            if recording is not None:
                recorded = read_recording(recording, len(policy.joints))
                result += _of_recording(policy, recorded, replay, loop, duration)
        except ControllerError as error:
            result.append(str(error))
    return result


class _Replay(OnnxPolicy):
    """Command recorded actions, and store the observations that the policy would have received."""

    recorded = np.zeros((0, 0))

    def _evaluate(self, question: Question) -> Answer:
        self.seen.append(question.observation)
        return Answer(self.recorded[len(self.seen) - 1])

    def first_answer(self) -> np.ndarray:
        """Return the action in the default posture, upright at rest, without a command."""
        self.seen: list[np.ndarray] = []
        for part in filter(None, (self._encoder, self._actor)):
            part.start(self._rest)
        return self._actor.answer(self._encoded(self._rest))

    def columns(self) -> list[str]:
        """Return the names of the observed columns."""
        return self._actor.observation.columns(self._actor.sample)

    def numbers(self, observation: Observation) -> list[int]:
        """Return a unique number for each observed value, in the order of an observation.

        Two orders of the same histories can be compared by these numbers.
        """
        sizes = [len(term.value(self._actor.sample)) for term in observation.terms]
        pasts = [
            [10**9 * k + 10**5 * age + np.arange(size) for age in range(term.history)]
            for k, (term, size) in enumerate(zip(observation.terms, sizes))
        ]
        return observation.stacked(pasts).tolist()

    def answers(self, observations: np.ndarray) -> np.ndarray:
        """Evaluate the network for each recorded observation. Return the actions (t, m)."""
        memory: Sequence[np.ndarray] = self.network.first_memory()
        actions = []
        for observation in observations:
            action, memory, _ = self.network.answer(Question(observation, memory))
            actions.append(action)
        return np.array(actions)


def _differences(
    names: Iterable[str], what: str, here: np.ndarray, there: np.ndarray, of: str, bound=None
) -> Iterator[str]:
    """Yield a line for each entry that differs by more than `bound`.

    The default bound is relative to the larger of the two values.
    """
    bound = _CLOSE * np.maximum(np.abs(here), np.abs(there)) if bound is None else bound
    for name, a, b in [
        (name, a, b)
        for name, a, b, most in zip(names, here, there, np.broadcast_to(bound, here.shape))
        if abs(a - b) > most
    ]:
        yield f"{what} of {name}: {a:.4g} in the description, {b:.4g} {of}"


def _of_robot(policy: PolicyDescription, robot: Robot) -> Iterator[str]:
    """Yield differences in joints, period, default posture and gains between policy and robot."""
    names = controlled_joints(robot.model)
    known = [k for k, joint in enumerate(policy.joints) if joint in names]
    yield from (
        unknown_name("joint", joint, names) for joint in policy.joints if joint not in names
    )
    try:
        steps_in_period("the period", policy.period, robot.world.time_step)
    except ControllerError as error:
        yield str(error)
    joints = [policy.joints[k] for k in known]
    default = policy.default[known]
    yield from (f"default {text}" for text in robot.limits.beyond(joints, {"positions": default}))
    yield from beyond_limits(policy.actuators, policy.joints, joints, robot.limits)
    order = [robot.joint_names.index(joint) for joint in joints]
    start = robot.joint_positions[order]
    yield from _differences(joints, "default", default, start, "at the start here", _POSTURE)
    rotors = robot.joint_properties()["rotor_inertia"]
    of_robot = {"armature": rotors, "kp": robot.gains[0], "kd": robot.gains[1]}
    for entry, others in of_robot.items():
        own, there = getattr(policy, entry), others[order]
        if own is None:
            continue
        if entry != "armature":
            there = np.where(there > 0.0, there, own[known])  # no information about passive joints
        yield from _differences(joints, entry, own[known], there, "of the robot")
    yield from _of_damping(policy, robot, joints, policy.kd[known])


def _of_damping(
    policy: PolicyDescription, robot: Robot, joints: list[str], kd: np.ndarray
) -> Iterator[str]:
    """Yield a line if the damping torques make the motion of a joint unstable.

    The torques are constant over a period h. A mode with rate r, an eigenvalue of M^-1 kd, is
    multiplied by 1 - h r in each period.
    """
    if not joints:
        return
    at = [robot.model.joint(joint).v_index for joint in joints]
    response = np.linalg.inv(mass_matrix(robot.model, robot.q))[np.ix_(at, at)]
    rates, modes = np.linalg.eigh(np.sqrt(np.outer(kd, kd)) * response)
    if policy.period * rates[-1] > 2.0:
        k = int(np.argmax(np.abs(modes[:, -1])))
        most = 2.0 * kd[k] / (policy.period * rates[-1])
        yield (
            f"kd of {joints[k]}: {kd[k]:.4g} is unstable with a period of {policy.period:g} s. The "
            f"joint's inertia allows {most:.2g}. Compare the armature and the period with those of "
            "the training"
        )


def _of_export(
    policy: PolicyDescription, metadata: Mapping[str, str], robot: Robot, duration: float
) -> Iterator[str]:
    """Yield differences from the exporter's metadata. If there are any, compare motions too."""
    differs = [*_of_metadata(policy, metadata), *of_observations(policy, metadata)]
    yield from differs
    if differs:
        yield from in_motion(policy, as_exported(policy, metadata), robot, duration)


def _of_metadata(policy: PolicyDescription, metadata: Mapping[str, str]) -> Iterator[str]:
    """Yield differences between the description and the exporter's metadata in the network."""
    used = {*NAMES, *chain(*ENTRIES.values())}
    lists = {key: list_in(text) for key, text in metadata.items() if key in used}
    for key in [key for key, values in lists.items() if not values]:
        del lists[key]
        yield f"{key} in the network's metadata is not a list of names or numbers"
    names = _first_of(lists, NAMES) or list(policy.joints)
    yield from _of_names(policy, names, _IN_METADATA)
    if set(names) != set(policy.joints):
        return
    order = [names.index(joint) for joint in policy.joints]
    for entry, keys in ENTRIES.items():
        there = _numbers(_first_of(lists, keys))
        if not np.isfinite(there).all():
            yield f"{entry} in the network's metadata is not a list of finite numbers"
        elif len(there) == len(order):
            own = getattr(policy, entry)
            yield from _differences(policy.joints, entry, own, there[order], _IN_METADATA)


def _first_of(given: Mapping[str, list], keys: Iterable[str]) -> list:
    """Return the value of the first key that `given` contains, or an empty list."""
    return next((given[key] for key in keys if key in given), [])


def _numbers(values: list) -> np.ndarray:
    """Convert values to numbers. If any value is not a number, all results are NaN."""
    try:
        return np.array(values, dtype=float)
    except (ValueError, OverflowError):
        return np.full(len(values), np.nan)


def _of_names(policy: PolicyDescription, names: Iterable[str], where: str) -> Iterator[str]:
    for k, (joint, other) in enumerate(zip(policy.joints, names)):
        if joint != other:
            yield f"joint {k}: {joint} in the description, {other} {where}"


def _of_first_action(policy: PolicyDescription, robot: Robot, action: np.ndarray) -> Iterator[str]:
    """Yield a line for each joint whose action in the default posture exceeds a limit."""
    if action.shape != policy.default.shape:
        yield f"the network returns {action.size} numbers for {len(policy.joints)} joints"
        return
    system = robot.model.system
    at = [robot.model.joint(joint).v_index for joint in policy.joints]
    target = policy.default + policy.action_scale * np.clip(
        action, policy.action_lower, policy.action_upper
    )
    torque = policy.kp * np.abs(target - policy.default)
    clipped = (action <= policy.action_lower) | (action >= policy.action_upper)
    beyond = (target < system.lower[at]) | (target > system.upper[at])
    for saturated, why in (
        (clipped, "is clipped"),
        (beyond, "leads beyond the joint's limits"),
        (torque > system.effort_limit[at], "demands more than the joint's effort limit"),
    ):
        for k in np.flatnonzero(saturated):
            yield f"action of {policy.joints[k]} in the default posture: {action[k]:.4g} {why}"


def _of_recording(
    policy: PolicyDescription, recorded: TrainingRun, replay: _Replay, loop, duration: float
) -> Iterator[str]:
    """Compare the network's outputs and the observations of a replay with a recording."""
    columns = replay.columns()
    widths = recorded.observations.shape[1], recorded.actions.shape[1]
    if widths != (len(columns), len(policy.joints)):
        yield (
            f"the recording has {widths[0]} observations and {widths[1]} actions, but the policy "
            f"has {len(columns)} and {len(policy.joints)}"
        )
        return
    yield from _of_names(policy, recorded.joint_names, "in the recording")
    actions = [f"action of {joint}" for joint in policy.joints]
    if not policy.inputs:  # a recording lacks the values of inputs
        answers = replay.answers(recorded.observations)
        for line in differing_columns(actions, answers, recorded.actions, _ANSWER):
            yield f"the network's output for the recorded observations: {line}"
    seconds = policy.period * policy.decimation
    count = min(max(round(duration / seconds), 2), len(recorded.actions))
    replay.recorded = recorded.actions
    while len(replay.seen) < count:
        loop.tick()
    replayed, there = np.array(replay.seen), recorded.observations[:count]
    if entries := _better_order(policy.observation, replay, replayed, there):
        yield f"the recorded observations have another order of histories: write {entries}"
        return
    yield from (
        line
        for line in differing_columns(columns, replayed, there)
        if not line.startswith("command[")  # recorded commands are not used here
    )


def _better_order(
    observation: Observation, replay: _Replay, here: np.ndarray, there: np.ndarray
) -> str:
    """Find an order of histories that fits the recording much better than the description's order.

    Returns the entries of the description for this order, or "" if no order fits much better.
    """
    numbers = replay.numbers(observation)
    left = {"": float(np.linalg.norm(here - there))}
    for entries, other in observation.other_orders():
        order = [numbers.index(number) for number in replay.numbers(other)]
        left[entries] = float(np.linalg.norm(here[:, order] - there))
    best = min(left, key=lambda entries: left[entries])
    return best if left[best] < _MUCH_BETTER * left[""] else ""
