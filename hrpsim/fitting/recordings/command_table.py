# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands of subsets of joints, expanded to one command for each joint at each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.common.errors import FitError

Fields = dict[str, np.ndarray]  # command_positions and others, each (n, joints)


def held_commands(
    what: str, time: np.ndarray, fields: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, Fields]:
    """Expand commands of some joints to commands of all joints.

    Rows with the same stamp become one row. NaN means that a value is not given. If all fields of a
    joint are NaN, the joint keeps its command. Before the first command of a joint, all its fields
    are NaN.

    Args:
        what: name of the commands, for errors.
        time: times of the rows (n,) [s], not decreasing.
        fields: values of each field (n, joints).

    Returns:
        (times (m,) [s], fields (m, joints)).

    Raises:
        FitError: one joint has different commands with the same stamp.
    """
    rows = np.stack([*fields.values()])  # (fields, n, joints)
    named = ~np.isnan(rows).all(axis=0)
    same = np.append(np.diff(time) == 0.0, False)
    for k in np.flatnonzero(same):
        both = named[k] & named[k + 1]
        if not np.array_equal(rows[:, k, both], rows[:, k + 1, both], equal_nan=True):
            raise FitError(
                f"{what} does not increase: samples {k} and {k + 1} have different commands at "
                f"{time[k]:.9g} s. Give each command the time at which it acts"
            )
    last = np.maximum.accumulate(np.where(named, np.arange(len(time))[:, None], -1), axis=0)
    commands = np.take_along_axis(rows, np.broadcast_to(last.clip(0), rows.shape), axis=1)
    commands[:, last < 0] = np.nan
    return time[~same], dict(zip(fields, commands[:, ~same]))


def first_command(
    what: str, time: np.ndarray, fields: Mapping[str, np.ndarray], joints: Sequence[str]
) -> tuple[float, Fields]:
    """Fill in the commands of each joint before its first command with the first command.

    Args:
        what: name of the commands, for errors.
        time: times of the rows (n,) [s].
        fields: values of each field (n, joints), with NaN for missing values.
        joints: names of the joints.

    Returns:
        (time from which all joints have commands, less one median period [s], fields without
        missing values before the first commands).

    Raises:
        FitError: a joint has no command at all.
    """
    without = np.isnan([*fields.values()]).all(axis=0)  # (n, joints)
    if without[-1].any():
        raise FitError(f"{what}: no command has a value for {joints[int(without[-1].argmax())]!r}")
    first = without.argmin(axis=0)
    rows = np.maximum(np.arange(len(time))[:, None], first)
    filled = {key: np.take_along_axis(own, rows, axis=0) for key, own in fields.items()}
    period = float(np.median(np.diff(time))) if len(time) > 1 else 0.0
    return float(time[first].max(initial=time[0])) - period, filled
