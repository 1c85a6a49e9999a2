# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One small input of each kind of fault that the gate for foreign bytes refuses, by its words."""

import io
import json
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fuzz.corpus import seeds
from fuzz.foreign import DEFINITION, INERTIAL, _fit_bag
from PIL import Image

import hrpsim
from hrpsim import (
    ContactPad,
    HeightScan,
    HrpsimError,
    Lidar,
    ModelError,
    WorldError,
    load_mesh,
    load_model,
)
from hrpsim.bridges.policy_check import read_recording as read_run
from hrpsim.common.foreign.xml_text import decoded_xml, xml_root
from hrpsim.fitting import read_recording
from hrpsim.model import visuals
from hrpsim.model.shapes.mesh_files import read_scene
from hrpsim.viewer.panels.markdown import plain

SHAPE = '<{0}><geometry><mesh filename="file://{1}"/></geometry></{0}>'


def as_collision(path):
    load_mesh(path)


def as_visual(path):
    shape = SHAPE.format("visual", path)
    model = load_model(f'<robot name="r"><link name="a">{INERTIAL}{shape}</link></robot>')
    for visual in visuals.visuals_of_model(model):
        visuals.load_mesh(model, visual.geometry)
        visuals.colored_meshes(model, visual)


def dae(change=lambda text: text, code="utf-8"):
    return change(seeds("dae")[0].decode()).encode(code)


def with_type(text):
    body = text.partition("?>")[2] or text
    return f'<!DOCTYPE a [<!ENTITY e "1">]>{body}'


def with_nodes(levels, each, closed=False):
    def change(text):
        nodes = [
            f'<node id="k{k}">{f"<instance_node url={chr(34)}#k{k - 1}{chr(34)}/>" * each}</node>'
            for k in range(1, levels)
        ]
        shown = text[text.find("<instance_geometry") : text.find("</instance_geometry>")]
        first = (
            f'<instance_node url="#k{levels - 1}"/>' if closed else f"{shown}</instance_geometry>"
        )
        library = f'<library_nodes><node id="k0">{first}</node>{"".join(nodes)}</library_nodes>'
        at, end = text.find("<library_visual_scenes"), text.find("</visual_scene>")
        last = f'<node><instance_node url="#k{levels - 1}"/></node>'
        return text[:at] + library + text[at:end] + last + text[end:]

    return change


def zipped(name, data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def glb(**changes):
    data = seeds("glb")[0]
    (length,) = struct.unpack_from("<I", data, 12)
    tree, rest = json.loads(data[20 : 20 + length]), data[20 + length :]
    text = json.dumps(tree | changes).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<II", len(text), 0x4E4F534A) + text + rest
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


MESHES = {
    "a document type": ("a.dae", dae(with_type), "document type or entities are not allowed"),
    "in UTF-16": ("a.dae", dae(with_type, "utf-16"), "document type or entities are not allowed"),
    "in UTF-32": ("a.dae", dae(with_type, "utf-32"), "document type or entities are not allowed"),
    "nodes that instance nodes": ("a.dae", dae(with_nodes(9, 10)), "has 100000001 geometries"),
    "nodes in a circle": ("a.dae", dae(with_nodes(3, 1, True)), "instances itself"),
    "an archive": ("a.dae", zipped("a.dae", dae()), "is an archive"),
    "many nodes": ("a.glb", glb(nodes=[{"mesh": 0}] * 60_000), "60000 of its nodes"),
    "nodes of two parents": ("a.glb", glb(nodes=[{"children": [1, 1]}, {}]), "has 2 parents"),
    "a file outside": (
        "a.gltf",
        json.dumps(
            {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 9, "uri": "../../etc/passwd"}]}
        ).encode(),
        "outside the mesh's folder",
    ),
}


@pytest.mark.parametrize("use", [as_collision, as_visual])
@pytest.mark.parametrize("name", MESHES)
def test_meshes_of_both_uses_are_refused_alike(tmp_path, name, use):
    """Law: a limit of collision meshes holds for visual meshes."""
    file, data, cause = MESHES[name]
    (tmp_path / file).write_bytes(data)
    with pytest.raises(ModelError, match=cause) as refused:
        use(tmp_path / file)
    assert file in str(refused.value)


def test_pictures_outside_the_folder_are_left_out_and_named(tmp_path):
    """Law: a mesh is drawn without a picture that leads out of its folder, and a note says so."""
    folder = tmp_path / "meshes"
    folder.mkdir()
    for place in (tmp_path, folder):
        Image.new("RGB", (4, 4)).save(place / "paint.png")
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
    (folder / "a.obj").write_text(f"mtllib m.mtl\n{corners}usemtl m\nf 1/1 2/2 3/3\n")
    for name, note in (("paint.png", ""), ("../paint.png", "outside the mesh's folder")):
        (folder / "m.mtl").write_text(f"newmtl m\nmap_Kd {name}\n")
        notes = read_scene(folder / "a.obj").metadata["notes"]
        assert note in " ".join(notes) if note else notes == ()


def test_a_name_is_of_the_working_directory_of_the_call(tmp_path, monkeypatch):
    """Law: the child process keeps none of its own."""
    (tmp_path / "b.obj").write_bytes(seeds("obj")[0])
    as_collision(tmp_path / "b.obj")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        Path("b.obj").write_bytes(seeds("obj")[name == "two"])
        assert len(load_mesh("b.obj").vertices) == (42 if name == "two" else 8)


@pytest.mark.parametrize("code", ["utf-8", "utf-16", "utf-16-le", "utf-32-be", "utf-8-sig"])
def test_no_encoding_hides_a_document_type(code):
    """Law: the parser receives what was searched; a comment that names a type is no type."""
    hostile = f'<?xml version="1.0" encoding="{code}"?><!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'
    with pytest.raises(ModelError, match=r"r.urdf:1: a document type or entities"):
        xml_root(decoded_xml(hostile.encode(code), "r.urdf", ModelError), "r.urdf", ModelError)
    sound = "<!-- <!DOCTYPE a> --><a>é</a>".encode(code)
    assert xml_root(decoded_xml(sound, "r.urdf", ModelError), "r.urdf", ModelError).text == "é"


def test_a_foreign_encoding_is_refused():
    for code, told in (("cp037", "UTF-8|not text|not known"), ("utf-7", "not known")):
        text = f'<?xml version="1.0" encoding="{code}"?><a/>'
        data = text.encode("cp037") if code == "cp037" else text.encode()
        with pytest.raises(ModelError, match=told):
            xml_root(decoded_xml(data, "r.urdf", ModelError), "r.urdf", ModelError)


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def claiming(shape):
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117)
    return b"\x93NUMPY\x01\x00v\x00" + head.encode() + b"\n" + bytes(64)


TIME = {"time": np.arange(3.0)}
ARRAYS = {
    "claims": (
        zipped("time.npy", claiming("(4000000000,)")),
        "'time': the header states the shape",
    ),
    "a long header": (
        zipped("time.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(99)),
        "'time': the header states a length of 2147483648 bytes",
    ),
    "less than zero": (zipped("time.npy", claiming("(-1,)")), "'time'"),
    "unknown": (npz(**TIME, other=np.ones(3)), "array 'other' does not exist"),
    "objects": (npz(**TIME, joints=np.array([{}])), "'joints': its entries are object"),
    "names that are numbers": (npz(**TIME, joints=np.ones(2)), "'joints' must be a row of names"),
    "two entities": (npz(**TIME, entity=np.array(["a", "b"])), "'entity' must hold one text"),
    "no rotation": (
        npz(**TIME, base=np.zeros((3, 7))),
        "quaternion of sample 0 must have length 1, got 0",
    ),
    "no archive": (b"abc" * 9, r"not a file of NumPy arrays \(.npz\)"),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_recordings_are_refused_by_name(tmp_path, name):
    data, cause = ARRAYS[name]
    (tmp_path / "run.npz").write_bytes(data)
    with pytest.raises(HrpsimError, match=cause) as refused:
        read_recording(tmp_path / "run.npz")
    assert "run" in str(refused.value)


def test_recordings_of_policies_are_read_alike(tmp_path):
    """Law: the same damage of an .npz has the same words for a policy as for a fit."""
    (tmp_path / "run.npz").write_bytes(zipped("observations.npy", claiming("(4000000000,)")))
    with pytest.raises(
        HrpsimError, match=r"run\.npz: array 'observations': the header states the shape"
    ):
        read_run(tmp_path / "run.npz", 2)


def test_states_without_stamps_are_refused(tmp_path):
    """A definition of JointState whose header lacks `stamp`."""
    (data,) = _fit_bag("mcap", DEFINITION.replace("builtin_interfaces/Time stamp\n", ""))
    (tmp_path / "run.mcap").write_bytes(data)
    with pytest.raises(HrpsimError, match=r"JointState lacks the field 'header.stamp.sec'"):
        read_recording(tmp_path / "run.mcap")


@pytest.mark.parametrize(
    "shape",
    [
        lambda: HeightScan(size=(1e50, 1.0), spacing=1e-300).require_few(),
        lambda: ContactPad(size=(1e50, 1.0), cell=1e-300).require_few(),
        lambda: Lidar(rings=10**12, elevation=(-0.1, 0.1)).require_few(),
    ],
)
def test_grids_of_sensors_are_counted_before_they_are_made(shape):
    with pytest.raises(ModelError, match="SENSOR_RAYS"):
        shape()


@pytest.fixture(scope="module")
def world():
    world = hrpsim.World()
    world.add_body(hrpsim.Sphere(0.1), 1.0, (0.0, 0.0, 0.2), name="ball")
    return world


@pytest.mark.parametrize("what", ["world", "snapshot"])
def test_a_damaged_pickle_is_refused_or_the_same(world, what):
    """Law: after the flip of a bit, `pickle` or hrpsim refuses, or nothing has changed."""
    one = world if what == "world" else (world, world.snapshot())
    sound, chance = pickle.dumps(one), np.random.default_rng(0)
    refused = 0
    for _ in range(200):
        data = bytearray(sound)
        data[chance.integers(len(data))] ^= 1 << chance.integers(8)
        try:
            found = pickle.loads(bytes(data))
            twin, snapshot = (found, found.snapshot()) if what == "world" else found
            twin.restore(snapshot)
        except Exception as error:
            refused += isinstance(error, WorldError)
            continue
        np.testing.assert_array_equal(twin.bodies["ball"].q, world.bodies["ball"].q)
    assert refused > 150


def changed_number(snapshot):
    flat = max(snapshot["arrays"], key=lambda array: array.nbytes).reshape(-1)
    flat.view(np.uint8)[3] ^= 64


@pytest.mark.parametrize(
    "change",
    [
        changed_number,
        lambda snapshot: snapshot["arrays"].pop(),
        lambda snapshot: snapshot.__setitem__("sleep", None),
        lambda snapshot: snapshot.pop("frames"),
    ],
)
def test_a_changed_snapshot_is_refused(world, change):
    """Law: the world stays as it is."""
    snapshot, before = world.snapshot(), world.bodies["ball"].q
    change(snapshot)
    with pytest.raises(WorldError, match="changed after `snapshot\\(\\)` returned it"):
        world.restore(snapshot)
    np.testing.assert_array_equal(world.bodies["ball"].q, before)


@pytest.mark.parametrize("form", [3, "x", [], {}, (1,), None])
def test_a_snapshot_of_an_odd_format_is_refused(world, form):
    with pytest.raises(WorldError, match="saved by an earlier version"):
        world.restore(world.snapshot() | {"format": form})


def test_texts_of_files_are_letters_on_pages():
    """Law: no mark of markdown is left."""
    shown = plain("![x](http://a/b) <img src=x> **b** `c` | d\n# e")
    assert not set("![]()<>*`|#\n") & set(shown.replace("&#", ""))


LONG = {
    "numbers of YAML": ("world.yaml", "x: " + "9" * 200_000 + "\n"),
    "numbers of VRML": ("robot.wrl", "#VRML V2.0 utf8\n" + "9" * 50_000 + "x"),
    "open comments of XML": ("robot.urdf", "<robot><!DOCTYPE" + "<!--" * 200_000),
    "columns of CSV": ("motion.csv", "1," * 100_000 + "\n"),
}


@pytest.mark.parametrize("what", LONG)
def test_long_texts_are_refused_in_linear_time(what, tmp_path):
    """Law: 200 kB of one kind take less than 2 s of the processor."""
    import time

    from fuzz.targets import arm

    from hrpsim import load_model, load_world
    from hrpsim.analysis.motion_files import read_motion

    name, text = LONG[what]
    path = tmp_path / name
    path.write_text(text)
    readers = {".yaml": load_world, ".csv": lambda given: read_motion(str(given), arm())}
    begin = time.process_time()
    with pytest.raises(HrpsimError):
        readers.get(path.suffix, load_model)(path)
    assert time.process_time() - begin < 2.0


@pytest.mark.parametrize("kind", ["world", "snapshot", "model"])
def test_no_flipped_bit_of_a_pickle_is_silent(kind):
    """Law: a flip is refused or changes nothing; Python's pickle reads some 100 bytes unchecked."""
    world = hrpsim.World()
    model = load_model(f'<robot name="r"><link name="a">{INERTIAL}</link></robot>')
    world.add_robot(model)
    what = {"world": world, "snapshot": world.snapshot(), "model": model}[kind]
    data = pickle.dumps(what)
    sound, unchecked = pickle.dumps(pickle.loads(data)), data.index(b"\xff")
    assert unchecked < 120
    outside = {*range(unchecked), *range(data.rindex(b"\xff"), len(data))}
    places = sorted(outside | set(range(0, len(data), len(data) // 100)))
    for place in places:
        for bit in range(8):
            damaged = bytearray(data)
            damaged[place] ^= 1 << bit
            try:
                found = pickle.loads(damaged)
            except Exception as error:
                assert place in outside or "is damaged" in str(error), (place, bit)
            else:
                assert place in outside and pickle.dumps(found) == sound, (place, bit)
