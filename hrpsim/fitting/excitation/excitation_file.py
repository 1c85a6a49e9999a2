# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Settings for the search of an exciting motion, read from a fit file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hrpsim.common import schema
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.resources import user_path
from hrpsim.common.values import is_number
from hrpsim.fitting.excitation.forecasts import ForecastSetup
from hrpsim.fitting.fit_study import OPTIONS, REQUIRED, beside, given_parameters
from hrpsim.fitting.unknowns import FitError
from hrpsim.world.file.file_reader import checked_content

_NEEDED = ("world", "parameters")
EXCITE_FILE = schema.mapping(
    {**OPTIONS, "recordings": REQUIRED["recordings"]},
    required={name: REQUIRED[name] for name in _NEEDED},
)
_STANDING = 0.05  # amplitude of a standing robot [rad or m]
_MOST_SAMPLES = 100_000


@dataclass(frozen=True)
class Excitation:
    """Settings for the search of a motion that determines parameters.

    Args:
        world: world file with the robot in the posture where the motion begins. A robot with a free
            base must stand.
        parameters: as for `hrpsim.fit`.
        noise: standard deviation of each measured kind of quantity. The forecast assumes a fit to
            these kinds.
        entity: the robot. The default is the only robot.
        window: length of the windows of the fit [s].
        joints: moving joints. The default is all joints with position servos.
        duration: duration of the motion [s].
        period: time between targets, and between samples of the recording [s].
        harmonics: number of frequencies of each joint.
        frequency: the highest frequency [Hz].
        share: fraction of the limits of position, velocity and effort that the motion may use.
        amplitude: largest excursion [rad or m]. The default is 0.05 for a standing robot.
        evaluations: number of simulated motions. Larger values find better motions.
        starts: number of random motions. The search starts from the best of these motions.
        seed: random seed of the search.
        title: title of reports.

    Raises:
        FitError: no motion is possible with these values.
    """

    world: Any
    parameters: Mapping[str, Any]
    noise: Mapping[str, float]
    entity: str | None = None
    window: float = 0.2
    joints: tuple[str, ...] = field(default=())
    duration: float = 10.0
    period: float = 0.01
    harmonics: int = 5
    frequency: float = 2.0
    share: float = 0.8
    amplitude: float | None = None
    evaluations: int = 120
    starts: int = 20
    seed: int = 0
    title: str = "excitation"

    def __post_init__(self) -> None:
        for name in ("duration", "period", "frequency", "share", "window"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0.0):
                raise FitError(f"{name} must be a positive number, got {value!r}")
        if self.share > 1.0:
            raise FitError(f"share must be a fraction of at most 1, got {self.share!r}")
        if not 2.0 * self.period <= self.duration <= _MOST_SAMPLES * self.period:
            raise FitError(f"duration must be 2 to {_MOST_SAMPLES} periods, got {self.duration!r}")

    def trial(self) -> ForecastSetup:
        """Return the robot with its unknowns and sensors, for the simulation of motions."""
        return ForecastSetup(
            self.world, self.parameters, self.noise, self.entity, self.window, self.share
        )

    def largest(self, trial: ForecastSetup) -> float | None:
        """Return the largest excursion [rad or m].

        None means that only the joints' limits apply.
        """
        return _STANDING if self.amplitude is None and trial.stands else self.amplitude


def read_excitation(path: str | Path) -> Excitation:
    """Read a fit file, without its recordings. Raises HrpsimError with file, line and entry."""
    path = user_path(path)
    text = read_yaml(path, FitError, "study file")
    file = checked_content(text, EXCITE_FILE, FitError)
    settings = dict(file.get("excitation", {}))
    if "noise" not in file:
        raise FitError(f"{path}: a forecast needs `noise`, the deviations of the sensors")
    joints = tuple(settings.pop("joints", ()))
    return Excitation(
        beside(path, file["world"]),
        given_parameters(file["parameters"]),
        file["noise"],
        file.get("entity"),
        file.get("window", 0.2),
        joints,
        title=file.get("title", path.stem),
        **settings,
    )
