"""Why a step could not be done, in words."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.penalty_rows import STABLE_BELOW
from hrpsim.world import status as ended
from hrpsim.world.entity import Entity
from hrpsim.world.explicit_limit import rk4_limit
from hrpsim.world.robot import Robot
from hrpsim.world.scene import RK4, Scene


def why_step_failed(scene: Scene, entities: list[Entity], owners, status: int, time: float) -> str:
    """Return what a step from `time` [s] failed at, and which robot or body it was."""
    if scene.settings["integrator"][0] == RK4 and status in (ended.SINGULAR, ended.DIVERGED):
        stiff = _too_stiff_for_rk4(scene, entities)
        if stiff is not None:
            return f"the step from t = {time:g} s failed: {stiff}"
    if status == ended.SINGULAR:
        body = int(scene.tally["needed"][0])
        owner = max((e for e in entities if e.first_body <= body), key=lambda e: e.first_body)
        names = [
            j.name
            for j in getattr(getattr(owner, "model", None), "joints", ())
            if j.body == body - owner.first_body
        ]
        what = f"joint {names[0]!r}" if names else "the body"
        return f"{what} of {owner.name!r} moves no positive inertia: give it one"
    if status == ended.TOO_STIFF:
        contact = scene.collision.contacts[int(scene.tally["needed"][0])]
        time_step = float(scene.settings["time_step"][0])
        a, b = ("/".join(owners[contact[shape]]) for shape in ("shape_a", "shape_b"))
        found = float(scene.tally["stiffness"][0])
        return (
            f"penalty contact of {a} and {b} with {contact['stiffness']:.4g} N/m a point is too "
            f"stiff for steps of {time_step:g} s: (k dt^2 + 2 c dt) / m is {found:.3g} and must "
            f"be below {STABLE_BELOW:g}; set_penalty gives a softer spring, or take a smaller "
            "time_step"
        )
    k = int(np.argmax(np.abs(scene.velocity)))
    owner = max((e for e in entities if e.first_v <= k), key=lambda e: e.first_v)
    return (
        f"the step from t = {time:g} s would give numbers that are not finite; the state "
        f"before it is kept. Fastest is {owner.name!r} with {scene.velocity[k]:.3g} "
        "(rad/s or m/s); look at its forces and gains, or take a smaller time_step"
    )


def _too_stiff_for_rk4(scene: Scene, entities: list[Entity]) -> str | None:
    """Return which joint of a robot makes rk4 explode at the time step, if one does."""
    time_step = float(scene.settings["time_step"][0])
    for robot in entities:
        limit = rk4_limit(robot) if isinstance(robot, Robot) else None
        if limit is not None and limit.time_step < time_step:
            return (
                f"rk4 takes springs, dampers and gains explicitly, and joint {limit.joint!r} of "
                f"{robot.name!r} with {limit.stiffness:.4g} (Nm/rad or N/m) and "
                f"{limit.damping:.4g} (Nms/rad or Ns/m) allows steps of {limit.time_step:.3g} s "
                f"at most, not {time_step:g} s; integrator 'semi_implicit' allows any"
            )
    return None
