# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random robots: trees of links with skew axes, turned inertias, rotors and any kind of joint."""

import numpy as np

from hrpsim.model.readers.urdf_writer import exact_text

TYPES = ("continuous", "revolute", "prismatic", "fixed")


def _placement(rng) -> str:
    return (
        f'<origin xyz="{exact_text(rng.normal(size=3))}" rpy="{exact_text(rng.normal(size=3))}"/>'
    )


def random_tree(seed: int, link_count: int, types=TYPES) -> str:
    """Return URDF text of a tree in which each link hangs on any earlier one.

    Masses 0.1 to 10 kg, radii of gyration 0.05 to 0.5 m, a rotor inertia on every second joint.
    """
    rng = np.random.default_rng(seed)
    names = rng.permutation(link_count)
    parts = []
    for i in range(link_count):
        mass = float(10.0 ** rng.uniform(-1, 1))
        a, b, c = (mass * rng.uniform(0.05, 0.5, 3) ** 2 / 2).tolist()
        parts.append(
            f'<link name="l{i}"><inertial><mass value="{mass!r}"/>{_placement(rng)}'
            f'<inertia ixx="{b + c!r}" iyy="{a + c!r}" izz="{a + b!r}" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>"
        )
        if i == 0:
            continue
        kind = rng.choice(types)
        parts.append(
            f'<joint name="j{names[i]}" type="{kind}">'
            f'<parent link="l{rng.integers(i)}"/><child link="l{i}"/>{_placement(rng)}'
            f'<axis xyz="{exact_text(rng.normal(size=3))}"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
        if kind != "fixed" and rng.random() < 0.5:
            rotor = float(rng.uniform(0.01, 0.1))
            parts.append(f'<hrpsim reference="j{names[i]}"><rotor inertia="{rotor!r}"/></hrpsim>')
    return f'<robot name="random">{"".join(parts)}</robot>'
