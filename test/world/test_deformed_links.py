# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A deformed link has the mass properties of its deformed matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import hrpsim

POINTS = np.random.default_rng(0).normal(0.0, 0.1, (12, 3)) + [0.05, 0.0, -0.2]
ENTRIES = st.floats(-2.0, 2.0)


def moments(points, mass):
    """Return centre of mass, and inertia about it, of equal point masses."""
    center = points.mean(axis=0)
    own = points - center
    second = mass * own.T @ own / len(points)
    return center, np.trace(second) * np.eye(3) - second


def arm():
    """Return a world's arm with the inertia of POINTS, whose joint is about x, and its frame."""
    c, i = moments(POINTS, 1.5)
    text = f"""<robot name="arm"><link name="base"/><link name="rod"><inertial>
<origin xyz="{c[0]} {c[1]} {c[2]}"/><mass value="1.5"/><inertia ixx="{i[0, 0]}" ixy="{i[0, 1]}"
ixz="{i[0, 2]}" iyy="{i[1, 1]}" iyz="{i[1, 2]}" izz="{i[2, 2]}"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
</joint></robot>"""
    model = hrpsim.load_model(text, base="fixed")
    return hrpsim.World().add_robot(model, name="arm")


ARM = arm()


@given(arrays(float, (3, 3), elements=ENTRIES), arrays(float, 3, elements=ENTRIES))
def test_mass_properties_are_those_of_deformed_points(deformation, shift):
    """Law: points that move by an affine map have these moments, in the frame of the link."""
    if abs(np.linalg.det(deformation)) < 1e-3:
        return
    ARM.deform_link("rod", 0.7, shift, deformation)
    center = POINTS.mean(axis=0)
    com, inertia = moments(center + shift + (POINTS - center) @ deformation.T, 0.7 * 1.5)
    frame, system = ARM.model.frame("rod"), ARM.system
    assert system.mass[0] == pytest.approx(0.7 * 1.5)
    assert frame.R.T @ (system.com[0] - frame.p) == pytest.approx(com, abs=1e-12)
    assert frame.R.T @ system.inertia[0] @ frame.R == pytest.approx(inertia, abs=1e-12)


@pytest.mark.parametrize("change", [{"mass_factor": 0.0}, {"deformation": np.zeros((3, 3))}])
def test_links_without_matter_are_refused(change):
    with pytest.raises(hrpsim.HrpsimError, match=r"no solid has|mass_factor must be positive"):
        ARM.deform_link("rod", **change)
