"""E10's concave solids: a girder that hangs on the pads, a heart gripped at notch and tip."""

from __future__ import annotations

from dataclasses import dataclass

from hrpsim import Box
from hrpsim.control.crane_script import Go, Grip, Wait
from hrpsim.experiments import crane_scene as scene
from hrpsim.experiments.crane_scene import CraneScene, Load, slip_between
from hrpsim.experiments.experiment import Row, at_most, near
from hrpsim.experiments.girder import FLANGE, HEIGHT, SLOT, girder
from hrpsim.experiments.heart import heart

MASS = 0.3  # of each of them [kg]
HELD = 10.0  # [s]
SLIPPERY = 0.05  # friction with which the pads cannot carry the girder
GIRDER_GRIP = 6.0  # [N]
GIRDER_LENGTH = 0.040  # [m]
PAD_HEIGHT = 0.050  # [m]
PLAY = 0.5 * (SLOT - PAD_HEIGHT)  # how far the girder sinks until its flange lies on the pads
UNIT, THICKNESS = 3.5e-3, 0.050  # of the heart [m]
HEART_GRIP = scene.SAFETY * MASS * scene.GRAVITY / (2.0 * scene.FRICTION)  # [N]
_LOWEST, _LIFTED = 0.03, 0.12  # heights of the pads [m]


@dataclass
class Hooked:
    """What became of a solid that was gripped, lifted and held.

    lifted: how far it rose [m]. below: how far its middle is below that of the pads [m].
    lift_slip, hold_slip: what it slipped in the claws [m].
    """

    lifted: float
    below: float
    lift_slip: float
    hold_slip: float


def play(time_step: float, load: Load, grip: float, friction: float) -> Hooked:
    """Grip a solid at its middle, lift it and hold it for HELD."""
    low, start = max(load.position[2], _LOWEST), load.position[2]
    moves = [
        Grip(False, 1.5),
        Go((0.0, 0.0, low)),
        Grip(True, 3.0),
        Wait(0.5),
        Go((0.0, 0.0, _LIFTED)),
        Wait(HELD),
    ]
    run = CraneScene(time_step, moves, load, grip, friction)
    run.play_until(4)
    gripped = run.corners()
    run.play_until(5)
    lifted = run.corners()
    run.play_until(len(moves))
    height = float(run.box.position[2])
    pads = float(run.robot.link_pose(scene.CLAWS[0])[0][2])
    return Hooked(
        lifted=height - start,
        below=pads - height,
        lift_slip=slip_between(gripped, lifted),
        hold_slip=slip_between(lifted, run.corners()),
    )


def heart_load() -> Load:
    """Return the heart, flat on the table, the middle between notch and tip under the hand."""
    shape = heart(UNIT, THICKNESS)
    notch, tip = shape.vertices[0], shape.vertices[24]
    return Load("heart", shape, MASS, (0.0, -0.5 * (notch[1] + tip[1]), 0.5 * THICKNESS))


def girder_load() -> Load:
    """Return the girder, upright."""
    return Load("girder", girder(GIRDER_LENGTH), MASS, (0.0, 0.0, 0.5 * HEIGHT))


def rows(rate: int) -> list[Row]:
    """Return the rows of one step length."""
    step, case = 1.0 / rate, f"dt 1/{rate} s"
    hung = play(step, girder_load(), GIRDER_GRIP, SLIPPERY)
    block = Load("box", Box((GIRDER_LENGTH, FLANGE, HEIGHT)), MASS, (0.0, 0.0, 0.5 * HEIGHT))
    left = play(step, block, GIRDER_GRIP, SLIPPERY)
    held = play(step, heart_load(), HEART_GRIP, scene.FRICTION)
    rose = _LIFTED - _LOWEST
    return [
        Row(
            f"{case}: girder, friction {SLIPPERY:g}: its middle hangs below the pads' by",
            "m",
            hung.below,
            near(PLAY, absolute=1e-4),
            analytic=PLAY,
        ),
        Row(
            f"{case}: girder: slip in {HELD:.0f} s of holding",
            "m",
            hung.hold_slip,
            at_most(scene.LARGEST_SLIP),
            analytic=0.0,
        ),
        Row(
            f"{case}: a box of its outline, gripped alike, is lifted by",
            "m",
            left.lifted,
            near(0.0, absolute=1e-4),
            analytic=0.0,
        ),
        Row(f"{case}: heart is lifted by", "m", held.lifted, near(rose, absolute=2e-4)),
        Row(
            f"{case}: heart: slip while it is lifted",
            "m",
            held.lift_slip,
            at_most(scene.LARGEST_SLIP),
        ),
        Row(
            f"{case}: heart: slip in {HELD:.0f} s of holding",
            "m",
            held.hold_slip,
            at_most(scene.LARGEST_SLIP),
            analytic=0.0,
        ),
    ]
