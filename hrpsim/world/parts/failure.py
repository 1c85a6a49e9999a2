# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Explain why a step could not be done."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.penalty_rows import STABLE_BELOW
from hrpsim.model.inertia import unresisted_bodies
from hrpsim.step.arrays import Scene
from hrpsim.step.scene import status as ended
from hrpsim.step.scene.limits import LARGEST_POSITION, LARGEST_SPEED
from hrpsim.step.scene.records import RK4
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.explicit_limit import too_stiff_for_rk4
from hrpsim.world.parts.results import Naming


def why_step_failed(
    scene: Scene, entities: list[Entity], naming: Naming, status: int, time: float
) -> str:
    """Return the reason why a step from `time` [s] failed, and the robot or body."""
    if scene.settings["integrator"][0] == RK4 and status in (ended.SINGULAR, ended.DIVERGED):
        stiff = _too_stiff_for_rk4(scene, entities)
        if stiff is not None:
            return f"the step from t = {time:g} s failed: {stiff}"
    if status == ended.SINGULAR:
        return _why_singular(scene, entities, int(scene.failure["needed"][0]))
    fault = naming.fault_of_step(scene)
    if status == ended.TOO_STIFF:
        time_step = float(scene.settings["time_step"][0])
        found, stiffness = (float(scene.failure[n][0]) for n in ("stiffness", "contact_stiffness"))
        return (
            f"penalty {fault} with {stiffness:.4g} N/m a point is too "
            f"stiff for steps of {time_step:g} s: (k dt^2 + 2 c dt) / m is {found:.3g} and must "
            f"be below {STABLE_BELOW:g}; set_penalty gives a softer spring, or take a smaller "
            "time_step"
        )
    k = int(np.argmax(np.abs(scene.velocity)))
    owner = next(e for e in entities if e.first_v <= k < e.first_v + e.nv)
    cure = "look at its forces and gains, or take a smaller time_step"
    if fault:
        cure = f"{fault} could not be satisfied, which may be the cause: {cure}"
    return (
        f"the step from t = {time:g} s would give numbers that are not finite, or beyond "
        f"{LARGEST_SPEED:g} m/s or rad/s or {LARGEST_POSITION:g} m; the state "
        f"before it is kept. Fastest is {owner.name!r} with {scene.velocity[k]:.3g} "
        f"(rad/s or m/s); {cure}"
    )


def _why_singular(scene: Scene, entities: list[Entity], body: int) -> str:
    """Return why the joint of a body, or its free motion, has no numerical resistance."""
    owner = max((e for e in entities if e.first_body <= body), key=lambda e: e.first_body)
    number = body - owner.first_body
    joints = getattr(getattr(owner, "model", None), "joints", ())
    names = [j.name for j in joints if j.body == number]
    what = f"{f'joint {names[0]!r}' if names else 'the body'} of {owner.name!r}"
    if number in unresisted_bodies(owner.system):
        return f"{what} moves no positive inertia: give it one"
    lost = f"the inertia that {what} moves is lost in rounding"
    if scene.work.geometric_stiffness[body].any():
        return (
            f"{lost} against the load of connections on it, which may contradict each other or "
            "demand too much: give them compliance or force_limit, or take a smaller time_step"
        )
    return (
        f"{lost}: it is under 1e-14 of that of what it is joined with, about the root of its tree; "
        "let masses and lengths differ less"
    )


def _too_stiff_for_rk4(scene: Scene, entities: list[Entity]) -> str | None:
    """Return which joint of a robot makes rk4 explode at the time step, if one does."""
    time_step = float(scene.settings["time_step"][0])
    robots = (entity for entity in entities if isinstance(entity, Robot))
    return next(filter(None, (too_stiff_for_rk4(robot, time_step) for robot in robots)), None)
