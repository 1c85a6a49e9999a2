# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Two small robots with a policy each: an arm on a wall, and a crawler on four legs."""

import numpy as np
import onnx

ARM = """<mujoco model="arm"><option timestep="0.001"/>
<worldbody><body name="upper" pos="0 0 1">
  <joint name="a" axis="0 1 0" damping="0.2" armature="0.02" frictionloss="0.1"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1" contype="0" conaffinity="0"/>
  <body name="lower" pos="0 0 -0.3">
    <joint name="b" axis="0 1 0" damping="0.2" armature="0.02" frictionloss="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="0.7" contype="0"
      conaffinity="0"/>
  </body>
</body></worldbody>
<actuator><motor joint="a" ctrlrange="-8 8"/><motor joint="b" ctrlrange="-8 8"/></actuator>
</mujoco>"""
ARM_JOINTS = ("a", "b")

_LEG = """<body name="{name}" pos="{x} {y} 0"><joint name="{name}" axis="0 1 0" armature="0.01"
    damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 {dx} 0 -0.18" size="0.015" mass="0.2" contype="0"
    conaffinity="0"/>
  <geom type="sphere" pos="{dx} 0 -0.18" size="0.02" mass="0.05" friction="0.9 0.005 0.0001"/>
</body>"""
_PLACES = {"fl": (0.2, 0.15), "fr": (0.2, -0.15), "rl": (-0.2, 0.15), "rr": (-0.2, -0.15)}
CRAWLER = (
    """<mujoco model="crawler"><option timestep="0.001" cone="elliptic"/>
<worldbody><geom name="floor" type="plane" size="0 0 1" friction="0.9 0.005 0.0001"/>
<body name="trunk" pos="0 0 0.2"><freejoint name="base"/>
  <geom type="box" size="0.22 0.1 0.03" mass="4" contype="0" conaffinity="0"/>
"""
    + "".join(_LEG.format(name=name, x=x, y=y, dx=-0.05) for name, (x, y) in _PLACES.items())
    + """</body></worldbody>
<actuator>"""
    + "".join(f'<motor joint="{name}" ctrlrange="-20 20"/>' for name in _PLACES)
    + """</actuator></mujoco>"""
)
CRAWLER_JOINTS = tuple(_PLACES)
# Sine and cosine of the clock to the joints: a trot whose stance is faster than its swing.
_ARM_GAINS = [[0.8, 0.3], [0.2, 0.9]]
_CRAWLER_GAINS = [[1.0, -1.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]


def write_policy(folder, joints, gains, kp, kd):
    """Write a policy whose targets are sums of the clock's sine and cosine, and return its YAML.

    The targets also give way a little to the joints' deviations.
    """
    count = len(joints)
    weights = np.zeros((2 + count, count), np.float32)
    weights[:2] = gains
    weights[2:] = -0.1 * np.eye(count)
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMul", ["obs", "W"], ["actions"])],
        "policy",
        [info("obs", 1, [1, 2 + count])],
        [info("actions", 1, [1, count])],
        [onnx.numpy_helper.from_array(weights, "W")],
    )
    made = onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8
    )
    onnx.save(made, folder / "policy.onnx")
    path = folder / "policy.yaml"
    path.write_text(
        f"""policy: policy.onnx
period: 0.002
decimation: 10
joints: [{", ".join(joints)}]
default: 0.0
kp: {kp}
kd: {kd}
action: {{scale: 0.5}}
frequency: 1.5
observations:
  - {{term: clock}}
  - {{term: joint_positions}}
"""
    )
    return path


def arm_policy(folder, kd=0.5):
    """Write the arm's policy: both joints swing."""
    return write_policy(folder, ARM_JOINTS, _ARM_GAINS, 20.0, kd)


def crawler_policy(folder):
    """Write the crawler's policy: diagonal legs swing against each other."""
    return write_policy(folder, CRAWLER_JOINTS, _CRAWLER_GAINS, 30.0, 0.6)
