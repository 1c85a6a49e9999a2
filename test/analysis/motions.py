# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions that several tests of the analysis use."""

from functools import cache

import numpy as np

import hrpsim
from hrpsim.control import controlled_joints, walking_pattern
from robots import HRP2_LIKE

SOLES = ("l_sole", "r_sole")
LEG = {2: -0.4538, 3: 0.8727, 4: -0.4189}


@cache
def hrp2_like():
    return hrpsim.load_model(HRP2_LIKE)


@cache
def walk():
    """Return a walk with straight, turned and sideways steps."""
    return walking_pattern(hrp2_like(), "E5")


def squat(count=101, period=0.01):
    """Return joint names, times and positions (T, n) of a slow squat on both feet."""
    names = controlled_joints(hrp2_like())
    times = period * np.arange(count)
    depth = 0.1 * (1.0 - np.cos(2.0 * np.pi * times / times[-1]))
    positions = np.zeros((count, len(names)))
    for side in "LR":
        for number, angle in LEG.items():
            share = {2: -1.0, 3: 2.0, 4: -1.0}[number]
            positions[:, names.index(f"{side}LEG_JOINT{number}")] = angle + share * depth
    return names, times, positions


def write_csv(path, names, times, positions, extra=None):
    """Write a CSV motion; extra: a column (name, texts)."""
    header = ["time", *names, *([extra[0]] if extra else [])]
    lines = [",".join(header)]
    for k, time in enumerate(times):
        row = [repr(float(time)), *(repr(float(x)) for x in positions[k])]
        lines.append(",".join([*row, *([extra[1][k]] if extra else [])]))
    path.write_text("\n".join(lines) + "\n")
    return path
