# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Balance a pendulum by a policy in an ONNX file. The network computes a PD law."""

import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import hrpsim
from hrpsim.bridges import OnnxPolicy
from hrpsim.control import ControlLoop

LENGTH, MASS = 0.5, 2.0  # [m], [kg]
ROBOT = f"""<robot name="pendulum"><link name="base"/><link name="rod"><inertial>
<origin xyz="0 0 {LENGTH}"/><mass value="{MASS}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="100" velocity="20"/></joint></robot>"""
POLICY = """
policy: policy.onnx
period: 0.002
decimation: 5
joints: [hinge]
default: 0.0
kp: 50.0
kd: 5.0
action: {scale: 0.5}
observations:
  - {term: joint_positions}
  - {term: joint_velocities, scale: 0.1, history: 2}
"""
WEIGHTS = np.array([[-0.5], [0.0], [-0.5]], dtype=np.float32)  # angle, rate before, rate now


def write_network(path):
    """Write a network that computes action = observation W."""
    observation = helper.make_tensor_value_info("obs", TensorProto.FLOAT, [1, 3])
    action = helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, 1])
    node = helper.make_node("MatMul", ["obs", "W"], ["actions"])
    weights = [numpy_helper.from_array(WEIGHTS, "W")]
    graph = helper.make_graph([node], "policy", [observation], [action], weights)
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)


with tempfile.TemporaryDirectory() as folder:
    write_network(Path(folder) / "policy.onnx")
    description = Path(folder) / "policy.yaml"
    description.write_text(POLICY, encoding="utf-8")
    world = hrpsim.World()
    robot = world.add_robot(hrpsim.load_model(ROBOT, base="fixed"), q=[0.3])
    ControlLoop(robot, OnnxPolicy(), {"description": str(description)}).run(4.0)
print(f"the pendulum stands at {robot.q[0]:.5f} rad")
assert abs(robot.q[0]) < 1e-3
