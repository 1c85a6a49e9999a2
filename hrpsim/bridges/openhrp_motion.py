# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read motions and gains of OpenHRP, hrpsys and Choreonoid for robot models.

    robot.set_gains(*read_gains("SR_PDgain.dat", model))
    ControlLoop(robot, Playback(read_body_motion("SR1WalkPattern2.seq", model))).run()

hrpsim.control.motion.sequence_files reads the file sets of hrpsys (.pos, .vel and others).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hrpsim.common.errors import HrpsimError
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.yaml_text import YamlText, read_yaml
from hrpsim.common.resources import user_path
from hrpsim.common.values import is_number
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence, SequenceError
from hrpsim.model.model import Model

_POSITIONS = {"JointDisplacement", "JointPosition"}  # the newer name, the older one


class GainError(HrpsimError, ValueError):
    """Raised for a file of gains that is invalid or belongs to another robot."""


def read_gains(path: str | Path, model: Model) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Read the gains of a PDgain.dat, as the arguments of `Robot.set_gains`.

    Args:
        path: a file with a line "kp kd" for each joint, in the order of joint ids. If a line has
            more than two numbers, the first two are kp and kd. Joints of the model without a line
            keep their present gains.
        model: model of the robot.

    Returns:
        kp (n,) [Nm/rad or N/m], kd (n,) [Nm s/rad or N s/m], and the names of the n joints.

    Raises:
        GainError: for invalid gains, and for more lines than joints. The message names file and
            line.
    """
    path, names = user_path(path), controlled_joints(model)
    rows = []
    text = read_text(path, GainError, "YAML_SIZE", "gains file")
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        try:
            kp, kd = (float(word) for word in words[:2])
        except ValueError:
            raise GainError(
                f"{path}:{number}: must be two numbers 'kp kd', got {line.strip()!r}"
            ) from None
        if not (np.isfinite([kp, kd]).all() and kp >= 0.0 and kd >= 0.0):
            raise GainError(f"{path}:{number}: gains must be >= 0, got {line.strip()!r}")
        rows.append((kp, kd))
    if not rows or len(rows) > len(names):
        raise GainError(
            f"{path}: must have gains of 1 to {len(names)} joints of {model.name!r}, got "
            f"{len(rows)}"
        )
    kp, kd = np.array(rows).T
    return kp, kd, names[: len(rows)]


def read_body_motion(path: str | Path, model: Model) -> MotionSequence:
    """Return the joint trajectories in a Choreonoid motion (.seq, YAML), in the order of joint ids.

    Args:
        path: path of the file.
        model: model of the robot.

    Raises:
        SequenceError: for a file without joint positions, for another number of joints than the
            model has, and for frames that are not all numbers.
    """
    path, names = user_path(path), controlled_joints(model)
    text = read_yaml(path, SequenceError, "motion")
    part, where = _position_part(path, text)
    rate = part.get("frameRate", text.data.get("frameRate"))
    if not is_number(rate) or not 0.0 < rate <= 1e6:
        raise SequenceError(f"{where}: frameRate must be a number of Hz, got {rate!r}")
    frames = _frames(part, where, names)
    return MotionSequence(names, Channel(np.arange(len(frames)) / rate, frames))


def _position_part(path: Path, text: YamlText) -> tuple[dict, str]:
    """Return the first component with joint positions, and its location in the file as text."""
    content = text.data
    parts = content.get("components") if isinstance(content, dict) else None
    if not isinstance(parts, list):
        raise SequenceError(f"{path}: not a Choreonoid motion: it is not a mapping with components")
    for k, part in enumerate(parts):
        labels = (part.get("content"), part.get("purpose")) if isinstance(part, dict) else ()
        if not _POSITIONS.isdisjoint(map(str, labels)):
            return part, text.location(["components", k])
    raise SequenceError(f"{path}: no component is a {' or '.join(sorted(_POSITIONS))}")


def _frames(part: dict, where: str, names: Sequence[str]) -> np.ndarray:
    """Return the positions (n, joints) of all frames."""
    try:
        frames = np.array(part.get("frames"), dtype=float)
    except (TypeError, ValueError) as error:
        raise SequenceError(f"{where}: frames must be lists of numbers of equal length") from error
    if frames.ndim != 2 or frames.shape[1] != len(names) or not np.isfinite(frames).all():
        raise SequenceError(
            f"{where}: frames must be finite numbers for {len(names)} joints "
            f"({', '.join(names[:3])}, ...), got an array of shape {frames.shape}"
        )
    return frames
