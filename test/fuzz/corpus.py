# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sound files of every kind, of which damaged ones are made."""

from __future__ import annotations

import io
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
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
    }
    if kind in texts:
        return tuple(text.encode() for text in texts[kind])
    if kind == "npy":
        return tuple(map(_npy, (np.arange(12.0).reshape(3, 4), np.ones((2, 2), dtype=np.int16))))
    if kind in ("mcap", "db3", "metadata"):
        return _bags(kind)
    return _meshes(kind)


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
