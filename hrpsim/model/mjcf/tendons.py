# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The fixed tendons of a compiled MJCF."""

from __future__ import annotations

import numpy as np

from hrpsim.model.formats.robot_data import Notes
from hrpsim.model.mjcf.read import MjcfModel

_OWN = ("stiffness", "damping", "frictionloss", "limited", "armature", "actfrclimited")


def joints_of_tendon(m: MjcfModel, tendon: int) -> list[tuple[int, float]]:
    """Return (joint, coefficient) of a fixed tendon; nothing of a spatial one."""
    first = int(m.tendon_adr[tendon])
    wraps = range(first, first + int(m.tendon_num[tendon]))
    if any(m.kind("mjtWrap", m.wrap_type[k]) != "JOINT" for k in wraps):
        return []
    return [(int(m.wrap_objid[k]), float(m.wrap_prm[k])) for k in wraps if m.wrap_prm[k]]


def note_tendons(m: MjcfModel, notes: Notes) -> None:
    """Note spatial tendons, and what fixed ones do besides joining joints to an actuator."""
    for tendon, name in enumerate(m.names.get("tendon", [])):
        if not joints_of_tendon(m, tendon):
            notes.add("tendon", "not simulated", name)
            continue
        for what in _OWN:
            values = getattr(m, f"tendon_{what}")
            if values is not None and np.any(values[tendon]):
                notes.add(f"tendon {what}", "not simulated", name)
