"""Numbers that say how constraints yield, checked."""

from __future__ import annotations

import numpy as np

from hrpsim.errors import WorldError

DAMPING_STEPS = 2.0  # damping time, in time steps, where none is given


def not_negative(what: str, value, count: int, finite: bool = True) -> np.ndarray:
    """Return `count` numbers >= 0 from as many or from one; WorldError for anything else."""
    try:
        values = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), count))
    except (TypeError, ValueError) as error:
        raise WorldError(f"{what} must be one number or {count}, got {value!r}") from error
    if not (values >= 0.0).all() or (finite and not np.isfinite(values).all()):
        bound = ">= 0 and finite" if finite else ">= 0"
        raise WorldError(f"{what} must be {bound}, got {value!r}")
    return values


def refuse_undamped(compliance: np.ndarray, damping_time: np.ndarray, time_step: float) -> None:
    """Refuse rigid constraints that would ring: they need a damping time of one time step.

    A damping time below zero stands for another law.
    """
    rings = (compliance == 0.0) & (damping_time >= 0.0) & (damping_time < (1 - 1e-9) * time_step)
    if rings.any():
        raise WorldError(
            f"damping_time {damping_time[rings].min():g} s is too short where the compliance is 0: "
            f"it must be one time step, {time_step:g} s, or more"
        )
