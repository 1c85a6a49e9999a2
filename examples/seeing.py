# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Climb stairs of unknown heights: a height scan places the footsteps. A blind robot fails."""

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.control import (
    ControlLoop,
    Velocity,
    VelocityWalk,
    flattest_foothold,
    ground_in_plan,
    sole_outline,
)

TOP = 0.15  # of the last tread [m]


class Eyes:
    """Places footsteps by the robot's height scan."""

    def __init__(self, robot):
        self.robot, self.outline = robot, sole_outline(robot.model, "l_sole")
        self.time = -1.0

    def place_footstep(self, nominal, standing):
        """Return the foothold near the nominal foothold, on the ground that the scan shows now."""
        if self.time != self.robot.world.time:  # the first footstep of a new plan
            self.time = self.robot.world.time
            p, (_, _, z, w) = self.robot.link_pose(
                "l_sole" if standing.side == "left" else "r_sole"
            )
            seen = self.robot.sensors["ground"].points_in_world
            self.ground = ground_in_plan(seen, p, 2.0 * np.arctan2(z, w), standing)
        outline = self.outline
        return flattest_foothold(nominal, self.ground, outline, standing, clearance=0.6)


def climb(sees, duration):
    """Walk towards the stairs. Return the height gained at the end [m].

    The walk ends on the last tread, after a fall, or after `duration` [s].
    """
    world = hrpsim.load_world(share_path("config/unknown_stairs.yaml"))
    robot = world.robots["hrp2"]
    controller = VelocityWalk(Eyes(robot).place_footstep if sees else None)
    start = robot.q[2]
    with ControlLoop(robot, controller) as loop:
        while robot.q[0] < 1.2 and robot.q[2] > start - 0.1 and world.time < duration:
            controller.command_velocity(Velocity(forward=0.1), world.time)
            loop.tick()
    print(f"{'seeing' if sees else 'blind'}: {robot.q[0]:.2f} m ahead, {robot.q[2] - start:+.2f} m")
    return robot.q[2] - start


assert climb(sees=False, duration=8.0) < 0.03
assert abs(climb(sees=True, duration=25.0) - TOP) < 0.02
