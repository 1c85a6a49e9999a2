# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List elements of an MJCF that hrpsim does not simulate, or simulates differently."""

from __future__ import annotations

import numpy as np

from hrpsim.model.formats.robot_data import Notes
from hrpsim.model.mjcf.actuators import note_tendons
from hrpsim.model.mjcf.read import MjcfModel

_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's own

# mjModel's sizes of unsupported elements
_NOT_DRAWN = {"nskin": "skin", "nlight": "light", "ntex": "texture"}
_NOT_READ = {"nnumeric": "custom numeric", "ntext": "custom text", "ntuple": "custom tuple"}
_COUNTED = {
    "nflex": ("flex", "soft bodies are not simulated"),
    "npair": ("contact pair", "contacts are rigid, with the larger friction of its geoms"),
    "nplugin": ("plugin", "not run"),
    "ncam": ("camera", "not simulated"),
    "nmocap": ("mocap body", "stands still"),
    **{size: (what, "not drawn") for size, what in _NOT_DRAWN.items()},
    **{size: (what, "not read") for size, what in _NOT_READ.items()},
}


def note_the_rest(m: MjcfModel, notes: Notes) -> None:
    """Note unsupported elements that no other reader looks at."""
    for size, (element, why) in _COUNTED.items():
        for _ in range(m.count(size)):
            notes.add(element, why)
    note_tendons(m, notes)
    for name, count in m.source.key_lengths():
        if count < m.nq:
            why = f"{m.nq} are needed; the others are as at first (qpos0)"
            notes.add(f"keyframe qpos of {count} numbers", why, name)
    _note_options(m, notes)
    _note_softness(m, notes)
    for body in np.flatnonzero(m.body_gravcomp):
        notes.add("body gravcomp", "gravity pulls all bodies alike", m.names["body"][body])
    for array, element, why in (
        ("geom_margin", "geom margin", "contacts act when surfaces touch"),
        ("geom_gap", "geom gap", "contacts act when surfaces touch"),
        ("jnt_margin", "joint margin", "limits act where they are"),
        ("geom_adhesion", "geom adhesion", "not simulated"),
        ("geom_surfacevel", "geom surfacevel", "not simulated"),
        ("dof_dampingpoly", "joint damping, polynomial", "its linear part is simulated"),
        ("jnt_stiffnesspoly", "joint stiffness, polynomial", "its linear part is simulated"),
        ("jnt_springyield", "joint springyield", "springs never yield"),
        ("sensor_noise", "sensor noise", "sensors are exact"),
    ):
        values = getattr(m, array)
        if values is not None and len(values):
            rows = np.any(np.reshape(values, (len(values), -1)) != 0.0, axis=1)
            for _ in range(int(rows.sum())):
                notes.add(element, why)
    if len(set(m.geom_priority[_collides(m)])) > 1:
        notes.add("geom priority", "of two frictions the larger holds")
    if m.geom_fluid is not None and np.any(m.geom_fluid):
        notes.add("geom fluidshape", "fluids are not simulated")


def _collides(m: MjcfModel) -> np.ndarray:
    return (m.geom_contype != 0) | (m.geom_conaffinity != 0)


def _note_options(m: MjcfModel, notes: Notes) -> None:
    for name in ("density", "viscosity"):
        if m.option[name]:
            notes.add(f"option {name}", "fluids are not simulated")
    if any(m.option["wind"]):
        notes.add("option wind", "fluids are not simulated")
    for flag in m.disabled_flags:
        notes.add(f"option flag {flag}=disable", "not read")
    for flag in m.enabled_flags:
        notes.add(f"option flag {flag}=enable", "not read")


def _note_softness(m: MjcfModel, notes: Notes) -> None:
    geoms = _collides(m)
    limited = m.jnt_limited.astype(bool)
    friction = m.dof_frictionloss > 0
    for element, chosen, solref, solimp in (
        ("geom solref, solimp", geoms, m.geom_solref, m.geom_solimp),
        ("joint solreflimit, solimplimit", limited, m.jnt_solref, m.jnt_solimp),
        ("joint solreffriction, solimpfriction", friction, m.dof_solref, m.dof_solimp),
    ):
        odd = np.any(solref != _SOLREF, axis=1) | np.any(solimp != _SOLIMP, axis=1)
        for _ in range(int((odd & chosen).sum())):
            notes.add(element, "constraints are rigid; set_contact makes contacts yield")
