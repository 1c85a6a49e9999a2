# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random trees with skew axes, turned inertias and shuffled names are Pinocchio's trees too."""

import numpy as np
import pinocchio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model.urdf_text import zero_posture

from hrpsim import load_model
from hrpsim.model.readers.urdf_writer import exact_text as words

TYPES = ("continuous", "revolute", "prismatic", "fixed")


def random_urdf(seed: int, link_count: int) -> str:
    """A tree in which each link hangs on any earlier one, by a joint of any type and name."""
    rng = np.random.default_rng(seed)
    names = rng.permutation(link_count)
    parts = []
    for i in range(link_count):
        a, b, c = rng.uniform(0.1, 1.0, 3).tolist()
        parts.append(
            f'<link name="l{i}"><inertial><mass value="{float(rng.uniform(0.5, 3))!r}"/>'
            f'<origin xyz="{words(rng.normal(size=3))}" rpy="{words(rng.normal(size=3))}"/>'
            f'<inertia ixx="{b + c!r}" iyy="{a + c!r}" izz="{a + b!r}" ixy="0" ixz="0" iyz="0"/>'
            "</inertial></link>"
        )
        if i > 0:
            parts.append(
                f'<joint name="j{names[i]}" type="{rng.choice(TYPES)}">'
                f'<parent link="l{rng.integers(i)}"/><child link="l{i}"/>'
                f'<origin xyz="{words(rng.normal(size=3))}" rpy="{words(rng.normal(size=3))}"/>'
                f'<axis xyz="{words(rng.normal(size=3))}"/>'
                '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
            )
    order = rng.permutation(len(parts))
    return f'<robot name="random">{"".join(parts[k] for k in order)}</robot>'


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), link_count=st.integers(1, 15))
def test_random_trees_are_pinocchios(seed, link_count):
    text = random_urdf(seed, link_count)
    model = load_model(text)
    oracle = pinocchio.buildModelFromXML(text, pinocchio.JointModelFreeFlyer())
    assert [joint.name for joint in model.joints] == list(oracle.names)[1:]
    data = oracle.createData()
    neutral = pinocchio.neutral(oracle)
    pinocchio.framesForwardKinematics(oracle, data, neutral)
    placed = zero_posture(model)
    for name, frame in model.frames.items():
        theirs = data.oMf[oracle.getFrameId(name)]
        R, p = placed[frame.body]
        assert R @ frame.R == pytest.approx(theirs.rotation, abs=1e-12)
        assert R @ frame.p + p == pytest.approx(theirs.translation, abs=1e-12)
    com = sum(
        m * (R @ c + p)
        for m, c, (R, p) in zip(model.system.mass, model.system.com, placed, strict=True)
    )
    assert com / model.mass == pytest.approx(
        pinocchio.centerOfMass(oracle, data, neutral), abs=1e-12
    )
