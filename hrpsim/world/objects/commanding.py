# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write a command to the actuators of a robot, entirely or not at all."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, kernel

POSITIONS, VELOCITIES, EFFORTS = 1, 2, 4  # what a command gives, as bits
NAN_HOLDS = 8  # NaN: the value is not given


class Actuators(NamedTuple):
    """The actuators of a robot with n joints and nv degrees of freedom."""

    control: np.ndarray  # (nv,) CONTROL
    q: np.ndarray  # (nq,)
    joint_q: np.ndarray  # (n,) indices of the joints in q
    joint_v: np.ndarray  # (n,) indices of the joints in control
    kp: np.ndarray  # (n,)
    kd: np.ndarray  # (n,)


@kernel
def set_commands(actuators, indices, positions, velocities, efforts, given, named, steps):
    """Command the joints at `indices` (k,); return 1, and change nothing, if that is invalid.

    `given` says which of positions, velocities and efforts (k,) there are; they must be finite, or
    NaN for a value that is not given: a joint that has none keeps its command.
    Joints that are `named` need gains unless efforts are given. Position targets go to their goal
    in `steps` equal steps, the first of them now; with 0 steps at once.
    """
    for k in range(indices.shape[0]):
        has_q, has_v, has_effort = _given_for(k, positions, velocities, efforts, given)
        nothing = 0.0 * positions[k] if has_q else 0.0
        nothing += 0.0 * velocities[k] if has_v else 0.0
        nothing += 0.0 * efforts[k] if has_effort else 0.0
        if nothing != 0.0:
            return 1
        at = indices[k]
        needs_gains = named and (has_q or has_v) and not has_effort
        if needs_gains and actuators.kp[at] == 0.0 and actuators.kd[at] == 0.0:
            return 1
    for k in range(indices.shape[0]):
        has_q, has_v, has_effort = _given_for(k, positions, velocities, efforts, given)
        if not (has_q or has_v or has_effort):
            continue
        at = indices[k]
        law = actuators.control[actuators.joint_v[at]]
        if has_q:
            _ramp(law, actuators.q[actuators.joint_q[at]], positions[k], steps)
        else:
            law.target_position, law.ramp_steps, law.ahead = 0.0, 0, 0.0
        law.kp = actuators.kp[at] if has_q else 0.0
        law.kd = actuators.kd[at] if has_q or has_v else 0.0
        law.target_velocity = velocities[k] if has_v else 0.0
        law.effort = efforts[k] if has_effort else 0.0
    return 0


@inlined_kernel
def _given_for(k, positions, velocities, efforts, given):
    """Return whether joint k is given a position, a velocity, an effort."""
    held = given & NAN_HOLDS != 0
    has_q = given & POSITIONS != 0 and not (held and math.isnan(positions[k]))
    has_v = given & VELOCITIES != 0 and not (held and math.isnan(velocities[k]))
    has_effort = given & EFFORTS != 0 and not (held and math.isnan(efforts[k]))
    return has_q, has_v, has_effort


@inlined_kernel
def _ramp(law, position, goal, steps):
    """Move a target from its present value, or from the joint's position if nothing holds it."""
    start = law.target_position if law.kp > 0.0 else position
    law.ramp = (goal - start) / steps if steps > 0 else 0.0
    law.ramp_steps = max(steps - 1, 0)
    law.target_position = goal if steps <= 1 else start + law.ramp
    law.ahead = 0.5 * law.ramp
