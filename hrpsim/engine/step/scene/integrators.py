# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The integrators of a step, described by properties.

The stages of a step read these properties from SETTINGS. Only `engine.step.step.integrate` reads
which integrator a world has.
"""

from typing import NamedTuple

SEMI_IMPLICIT, EULER, RK4 = range(3)


class Integrator(NamedTuple):
    """An integrator of a step of size h.

    Attributes:
        code: SEMI_IMPLICIT, EULER or RK4.
        order: order of the error of smooth motion in h.
        is_implicit: whether springs, dampers and gains act at the end of the step.
        is_staged: whether a step computes its forces several times.
        drift: fraction of h from the start of the step to the positions where its forces act.
        lead: fraction of h from these positions to the middle of the step, for compliant rows. A
            step of euler moves by the velocity at its start. The velocities are then half a step
            late, and the middle is the end of the step.
    """

    code: int
    order: int
    is_implicit: bool
    is_staged: bool
    drift: float
    lead: float


INTEGRATORS = {
    "semi_implicit": Integrator(SEMI_IMPLICIT, 2, True, False, drift=0.5, lead=0.0),
    "euler": Integrator(EULER, 1, False, False, drift=0.0, lead=1.0),
    "rk4": Integrator(RK4, 4, False, True, drift=0.0, lead=0.5),
}
