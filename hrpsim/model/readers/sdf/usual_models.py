# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The sun and the ground plane, which nearly every world of Gazebo includes from elsewhere."""

from __future__ import annotations

from hrpsim.model.readers.sdf import fuel

_SUN = '<sdf version="1.6"><light name="sun" type="directional"/></sdf>'
_GROUND_PLANE = """<sdf version="1.6"><model name="ground_plane"><static>true</static>
<link name="link"><collision name="collision">
<geometry><plane><normal>0 0 1</normal></plane></geometry>
<surface><friction><ode><mu>100</mu><mu2>100</mu2></ode></friction></surface>
</collision></link></model></sdf>"""  # Gazebo's mu2 of 50 changes no minimum of two surfaces
_TEXTS = {"sun": _SUN, "ground_plane": _GROUND_PLANE}


def usual_model(uri: str) -> str | None:
    """Return the SDF of a built-in model (sun, ground_plane) that a URI names, or None."""
    scheme, _, location = uri.partition("://")
    of_fuel = fuel.parse(uri)
    if of_fuel is not None and not of_fuel.file:
        location = of_fuel.name
    elif scheme != "model":
        return None
    return _TEXTS.get(location.strip("/").lower().replace(" ", "_"))
