# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Check the settings of a world and store the settings in the kernels' record."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelWarning, WorldError, require_name, shown_value
from hrpsim.common.values import RANGES, SWEEPS, finite_vector, flag, setting, whole
from hrpsim.engine.constraints.friction_laws import LAWS as FRICTION_MODELS
from hrpsim.engine.dynamics.first_order_forces import SYMMETRIC
from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.engine.step.scene.records import SETTINGS
from hrpsim.world.objects.plausibility import long_period, odd_gravity

STOPPING_RULES = ("residual", "relative_change")
ACCURACIES = {"fast": 1e-3, "standard": 1e-6, "exact": 1e-8}  # tolerances of the residual
USUAL_SWEEP_LIMITS = 120, 1200  # the second is for islands with new contacts
_SKIN = 0.05  # see SETTINGS
_TOLERANCE = 1e-6  # tolerance of the residual for other stopping rules
_NUMBERS = ("contact_margin", "correction_rate", "correction_speed", "slop")

# Least speeds with an effect: factors on the speed that gravity adds in a step, and upper limits
# [m/s]. The slip of a sticking point on a rotating body is smaller. A body that has fallen for one
# step does not bounce.
_THRESHOLDS = {"slip_threshold": (0.11, 1e-3), "restitution_threshold": (2.0, 0.01)}


_FLAGS = {"projection": "position_projection", "continuous": "continuous", "audit": "audit"}
_CHOICES: dict[str, Collection[str]] = {
    "integrator": INTEGRATORS,
    "friction_model": FRICTION_MODELS,
    "stop": STOPPING_RULES,
}


def new_settings(options: dict) -> np.ndarray:
    """Return the SETTINGS record (1,) for the options of `World`.

    Raises WorldError if a value is out of range.
    """
    for option, known in _CHOICES.items():
        require_name(option, options[option], known)
    record = np.zeros(1, dtype=SETTINGS)
    if _names_a_file(options["time_step"]):
        raise WorldError(
            "the first argument of World must be a time step [s], got"
            f" {shown_value(str(options['time_step']))}. Use `load_world` for a world file, and"
            " `load_model` with `add_robot` for a robot"
        )
    time_step = setting("time_step", options["time_step"])
    record["time_step"] = time_step
    if text := long_period("time_step", time_step):
        warnings.warn(text, ModelWarning, stacklevel=4)
    record["gravity"] = checked_gravity(options["gravity"], stacklevel=5)
    integrator = INTEGRATORS[options["integrator"]]
    record["integrator"] = integrator.code
    record["order"], record["staged"] = integrator.order, integrator.is_staged
    record["horizon"] = time_step * (integrator.is_implicit or integrator.damping != SYMMETRIC)
    record["damping"], record["as_mujoco"] = integrator.damping, integrator.as_mujoco
    record["drift"], record["lead"] = integrator.drift * time_step, integrator.lead * time_step
    record["sweep_limit"], record["cold_sweep_limit"] = _sweep_limits(options["sweep_limit"])
    tolerance, by_residual = _tolerance(options), options["stop"] == "residual"
    record["tolerance"] = (tolerance if by_residual else _TOLERANCE) * STANDARD_GRAVITY * time_step
    record["relative_tolerance"] = 0.0 if by_residual else tolerance
    record["friction_model"] = FRICTION_MODELS[options["friction_model"]]
    record["skin"] = _SKIN
    for field, name in _FLAGS.items():
        record[field] = flag(name, options[name])
    for name in _NUMBERS:
        record[name] = setting(name, options[name])
    gained = float(np.linalg.norm(record["gravity"])) * time_step
    for name in _THRESHOLDS:
        usual = _threshold(name, gained, integrator.is_staged)
        record[name] = usual if options[name] is None else setting(name, options[name])
    return record


def _sweep_limits(given: int | None) -> tuple[int, int]:
    if given is None:
        return USUAL_SWEEP_LIMITS
    return (whole("sweep_limit", given, 1, SWEEPS),) * 2


def _threshold(name: str, gained: float, is_staged: bool) -> float:
    """Return the default of a speed threshold [m/s].

    gained: speed that gravity adds in one step [m/s]. is_staged: whether the integrator has stages.
    """
    fraction, most = _THRESHOLDS[name]
    if gained <= 0.0:
        return most
    if name == "restitution_threshold" and is_staged:
        return fraction * gained  # a ball bounces forever with a smaller threshold
    return min(fraction * gained, most)


def _names_a_file(given: object) -> bool:
    """Return whether `given` is a path or a text with a file suffix, instead of a number."""
    return isinstance(given, os.PathLike) or (isinstance(given, str) and given[-1:].isalpha())


def checked_gravity(values: ArrayLike, stacklevel: int) -> np.ndarray:
    """Return a valid gravity (3,) [m/s^2]. A ModelWarning names an odd gravity."""
    gravity = finite_vector("gravity", values, 3, RANGES["gravity"])
    if text := odd_gravity(gravity):
        warnings.warn(text, ModelWarning, stacklevel=stacklevel)
    return gravity


def _tolerance(options: dict) -> float:
    """Return the tolerance of the solver from `tolerance` or `accuracy`."""
    tolerance, accuracy = options["tolerance"], options["accuracy"]
    if accuracy is None:
        return setting("tolerance", ACCURACIES["standard"] if tolerance is None else tolerance)
    require_name("accuracy", accuracy, ACCURACIES)
    if tolerance is not None:
        raise WorldError(f"give only one of tolerance={tolerance!r} and accuracy={accuracy!r}")
    if options["stop"] != "residual":
        raise WorldError(f"accuracy={accuracy!r} is a residual [m/s]. It needs stop='residual'")
    return ACCURACIES[accuracy]
