# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Old names of modules and their contents: each works, and warns with the new name."""

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any

GO_WITH = "2.0"  # the version without the old names

# Imports that the documents named.
MOVED = {
    "hrpsim.bridges.tsid_walk": "hrpsim.bridges.tsid",
    "hrpsim.control.control_loop": "hrpsim.control.framework.control_loop",
    "hrpsim.control.controller": "hrpsim.control.framework.controller",
    "hrpsim.control.crane": "evidence.crane.control",
    "hrpsim.control.footsteps": "hrpsim.control.pattern.footsteps",
    "hrpsim.control.motion_sequence": "hrpsim.control.motion.motion_sequence",
    "hrpsim.control.playback": "hrpsim.control.motion.playback",
    "hrpsim.control.plugins": "hrpsim.control.framework.plugins",
    "hrpsim.control.stand_controller": "hrpsim.control.motion.stand_controller",
    "evidence.experiments.heart": "evidence.experiments.scenes.crane_hooks",
    "hrpsim.model.geometry": "hrpsim.model.shapes.geometry",
    "hrpsim.ros.bag_reader": "hrpsim.bag.reader",
    "hrpsim.ros.crane_joystick": "evidence.crane.joystick",
    "hrpsim.world.load": "hrpsim.world.file.load_world",
    "hrpsim.world.results": "hrpsim.world.parts.results",
}


# In modules that pages named: old name -> new name.
RENAMED = {
    "hrpsim.control.biped.prepare": {"Options": "BipedOptions", "prepare": "prepare_biped"},
    "hrpsim.control.pattern.footsteps": {"Walk": "Footsteps"},
    "hrpsim.control.walk_trial": {"walk": "simulate_walk"},
    "hrpsim.viewer.film": {"film": "make_film"},
}


def old_names(module: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module of RENAMED."""

    def find(name: str) -> Any:
        new = RENAMED[module].get(name)
        if new is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        _warn(f"{module}.{name}", f"{_public(module)}.{new}")
        return getattr(sys.modules[module], new)

    return find


def _public(module: str) -> str:
    """Return the modules from which a module's public names are imported."""
    room = ".".join(module.split(".")[:2])
    own = {"hrpsim.model": "hrpsim", "hrpsim.world": "hrpsim", "evidence.experiments": module}
    return own.get(room, room)


def _warn(old: str, new: str) -> None:
    warnings.warn(
        f"{old} is {new} now; the old name goes with hrpsim {GO_WITH}",
        DeprecationWarning,
        stacklevel=3,
    )


class _Finder(MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        return ModuleSpec(fullname, _Loader()) if fullname in MOVED else None


class _Loader(Loader):
    def create_module(self, spec):
        now = MOVED[spec.name]
        _warn(spec.name, _public(now))
        module = import_module(now)
        self._own = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._own  # which the import system has just replaced


def redirect() -> None:
    """Install the importer of the old names, once."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
