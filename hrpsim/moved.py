# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Modules by the names they had before they moved: importing one warns and gives the new one."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec

GO_WITH = "2.0"  # the version in which the old names are gone

# What the documents told users to import.
MOVED = {
    "hrpsim.control.control_loop": "hrpsim.control.framework.control_loop",
    "hrpsim.control.controller": "hrpsim.control.framework.controller",
    "hrpsim.control.crane": "hrpsim.crane.control",
    "hrpsim.control.footsteps": "hrpsim.control.pattern.footsteps",
    "hrpsim.control.motion_sequence": "hrpsim.control.motion.motion_sequence",
    "hrpsim.control.playback": "hrpsim.control.motion.playback",
    "hrpsim.control.plugins": "hrpsim.control.framework.plugins",
    "hrpsim.control.stand_controller": "hrpsim.control.motion.stand_controller",
    "hrpsim.experiments.heart": "hrpsim.experiments.scenes.crane_hooks",
    "hrpsim.model.geometry": "hrpsim.model.shapes.geometry",
    "hrpsim.ros.bag_reader": "hrpsim.bag.reader",
    "hrpsim.ros.crane_joystick": "hrpsim.crane.joystick",
    "hrpsim.world.load": "hrpsim.world.file.load",
    "hrpsim.world.results": "hrpsim.world.parts.results",
}


class _Finder(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        return ModuleSpec(fullname, _Loader()) if fullname in MOVED else None


class _Loader(Loader):
    def create_module(self, spec):
        now = MOVED[spec.name]
        warnings.warn(
            f"{spec.name} is {now} now; the old name goes with hrpsim {GO_WITH}",
            DeprecationWarning,
            stacklevel=2,
        )
        module = import_module(now)
        self._own = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._own  # which the import system has just replaced


def redirect() -> None:
    """Let the old names be imported, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
