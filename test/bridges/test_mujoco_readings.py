# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Readings that scripts take after a step or mj_forward."""

import mujoco as native
import numpy as np
import pytest

from hrpsim import ModelWarning
from hrpsim.bridges import mujoco as ours

ARM = """<mujoco><worldbody><body pos="0 0 1"><joint axis="0 1 0" damping="0.1"/>
<geom type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1"/>
<site name="s" pos="0.1 0 0.02" quat="0.9 0.1 0 0"/></body></worldbody>
<sensor><gyro site="s"/><force site="s"/><torque site="s"/><accelerometer site="s"/></sensor>
</mujoco>"""
BOX = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1"><freejoint/>
<geom type="box" size="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


def moving(mujoco):
    """Return model and data of a falling arm after nine steps."""
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    data.qvel[:] = 1.0
    mujoco.mj_step(model, data, 9)
    return model, data


def test_a_site_with_an_imu_reads_forces_too():
    """Law: without constraints, forces at a site are MuJoCo's, whatever other sensors it has."""
    (_, mine), (_, theirs) = moving(ours), moving(native)
    assert np.abs(theirs.sensordata[3:9]).min() > 1e-3 or np.abs(theirs.sensordata[3:6]).max() > 1.0
    np.testing.assert_allclose(mine.sensordata, theirs.sensordata, atol=0.05)


def test_mj_rne_has_the_acceleration_of_the_forces():
    found = []
    for mujoco in (ours, native):
        model, data = moving(mujoco)
        mujoco.mj_forward(model, data)
        forces = np.zeros(model.nv)
        mujoco.mj_rne(model, data, 1, forces)
        found.append(forces)
    np.testing.assert_allclose(*found, atol=1e-9)


def test_mj_make_constraint_says_that_contacts_are_left_out():
    model = ours.MjModel.from_xml_string(BOX)
    data = ours.MjData(model)
    ours.mj_step(model, data)
    with pytest.warns(ModelWarning, match="leave out the contacts"):
        ours.mj_makeConstraint(model, data)
    assert data.nefc == 0
