# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots with sensors for tests: a box, free or on a turntable, with what `sensors` declares."""

import hrpsim

_LINK = """
<link name="{name}"><inertial><mass value="2"/><origin xyz="0 0 0"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link>"""


def free_box(sensors: str, more: str = "") -> hrpsim.Model:
    """Return a free box of 0.4 x 0.3 x 0.2 m and 2 kg."""
    body = _LINK.format(name="body")
    extension = f'<hrpsim reference="body">{sensors}</hrpsim>' if sensors else ""
    return hrpsim.load_model(f'<robot name="r">{body}{extension}{more}</robot>')


def turntable(sensors: str) -> hrpsim.Model:
    """Return the same box on an axis along z, 1 m above the world's origin."""
    joint = """<link name="world"/><joint name="yaw" type="continuous"><parent link="world"/>
    <child link="body"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint>
    <hrpsim reference="yaw"><gains kp="0" kd="50"/></hrpsim>"""
    extension = f'<hrpsim reference="body">{sensors}</hrpsim>'
    return hrpsim.load_model(
        f'<robot name="r">{joint}{_LINK.format(name="body")}{extension}</robot>'
    )


def room(world: hrpsim.World, half: float = 2.0) -> None:
    """Add four walls at -half and half of x and y."""
    for k, (x, y) in enumerate([(1, 0), (-1, 0), (0, 1), (0, -1)]):
        size = (0.2, 2.0 * half + 2.0, 6.0) if x else (2.0 * half + 2.0, 0.2, 6.0)
        world.add_static(hrpsim.Box(size), ((half + 0.1) * x, (half + 0.1) * y, 0.0), name=f"w{k}")
