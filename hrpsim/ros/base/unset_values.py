"""NaN in joint commands: a value that nobody set, as ros2_control sends it. Needs no ROS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


def split_unset(
    names: Sequence[str], given: Mapping[str, Sequence[float]]
) -> tuple[list[tuple[list[str], dict[str, list[float]]]], list[str]]:
    """Return the commands that are left without NaN, and the names of joints that have any.

    `given` are values for `names` by argument of `Robot.command`. Each command is names and values
    by argument, for joints of which the same arguments are set; joints that have none are in none.
    """
    values = {argument: np.asarray(numbers, dtype=float) for argument, numbers in given.items()}
    unset = {argument: np.isnan(numbers) for argument, numbers in values.items()}
    if not any(missing.any() for missing in unset.values()):
        return [(list(names), {k: v.tolist() for k, v in values.items()})], []
    alike: dict[tuple[str, ...], list[int]] = {}
    for k in range(len(names)):
        present = tuple(argument for argument in values if not unset[argument][k])
        alike.setdefault(present, []).append(k)
    commands = [
        ([names[k] for k in places], {a: values[a][places].tolist() for a in present})
        for present, places in alike.items()
        if present
    ]
    return commands, [n for k, n in enumerate(names) if any(m[k] for m in unset.values())]
