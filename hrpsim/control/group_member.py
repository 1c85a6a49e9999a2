# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A member of a group of controllers and its life: loaded, configured, active."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.control.framework.controller import Controller, ControllerError
from hrpsim.control.framework.plugins import find_controller
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model

UNLOADED, UNCONFIGURED, INACTIVE = "unloaded", "unconfigured", "inactive"
ACTIVE, FINISHED = "active", "finished"
_ENTRY = ("controller", "joints", "parameters", "active", "loaded")


class Member:
    """One controller of a group, made from its entry in the group's parameters.

    `mine` are the places of its joints among `names` in states and commands. `state` is UNLOADED,
    UNCONFIGURED, INACTIVE, ACTIVE or FINISHED (inactive, for it has nothing left to do). Raises
    ControllerError for an entry that cannot be used.
    """

    def __init__(self, name: str, entry: Any, names: Sequence[str]):
        where = f"members.{name}"
        if not isinstance(entry, Mapping):
            raise ControllerError(f"{where} must be a mapping of {', '.join(_ENTRY)}")
        refuse_unknown(f"entry of {where}", entry, _ENTRY)
        for needed in ("controller", "joints"):
            if needed not in entry:
                raise ControllerError(f"{where} needs {needed}")
        self.name = name
        self.plugin = str(entry["controller"])
        self.mine = _places(where, entry["joints"], names)
        self.begins_loaded = bool(entry.get("loaded", True))
        self.begins_active = bool(entry.get("active", self.begins_loaded))
        if self.begins_active and not self.begins_loaded:
            raise ControllerError(f"{where} cannot be active and not loaded")
        self.controller: Controller | None = None
        self.state = UNLOADED
        self._parameters = dict(entry.get("parameters") or {})

    @property
    def active(self) -> bool:
        """Whether it commands its joints."""
        return self.state == ACTIVE

    @property
    def is_configured(self) -> bool:
        """Whether it can be activated, or is active."""
        return self.state in (INACTIVE, ACTIVE, FINISHED)

    def load(self) -> None:
        """Make the controller."""
        self.require("load", UNLOADED)
        self.controller = find_controller(self.plugin)()
        self.state = UNCONFIGURED

    def configure(self, model: Model) -> float:
        """Let it compute what depends on the model only; return its period [s]."""
        self.require("configure", UNCONFIGURED)
        self.controller.configure(model, dict(self._parameters))
        self.state = INACTIVE
        return self.controller.period

    def unload(self) -> None:
        """Stop the controller and forget it."""
        self.require("unload", UNCONFIGURED, INACTIVE, FINISHED)
        self.controller.stop()
        self.controller, self.state = None, UNLOADED

    def stop(self) -> None:
        """Stop the controller at the end of the group."""
        if self.controller is not None:
            self.controller.stop()

    def require(self, action: str, *states: str) -> None:
        """Raise ControllerError where it is in none of these states."""
        if self.state not in states:
            raise ControllerError(
                f"cannot {action} {self.name!r}: it is {self.state}, not {' or '.join(states)}"
            )


def refuse_unknown(kind: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
    """Raise ControllerError for a key that is none of those known."""
    for name in given:
        if name not in known:
            raise ControllerError(unknown_name(kind, str(name), known))


def _places(where: str, patterns: Any, names: Sequence[str]) -> np.ndarray:
    patterns = [patterns] if isinstance(patterns, str) else patterns
    if not isinstance(patterns, Sequence) or not patterns:
        raise ControllerError(f"{where}.joints must be names of joints, with * and ?")
    found: set[int] = set()
    for pattern in map(str, patterns):
        matched = [k for k, n in enumerate(names) if fnmatch.fnmatchcase(n, pattern)]
        if not matched:
            raise ControllerError(f"{where}: {unknown_name('joint', pattern, names)}")
        found.update(matched)
    return np.array(sorted(found))
