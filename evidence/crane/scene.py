# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The scene of E10: the crane over a table with one object and a goal, and the measurements."""

import math
from typing import NamedTuple

import numpy as np

from evidence.crane.script import Go, Grip, ScriptedCrane
from hrpsim import Box, World, load_model
from hrpsim.common.constants import STANDARD_GRAVITY as GRAVITY
from hrpsim.common.resources import share_path
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.model.shapes.geometry import Geometry
from hrpsim.world.objects.body import rotation_matrix

EDGE, MASS = 0.06, 0.5  # of the box [m], [kg]
FRICTION = 0.5  # of all materials, as in the thesis
# Compliance of each of a pad's four contact points: rubber of 2 MPa, 5 mm thick, 20 x 50 mm [m/N].
PAD_COMPLIANCE = 4.0 * 5e-3 / (2e6 * 0.020 * 0.050)
SAFETY = 2.0  # ratio of the largest load of the pads to the box's weight
GRIP = SAFETY * MASS * GRAVITY / (2.0 * FRICTION)  # force of each pad [N]
GOAL = (0.25, 0.0)  # middle of the goal [m]
GOAL_SIZE = (0.16, 0.16, 0.01)  # [m]
START = 0.15  # initial height of the pads [m]
HEIGHT = 0.12  # height of the pads with a lifted object [m]
CLAWS = ("left_claw", "right_claw")
LARGEST_SLIP = 1e-4  # largest slip of a held object [m]
WATCH = 0.05  # period of measurements of the load [s]
SWEEPS = 2000  # needed if the friction of all points is close to the limit
SOLVER = [{"solver": "direct", "bodies": "crane"}, {"solver": "iterative"}]

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


class Load(NamedTuple):
    """An object on the table: name, shape, mass [kg], initial position of the centre [m]."""

    name: str
    shape: Geometry
    mass: float
    position: tuple[float, float, float]


class Watched(NamedTuple):
    """Measurements of a load in the grip.

    Attributes:
        times: times since the grip (n,) [s].
        slips: displacement of the load relative to the claws since the grip (n,) [m].
        forces: forces of the pads (n, 2) [N].
    """

    times: np.ndarray
    slips: np.ndarray
    forces: np.ndarray


BOX = Load("box", Box((EDGE,) * 3), MASS, (0.0, 0.0, EDGE / 2))


def critical_lift() -> float:
    """Return the upward acceleration [m/s^2] at which the box slips: 2 mu N = m (g + a)."""
    return 2.0 * FRICTION * GRIP / MASS - GRAVITY


def critical_shift() -> float:
    """Return the horizontal acceleration a along the pads at which the load slips [m/s^2].

    The acceleration satisfies (2 mu N)^2 = m^2 (g^2 + a^2).
    """
    return math.sqrt((2.0 * FRICTION * GRIP / MASS) ** 2 - GRAVITY**2)


def lifting() -> list:
    """Return the moves that grip and lift the object at the middle of the table."""
    return [Grip(False, 0.8), Go((0.0, 0.0, EDGE / 2)), Grip(True, 1.8), Go((0.0, 0.0, HEIGHT))]


class CraneScene:
    """A world in which a crane executes a script, with one time step."""

    def __init__(
        self,
        time_step: float,
        script: list,
        load: Load = BOX,
        grip: float = GRIP,
        friction: float = FRICTION,
    ) -> None:
        """Make the world. The control period is the time step.

        grip: force of each pad [N]. friction: coefficient between pads and load.
        """
        self.world = world = World(
            time_step, (0.0, 0.0, -GRAVITY), solver=SOLVER, sweep_limit=SWEEPS
        )
        world.set_friction("pad", "object", static=friction)
        world.set_friction("table", "object", static=FRICTION)
        world.set_contact("pad", "object", compliance=PAD_COMPLIANCE)
        world.add_ground(material="table")
        world.add_static(Box(GOAL_SIZE), (*GOAL, GOAL_SIZE[2] / 2), material="table", name="goal")
        model = load_model(share_path("urdf/crane.urdf.xacro"), base="fixed")
        q = model.neutral()
        q[model.joint("crane_z").q_index] = START
        self.robot = world.add_robot(model, q=q, name="crane")
        self.box = world.add_body(
            load.shape, load.mass, load.position, material="object", name=load.name
        )
        self._points = _corners_of(load.shape)
        self.crane = ScriptedCrane(script)
        self.loop = ControlLoop(self.robot, self.crane, {"period": time_step, "grip": grip})

    def play_until(self, move: int) -> None:
        """Simulate until move number `move` of the script begins, or the script ends."""
        while len(self.crane.begun) <= move and not self.crane.finished:
            self.loop.tick()

    def watch_until(self, move: int) -> Watched:
        """Simulate as `play_until` does, and measure slip and pad forces at intervals WATCH."""
        start, corners = self.world.time, self.corners()
        times, slips, forces = [], [], []
        every, ticks = max(1, round(WATCH / self.world.time_step)), 0
        while len(self.crane.begun) <= move and not self.crane.finished:
            self.loop.tick()
            ticks += 1
            if ticks % every == 0:
                times.append(self.world.time - start)
                slips.append(slip_between(corners, self.corners()))
                forces.append(self.pad_forces())
        return Watched(np.array(times), np.array(slips), np.array(forces))

    def corners(self) -> np.ndarray:
        """Return the corners of the load in the frame of each claw (2, n, 3) [m]."""
        R = rotation_matrix(self.box.orientation)
        corners = self.box.position + self._points @ R.T
        seen = []
        for claw in CLAWS:
            origin, orientation = self.robot.link_pose(claw)
            seen.append((corners - origin) @ rotation_matrix(orientation))
        return np.array(seen)

    def pad_forces(self) -> list[float]:
        """Return the normal force of each pad [N]."""
        pads = [self.robot.contact_arrays(claw) for claw in CLAWS]
        return [float(np.sum(pad.forces * pad.normals)) for pad in pads]

    def posture(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the configurations of crane and box, for drawing."""
        return self.robot.q.copy(), self.box.q.copy()


def _corners_of(shape: Geometry) -> np.ndarray:
    return 0.5 * _CORNERS * shape.lengths if isinstance(shape, Box) else shape.vertices


def slip_between(before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest displacement of a corner in the frame of either claw [m]."""
    return float(np.linalg.norm(after - before, axis=-1).max())
