# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forecast the confidence intervals of a fit to a motion, by the Fisher information.

The motion is simulated with the initial parameter values. The derivatives J of the simulated
samples are computed as in a fit with fitted initial states. The rows of J are divided by the
standard deviations of the noise. If the noise is independent, the covariance of the parameters is
the inverse of J^T J.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hrpsim.fitting.excitation.motions import ExcitingMotion
from hrpsim.fitting.predict import Predictor, scenario_of
from hrpsim.fitting.recordings.measured_motion import BoundRecording, Recording
from hrpsim.fitting.result import SINGULAR
from hrpsim.fitting.slopes import Slopes
from hrpsim.fitting.starts import Starts
from hrpsim.fitting.unknowns import FitError, Unknowns
from hrpsim.world.objects.robot import Robot

_CHANGE = 1e-4
_CONFIDENCE = 0.95
_TILT, _DROP = np.radians(10.0), 0.1  # limits of standing: tilt [rad], relative loss of height
NEEDED = "position"  # kind of signal with a required noise


class Forecast(NamedTuple):
    """Forecast of the accuracy of parameters that are fitted to a motion.

    Attributes:
        half_widths: half widths of the 95 % intervals (p,). Infinite for a parameter that the
            motion does not determine.
        smallest: smallest singular value of the derivatives with respect to the scaled parameters.
            The inverse is the standard deviation of the least determined combination of parameters,
            as a fraction of the scale.
        excess: largest amount by which the simulated motion exceeds a limit, as a fraction of the
            limit. Zero or negative if the motion respects all limits.
        trouble: reason why the motion cannot be used, or "".
    """

    names: tuple[str, ...]
    values: np.ndarray  # (p,)
    half_widths: np.ndarray  # (p,)
    scales: np.ndarray  # (p,)
    smallest: float
    excess: float
    trouble: str


class ForecastSetup:
    """A robot of a world with its unknowns and sensors, for forecasts of motions.

    Args:
        world: world file, or a scenario.
        parameters: as for `hrpsim.fit`.
        noise: standard deviation of each measured kind of quantity.
        entity: the robot. The default is the only robot.
        window: length of the windows of the fit [s].
        share: fraction of the effort limits that a motion may use.

    Raises:
        FitError: the entity is not a robot, the noise lacks positions, or a parameter has no scale.
    """

    def __init__(
        self,
        world: Any,
        parameters: Mapping[str, Any],
        noise: Mapping[str, float],
        entity: str | None = None,
        window: float = 0.2,
        share: float = 0.8,
    ) -> None:
        self.scenario = scenario_of(world)
        self.unknowns = Unknowns(parameters, self.scenario.parameters(), ())
        first = self.scenario.world_of(self.values, seed=0)[0]
        self.entity = entity or self.scenario.robot or next(iter(first.entities))
        if self.entity not in first.robots:
            raise FitError(f"{self.entity!r} is not a robot. A motion needs a robot with joints")
        self.robot: Robot = first.robots[self.entity]
        self.noise, self.window, self.share = dict(noise), window, share
        self.stands = self.robot.model.base == "free"
        needed = (NEEDED, "base_position", "base_rotation") if self.stands else (NEEDED,)
        if missing := [kind for kind in needed if kind not in self.noise]:
            raise FitError(f"a forecast needs the noise of {', '.join(missing)}")
        self.scales = _scales(self.unknowns)

    @property
    def values(self) -> dict[str, float]:
        """The initial values of the parameters, by path."""
        return self.unknowns.by_path(self.unknowns.to_u(self.unknowns.start))

    def servos(self) -> tuple[str, ...]:
        """Return the names of the joints with position servos."""
        kp, _ = self.robot.gains
        return tuple(name for name, k in zip(self.robot.joint_names, kp) if k > 0.0)

    def record(self, motion: ExcitingMotion) -> tuple[Recording, float, str]:
        """Simulate a motion and record the result without noise.

        Returns:
            (recording, largest excess over a limit as a fraction of the limit, reason of a fall or
            "").
        """
        world = self.scenario.world_of(self.values, seed=0)[0]
        robot: Robot = world.robots[self.entity]
        period = float(motion.time[1] - motion.time[0])
        steps = max(round(period / world.time_step), 1)
        rows, efforts = [], []
        for after in _reached(motion):
            rows.append(np.concatenate([robot.q, robot.v]))
            robot.command(names=motion.joints, positions=after, over=period)
            world.step(steps)
            efforts.append(robot.joint_efforts)
        states = np.array(rows)
        q, v = np.split(states, [robot.nq], axis=1)
        recording = self._recording(motion, q, v)
        trouble = _fall(q) if self.stands else ""
        return recording, self._excess(q, v, np.array(efforts)), trouble

    def _recording(self, motion: ExcitingMotion, q: np.ndarray, v: np.ndarray) -> Recording:
        index = self.robot.joint_index
        fields: dict[str, Any] = {}
        if "velocity" in self.noise:
            fields["velocities"] = v[:, index.v]
        if self.stands:
            fields["base"] = q[:, :7]
            if "base_velocity" in self.noise or "base_turning" in self.noise:
                fields["base_velocity"] = v[:, :6]
        return Recording(
            motion.time,
            self.robot.joint_names,
            q[:, index.q],
            command_time=motion.time,
            command_joints=motion.joints,
            command_positions=_reached(motion),
            interpolate=True,
            name="motion",
            **fields,
        )

    def _excess(self, q: np.ndarray, v: np.ndarray, efforts: np.ndarray) -> float:
        """Return the largest excess over limits of effort, velocity and position, as a fraction."""
        index, system = self.robot.joint_index, self.robot.model.system
        effort, speed = system.effort_limit[index.v], system.velocity_limit[index.v]
        used = [
            np.abs(efforts).max(axis=0) / (self.share * effort),
            np.abs(v[:, index.v]).max(axis=0) / speed,
        ]
        with np.errstate(invalid="ignore"):  # joints without limits
            middle = 0.5 * (system.lower + system.upper)[index.v]
            half = 0.5 * (system.upper - system.lower)[index.v]
            used.append(np.abs(q[:, index.q] - middle).max(axis=0) / half)
        return float(np.nanmax(np.where(np.isfinite(used), used, 0.0)) - 1.0)


def _reached(motion: ExcitingMotion) -> np.ndarray:
    """Return the targets (n, joints) that the motion reaches one period after each time."""
    return np.vstack([motion.positions[1:], motion.positions[-1:]])


def forecast(trial: ForecastSetup, motion: ExcitingMotion) -> Forecast:
    """Forecast a fit, with fitted initial states, to a recording of a motion."""
    recording, excess, trouble = trial.record(motion)
    unknowns, world = trial.unknowns, trial.scenario.world_of({}, seed=0)[0]
    bound = BoundRecording(recording, world, trial.entity)
    predictor = Predictor(trial.scenario, [bound], trial.window, True)
    u = unknowns.to_u(unknowns.start)
    base = predictor.differences([trial.values])[0]
    slopes = Slopes(predictor, unknowns, _CHANGE, "auto")
    derivatives = slopes.at(u, np.ones(len(u), dtype=bool), None, base, True)
    weights = _weights(predictor, trial.noise)
    starts = Starts(predictor)
    assert derivatives.by_starts is not None
    starts.weigh(derivatives.by_starts, weights)
    J = starts.without(derivatives.by_parameters * weights[:, None])
    J = np.vstack([J, unknowns.prior_rows()])
    degrees = len(weights) - len(u) - starts.rank
    if degrees < 1:
        raise FitError(
            "the motion gives too few measured values for the unknowns (parameters, and the start "
            "state of each window). Lengthen `window`"
        )
    return _of_information(trial, J, degrees, excess, trouble)


def _weights(predictor: Predictor, noise: Mapping[str, float]) -> np.ndarray:
    """Return the inverse standard deviation of each row. A kind without noise has weight 0."""
    weights = np.array([1.0 / noise[kind] if kind in noise else 0.0 for kind in predictor.kinds])
    return weights[predictor.rows().kind]


def _of_information(
    trial: ForecastSetup, J: np.ndarray, degrees: int, excess: float, trouble: str
) -> Forecast:
    """Return the forecast from the derivatives of the weighted residuals.

    Args:
        trial: the robot with its unknowns.
        J: derivatives of the weighted residuals with respect to the unknowns u (rows, p).
        degrees: degrees of freedom of Student's t.
        excess: see `Forecast`.
        trouble: see `Forecast`.
    """
    from scipy.special import stdtrit

    unknowns = trial.unknowns
    shares = np.where(unknowns.log, 1.0, trial.scales / unknowns.unit)
    sizes = np.linalg.svd(J * shares, compute_uv=False)
    seen = sizes[-1] > SINGULAR * sizes[0]
    deviations = np.full(len(unknowns), np.inf)
    if seen:
        scaled = np.linalg.inv((J * shares).T @ (J * shares))
        deviations = np.sqrt(np.diag(scaled)) * trial.scales
        deviations *= np.where(unknowns.log, unknowns.start / trial.scales, 1.0)
    half = stdtrit(degrees, 0.5 + 0.5 * _CONFIDENCE) * deviations
    return Forecast(
        tuple(unknowns.names), unknowns.start, half, trial.scales, float(sizes[-1]), excess, trouble
    )


def _scales(unknowns: Unknowns) -> np.ndarray:
    """Return the scale of each parameter (p,).

    The scale is the initial value. If the initial value is 0, the scale is the standard deviation
    of the prior, or else the distance between the bounds.
    """
    priors = {k: deviation for k, _, deviation in unknowns.priors}
    scales = np.abs(unknowns.start)
    for k in np.flatnonzero(scales == 0.0).tolist():
        scales[k] = priors.get(k, unknowns.high[k] - unknowns.low[k])
        if not np.isfinite(scales[k]):
            name = unknowns.names[k]
            raise FitError(f"{name} starts at 0 and has no scale. Give `between` or `prior`")
    return scales


def _fall(q: np.ndarray) -> str:
    """Return the reason why a robot in the states q (n, nq) does not stand, or ""."""
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_quat(q[:, 3:7])
    ups, first = turns.as_matrix()[:, :, 2], turns[0].as_matrix()[:, 2]
    tilt = float(np.arccos(np.clip((ups @ first).min(), -1.0, 1.0)))
    drop = float(1.0 - q[:, 2].min() / q[0, 2])
    if tilt > _TILT or drop > _DROP:
        return f"the robot does not stand: it tilts by {np.degrees(tilt):.1f} degrees"
    return ""
