# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Further kinds of files: sound ones and their readers.

Visual meshes, pictures, glTF, recordings, packages, metadata of networks, pickles.
"""

from __future__ import annotations

import io
import json
import pickle
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from fuzz import gym_files

from hrpsim import HrpsimError

INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
MESHES = ("stl", "obj", "ply", "dae", "glb", "gltf")
FOREIGN = {
    "glb": ".glb",
    "gltf": ".gltf",
    **{f"visual_{kind}": f".{kind}" for kind in MESHES},
    "picture": ".png",
    "fit_npz": ".npz",
    "fit_csv": ".csv",
    "fit_mcap": ".mcap",
    "fit_db3": ".db3",
    "fit_definition": ".msg",
    "excitation": ".yaml",
    "changed_urdf": ".urdf",
    "changed_world": ".yaml",
    "signals": ".npz",
    "run_npz": ".npz",
    "run_csv": ".csv",
    "package": ".xml",
    "gazebo": ".urdf",
    "sdf": ".sdf",
    "sdf_world": ".world",
    "cnoid": ".cnoid",
    "usd": ".usda",
    "design_table": ".csv",
    "spawned_body": ".yaml",
    "metadata_props": ".json",
    "world_pickle": ".pickle",
    "snapshot_pickle": ".pickle",
    "changed_snapshot": ".json",
    **gym_files.KINDS,
}
PACKAGE = """<?xml version="1.0"?><?xml-model href="http://x/y.xsd"?><package format="3">
<name>some_robot</name><version>0.0.1</version><depend>urdf</depend></package>"""
GAZEBO = f"""<robot name="g"><link name="a">{INERTIAL}</link><gazebo reference="a">
<sensor name="lidar" type="gpu_lidar"><update_rate>10</update_rate><topic>scan</topic>
<pose>0 0 0.1 0 0 0</pose><lidar><scan><horizontal><samples>36</samples><min_angle>-1</min_angle>
<max_angle>1</max_angle></horizontal><vertical><samples>2</samples><min_angle>-0.1</min_angle>
<max_angle>0.1</max_angle></vertical></scan><range><min>0.1</min><max>9</max></range>
<noise><type>gaussian</type><stddev>0.01</stddev></noise></lidar></sensor>
<sensor name="imu" type="imu"><imu><linear_acceleration><x><noise type="gaussian"><stddev>0.1
</stddev></noise></x></linear_acceleration></imu></sensor><sensor name="eye" type="camera"><camera>
<horizontal_fov>1</horizontal_fov><image><width>64</width><height>48</height></image></camera>
</sensor></gazebo><hrpsim reference="a"><sensor name="h" type="height_scan" size="1.0 0.5"
spacing="0.1"/></hrpsim></robot>"""
_SDF_LINK = """<link name="{}"><pose {}>0 0 1 0 0.1 0</pose><inertial><pose>0 0 .1 0 0 0</pose>
<mass>2</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial><collision name="c">
<geometry><box><size>1 1 1</size></box></geometry><surface><friction><ode><mu>0.5</mu></ode>
</friction><contact><collide_bitmask>3</collide_bitmask><ode><kp>1e5</kp></ode></contact></surface>
</collision><sensor name="i" type="imu"/></link>"""
SDF = f"""<sdf version="1.9"><model name="m"><pose relative_to="">1 0 0 0 0 0</pose>
{_SDF_LINK.format("a", "")}{_SDF_LINK.format("b", 'relative_to="f" degrees="true"')}
<frame name="f" attached_to="a"><pose>0 1 0 0 0 0</pose></frame><joint name="j" type="universal">
<parent>a</parent><child>b</child><axis><xyz expressed_in="f">1 0 0</xyz><limit><lower>-1</lower>
<upper>1</upper></limit><dynamics><damping>1</damping></dynamics></axis><axis2><xyz>0 1 0</xyz>
</axis2></joint><model name="n">{_SDF_LINK.format("c", "")}</model><joint name="k" type="screw">
<parent>a</parent><child>n::c</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
SDF_WORLD = SDF.replace(
    "<model",
    '<world name="w"><physics type="ode"><max_step_size>0.002</max_step_size></physics><model',
    1,
).replace(
    "</sdf>",
    '<model name="g"><static>1</static><link '
    'name="l"><collision name="c"><geometry>'
    "<plane><normal>0 0 1</normal></plane></geometry></collision>"
    "</link></model></world></sdf>",
)
CNOID = """items:
  class: RootItem
  children:
    - class: WorldItem
      name: World
      data: {materialTableFile: materials.yaml}
      children:
        - {class: BodyItem, name: box, data: {file: box.body, rootPosition: [0, 0, 1],
           root_rotation: [0, 0, 1, 30], joint_displacements: [10, -20], fix_root: false}}
        - {class: AISTSimulatorItem, name: s, data: {time_step: 0.002, gravity: [0, 0, -9.8]}}
        - {class: SimpleControllerItem, name: c, data: {controller: walk}}
"""
USD = """#usda 1.0
(
    defaultPrim = "arm"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "arm" (prepend apiSchemas = ["PhysicsArticulationRootAPI"])
{
    def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 2
        float3 physics:diagonalInertia = (1, 1, 1)
        def Cube "box" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double size = 0.5
        }
    }
    def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Mesh "m" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
            int[] faceVertexCounts = [3, 3, 3, 3]
            int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
            uniform token physics:approximation = "convexHull"
        }
    }
    def PhysicsRevoluteJoint "j" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
    {
        rel physics:body0 = </arm/a>
        rel physics:body1 = </arm/b>
        uniform token physics:axis = "Y"
        point3f physics:localPos0 = (0, 0, 1)
        float physics:lowerLimit = -90
        float physics:upperLimit = 90
        float drive:angular:physics:stiffness = 10
    }
}
"""
EXCITATION = """world: w.yaml
parameters: {robots.r.joints.j.kp: 14.0, delay: {start: 0.0, between: [0, 0.1]}}
noise: {position: 0.001}
excitation: {joints: [j], duration: 3, period: 0.02, harmonics: 6, seed: 7}
"""
CHANGED = f"""<robot name="r"><!-- <joint name="j"/> --><link name="a"/><link name="b">{INERTIAL}
</link><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<limit lower='-1' upper="1" effort="9" velocity="9"/></joint></robot>"""
CHANGED_WORLD = """# a remark
world: {time_step: 0.001}
robots:
  - {name: r, urdf: r.urdf, base: fixed, gains: {j: [10.0, 0.5]}}
"""
METADATA = {"joint_names": '["j", "k"]', "kp": "100.0,100.0", "joint_damping": "[2.0, 2.0]"}
METADATA |= {"default_joint_pos": "[0.1, 0.2]", "action_scale": "0.1,0.2"}
CHANGE = {"key": "arrays", "entry": 3, "how": "number", "value": 1e308, "at": 0.5}
DEFINITION = """std_msgs/Header header
string[] name
float64[] position
float64[] velocity
float64[] effort
================================================================================
MSG: std_msgs/Header
builtin_interfaces/Time stamp
string frame_id
================================================================================
MSG: builtin_interfaces/Time
int32 sec
uint32 nanosec
"""


@cache
def foreign_seeds(kind: str) -> tuple[bytes, ...]:
    """Return sound files of a kind of FOREIGN."""
    from fuzz.corpus import POLICY, seeds

    if kind.startswith("visual_"):
        kind = kind.removeprefix("visual_")
        return seeds(kind) if kind in ("stl", "obj", "ply", "dae") else _scenes(kind)
    texts = {
        **{one: [text] for one, text in gym_files.SEEDS.items()},
        "package": [PACKAGE],
        "gazebo": [GAZEBO],
        "sdf": [SDF],
        "sdf_world": [SDF_WORLD],
        "cnoid": [CNOID],
        "usd": [USD],
        "metadata_props": [json.dumps(METADATA)],
        "changed_snapshot": [json.dumps(CHANGE)],
        "fit_definition": [DEFINITION],
        "excitation": [EXCITATION],
        "changed_urdf": [CHANGED],
        "changed_world": [CHANGED_WORLD],
        "design_table": ["a,b.c\n1,2\n0.5,word\n"],
        "spawned_body": [
            "name: crate\nshape: {box: [0.1, 0.2, 0.3]}\nmass: 2\nmaterial: wood\n",
            "shape: {compound: [{shape: {sphere: 0.1}, position: [0, 0, 1]}]}\nmass: 1\n",
        ],
    }
    if kind in texts:
        return tuple(text.encode() for text in texts[kind])
    assert POLICY
    made = {
        **{"glb": lambda: _scenes("glb"), "gltf": lambda: _scenes("gltf")},
        **{"fit_npz": _fit_npz, "run_npz": _run_npz, "fit_csv": _fit_csv, "run_csv": _run_csv},
        "signals": _signals,
        **{"fit_mcap": lambda: _fit_bag("mcap"), "fit_db3": lambda: _fit_bag("db3")},
        "picture": lambda: (_picture("PNG"), _picture("JPEG"), _picture("TIFF"), _picture("GIF")),
        "world_pickle": lambda: (pickle.dumps(_world()),),
        "snapshot_pickle": lambda: (pickle.dumps((_world(), _world().snapshot())),),
    }
    return made[kind]()


def _scenes(kind: str) -> tuple[bytes, ...]:
    """Return glTF files: one of two nodes, one with a picture."""
    import trimesh
    from PIL import Image

    scene = trimesh.Scene()
    box = trimesh.creation.box((1, 2, 3))
    scene.add_geometry(box, node_name="a")
    scene.add_geometry(
        box, node_name="b", transform=trimesh.transformations.translation_matrix([3] * 3)
    )
    shown = trimesh.creation.icosphere(1)
    paint = trimesh.visual.material.PBRMaterial(
        baseColorTexture=Image.new("RGB", (8, 8), (255, 0, 9))
    )
    uv = np.random.default_rng(0).random((len(shown.vertices), 2))
    shown.visual = trimesh.visual.TextureVisuals(uv=uv, material=paint)
    found = []
    for one in (scene, shown):
        if kind == "glb":
            found.append(one.export(file_type="glb"))
            continue
        files = one.export(file_type="gltf")
        text = files["model.gltf"].decode()
        for name, data in files.items():
            import base64

            code = base64.b64encode(data).decode()
            text = text.replace(f'"{name}"', f'"data:application/octet-stream;base64,{code}"')
        found.append(text.encode())
    return tuple(found)


def _picture(kind: str) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    noise = np.random.default_rng(0).integers(0, 255, (16, 16, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, kind)
    return file.getvalue()


def _npz(packed: bool, **arrays) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if packed else np.savez)(file, **arrays)
    return file.getvalue()


def _fit_npz() -> tuple[bytes, ...]:
    time = 0.01 * np.arange(20)
    joints, rows = np.array(["j", "k"]), np.outer(time, [0.1, -0.2])
    plain = {"time": time, "joints": joints, "positions": rows}
    base = np.hstack([np.zeros((20, 6)), np.ones((20, 1))])
    more = plain | {"velocities": np.full((20, 2), [0.1, -0.2]), "base": base}
    more |= {"command_time": time, "command_positions": rows, "interpolate": np.array(True)}
    return _npz(False, **plain), _npz(True, **more, name=np.array("run"), entity=np.array("arm"))


def _signals() -> tuple[bytes, ...]:
    """Return a recording of signals of `_world`."""
    import tempfile

    import hrpsim

    world = _world().copy()
    with hrpsim.Logger(world) as log, tempfile.TemporaryDirectory() as folder:
        world.step(10)
        log.save(Path(folder) / "run.npz")
        return ((Path(folder) / "run.npz").read_bytes(),)


def _fit_csv() -> tuple[bytes, ...]:
    base = ",".join(f"base.{axis}" for axis in ("x", "y", "z", "qx", "qy", "qz", "qw"))
    head = f"time,position.j,velocity.j,command.j,{base}\n"
    rows = "".join(f"{0.01 * k},{0.001 * k},0.1,{0.001 * k},0,0,1,0,0,0,1\n" for k in range(9))
    return ((head + rows).encode(),)


def _run_npz() -> tuple[bytes, ...]:
    tables = {"observations": np.ones((9, 5)), "actions": np.zeros((9, 2))}
    return _npz(False, **tables), _npz(True, **tables, joint_names=np.array(["j", "k"]))


def _run_csv() -> tuple[bytes, ...]:
    return (b"a,b,c,d\n" + b"0.5,1,2,-3e-2\n" * 6,)


def _fit_bag(kind: str, definition: str | None = None) -> tuple[bytes, ...]:
    """Return the file of a bag of states, commands and odometry."""
    import tempfile

    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    types = get_typestore(Stores.ROS2_JAZZY)
    T = types.types
    plugin = StoragePlugin.SQLITE3 if kind == "db3" else StoragePlugin.MCAP
    state, odometry = "sensor_msgs/msg/JointState", "nav_msgs/msg/Odometry"
    with tempfile.TemporaryDirectory() as folder:
        with Writer(Path(folder) / "b", version=9, storage_plugin=plugin) as writer:
            given = {} if definition is None else {"msgdef": definition, "rihs01": "RIHS01_0"}
            topics = {
                name: writer.add_connection(name, type_name, typestore=types, **given)
                if definition is None
                else writer.add_connection(name, type_name, **given)
                for name, type_name in (("/joint_states", state), ("/joint_commands", state))
            }
            if definition is None:
                topics["/odom"] = writer.add_connection("/odom", odometry, typestore=types)
            for k in range(8):
                stamp = T["builtin_interfaces/msg/Time"](1 + k // 100, 10_000_000 * k)
                header = T["std_msgs/msg/Header"](stamp, "")
                two = np.array([0.01 * k, 0.0])
                joints = T[state](header, ["j", "k"], two, two, np.zeros(0))
                for name in ("/joint_states", "/joint_commands"):
                    data = bytes(types.serialize_cdr(joints, state))
                    writer.write(topics[name], 10**9 + 10**7 * k, data)
                if definition is None:
                    data = bytes(types.serialize_cdr(_odometry(T, header), odometry))
                    writer.write(topics["/odom"], 10**9 + 10**7 * k, data)
        (file,) = (Path(folder) / "b").glob(f"*.{kind}")
        return (file.read_bytes(),)


def _odometry(T, header):
    point, turn = T["geometry_msgs/msg/Point"](0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0)
    pose = T["geometry_msgs/msg/Pose"](point, T["geometry_msgs/msg/Quaternion"](*turn))
    still = T["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0)
    twist = T["geometry_msgs/msg/Twist"](still, still)
    posed = T["geometry_msgs/msg/PoseWithCovariance"](pose, np.zeros(36))
    moved = T["geometry_msgs/msg/TwistWithCovariance"](twist, np.zeros(36))
    return T["nav_msgs/msg/Odometry"](header, "base", posed, moved)


@lru_cache(maxsize=1)
def _world():
    """Return a world of an arm and a ball that has stepped."""
    from fuzz.targets import ARM

    import hrpsim

    world = hrpsim.World()
    world.add_ground()
    world.add_robot(hrpsim.load_model(ARM, base="fixed"), name="arm")
    world.add_body(hrpsim.Sphere(0.1), 1.0, (2.0, 0.0, 0.2), name="ball")
    world.step(5)
    return world


@lru_cache(maxsize=1)
def _after(steps: int = 3) -> np.ndarray:
    """Return the state of `_world` some steps later."""
    later = _world().copy()
    later.step(steps)
    return _state(later)


def _state(world) -> np.ndarray:
    return np.concatenate([np.concatenate([one.q, one.v]) for one in world.entities.values()])


def read_foreign(kind: str, path: Path) -> None:
    """Read a file of a kind of FOREIGN; raises whatever its reader raises."""
    if kind in ("glb", "gltf"):
        from hrpsim import load_mesh

        load_mesh(path, hull=bool(len(path.read_bytes()) % 2))
    elif kind.startswith("visual_") or kind == "picture":
        _read_visual(kind, path)
    elif kind.startswith("fit_"):
        _read_for_a_fit(kind, path)
    elif kind == "excitation":
        from hrpsim.fitting.excitation import read_excitation

        read_excitation(path)
    elif kind.startswith("changed_") and kind != "changed_snapshot":
        _change(kind, path)
    elif kind == "signals":
        from hrpsim.bag import read_signals

        read_signals(path)
    elif kind.startswith("run_"):
        from hrpsim.bridges.policy_check import read_recording

        read_recording(path, 2)
    elif kind == "package":
        from hrpsim.model.readers.urdf.resolve_uris import Resources

        folder = path.parent / "robot"
        folder.mkdir(exist_ok=True)
        (folder / "package.xml").write_bytes(path.read_bytes())
        Resources(folder).packages("some_robot")
    elif kind in ("gazebo", "sdf", "usd"):
        from hrpsim import load_model

        load_model(path, base="fixed")
    elif kind in ("sdf_world", "cnoid"):
        _read_world(kind, path)
    elif kind == "design_table":
        from hrpsim.sweeps.framework.design import read_table

        read_table(path)
    elif kind == "spawned_body":
        from hrpsim.world.file.load_shapes import read_shape
        from hrpsim.world.file.load_world import read_body

        reader, entry = read_body(path.read_bytes().decode(errors="replace"), str(path))
        read_shape(reader, entry.pop("shape"), "")
    elif kind == "metadata_props":
        _read_metadata(path)
    elif kind in gym_files.KINDS:
        gym_files.read_gym(kind, path)
    else:
        _read_pickle(kind, path)


def _read_world(kind: str, path: Path) -> None:
    """Load a world that describes other files, which are beside it."""
    from model.openhrp_files import BODY, SOLE

    from hrpsim import load_world

    if kind == "cnoid":
        table = "materials: [{name: Default, roughness: 1.0, viscosity: 1.0}]\ncontact_materials:\n"
        table += "- {materials: [Default, Default], friction: 0.5, restitution: 0.0}\n"
        for name, text in (("box.body", BODY), ("sole.wrl", SOLE), ("materials.yaml", table)):
            (path.parent / name).write_text(text)
    load_world(path).scene  # noqa: B018  all arrays are made


def _read_visual(kind: str, path: Path) -> None:
    from hrpsim import load_model
    from hrpsim.model import visuals

    name = path.name
    if kind == "picture":
        name = "shown.obj"
        corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
        (path.parent / name).write_text(f"mtllib m.mtl\n{corners}usemtl m\nf 1/1 2/2 3/3\n")
        (path.parent / "m.mtl").write_text(f"newmtl m\nKd 1 0 0\nmap_Kd {path.name}\n")
    shape = f'<visual><geometry><mesh filename="file://{path.parent}/{name}"/></geometry></visual>'
    model = load_model(f'<robot name="r"><link name="a">{INERTIAL}{shape}</link></robot>')
    for visual in visuals.visuals_of_model(model):
        visuals.colored_meshes(model, visual)


def _change(kind: str, path: Path) -> None:
    """Write a changed copy of a description or a world file."""
    from hrpsim.fitting import FitResult
    from hrpsim.fitting.report import write_model

    names = ("robots.r.joints.j.damping", "robots.r.joints.j.kp", "world.time_step")
    one, none = np.ones(3), ()
    result = FitResult(
        names, one, one, one, one, np.eye(3), True, none, none, none, none, none, {}, {}, {}
    )
    world = path
    if kind == "changed_urdf":
        world = path.with_name("w.yaml")
        text = CHANGED_WORLD.replace("r.urdf", path.name)
        world.open("wb").write(text.encode())
    write_model(world, result, dict.fromkeys(names, 1.0), path.with_name(f"new{path.suffix}"))


def _read_for_a_fit(kind: str, path: Path) -> None:
    from hrpsim.fitting import read_recording

    if kind == "fit_definition":
        text = path.read_bytes().decode(errors="replace")
        try:
            (data,) = _fit_bag("mcap", text)
        except Exception:  # the writer's own: there is no such bag
            return
        path = path.with_suffix(".mcap")
        path.write_bytes(data)
    read_recording(path)


def _read_metadata(path: Path) -> None:
    """Compare a description with a network of this metadata."""
    import onnx
    from fuzz.corpus import POLICY, seeds
    from fuzz.targets import arm

    from hrpsim.bridges.onnx_network import Network
    from hrpsim.bridges.policy_check import _of_metadata
    from hrpsim.bridges.policy_description import read_policy

    data = path.read_bytes()
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        given = {key: data.decode(errors="replace") for key in METADATA}
    network = onnx.load_from_string(seeds("network")[0])
    for key, text in given.items():
        entry = network.metadata_props.add()
        entry.key, entry.value = str(key), text if isinstance(text, str) else json.dumps(text)
    file = path.with_name("policy.onnx")
    try:
        file.write_bytes(network.SerializeToString())
    except UnicodeError:
        return
    description = path.with_name("policy.yaml")
    description.write_text(POLICY)
    assert arm()
    list(_of_metadata(read_policy(description), Network(file).metadata))


def _read_pickle(kind: str, path: Path) -> None:
    """Continue from a pickle or a changed snapshot: as without the damage, or not at all."""
    data = path.read_bytes()
    if kind == "changed_snapshot":
        world = _world().copy()
        snapshot = _changed(world.snapshot(), data)
    else:
        with suppress_errors_of_pickle():
            world = pickle.loads(data)
            if kind == "snapshot_pickle":
                world, snapshot = world
            else:
                snapshot = world.snapshot()
            if type(world).__name__ != "World":  # an outer part of the pickle says so
                raise HrpsimError("another object than a world")
    world.restore(snapshot)
    world.step(3)
    np.testing.assert_array_equal(_state(world), _after())


class suppress_errors_of_pickle:
    """Counts errors of `pickle.loads` itself as refusals. It is not hrpsim that is called."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, traceback) -> None:
        if isinstance(error, Exception) and not isinstance(error, HrpsimError):
            while traceback.tb_next is not None:
                traceback = traceback.tb_next
            if traceback.tb_frame.f_code.co_name in ("_read_pickle", "find_spec", "_find_and_load"):
                raise HrpsimError("refused by pickle") from error
            name = traceback.tb_frame.f_globals.get("__name__", "")
            if not name.startswith("hrpsim."):
                raise HrpsimError("refused by pickle") from error


def _changed(snapshot, data: bytes):
    """Return a snapshot with a change that the bytes choose."""
    import random

    if data == foreign_seeds("changed_snapshot")[0]:
        return snapshot
    chance = random.Random(data)
    key = chance.choice([*snapshot, *["arrays"] * 6])
    how = chance.choice(
        ["number", "shorter", "longer", "type", "object", "missing", "plain", "nan"]
    )
    if how == "plain":
        return dict(snapshot)
    if how == "missing":
        made = dict(snapshot)
        del made[key]
        return made
    if key != "arrays" or how == "object":
        snapshot[key] = chance.choice([None, 3, "x", [], {}, [snapshot[key]], 1e308])
        return snapshot
    at = chance.randrange(len(snapshot["arrays"]))
    array = snapshot["arrays"][at]
    with suppress(ValueError, TypeError, OverflowError):
        if how == "shorter":
            array = array[: len(array) // 2]
        elif how == "longer":
            array = np.concatenate([array, array, array])
        elif how == "type":
            array = array.astype(np.float32)
        else:
            flat = array.reshape(-1).view(np.uint8)
            if flat.size:
                flat[chance.randrange(flat.size)] ^= 1 << chance.randrange(8)
    snapshot["arrays"][at] = array
    return snapshot
