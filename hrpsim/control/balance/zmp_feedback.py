"""Where the ZMP should be, given how far the centre of mass is from where it should be.

docs/control.md, "Stabiliser", has the equations.
"""

from __future__ import annotations

import math

import numpy as np

from hrpsim.control.balance.walk_reference import WalkReference
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.pattern.convex_polygon import inset, nearest_in
from hrpsim.dynamics.functions import STANDARD_GRAVITY, mass_matrix
from hrpsim.model.model import Model


def toppling_rates(model: Model, q, height: float) -> tuple[float, float]:
    """Return w of  c'' = w^2 (c - z)  along x and y of the waist [1/s], with all joints rigid.

    q: the posture, the base level; height: of the centre of mass above the sole [m]. It is
    w^2 = m g h / (m h^2 + I), I about the centre of mass.
    """
    M = mass_matrix(model, q)[:6, :6]
    m = M[0, 0]
    # About the base's origin, along its axes; the lever is read off the coupling block.
    x, y, z = M[1, 5] / m, -M[0, 5] / m, M[0, 4] / m
    about_x = M[3, 3] - m * (y * y + z * z)
    about_y = M[4, 4] - m * (x * x + z * z)
    weight = -m * STANDARD_GRAVITY[2]
    return tuple(
        math.sqrt(weight * height / (m * height * height + inertia))
        for inertia in (about_y, about_x)
    )


def zmp_gains(w: float, rate: float, T: float) -> tuple[float, float]:
    """Return what the ZMP gets for each metre of the centre of mass's error, and for each m/s.

    The error e follows  e'' = w^2 (e - z),  z' = (u - z) / T. Of the three poles one is the
    pendulum's own -w and one -rate; the third follows, so that z is not fed back. Raises
    ControllerError for a rate that the lag T [s] does not allow.
    """
    third = 1.0 / T - w - rate
    if third <= 0.0:
        raise ControllerError(
            f"walk: dcm_rate {rate:g} 1/s is too fast for a ZMP that lags by {T:g} s; it must be "
            f"below {1.0 / T - w:.3g}"
        )
    for_position = 1.0 + T * rate * third / w
    for_rate = T + T * (w * rate + w * third + rate * third) / (w * w)
    return for_position, for_rate


class ZmpFeedback:
    """Feeds the divergent component's error back to the ZMP, which never leaves the support.

    rates: as of `toppling_rates`; lag [s]: of the floor's ZMP behind the desired one; dcm_rate,
    integral_rate [1/s], integral_limit, support_margin [m] as in stabilizer.Gains.
    integral: what it adds for constant errors (2,) [m]; dcm_error: of the last call (2,) [m].
    """

    def __init__(self, reference: WalkReference, rates, lag: float, period: float, gains):
        self._reference, self._rates, self._period = reference, rates, period
        self._gains = [zmp_gains(w, gains.dcm_rate, lag) for w in rates]
        self._growth, self._limit = gains.integral_rate * period, gains.integral_limit
        self._polygons = [
            None if polygon is None else inset(polygon, gains.support_margin).tolist()
            for polygon in reference.polygons
        ]
        self._planned = np.stack([reference.com[:, :2], reference.com_velocity[:, :2]], axis=1)
        self.reset()

    def reset(self) -> None:
        """Forget the integral."""
        self.integral = [0.0, 0.0]
        self.dcm_error = [0.0, 0.0]

    def desired(self, com, com_velocity, k: int, ahead: int, part: float) -> tuple[float, float]:
        """Return the desired ZMP in the reference's world [m].

        com, com_velocity: estimated, there [m, m/s], at the reference's sample k; ahead: the sample
        at the end of the period; part: of the feedback that counts, 0 to 1.
        """
        (x, y), (rate_x, rate_y) = self._planned[k].tolist()
        errors = (com[0] - x, com[1] - y)
        error_rates = (com_velocity[0] - rate_x, com_velocity[1] - rate_y)
        goal = self._reference.zmp[ahead].tolist()
        for i in (0, 1):
            for_position, for_rate = self._gains[i]
            self.dcm_error[i] = errors[i] + error_rates[i] / self._rates[i]
            shift = for_position * errors[i] + for_rate * error_rates[i] + self.integral[i]
            goal[i] += part * shift
        polygon = self._polygons[self._reference.phase[k]]
        zmp = tuple(goal) if polygon is None else nearest_in(polygon, *goal)
        for i in (0, 1):
            # Beyond the edge of the support the integral would only wind up.
            if (goal[i] - zmp[i]) * self.dcm_error[i] <= 0.0:
                grown = self.integral[i] + self._growth * self.dcm_error[i]
                self.integral[i] = min(max(grown, -self._limit), self._limit)
        return zmp
