# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What fuzzing found, and attacks that were written by hand: each is refused in one line, soon."""

from __future__ import annotations

import pytest
from fuzz.fuzzing import Reader
from fuzz.targets import ARM

from hrpsim import load_model

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 10)}]\n" for k in range(12)
)
COMPOUND = "static: [{shape: {compound: &c0 [{shape: {sphere: 1}}, {shape: {sphere: 1}}]}}"
COMPOUNDS = COMPOUND + "".join(
    f", {{shape: {{compound: &c{k + 1} [{', '.join([f'{{shape: {{compound: *c{k}}}}}'] * 9)}]}}}}"
    for k in range(8)
)
PLY = "ply\nformat ascii 1.0\nelement vertex {n}\nproperty float x\nproperty float y\n"
PLY += "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
NPY = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }"
ROBOT = '<robot name="r"><link name="a"><visual><geometry><box size="1 1 1"/></geometry>{}</visual>'


def npy(shape: bytes) -> bytes:
    return (NPY % shape).ljust(127) + b"\n" + bytes(64)


REFUSED = {
    "a frame's links in a mapping": (
        "keyframes",
        b"keyframes:\n- {time: 0, fixed_link: {e: 1}}\n- {time: 1, joints: {j: 0}}",
    ),
    "a list as a key": ("keyframes", b"keyframes:\n- {time: 0, [a]: 1}\n- {time: 1}"),
    "keyframes far apart": (
        "keyframes",
        b"keyframes:\n- {time: 0}\n- {time: 1.0e+6, joints: {j: 1}}",
    ),
    "vertices of two numbers": ("obj", b"v 0 -11\nv 0 1\nv 1 0\nf 1 2 3\n"),
    "a triangle of vertices that are not there": ("obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99\n"),
    "a PLY face beyond its vertices": (
        "ply",
        (PLY.format(n=3) + "0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n").encode(),
    ),
    "a PLY that says it is large": ("ply", PLY.format(n=10**12).encode()),
    "a DAE with entities": ("dae", b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><a/>"),
    "an STL cut off": ("stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(50)),
    "a table that says it is large": ("npy", npy(b"1000000, 1000000")),
    "a table of negative size": ("npy", npy(b"-1, 8")),
    "a table of objects": ("npy", npy(b"2, 4").replace(b"<f8", b"|O ")),
    "aliases of aliases": ("world", BOMB.encode()),
    "compounds of aliases": ("world", f"{COMPOUNDS}]".encode()),
    "an anchor that holds itself": ("world", b"bodies: &a [*a]"),
    "3000 brackets": ("world", b"bodies: " + b"[" * 3000),
    "a million brackets": ("world", b"[" * 10**6),
    "a date as a mass": ("world", b"bodies: [{shape: {sphere: 1}, mass: 2001-01-01}]"),
    "no float": ("world", b"bodies: [{shape: {sphere: 1}, mass: !!float abc}]"),
    "no int": ("world", b"bodies: [{shape: {sphere: 1}, mass: !!int abc}]"),
    "no binary": ("world", b"settle: !!binary x"),
    "a Python object": ("world", b"settle: !!python/object/apply:os.getcwd []"),
    "not UTF-8": ("world", b"bodies: \xff\xfe"),
    "a truth value as a time step": ("world", b"world: {time_step: true}"),
    "gravity without bounds": ("world", b"world: {gravity: [0, 0, 1e300]}"),
    "a margin that is no number": ("world", b"world: {contact_margin: .nan}"),
    "a huge integer": ("world", b"world: {time_step: " + b"9" * 5000 + b"}"),
    "parameters not UTF-8": ("parameters", b"a: \xff"),
    "parameters that hold themselves": ("parameters", b"&a {b: *a}"),
    "an undefined encoding": ("urdf", b'<?xml version="1.0" encoding="undefined"?><robot/>'),
    "an encoding of bytes": ("urdf", b'<?xml version="1.0" encoding="hex"?><robot/>'),
    "deep elements": ("urdf", b"<robot name='r'>" + b"<a>" * 100_000),
    "a lone surrogate": ("urdf", "<robot name='\ud800'/>".encode("utf-8", "surrogatepass")),
    "a colour of three": (
        "urdf",
        (
            ROBOT.format('<material name="m"><color rgba="1 0 0"/></material>') + "</link></robot>"
        ).encode(),
    ),
    "a visual without size": (
        "urdf",
        (ROBOT.replace('size="1 1 1"', "") + "</link></robot>").encode(),
    ),
    "entities": (
        "urdf",
        b'<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"><link name="&a;"/></robot>',
    ),
    "a keyframe beyond all bounds": (
        "keyframes",
        b"interpolation: cubic\nkeyframes:\n- {time: 0, joints: {j: 1e308}}\n"
        b"- {time: .1, joints: {j: 1}}\n- {time: 3, joints: {j: 3}}",
    ),
    "a sample long before all others": (
        "csv_motion",
        b"time,j,k\n-1e308,0,1\n.0,1,1\n.02,2,2\n.03,3,2\n.04,4,2\n.05,5,2\n6,6,2\n7,7,2",
    ),
    "samples that no spline goes through": (
        "csv_motion",
        b"time,j,k\n-1e9,0,1\n0,1,1\n2e-9,2,2\n4e-9,3,2\n6e-9,4,2\n8e-9,5,2\n9e8,6,2\n1e9,7,2",
    ),
    "a tag that is no name": ("urdf", ARM.replace("<collision>", "<collision><\ufffd/>").encode()),
    "an encoding that decodes nothing": (
        "urdf",
        b'<?xml version="1.0" encoding="undefined"?><robot name="r"><link name="a"/></robot>',
    ),
    "a sequence not UTF-8": ("pos", b"0 \xff 1\n"),
    "a sequence with a null character": ("pos", b"0 0\x00 1\n"),
    "a table with a null character": ("csv_motion", b"time,j,k\n0,\x00,1\n1,1,1\n"),
}


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    with Reader(tmp_path_factory.mktemp("finds")) as reader:
        yield reader


@pytest.mark.quick_cases("[!a]*")
@pytest.mark.parametrize("name", REFUSED)
def test_finds_are_refused_in_one_line(reader, name):
    kind, data = REFUSED[name]
    assert reader.verdict(kind, data) == "refused"


def test_spaces_around_a_name_mean_nothing():
    """A line's end before it was found to be one letter more."""
    model = load_model(ARM.replace('<parent link="a"/>', '<parent link="\n a"/>'), base="fixed")
    assert model.joint_names == load_model(ARM, base="fixed").joint_names
