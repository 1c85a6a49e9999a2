"""Writing a command to the actuators of a robot, all of it or nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.jit.compiled import inlined_kernel, kernel

POSITIONS, VELOCITIES, EFFORTS = 1, 2, 4  # what a command gives, as bits


class Actuators(NamedTuple):
    """The actuators of a robot with n joints and nv degrees of freedom."""

    control: np.ndarray  # (nv,) CONTROL
    q: np.ndarray  # (nq,)
    joint_q: np.ndarray  # (n,) places of the joints in q
    joint_v: np.ndarray  # (n,) places of the joints in control
    kp: np.ndarray  # (n,)
    kd: np.ndarray  # (n,)


@kernel
def set_commands(actuators, places, positions, velocities, efforts, given, named, steps):
    """Command the joints at `places` (k,); return 1, and change nothing, where that cannot be.

    `given` says which of positions, velocities and efforts (k,) there are; they must be finite.
    Joints that are `named` need gains unless efforts are given. Position targets go to their goal
    in `steps` equal steps, the first of them now; with none they are there at once.
    """
    has_q, has_v, has_effort = given & POSITIONS, given & VELOCITIES, given & EFFORTS
    for k in range(places.shape[0]):
        nothing = 0.0 * positions[k] if has_q else 0.0
        nothing += 0.0 * velocities[k] if has_v else 0.0
        nothing += 0.0 * efforts[k] if has_effort else 0.0
        if nothing != 0.0:
            return 1
        at = places[k]
        if named and not has_effort and actuators.kp[at] == 0.0 and actuators.kd[at] == 0.0:
            return 1
    for k in range(places.shape[0]):
        at = places[k]
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
def _ramp(law, position, goal, steps):
    """Let a target go from where it is, or from where the joint is if nothing holds it."""
    start = law.target_position if law.kp > 0.0 else position
    law.ramp = (goal - start) / steps if steps > 0 else 0.0
    law.ramp_steps = max(steps - 1, 0)
    law.target_position = goal if steps <= 1 else start + law.ramp
    law.ahead = 0.5 * law.ramp
