# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Small files that claim much, or grow while they are decoded: by kind and seed."""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
import zlib

from fuzz.corpus import seeds

COUNTS = (10**5, 10**6, 10**8, 4 * 10**8, 2**31 - 1, 2**32 - 1, 2**53, 2**62, -1, -(2**31))
XML = ("urdf", "srdf", "mjcf", "xacro", "dae", "visual_dae", "package", "gazebo")
CODES = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-32-le", "cp037")


def expanded(kind: str, seed: int) -> bytes:
    """Return a file of a kind that is larger than it looks; the same for the same seed."""
    chance = random.Random(f"expanded {kind} {seed}")
    data = chance.choice(seeds(kind))
    name = kind.removeprefix("visual_")
    if name == "dae" and chance.random() < 0.5:
        return _instances(data, chance)
    if kind in XML:
        return _xml(data, chance)
    if name in ("glb", "gltf"):
        return _gltf(name, data, chance)
    if kind == "picture":
        return _picture(chance)
    if kind.endswith("npz"):
        return _npz(data, chance)
    if kind == "network":
        return _network(chance)
    if name in ("stl", "ply", "npy", "mcap", "db3") or kind.endswith("pickle"):
        return _lengths(data, chance)
    return _text(data, chance)


def _xml(data: bytes, chance: random.Random) -> bytes:
    """Return XML with entities, deep elements or many of them, in some encoding."""
    text = data.decode("utf-8", "replace")
    at = text.find(">", text.find("<", text.find("?>") + 1)) + 1 or len(text)
    match chance.randrange(4):
        case 0:
            names = "".join(
                f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(chance.choice((3, 9, 12)))
            )
            kind = chance.choice(("", ' SYSTEM "file:///dev/zero"', ' SYSTEM "http://127.0.0.1/a"'))
            first = chance.choice(('<!ENTITY e0 "x">', '<!ENTITY e0 SYSTEM "file:///etc/passwd">'))
            first += chance.choice(("", '<!ENTITY % p SYSTEM "file:///dev/zero"> %p;'))
            text = f"<!DOCTYPE robot{kind} [{first}{names}]>{text[:at]}&e3;{text[at:]}"
        case 1:
            deep = chance.choice((300, 5_000, 60_000))
            text = f"{text[:at]}{'<a>' * deep}{'</a>' * deep}{text[at:]}"
        case 2:
            text = f"{text[:at]}{'<a/>' * chance.choice((1000, 250_000))}{text[at:]}"
        case _:
            names = " ".join(f'a{k}=""' for k in range(20_000))
            text = f"{text[:at]}<a {names}/>{text[at:]}"
    code = chance.choice(CODES)
    head = f'<?xml version="1.0" encoding="{chance.choice((code, "utf-8", "hex", "zlib"))}"?>'
    return (chance.choice((head, "")) + text).encode(code, "replace")


def _instances(data: bytes, chance: random.Random) -> bytes:
    """Return a DAE whose nodes instance nodes: a tree, a circle, or an archive."""
    text = data.decode()
    start = text.find('<instance_geometry url="') + len('<instance_geometry url="')
    shown = f'<instance_geometry url="{text[start : text.find(chr(34), start)]}"/>'
    levels, each = chance.choice(((3, 5), (8, 10), (30, 2), (200, 1), (4, 40)))
    nodes = [f'<node id="k0">{shown}</node>']
    for k in range(1, levels):
        nodes.append(
            f'<node id="k{k}">{f"<instance_node url={chr(34)}#k{k - 1}{chr(34)}/>" * each}</node>'
        )
    if chance.random() < 0.3:
        nodes[0] = f'<node id="k0"><instance_node url="#k{levels - 1}"/>{shown}</node>'
    chance.shuffle(nodes)
    library = f"<library_nodes>{''.join(nodes)}</library_nodes>"
    last = f'<node><instance_node url="#k{levels - 1}"/></node>'
    at, end = text.find("<library_visual_scenes"), text.find("</visual_scene>")
    made = (text[:at] + library + text[at:end] + last + text[end:]).encode()
    if chance.random() < 0.2:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.dae", made + b" " * chance.choice((10, 30_000_000)))
        made = chance.choice((b"", b"<COLLADA/>", made)) + file.getvalue()
    return made


def _gltf(kind: str, data: bytes, chance: random.Random) -> bytes:
    """Return a glTF of large counts, of nodes that hold each other, or with names of files."""
    tree, rest = json.loads(data) if kind == "gltf" else None, b""
    if kind == "glb":
        (length,) = struct.unpack_from("<I", data, 12)
        tree, rest = json.loads(data[20 : 20 + length]), data[20 + length :]
    match chance.randrange(7):
        case 0:
            chance.choice(tree["accessors"])["count"] = chance.choice(COUNTS)
        case 1:
            accessor = chance.choice(tree["accessors"])
            accessor.pop("bufferView", None)
            accessor["count"] = chance.choice((4, 10**6, 10**9))
        case 2:
            tree["nodes"] = [{"mesh": 0, "children": [chance.randrange(9)]} for _ in range(9)]
        case 3:
            tree["nodes"] = [{"mesh": 0}] * chance.choice((5_000, 60_000))
            tree["scenes"] = [{"nodes": list(range(len(tree["nodes"])))}]
        case 4:
            mesh = chance.choice(tree["meshes"])
            mesh["primitives"] = mesh["primitives"] * chance.choice((100, 20_000))
        case 5:
            view = chance.choice(tree["bufferViews"])
            view[chance.choice(("byteLength", "byteOffset", "byteStride", "buffer"))] = (
                chance.choice(COUNTS)
            )
        case _:
            names = ("../../../etc/passwd", "/dev/zero", "file:///etc/passwd", "%2e%2e/x", "a\0b")
            tree["buffers"] = [{"byteLength": 72, "uri": chance.choice(names)}]
    text = json.dumps(tree).encode()
    if chance.random() < 0.1:
        text = text[:-1] + b', "extras": ' + b"[" * chance.choice((500, 200_000))
    if kind == "gltf":
        return text
    text += b" " * (-len(text) % 4)
    size = chance.choice((len(text), len(text), 2**32 - 1))
    body = struct.pack("<II", size, 0x4E4F534A) + text + rest
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def _picture(chance: random.Random) -> bytes:
    """Return a PNG of many pixels in few bytes."""
    side = chance.choice((3_000, 12_000, 40_000, 2**31 - 1))
    head = struct.pack(
        ">IIBBBBB", side, chance.choice((1, side)), 8, chance.choice((0, 2, 6)), 0, 0, 0
    )
    rows = zlib.compress(bytes(min(side, 40_000) * 200))
    chunks = [(b"IHDR", head), (b"IDAT", rows), (b"zTXt", b"a\0\0" + rows), (b"IEND", b"")]
    made = b"\x89PNG\r\n\x1a\n"
    for name, content in chunks:
        made += struct.pack(">I", len(content)) + name + content
        made += struct.pack(">I", zlib.crc32(name + content))
    return made


def _npz(data: bytes, chance: random.Random) -> bytes:
    """Return an .npz whose arrays claim other shapes, or unpack to zeros without end."""
    file = io.BytesIO()
    sound = zipfile.ZipFile(io.BytesIO(data))
    with zipfile.ZipFile(file, "w", chance.choice((0, 8, 8, 12, 14))) as archive:
        for member in sound.infolist():
            content = sound.read(member)
            if chance.random() < 0.6:
                shape = chance.choice(
                    (f"({10**9},)", f"({2**62}, 8)", "(-1,)", "(10**9,)", "(4, 0)")
                )
                kind = chance.choice(("<f8", "|O", "<U9", "<U100000000", "|V8", "<M8[s]", "<c16"))
                head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(
                    117
                )
                content = b"\x93NUMPY\x01\x00v\x00" + head.encode() + b"\n"
                content += bytes(chance.choice((0, 64, 64, 3 * 10**6)))
            archive.writestr(chance.choice((member.filename, member.filename, "../x.npy")), content)
    made = file.getvalue()
    if chance.random() < 0.2:
        at = made.rfind(b"PK\1\2") + 24
        made = made[:at] + struct.pack("<I", 2**32 - 2) + made[at + 4 :]
    return made


def _network(chance: random.Random) -> bytes:
    """Return a network that makes a large array of a small constant."""
    from onnx import TensorProto, helper

    shape = [chance.choice((1, 10, 10**3, 10**5)) for _ in range(chance.choice((1, 2, 3)))]
    size = helper.make_tensor("size", TensorProto.INT64, [len(shape)], shape)
    nodes = [
        helper.make_node("ConstantOfShape", ["size"], ["many"]),
        helper.make_node("ReduceSum", ["many"], ["one"], keepdims=0),
        helper.make_node("Add", ["obs", "one"], ["actions"]),
    ]
    observation = helper.make_tensor_value_info("obs", TensorProto.FLOAT, [1, 11])
    action = helper.make_tensor_value_info("actions", TensorProto.FLOAT, [1, 11])
    graph = helper.make_graph(nodes, "policy", [observation], [action], [size])
    opset = [helper.make_opsetid("", 13)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()


def _lengths(data: bytes, chance: random.Random) -> bytes:
    """Return the file with a length, at a random place, that it does not have."""
    size = chance.choice((2, 4, 8))
    at = chance.randrange(max(len(data) - size, 1))
    if chance.random() < 0.3:
        at = chance.randrange(min(100, len(data)))
    number = chance.choice(COUNTS) % 2 ** (8 * size)
    order = chance.choice(("little", "big"))
    return data[:at] + number.to_bytes(size, order) + data[at + size :]


def _text(data: bytes, chance: random.Random) -> bytes:
    """Return a text with brackets, long lines, long numbers or many lines within."""
    at = chance.choice((0, len(data), data.find(b"\n") + 1, chance.randrange(len(data) + 1)))
    many = chance.choice(
        (
            *(b"[" * 3_000, b"{a: " * 2_000, b"-" * 5_000, b"1," * 100_000, b"\n" * 200_000),
            *(b"9" * 5_000, b"x" * 200_000, b"a: &a [*a, *a]\n", b"- " * 2_000, b"0 " * 200_000),
            *(
                b"&a [" * 500,
                b'"' + b"\\" * 50_000 + b'"',
                b"? " * 2_000,
                b"\0" * 1_000,
                b"1e" + b"9" * 400,
            ),
        )
    )
    return data[:at] + many + data[at:]
