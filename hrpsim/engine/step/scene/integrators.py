# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The integrators of a step, described by properties.

The stages of a step read these properties from SETTINGS. Only `engine.step.step.integrate`
distinguishes the integrators by name.
"""

from typing import NamedTuple

from hrpsim.engine.dynamics.first_order_forces import (
    DAMPERS,
    DAMPERS_AND_GAINS,
    EXPLICIT,
    SYMMETRIC,
)

SEMI_IMPLICIT, EULER, RK4, SYMPLECTIC = range(4)


class Integrator(NamedTuple):
    """An integrator of a step of size h.

    Attributes:
        code: SEMI_IMPLICIT, EULER, RK4 or SYMPLECTIC.
        order: order of the error of smooth motion in h.
        is_implicit: whether springs, dampers and gains act at the end of the step.
        is_staged: whether a step computes its forces several times.
        drift: fraction of h from the start of the step to the positions where its forces act.
        lead: fraction of h from these positions to the middle of the step, for compliant rows. For
            euler, the end of the step counts as the middle, because a step moves with the velocity
            at its start.
        damping: rule of springs, dampers and gains, see `first_order_forces`. SYMPLECTIC has a rule
            of first order.
        as_mujoco: whether floating trees rotate as in MuJoCo, with the same errors of momentum.
    """

    code: int
    order: int
    is_implicit: bool
    is_staged: bool
    drift: float
    lead: float
    damping: int = SYMMETRIC
    as_mujoco: bool = False


INTEGRATORS = {
    "semi_implicit": Integrator(SEMI_IMPLICIT, 2, True, False, drift=0.5, lead=0.0),
    "euler": Integrator(EULER, 1, False, False, drift=0.0, lead=1.0),
    "rk4": Integrator(RK4, 4, False, True, drift=0.0, lead=0.5),
    "mujoco_explicit": Integrator(SYMPLECTIC, 1, False, False, 0.0, 0.0, EXPLICIT, True),
    "mujoco_euler": Integrator(SYMPLECTIC, 1, False, False, 0.0, 0.0, DAMPERS, True),
    "mujoco_implicitfast": Integrator(
        SYMPLECTIC, 1, False, False, 0.0, 0.0, DAMPERS_AND_GAINS, True
    ),
    "mujoco_rk4": Integrator(RK4, 4, False, True, drift=0.0, lead=0.5, as_mujoco=True),
}
