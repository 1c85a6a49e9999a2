# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Geoms with condim 4 resist spin, and with condim 6 rolling too, with MuJoCo's coefficients."""

import numpy as np
import pytest

from hrpsim import ModelWarning
from hrpsim.bridges import mujoco as ours

native = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings(f"ignore::{ModelWarning.__module__}.ModelWarning")
TEXT = """<mujoco><option timestep="0.001" cone="elliptic"/><worldbody>
<geom name="floor" type="plane" size="5 5 .1" FLOOR/><body pos="0 0 0.1"><freejoint/>
<geom name="ball" size=".1" mass="2" friction="0.8 0.02 0.003" BALL/></body></worldbody>
<contact>PAIR</contact></mujoco>"""
WEIGHT, INERTIA = 2.0 * 9.81, 0.4 * 2.0 * 0.01
FRICTION = 'friction="1 0.01 0.001"'
PAIR = '<pair geom1="floor" geom2="ball" condim="6" friction="1 1 0.03 0.004 0.004"/>'
CASES = {  # coefficients of spin and rolling that act
    "condim 4": ("", 'condim="4"', "", (0.02, 0.0)),
    "condim 6": ("", 'condim="6"', "", (0.02, 0.003)),
    "condim of the floor": (FRICTION + ' condim="6"', "", "", (0.02, 0.003)),
    "priority of the floor": (FRICTION + ' condim="4" priority="1"', 'condim="6"', "", (0.01, 0.0)),
    "priority of the ball": ('condim="6"', 'condim="3" priority="2"', "", (0.0, 0.0)),
    "pair": ("", 'condim="4"', PAIR, (0.03, 0.004)),
}


def ball(mujoco, floor="", of_ball="", pair=""):
    text = TEXT.replace("FLOOR", floor).replace("BALL", of_ball).replace("PAIR", pair)
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


@pytest.mark.parametrize("name", CASES)
def test_the_friction_of_two_geoms_is_mujoco_s(name):
    """Law: spin and rolling slow at the rates that the coefficients give."""
    *parts, (spin, rolling) = CASES[name]
    model, data = ball(ours, *parts)
    data.qvel[5] = 20.0
    ours.mj_step(model, data, 50)
    assert data.qvel[5] == pytest.approx(20.0 - spin * WEIGHT / INERTIA * 0.05, abs=1e-9)
    ours.mj_resetData(model, data)
    data.qvel[:] = [1.0, 0.0, 0.0, 0.0, 10.0, 0.0]
    ours.mj_step(model, data, 50)
    slowed = 1.0 - rolling * WEIGHT * 0.1 / (INERTIA + 0.02) * 0.05
    assert data.qvel[0] == pytest.approx(slowed, abs=1e-9)
    contact = data.contact[0]
    its_model, its = ball(native, *parts)
    its.qpos[2] = 0.0999
    native.mj_forward(its_model, its)
    assert contact.dim == its.contact[0].dim
    if contact.dim > 3:
        np.testing.assert_allclose(contact.friction, its.contact[0].friction)


def test_forces_of_contacts_include_moments():
    """Law: mj_contactForce and cfrc_ext have the moments, with MuJoCo's signs."""
    model, data = ball(ours, "", 'condim="6"')
    data.qvel[:] = [1.0, 0.5, 0.0, -5.0, 10.0, 4.0]
    ours.mj_step(model, data)
    force = np.zeros(6)
    ours.mj_contactForce(model, data, 0, force)
    along = np.array([-5.0, 10.0, 0.0]) / np.hypot(5.0, 10.0)
    moment = -0.003 * WEIGHT * along - [0.0, 0.0, 0.02 * WEIGHT]
    frame = data.contact[0].frame.reshape(3, 3)
    np.testing.assert_allclose(frame.T @ force[3:], moment, atol=1e-9)
    about_centre = moment + np.cross([0.0, 0.0, -0.1], frame.T @ force[:3])
    np.testing.assert_allclose(data.cfrc_ext[1][:3], about_centre, atol=1e-9)


def test_a_written_condim_acts_from_the_next_step():
    model, data = ball(ours)
    data.qvel[5] = 20.0
    ours.mj_step(model, data, 10)
    assert data.qvel[5] == pytest.approx(20.0, abs=1e-9)
    model.geom("ball").condim = 4
    ours.mj_step(model, data, 10)
    assert data.qvel[5] == pytest.approx(20.0 - 0.02 * WEIGHT / INERTIA * 0.01, abs=1e-9)
