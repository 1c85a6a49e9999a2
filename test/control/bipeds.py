# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Small made-up bipeds as URDF text: any order of hip and ankle axes, any facing, any feet."""

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


def box(ahead):
    """Return a foot 0.2 m long and 0.1 m wide; ahead: 1 or -1, which way it points."""
    return shape((0.03 * ahead, 0, -0.05), '<box size="0.2 0.1 0.02"/>')


def balls(ahead, count=4):
    """Return a foot on balls with a radius of 10 mm at the corners of 0.2 m by 0.08 m."""
    corners = [(x * ahead, y, -0.05) for x in (-0.07, 0.13) for y in (-0.04, 0.04)]
    return "".join(shape(at, '<sphere radius="0.01"/>') for at in corners[:count])


def shape(at, geometry):
    return f"<collision>{origin(at)}<geometry>{geometry}</geometry></collision>"


def origin(at):
    return f'<origin xyz="{at[0]} {at[1]} {at[2]}"/>'


def link(name, mass, size, at=(0, 0, 0), more=""):
    x, y, z = (mass * (sum(s * s for s in size) - s * s) / 12.0 for s in size)
    return (
        f'<link name="{name}"><inertial>{origin(at)}<mass value="{mass}"/>'
        f'<inertia ixx="{x}" iyy="{y}" izz="{z}" ixy="0" ixz="0" iyz="0"/></inertial>{more}</link>'
    )


def joint(name, parent, child, axis, at=(0, 0, 0), lower=-2.0, upper=2.0):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'{origin(at)}<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>'
        f'<limit lower="{lower}" upper="{upper}" velocity="8" effort="150"/></joint>'
    )


def leg(name, y, hip, ankle, foot, ahead, sense, between="", knees=(-0.1, 2.4)):
    """Return a leg of thigh and shank of 0.25 m, and one ankle axis 10 mm below the other.

    between: shapes of the link between the ankle's axes. knees: their range, for a positive sense.
    """
    names = [f"{name}_{k}" for k in range(6)]
    links = [f"{joint_name}_link" for joint_name in names]
    axes = [AXES[axis] for axis in (*hip, "y", *ankle)]
    axes[3] = (0, ahead * sense, 0)
    at = [(0, y, -0.05), (0, 0, 0), (0, 0, 0), (0, 0, -0.25), (0, 0, -0.25), (0, 0, -0.01)]
    masses = [
        (0.8, (0.08, 0.08, 0.08)),
        (0.8, (0.08, 0.08, 0.08)),
        (3.0, (0.1, 0.1, 0.25), (0, 0, -0.12)),
        (2.0, (0.08, 0.08, 0.25), (0, 0, -0.12)),
        (0.3, (0.05, 0.05, 0.05), (0, 0, 0), between),
        (0.9, (0.2, 0.1, 0.03), (0.03 * ahead, 0, -0.04), foot(ahead)),
    ]
    text = ""
    for k, parent in enumerate(["pelvis", *links[:5]]):
        limits = (-2.0, 2.0) if k != 3 else knees if sense > 0 else (-knees[1], -knees[0])
        text += joint(names[k], parent, links[k], axes[k], at[k], *limits)
        text += link(links[k], *masses[k])
    return text


def biped(  # many parameters: keywords, each with a default
    hip="yxz", ankle="yx", foot=box, ahead=1, sense=1, extra="", between="", knees=(-0.1, 2.4)
):
    """Return a robot of 30 kg on two legs of six joints.

    hip, ankle: axes in their order; ahead: -1 if it faces along -x of its base; sense: the sign of
    bent knees' angles; extra: elements to add; between: shapes between the ankles' axes.
    """
    legs = "".join(
        leg(name, ahead * y, hip, ankle, foot, ahead, sense, between, knees)
        for name, y in (("left", 0.08), ("right", -0.08))
    )
    trunk = shape((0, 0, 0.2), '<box size="0.2 0.3 0.4"/>')
    pelvis = link("pelvis", 14.0, (0.2, 0.3, 0.4), (0, 0, 0.2), trunk)
    return f'<robot name="biped">{pelvis}{legs}{extra}</robot>'
