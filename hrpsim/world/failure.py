"""Why a step could not be done, in words."""

from __future__ import annotations

import numpy as np

from hrpsim.world import status as ended
from hrpsim.world.entity import Entity
from hrpsim.world.scene import Scene


def why_step_failed(scene: Scene, entities: list[Entity], status: int, time: float) -> str:
    """Return what a step from `time` [s] failed at, and which robot or body it was."""
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
    k = int(np.argmax(np.abs(scene.velocity)))
    owner = max((e for e in entities if e.first_v <= k), key=lambda e: e.first_v)
    return (
        f"the step from t = {time:g} s would give numbers that are not finite; the state "
        f"before it is kept. Fastest is {owner.name!r} with {scene.velocity[k]:.3g} "
        "(rad/s or m/s); look at its forces and gains, or take a smaller time_step"
    )
