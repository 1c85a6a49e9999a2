# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game in a viewer, played by a test."""

from evidence.crane.player import PlayedCrane
from hrpsim import load_world, share_path
from hrpsim.commands.parts import view
from hrpsim.viewer import Viewer


def crane_game():
    """Return (viewer, player, control loop); stop the viewer, then the loop."""
    from evidence.crane.panel import CranePanel

    world = load_world(share_path("config/crane.yaml"))
    player = PlayedCrane()
    loop, motion = view.controlled(world.robots["crane"], player, {"period": world.time_step})
    viewer = Viewer(world, motion, port=0)
    viewer.panels.append(CranePanel(viewer, player))
    return viewer, player, loop
