# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sound files of every kind, of which damaged ones are made."""

from __future__ import annotations

import io
import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from fuzz.foreign import FOREIGN, foreign_seeds
from fuzz.targets import ARM

from hrpsim import share_path

FUZZED_MJCF = """<mujoco model="m"><option timestep="0.002"/>
<default><joint armature="0.01" damping="0.2"/><default class="d"><geom contype="0"/></default>
</default><asset><mesh name="t" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 0.1"/></asset><worldbody>
<geom type="plane" size="1 1 1"/><body name="a" pos="0 0 1"><freejoint/><geom type="box"
 size="0.1 0.1 0.2"/><site name="s"/><body name="b" pos="0 0 -0.2"><joint name="h"
 axis="0 1 0" range="-90 90"/><joint name="k" axis="1 0 0" pos="0 0 0.1" ref="5"/><geom type="mesh"
 mesh="t"/>
<body name="c"><joint type="ball"/><geom size="0.1" class="d"/></body></body></body></worldbody>
<contact><exclude body1="a" body2="c"/></contact><equality><connect body1="c" body2="a"
 anchor="0 0 0"/><joint joint1="h" joint2="k" polycoef="0 2 0 0 0"/></equality>
<actuator><position joint="h" kp="20" kv="1"/><motor joint="k" gear="9" ctrlrange="-1 1"/>
</actuator>
<sensor><gyro site="s"/><force site="s"/></sensor>
<keyframe><key qpos="0 0 1 1 0 0 0 0.1 0.2 1 0 0 0"/></keyframe></mujoco>"""
SRDF = """<robot name="arm"><disable_default_collisions link="a"/>
<enable_collisions link1="a" link2="b"/><disable_collisions link1="b" link2="c" reason="Never"/>
</robot>"""
WORLD = """
world: {time_step: 0.002, integrator: rk4, gravity: [0, 0, -9.8], solver: [{solver: direct}]}
ground: {height: 0.1, normal: [0, 0, 1], material: floor}
friction: [{between: [a, b], static: 0.6, kinetic: 0.5, restitution: 0.1}]
contacts: [{between: [a, b], compliance: 1e-5, damping_time: 0.01, force_limit: .inf}]
penalties: [{between: [a, b], stiffness: 1.0e+5, damping_ratio: 0.2}]
solvers: [{solver: split, kind: contact, bodies: ["cr*", x], materials: a}]
static: [{name: s, shape: {box: [1, 1, 0.2]}, position: [2, 0, 0.2], orientation: [0, 0, 0, 1]}]
bodies:
  - &one {name: crate, shape: {box: [0.2, 0.2, 0.2]}, mass: 3, position: [0, 0, 0.2], material: a}
  - {name: ball, shape: {sphere: 0.1}, mass: 1, velocity: [2, 0, 0.4]}
  - {name: drum, shape: {compound: [{shape: {cylinder: {radius: 0.1, length: 0.3}}}]}, mass: 1}
  - {<<: *one, name: third}
connections: [{between: [crate, ball], kind: hinge, point: [0, 0, 1], axis: [1, 0, 0],
  drive: {rz: {velocity: 0.5, force_limit: 9}}, enabled: false}]
no_collisions: [[crate, ball]]
"""
FIELD = "static: [{name: hill, shape: {height_field: {heights: [[0, 1], [1, 0.5]], size: [1, 2]}}}]"
KEYFRAMES = """interpolation: cubic
keyframes:
- {time: 0.0, joints: {j: 0.1}, fixed_link: c}
- {time: 0.1, joints: {j: 0.2, k: 1}}
- {time: 0.3, joints: {j: -0.3}, fixed_link: [b, c]}
"""
CSV = "time, j, k, fixed_link\n" + "".join(f"{0.01 * t}, {t}, -1e-2, c\n" for t in range(8))
POS = "".join(f"{0.01 * t} {0.1 * t} -1e-2\n" for t in range(8))
WAIST = "# time x y z\n" + "".join(f"{0.01 * t} 0 0 1 0 0 {t}\n" for t in range(8))


XACRO = """<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="mass" default="2"/><xacro:property name="half" value="${pi / 2}"/>
<xacro:macro name="leg" params="name side:=1 *where **more"><link name="${name}"><inertial>
<mass value="$(arg mass)"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<xacro:insert_block name="more"/></link><joint name="${name}_j" type="revolute">
<xacro:insert_block name="where"/><parent link="a"/><child link="${name}"/><axis xyz="0 ${side} 0"/>
<limit lower="-${half}" upper="${half}" effort="1" velocity="1"/></joint></xacro:macro>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial></link><xacro:if value="${half > 1}">
<xacro:leg name="b"><origin xyz="0 0 1"/><more><collision><geometry>
<sphere radius="${0.1 * 2}"/></geometry></collision></more></xacro:leg></xacro:if>
<xacro:unless value="1"><xacro:include filename="x.xacro"/></xacro:unless></robot>"""
STUDY = """
world: config/stand.yaml
controller: {plugin: walk, parameters: {pattern: stepping}}
duration: 2.0
pushes: [{link: BODY, impulse: 1.0, heading: 0.5, begin: 0.5, duration: 0.1}]
sensors: {gyro: 0.01, force: 1.0}
delay: {sensing: 1}
terrain: {slope: 0.01, roughness: 0.001}
measured: [time, fell]
find: {parameter: pushes.0.impulse, between: [1, 9], tolerance: 1, bad: fell}
seed: 3
design:
- {method: sobol, count: 4, parameters: {terrain.slope: {uniform: [0, 0.1]}}}
- {repeat: 2, parameters: {sensors.gyro: {values: [0, 0.1]}, delay.sensing: {integers: [0, 2]}}}
- {method: sobol, count: 2, parameters: {pushes.0.heading: {normal: [1, 0.1], within: [0.9, 2]}}}
"""
POLICY = """
policy: policy.onnx
period: 0.005
decimation: 4
joints: [j, k]
default: [0.1, 0.2]
kp: 100.0
kd: [2.0, 2.0]
action: {scale: [0.1, 0.2], clip: 1.0}
observations:
  - {term: joint_positions, history: 2}
  - {term: joint_velocities, scale: [0.1, 0.2]}
  - {term: command}
  - {term: last_action}
"""
RECORDING = """{"version": 1, "world": {"uri": "package://hrpsim/config/stand.yaml", "text": "",
"xacro_arguments": [], "time_step": 0.001, "integrator": "semi_implicit"},
"robots": [{"name": "hrp2", "topics": "", "joints": [{"name": "LLEG_JOINT0", "gains": [1.0, 1.0],
"mode": "commanded"}]}], "settings": {"control_period": 0.005, "lockstep": true}}"""
MESSAGE_TYPES = ("std_msgs/msg/String", "antigravity/msg/X", "os/msg/System")


DEFINITION = f"""# a comment
uint8 CONSTANT=1
string NAME="x#y"
std_msgs/Header header
float64[9] covariance
string<=8[<=3] names
Part[] parts
time stamp 0
bool flag true  # a default
{"=" * 80}
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
{"=" * 80}
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
{"=" * 80}
MSG: fuzz/msg/Part
byte[] data
"""


@cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """Return sound files of a kind."""
    from learning.env_files import ISAAC_LAB, MJLAB
    from model.mjcf_files import ARM as MJCF
    from model.openhrp_files import BODY, WRL

    texts = {
        "mjcf": [MJCF, FUZZED_MJCF],
        "wrl": [WRL],
        "body": [BODY],
        "urdf": [ARM],
        "srdf": [SRDF],
        "world": [WORLD, FIELD, (share_path("config") / "crane.yaml").read_text()],
        "parameters": [(share_path("config") / "walk_controller.yaml").read_text()],
        "keyframes": [KEYFRAMES],
        "csv_motion": [CSV],
        "pos": [POS],
        "waist": [WAIST],
        "definition": [DEFINITION],
        "table": ["0,1,2\n3,4,5.5\n-1,1e-3,2\n"],
        "xacro": [XACRO],
        "study": [STUDY],
        "policy": [POLICY],
        "env_config": [ISAAC_LAB, MJLAB],
        "recording": [RECORDING],
        "message_type": list(MESSAGE_TYPES[:1]),
    }
    if kind in texts:
        return tuple(text.encode() for text in texts[kind])
    if kind in FOREIGN:
        return foreign_seeds(kind)
    if kind == "npy":
        return tuple(map(_npy, (np.arange(12.0).reshape(3, 4), np.ones((2, 2), dtype=np.int16))))
    if kind in ("mcap", "db3", "metadata"):
        return _bags(kind)
    if kind == "network":
        return (_network(),)
    if kind in ("journal", "store"):
        with tempfile.TemporaryDirectory() as folder:
            store = sound_store(Path(folder))
            header = {"design": json.loads((store / ".zattrs").read_text())["design"]}
            outcomes = {"time": 0.5, "speed": 9.0, "noise": 0.0}
            result = {"number": 1, "status": 1, "outcomes": outcomes, "error": ""}
            journal = f"{json.dumps(header)}\n{json.dumps(result)}\n".encode()
            return (journal if kind == "journal" else (store / "speed" / ".zarray").read_bytes(),)
    return _meshes(kind)


def _network() -> bytes:
    """Return a network in ONNX of one layer, from 11 numbers to two."""
    from onnx import TensorProto, helper, numpy_helper

    observation = helper.make_tensor_value_info("obs", TensorProto.FLOAT, [1, 11])
    action = helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, 2])
    nodes = [helper.make_node("Gemm", ["obs", "W", "b"], ["sum"])]
    nodes.append(helper.make_node("Tanh", ["sum"], ["actions"]))
    weights = np.linspace(-1.0, 1.0, 22, dtype=np.float32).reshape(11, 2)
    named = [numpy_helper.from_array(weights, "W"), numpy_helper.from_array(weights[0], "b")]
    graph = helper.make_graph(nodes, "policy", [observation], [action], named)
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


@cache
def _stored() -> bytes:
    """Return a packed store of a sweep of two cells."""
    import tarfile
    from concurrent.futures import ThreadPoolExecutor

    from sweeps.scenarios import SOURCE

    from hrpsim import sweep
    from hrpsim.sweeps.study_file import read_study

    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "y.yaml"
        values = "{parameters: {height: {values: [1, 2]}}}"
        file.write_text(f"function: {SOURCE}:fall\ndesign: {values}\n")
        study = read_study(file)
        with ThreadPoolExecutor(1) as thread:
            sweep(study.scenario, study.design, thread, file.with_suffix(".zarr"))
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.add(Path(folder) / "y.zarr", "y.zarr")
    return packed.getvalue()


def sound_store(folder: Path) -> Path:
    """Write a store of a sweep into a folder; return its path."""
    import tarfile

    with tarfile.open(fileobj=io.BytesIO(_stored())) as archive:
        archive.extractall(folder, filter="data")
    return folder / "y.zarr"


def described_bag(description: Path) -> Path:
    """Return the folder of a bag with a simulation_description, next to the file that has it."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    types, name = get_typestore(Stores.ROS2_JAZZY), "std_msgs/msg/String"
    bag = Path(tempfile.mkdtemp(dir=description.parent)) / "bag"
    with Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection("/simulation_description", name, typestore=types)
        message = types.types[name](description.read_text(errors="replace"))
        writer.write(connection, 1, bytes(types.serialize_cdr(message, name)))
    return bag


def _bags(kind: str) -> tuple[bytes, ...]:
    """Return files of bags of two topics, one of them packed."""
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_JAZZY)
    point, text = "geometry_msgs/msg/PointStamped", "std_msgs/msg/String"
    stamp = types.types["builtin_interfaces/msg/Time"](1, 2)
    header = types.types["std_msgs/msg/Header"](stamp, "floor")
    place = types.types["geometry_msgs/msg/Point"](1.0, 2.0, 3.0)
    sent = ((point, types.types[point](header, place)), (text, types.types[text]("a b")))
    plugin = StoragePlugin.SQLITE3 if kind == "db3" else StoragePlugin.MCAP
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for mode in (CompressionMode.NONE, CompressionMode.MESSAGE):
            writer = Writer(Path(folder) / mode.name, version=9, storage_plugin=plugin)
            writer.set_compression(mode, CompressionFormat.ZSTD)
            with writer:
                for number, (name, message) in enumerate(sent):
                    connection = writer.add_connection(f"/t{number}", name, typestore=types)
                    for time in range(6):
                        data = bytes(types.serialize_cdr(message, name))
                        writer.write(connection, 10**18 + time, data)
            pattern = "*.yaml" if kind == "metadata" else f"*.{kind}"
            (file,) = (Path(folder) / mode.name).glob(pattern)
            found.append(file.read_bytes())
    return tuple(found[:1] if kind == "metadata" else found)


def _npy(table: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, table)
    return file.getvalue()


def _meshes(kind: str) -> tuple[bytes, ...]:
    import trimesh

    solids = (trimesh.creation.box((1, 2, 3)), trimesh.creation.icosphere(1))
    found = [solid.export(file_type=kind) for solid in solids]
    if kind == "stl":
        found.append(solids[0].export(file_type="stl_ascii"))
    if kind == "ply":
        found.append(solids[0].export(file_type="ply", encoding="ascii"))
    return tuple(data.encode() if isinstance(data, str) else data for data in found)
