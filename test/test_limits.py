# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Each limit of hrpsim/common/limits.py refuses what is larger, by an error that names it."""

import re
import shutil
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
from analysis.motions import hrp2_like, squat, write_csv
from meshes import box, write_stl
from model.openhrp_files import WRL
from test_salvaged_bags import begun

import hrpsim
from hrpsim import HrpsimError, load_mesh
from hrpsim.analysis.motion_files import read_motion
from hrpsim.bag import messages, read_signals
from hrpsim.bag.types import read_types
from hrpsim.common import limits
from hrpsim.common.foreign.bounded_child import call_bounded
from hrpsim.world.file.load_shapes import read_table

ROOT = Path(__file__).resolve().parents[1]
LINK = "<link name='{}'/>"
COMPOUND = "static: [{shape: {compound: [{shape: {compound: [{shape: {sphere: 1}}]}}]}}]\n"


def xml(folder):
    return hrpsim.load_model(write(folder / "robot.urdf", robot(LINK.format("a"))))


def robot(content):
    return f"<robot name='r'>{content}</robot>"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def mesh(folder):
    path = folder / "box.stl"
    write_stl(path, *box())
    return load_mesh(path)


def table(folder):
    np.save(folder / "table.npy", np.ones((20, 3)))
    return read_table(folder / "table.npy")


def signals(folder):
    world = hrpsim.World()
    world.add_body(hrpsim.Sphere(0.1), 1.0, name="ball")
    with hrpsim.Logger(world) as log:
        world.step(20)
    log.save(folder / "run.npz")
    return read_signals(folder / "run.npz")


def motion(period=None):
    def read(folder):
        path = write_csv(folder / "squat.csv", *squat())
        return read_motion(path, hrp2_like(), period=period)

    return read


def world(folder):
    return hrpsim.load_world(write(folder / "world.yaml", COMPOUND))


def field(folder):
    text = "static: [{shape: {height_field: {heights: [[0, 0], [0, 0]], spacing: 1}}}]"
    return hrpsim.load_world(write(folder / "world.yaml", text))


def unsorted_bag(folder):
    shutil.rmtree(folder / "bag", ignore_errors=True)
    writer = begun(folder / "bag", "mcap", count=3)
    (connection, _) = writer.connections[:2]
    writer.write(connection, 1, bytes(60))  # earlier than the others
    writer.close()
    return list(messages(folder / "bag", "/zmp"))


def definition(text):
    return lambda folder: read_types.__wrapped__(text, "a_msgs/msg/A")  # what is read is kept


def wrl(folder):
    return hrpsim.load_model(write(folder / "robot.wrl", WRL))


def mjcf(folder):
    pytest.importorskip("mujoco")
    body = "<body><joint/><geom size='1'/></body>"
    name = uuid4()  # what was read before is kept, and takes no time
    text = f"<mujoco model='{name}'><worldbody>{body}</worldbody></mujoco>"
    return hrpsim.load_model(write(folder / "robot.xml", text))


def sdf(folder):
    inner = "<model name='{}'><link name='a'/>{}</model>"
    text = f"<sdf version='1.9'>{inner.format('m', inner.format('n', ''))}</sdf>"
    return hrpsim.load_model(write(folder / "robot.sdf", text))


def gltf(folder):
    import trimesh

    trimesh.creation.box((1.0, 1.0, 1.0)).export(folder / "box.glb")
    return load_mesh(folder / "box.glb")


def picture(folder):
    from PIL import Image

    from hrpsim.model.shapes.mesh_files import read_scene

    Image.new("RGB", (40, 40)).save(folder / "paint.png")
    write(folder / "m.mtl", "newmtl m\nmap_Kd paint.png\n")
    corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
    path = write(folder / "a.obj", f"mtllib m.mtl\n{corners}usemtl m\nf 1/1 2/2 3/3\n")
    if notes := read_scene(path).metadata["notes"]:
        raise hrpsim.ModelError(f"IMAGE_PIXELS: {notes}")


def design(folder):
    from hrpsim.sweeps.framework.design import read_table as read_design

    return read_design(write(folder / "design.csv", "a,b\n1,2\n3,4\n"))


def called(function, *given):
    return lambda folder: call_bounded(
        function, *given, label="it", size=0, error=hrpsim.ModelError
    )


def network(folder):
    pytest.importorskip("onnxruntime")
    from fuzz.corpus import seeds

    from hrpsim.bridges.onnx_network import Network

    (folder / "n.onnx").write_bytes(seeds("network")[0])
    return Network(folder / "n.onnx")


NESTED = "B b\n" + "=" * 80 + "\nMSG: a_msgs/B\nint8 x\n"
CASES = {
    "XML_SIZE": (20, xml),
    "XML_ELEMENTS": (1, xml),
    "MJCF_TIME": (1e-3, mjcf),
    "MJCF_WAIT": (1e-3, mjcf),
    "MJCF_MEMORY": (10_000_000, mjcf),
    "SDF_PARTS": (1, sdf),
    "SDF_DEPTH": (1, sdf),
    "JSON_VALUES": (20, gltf),
    "DECODER_MEMORY": (10_000_000, called("builtins:bytearray", 50_000_000)),
    "DECODER_TIME": (1e-3, called("builtins:sum", range(5_000_000))),
    "DECODER_WAIT": (0.05, called("time:sleep", 0.5)),
    "DECODER_RESULT": (100, called("builtins:bytes", 1000)),
    "IMAGE_PIXELS": (100, picture),
    "FIELD_HEIGHTS": (3, field),
    "TABLE_VALUES": (3, design),
    "TEXT_LINES": (2, design),
    "NETWORK_SIZE": (100, network),
    "VRML_DEPTH": (1, wrl),
    "VRML_TOKENS": (20, wrl),
    "MESH_SIZE": (200, mesh),
    "MESH_ELEMENTS": (11, mesh),
    "TABLE_SIZE": (100, table),
    "SIGNALS_SIZE": (200, signals),
    "SEQUENCE_SIZE": (200, motion()),
    "SEQUENCE_SAMPLES": (10, motion(0.01)),
    "SEQUENCE_VALUES": (1000, motion(0.01)),
    "COMPOUND_PARTS": (1, world),
    "COMPOUND_DEPTH": (0, world),
    "BAG_UNSORTED": (100, unsorted_bag),
    "BAG_TYPES": (1, definition(NESTED)),
    "BAG_ARRAY": (3, definition("int8[4] x\n")),
    "BAG_DEPTH": (0, definition(NESTED)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_larger_is_refused_by_the_name_of_the_limit(name, tmp_path, monkeypatch):
    """Law: what is read within a limit is refused beyond it, in a line that names the limit."""
    low, read = CASES[name]
    try:
        read(tmp_path)
    except (HrpsimError, ValueError) as error:
        assert name not in str(error)
    monkeypatch.setattr(limits, name, low)
    with pytest.raises((HrpsimError, ValueError)) as refused:
        read(tmp_path)
    assert name in str(refused.value) and "\n" not in str(refused.value)


def test_each_limit_is_held_and_tested():
    """Law: no limit is only promised."""
    names = re.findall(
        r"^([A-Z_]+) = ", (ROOT / "hrpsim/common/limits.py").read_text(), re.MULTILINE
    )
    code = "\n".join(
        p.read_text() for p in (ROOT / "hrpsim").rglob("*.py") if p.name != "limits.py"
    )
    tests = "\n".join(path.read_text() for path in (ROOT / "test").rglob("*.py"))
    assert len(names) > 30
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []
    lengths = {"MESSAGE_LENGTH", "WARNING_LENGTH", "SHOWN_LENGTH"}  # of errors' own texts
    assert [n for n in names if n not in lengths and not re.search(rf"\b{n}\b", tests)] == []
