# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Limits and dry friction of tendons act in the bridge."""

import numpy as np
import pytest

from hrpsim import ModelWarning
from hrpsim.bridges import mujoco as ours

native = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings(f"ignore::{ModelWarning.__module__}.ModelWarning")
ROPE = """<mujoco><option timestep="0.001"/><worldbody><site name="o" pos="0 0 2"/>
<body pos="X 0 1.6"><freejoint/><geom size=".05" mass="2"/><site name="s"/></body></worldbody>
<tendon><spatial name="t" limited="true" range="0 0.5" solreflimit="0.002 1"><site site="o"/>
<site site="s"/></spatial></tendon></mujoco>"""
ARM = """<mujoco><option timestep="0.001"/><worldbody><body><joint name="a" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1" contype="0"/><body pos=".3 0 0">
<joint name="b" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass="1"
 contype="0"/></body></body></worldbody><tendon><fixed name="t" LIMITS>
<joint joint="a" coef="1"/><joint joint="b" coef="-1"/></fixed></tendon></mujoco>"""
STIFF = 'limited="true" range="-0.2 0.2" solreflimit="0.002 1"'


def run(mujoco, text, steps, act=lambda model, data: None):
    """Return the data after some steps, and the lengths of the tendon [m or rad]."""
    model = mujoco.MjModel.from_xml_string(text)
    data, lengths = mujoco.MjData(model), []
    act(model, data)
    for _ in range(steps):
        mujoco.mj_step(model, data)
        lengths.append(float(data.ten_length[0]))
    return data, np.array(lengths)


def test_a_rope_holds_a_weight():
    """Law: the rope gets taut without a bounce, and its force is then the weight."""
    data, lengths = run(ours, ROPE.replace("X", "0"), 500)
    assert lengths.max() < 0.5 + 1e-9
    np.testing.assert_allclose(data.qpos[:3], [0.0, 0.0, 1.5], atol=1e-9)
    np.testing.assert_allclose(data.qfrc_constraint[:3], [0.0, 0.0, 2.0 * 9.81], atol=1e-6)


@pytest.mark.parametrize("text", [ROPE.replace("X", "0.3"), ARM.replace("LIMITS", STIFF)])
def test_limited_tendons_move_as_with_stiff_limits_of_mujoco(text):
    found = [run(mujoco, text, 300) for mujoco in (ours, native)]
    (data, lengths), (other, _) = found
    np.testing.assert_allclose(data.qpos, other.qpos, atol=2e-3)
    assert lengths.max() < 0.5 + 1e-4 and abs(lengths).max() < 0.5 + 1e-4


def test_dry_friction_of_a_tendon_holds_up_to_its_bound():
    """Law: I l' = force - bound for a moment on both ends, and no motion up to the bound."""

    def push(share):
        def act(model, data):
            model.opt.gravity[:] = 0.0
            data.qfrc_applied[:] = [share * 0.3, -share * 0.3]

        return act

    text = ARM.replace("LIMITS", 'frictionloss="0.3"')
    held, _ = run(ours, text, 100, push(0.99))
    np.testing.assert_allclose(held.qvel, 0.0, atol=1e-9)
    moved, _ = run(ours, text, 50, push(1.5))
    free, _ = run(native, ARM.replace("LIMITS", ""), 50, push(0.5))
    np.testing.assert_allclose(moved.qvel, free.qvel, rtol=1e-6)


def test_a_written_limit_acts_from_the_next_step():
    def shorten(model, data):
        model.tendon_range[0] = [0.0, 0.45]

    data, _ = run(ours, ROPE.replace("X", "0"), 500, shorten)
    assert data.qpos[2] == pytest.approx(1.55, abs=1e-9)
