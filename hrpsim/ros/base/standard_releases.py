# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where the releases of simulation_interfaces, 1.0 to 2.1, differ."""

from __future__ import annotations

from typing import Any

_RESOURCES = ("entity_resource", "world_resource", "level_resource")


def resource_of(message: Any) -> Any:
    """Return what has `uri` and `resource_string`: a field of the message, or itself before 2.1."""
    for name in _RESOURCES:
        if hasattr(message, name):
            return getattr(message, name)
    return message


def service_name(kind: str) -> str:
    """Return the name of the service whose type is called so: spawn_entity for SpawnEntity."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
