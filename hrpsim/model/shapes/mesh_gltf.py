# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Refuse a glTF file that trimesh would not read correctly or in reasonable time."""

from __future__ import annotations

import json
import struct
from typing import Any

from hrpsim.common import limits

_LOOKS = ("KHR_materials_", "KHR_texture_", "KHR_lights_", "KHR_xmp", "EXT_texture_")
_TRIANGLE_FAN = 6
_NODES = 10_000  # that show a mesh


def check_gltf(data: bytes) -> None:
    """Raise ValueError for a .gltf or .glb that is too large or uses unsupported features."""
    tree = _tree(data)
    for name in tree.get("extensionsRequired", ()):
        if not name.startswith(_LOOKS):
            raise ValueError(f"it requires the extension {name!r}, which is not read: export plain")
    primitives = [p for mesh in tree.get("meshes", ()) for p in mesh.get("primitives", ())]
    if any(primitive.get("mode") == _TRIANGLE_FAN for primitive in primitives):
        raise ValueError("it has triangle fans, which are not read: export triangles")
    elements = sum(int(accessor.get("count", 0)) for accessor in tree.get("accessors", ()))
    if elements > 8 * limits.MESH_ELEMENTS:
        raise ValueError(f"its accessors have {elements} elements (MESH_ELEMENTS)")
    shown = sum("mesh" in node for node in tree.get("nodes", ()))
    if shown > _NODES:
        raise ValueError(f"{shown} of its nodes show a mesh, and {_NODES} are the limit")


def _tree(data: bytes) -> dict[str, Any]:
    """Return the JSON of a .gltf, or the JSON in the first chunk of a .glb."""
    if data[:4] == b"glTF":
        (length,) = struct.unpack_from("<I", data, 12)
        data = data[20 : 20 + length]
    tree = json.loads(data)
    if not isinstance(tree, dict):
        raise ValueError("its JSON is no object")
    return tree
