# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What an experiment needs: worlds of ours, peers and measurements where they are installed."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from hrpsim.errors import HrpsimError, WorldError
from hrpsim.experiments.framework.experiment import Result

if TYPE_CHECKING:
    from hrpsim.world.world import World

NOT_INSTALLED = "not installed"
MUJOCO_FORM = "dense up to 60 degrees of freedom, sparse above"  # jacobian="auto"
VARIABLE = "HRPSIM_MEASUREMENTS"
_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[4] / "shared" / "data"


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
    """Return "mujoco 3.1.0, settings", or that it is not installed.

    Of mujoco it says which form its Jacobian has: its own choice, if the settings name none.
    """
    if module is None:
        return f"{name}: {NOT_INSTALLED}"
    parts = [f"{name} {module.__version__}", *([settings] if settings else [])]
    if name == "mujoco" and "sparse" not in settings:
        parts.append(MUJOCO_FORM)
    return ", ".join(parts)


def against_mujoco(settings: str) -> tuple[ModuleType | None, Result]:
    """Return mujoco, None if it is not installed, and a result whose peer it is with `settings`."""
    mujoco = mujoco_module()
    return mujoco, Result(peer=peer_name(mujoco, settings))


def steps_through(world: World, count: int = 1) -> bool:
    """Do steps of a world; return whether all were finite."""
    try:
        world.step(count)
    except WorldError:
        return False
    return True


class MeasurementsAbsent(HrpsimError):
    """Measurements that an experiment needs are not on this machine; the message names them."""


def measurements(folder: Path | None, names: tuple[str, ...], source: str) -> list[Path]:
    """Return the files `names` of `folder`.

    None is the folder that the variable HRPSIM_MEASUREMENTS names, or else
    ../shared/data next to the checkout. Raises MeasurementsAbsent, with `source`, where a file is
    not there.
    """
    named = os.environ.get(VARIABLE)
    folder = folder or (Path(named) if named else _BESIDE_THE_CHECKOUT)
    paths = [folder / name for name in names]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise MeasurementsAbsent(
            f"{', '.join(missing)} not found in {folder} (--data FOLDER, or {VARIABLE}); {source}"
        )
    return paths
