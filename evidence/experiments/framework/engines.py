# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Engines for experiments: worlds of hrpsim, and installed peers (other engines)."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from evidence.experiments.framework.experiment import Result
from hrpsim.common.errors import WorldError

if TYPE_CHECKING:
    from hrpsim.world.world import World

NOT_INSTALLED = "not installed"
MUJOCO_FORM = "dense Jacobian up to 60 degrees of freedom, sparse above"  # jacobian="auto"


def mujoco_module() -> ModuleType | None:
    """Return the module mujoco, or None if it is not installed."""
    return _module("mujoco")


def pinocchio_module() -> ModuleType | None:
    """Return the module pinocchio, or None if it is not installed."""
    return _module("pinocchio")


def _module(name: str) -> ModuleType | None:
    try:
        return import_module(name)
    except ImportError:
        return None


def peer_name(module: ModuleType | None, settings: str = "", name: str = "mujoco") -> str:
    """Return "mujoco 3.1.0, settings", or a note that the peer is not installed.

    For mujoco the text includes the format of the Jacobian. If the settings do not name the format,
    it is MuJoCo's default.
    """
    if module is None:
        return f"{name}: {NOT_INSTALLED}"
    parts = [f"{name} {module.__version__}", *([settings] if settings else [])]
    if name == "mujoco" and "sparse" not in settings:
        parts.append(MUJOCO_FORM)
    return ", ".join(parts)


def against_mujoco(settings: str) -> tuple[ModuleType | None, Result]:
    """Return the module mujoco, or None, and a new result with mujoco and `settings` as peer."""
    mujoco = mujoco_module()
    return mujoco, Result(peer=peer_name(mujoco, settings))


def steps_through(world: World, count: int = 1) -> bool:
    """Step a world `count` times. Return whether all results were finite."""
    try:
        world.step(count)
    except WorldError:
        return False
    return True
