"""By how much an ankle link has to lean against the springs of its foot for a desired torque."""

from __future__ import annotations

import math

from hrpsim.control.balance.foot import Foot


class FootLean:
    """One foot's answer to desired and to measured torques, about x and y of its sole.

    Springs with stiffness K and damping C yield by the solution of K a + C da/dt = torque; where
    the floor is not as expected, an integral of the torque's error is added to that torque, within
    `answer_time` [s]. In the air that fades, in `fading_time` [s]. servo_yields: turn of ankle roll
    and ankle pitch for each unit of torque [rad/Nm].
    """

    def __init__(
        self, foot: Foot, servo_yields, period: float, answer_time: float, fading_time: float
    ):
        self._yields = (1.0 / foot.turn_stiffness).tolist()
        self._servo_yields = list(servo_yields)
        self._kept = [
            math.exp(-period * k / c) if c > 0.0 and math.isfinite(k) else 0.0
            for k, c in zip(foot.turn_stiffness, foot.turn_damping)
        ]
        self._growth = period / answer_time
        self._fading = math.exp(-period / fading_time)
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self._yielded = [0.0, 0.0]  # [rad]
        self._answer = [0.0, 0.0]  # [Nm]

    def update(self, wanted, measured, stands: bool, part: float) -> tuple[float, float]:
        """Return the lean (2,) [rad] for the torques `wanted` about the pivot (2,) [Nm].

        measured: the floor's (2,) [Nm]; stands: whether it bears load; part: of all this that
        counts, 0 to 1.
        """
        lean = [0.0, 0.0]
        for i in (0, 1):
            if stands:
                self._answer[i] += part * self._growth * (wanted[i] - measured[i])
            else:
                self._answer[i] *= self._fading
            rest = self._yields[i] * (part * wanted[i] + self._answer[i])
            self._yielded[i] = rest + (self._yielded[i] - rest) * self._kept[i]
            # The sole yields the other way; servos' yielding to what is wanted is led elsewhere.
            lean[i] = -self._yielded[i] - self._servo_yields[i] * self._answer[i]
        return lean[0], lean[1]
