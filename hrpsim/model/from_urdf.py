# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""From the text of a URDF to a `Model`, and what is to be said of it."""

from __future__ import annotations

import os
from dataclasses import replace

from hrpsim.model.build import build_model, stated_base
from hrpsim.model.extension import read_extension
from hrpsim.model.keyframes import keyframe_configurations
from hrpsim.model.link_shapes import read_shapes
from hrpsim.model.model import MeshUse, Model
from hrpsim.model.readings import readings
from hrpsim.model.urdf.description import Description, read_description
from hrpsim.model.urdf.document import Document
from hrpsim.model.urdf.source import UrdfText
from hrpsim.model.urdf.srdf import read_disabled_collisions


def read_model(
    urdf: UrdfText,
    base: str | None,
    accept_nonphysical_inertia: bool,
    meshes: str,
    srdf: str | os.PathLike | None,
) -> tuple[Model, list[str]]:
    """Return the model of URDF text and the warnings about it.

    Arguments and errors are those of `load_model`; `base` None: what the text says, where it does.
    """
    document = Document(urdf.text, urdf.label, urdf.has_lines)
    description = read_description(document)
    extension = read_extension(description)
    if base is None:
        base = stated_base(description) if urdf.states_base else "free"
    model, odd = build_model(description, extension, base, accept_nonphysical_inertia)
    shapes, uses = read_shapes(description, extension, model.frames, urdf.resources, meshes)
    disabled, notes = extension.stay_apart(description), [*odd, *_surprises(uses)]
    if srdf is not None:
        of_srdf, strangers = read_disabled_collisions(srdf, model.frames)
        disabled |= of_srdf
        notes += strangers
    notes += [*readings(description), *_intangible(model, description, shapes, uses)]
    model = replace(
        model,
        shapes=shapes,
        meshes=uses,
        disabled_collisions=disabled,
        keyframes=keyframe_configurations(model, extension.keyframes.values()),
    )
    return model, notes


def _surprises(uses: tuple[MeshUse, ...]) -> list[str]:
    """Return what is to be said of meshes that were mended or are not what was asked for."""
    return list(dict.fromkeys(f"mesh {use.file}: {use.note}" for use in uses if use.note))


def _intangible(model: Model, description: Description, shapes, uses) -> list[str]:
    """Return what is to be said of a robot on a free base that is seen but never touches."""
    if shapes or uses or model.base != "free":
        return []
    elements = description.link_elements
    seen = [link for link, element in elements.items() if element.find("visual") is not None]
    if not seen:
        return []
    shown = ", ".join(map(repr, _ends(description, seen)[:4]))
    return [
        f"{description.where_is_link(model.base_link)}: no link has a <collision>, though"
        f" {len(seen)} have a <visual>: in a world the robot falls through everything; give the"
        f" links that it touches things with (its ends are {shown}) a <collision> each"
    ]


def _ends(description: Description, links: list[str]) -> list[str]:
    """Return those of some links that have none of the others beneath them."""
    above: set[str] = set()
    for link in links:
        while link in description.parent_joint:
            link = description.joints[description.parent_joint[link]].parent
            above.add(link)
    return [link for link in links if link not in above]
