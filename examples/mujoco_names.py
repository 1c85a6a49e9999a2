# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run a script written for MuJoCo's Python package by hrpsim. Only the import changes."""

import tempfile
from pathlib import Path

import numpy as np

from hrpsim.bridges import mujoco

XML = """<mujoco><option timestep="0.001"/><worldbody><geom type="plane" size="5 5 1"/>
<body name="cart" pos="0 0 0.5"><joint name="slide" type="slide" axis="1 0 0"/>
<geom type="box" size="0.1 0.1 0.05" mass="1" contype="0" conaffinity="0"/>
<body name="pole"><joint name="hinge" axis="0 1 0" damping="0.001"/>
<geom type="capsule" size="0.01" fromto="0 0 0 0 0 0.6" mass="0.2" contype="0" conaffinity="0"/>
<site name="tip" pos="0 0 0.6"/></body></body></worldbody>
<actuator><motor joint="slide" ctrlrange="-30 30"/></actuator>
<sensor><framepos objtype="site" objname="tip"/></sensor>
<keyframe><key qpos="0 0.2"/></keyframe></mujoco>"""

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "cart_pole.xml"
    file.write_text(XML, encoding="utf-8")
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
mujoco.mj_resetDataKeyframe(model, data, 0)
gains = np.array([-4.5, -41.3, -5.4, -8.1])  # of a linear-quadratic regulator
while data.time < 8.0:
    data.ctrl[:] = -gains @ np.concatenate([data.qpos, data.qvel])
    mujoco.mj_step(model, data)
cart, tip = data.xpos[model.body("cart").id], data.sensordata[:3]
print(
    f"after {data.time:.1f} s the cart is at {cart[0]:.3f} m, the tip {tip[2] - cart[2]:.3f} m up"
)
assert abs(cart[0]) < 0.02 and abs(tip[2] - cart[2] - 0.6) < 1e-3
