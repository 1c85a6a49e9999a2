"""Other engines, for comparison only: what is not installed is left out, and said so."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

NOT_INSTALLED = "not installed"


def mujoco_module() -> ModuleType | None:
    """Return the module mujoco, or None if it is not installed."""
    try:
        return import_module("mujoco")
    except ImportError:
        return None


def peer_name(module: ModuleType | None, settings: str = "") -> str:
    """Return "mujoco 3.1.0, settings", or that it is not installed."""
    if module is None:
        return f"mujoco: {NOT_INSTALLED}"
    name = f"mujoco {module.__version__}"
    return f"{name}, {settings}" if settings else name
