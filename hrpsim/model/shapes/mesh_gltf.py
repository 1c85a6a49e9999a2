# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Refuse a glTF file that trimesh would not read correctly or in reasonable time."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Any

from hrpsim.common import limits
from hrpsim.common.foreign.json_text import parse_json

_LOOKS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "KHR_xmp", "EXT_texture_")
_TRIANGLE_FAN = 6
_NODES = 10_000  # that show a mesh


def check_gltf(data: bytes) -> None:
    """Raise ValueError for a .gltf or .glb that is too large or uses unsupported features."""
    tree = _tree(data)
    for name in tree.get("extensionsRequired", ()):
        if not name.startswith(_LOOKS):
            raise ValueError(f"it requires the extension {name!r}, which is not supported")
    primitives = [p for mesh in tree.get("meshes", ()) for p in mesh.get("primitives", ())]
    if any(primitive.get("mode") == _TRIANGLE_FAN for primitive in primitives):
        raise ValueError("it has triangle fans, which are not supported. Export triangles")
    _bound_sizes(tree, primitives)
    _bound_nodes(tree)


def _bound_sizes(tree: dict[str, Any], primitives: list[dict[str, Any]]) -> None:
    """Raise ValueError for accessors that are missing, have no data, or have too many elements."""
    accessors = tree.get("accessors", [])
    elements = sum(int(accessor.get("count", 0)) for accessor in accessors)
    if elements > 8 * limits.MESH_ELEMENTS:
        most = 8 * limits.MESH_ELEMENTS
        raise ValueError(
            f"its accessors have {elements} elements, more than {most} (8 times the limit "
            "MESH_ELEMENTS in hrpsim.common.limits)"
        )
    used: Counter[int] = Counter()
    for primitive in primitives:
        position = primitive.get("attributes", {}).get("POSITION")
        used.update(n for n in (position, primitive.get("indices")) if n is not None)
    for number, times in used.items():
        if not 0 <= number < len(accessors):
            raise ValueError(
                f"a mesh names accessor {number}, but there are {len(accessors)}, counted from 0"
            )
        accessor = accessors[number]
        if not {"bufferView", "sparse"} & accessor.keys():
            raise ValueError(f"accessor {number} has no data: it names no bufferView")
        if times * int(accessor["count"]) > 8 * limits.MESH_ELEMENTS:
            raise ValueError(
                f"{times} primitives use accessor {number}, which expands beyond the limit "
                "MESH_ELEMENTS in hrpsim.common.limits"
            )


def _bound_nodes(tree: dict[str, Any]) -> None:
    """Raise ValueError for too many nodes, and for a node with two parents."""
    nodes = tree.get("nodes", [])
    sizes = [len(mesh.get("primitives", ())) for mesh in tree.get("meshes", ())]
    meshes = [node["mesh"] for node in nodes if "mesh" in node]
    parts = max(sum(sizes), sum(sizes[mesh] for mesh in meshes if 0 <= mesh < len(sizes)))
    for count, most, text in (
        (len(meshes), _NODES, f"{len(meshes)} of its nodes show a mesh"),
        (parts, _NODES, f"it shows {parts} primitives"),
        (len(nodes), 5 * _NODES, f"it has {len(nodes)} nodes"),
    ):
        if count > most:
            raise ValueError(f"{text}, more than the limit of {most}")
    parents = Counter(child for node in nodes for child in node.get("children", ()))
    twice = next((child for child, times in parents.items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"node {twice} has {parents[twice]} parents")


def _tree(data: bytes) -> dict[str, Any]:
    """Return the JSON of a .gltf, or the JSON in the first chunk of a .glb."""
    if data[:4] == b"glTF":
        (length,) = struct.unpack_from("<I", data, 12)
        data = data[20 : 20 + length]
    tree = parse_json(data)
    if not isinstance(tree, dict):
        raise ValueError("its JSON is not an object")
    return tree
