# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rewrite a DAE so that trimesh reads it correctly and in bounded time.

trimesh cuts every polygon as a fan, which is wrong for concave polygons. pycollada, which trimesh
uses, opens archives, and follows nested instances of nodes without a limit. The rewritten XML has
triangles only, is UTF-8 without a document type, and has a bounded number of instances.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from lxml import etree

from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.xml_text import decoded_xml, xml_root
from hrpsim.model.shapes.polygons import cut, cut_rings

_LABEL = "its XML"
_SHOWN = 10_000  # instances of geometries
_INSTANCES = ("instance_geometry", "instance_controller")


def plain_dae(data: bytes) -> tuple[bytes, float]:
    """Replace <polylist> and <polygons> in a DAE by <triangles>.

    Holes of polygons are not filled.

    Returns:
        (the new DAE, the unit of length [m]).

    Raises:
        ModelError: the file is no XML, is an archive, or has a document type.
        ValueError: the file instances too many geometries, or its unit is not a positive number.
    """
    if data[:2] == b"PK":
        raise ModelError("is an archive, not the DAE itself. Unpack the archive")
    root = xml_root(decoded_xml(data, _LABEL, ModelError), _LABEL, ModelError, huge=True)
    _bound_instances(root)
    for mesh in root.iter("{*}mesh"):
        for kind in ("polylist", "polygons"):
            for element in mesh.findall(f"{{*}}{kind}"):
                _to_triangles(mesh, element)
    return etree.tostring(root), _unit(root)


def _unit(root: etree._Element) -> float:
    texts = (element.get("meter") for element in root.iter("{*}unit"))
    unit = float(next((text for text in texts if text is not None), "1"))
    if not (math.isfinite(unit) and unit > 0.0):
        raise ValueError(f"the unit must be positive, got {unit} m")
    return unit


def _count_shown(
    scene: etree._Element, nodes: dict[str, etree._Element], shown: dict[etree._Element, int]
) -> None:
    """Count the geometries below a scene and below each of its nodes. Each instance counts."""
    pending = [(scene, False)]  # elements, and whether all parts of the element are counted
    within: set[etree._Element] = set()
    while pending:
        element, is_counted = pending.pop()
        if is_counted:
            within.discard(element)
            own = sum(len(element.findall(f"{{*}}{kind}")) for kind in _INSTANCES)
            shown[element] = own + sum(shown[part] for part in _parts_of(element, nodes))
        elif element in within:
            raise ValueError(f"node {element.get('id')!r} instances itself")
        elif element not in shown:
            within.add(element)
            pending.append((element, True))
            pending += [(part, False) for part in _parts_of(element, nodes)]


def _bound_instances(root: etree._Element) -> None:
    """Raise ValueError if nodes instance each other in a cycle, or instance too many geometries."""
    nodes = {node.get("id"): node for node in root.iter("{*}node") if node.get("id")}
    counts: dict[etree._Element, int] = {}
    for scene in root.iter("{*}visual_scene"):
        _count_shown(scene, nodes, counts)
        if counts[scene] > _SHOWN:
            raise ValueError(
                f"the scene has {counts[scene]} geometries, more than the limit of {_SHOWN}"
            )


def _parts_of(element: etree._Element, nodes: dict[str, etree._Element]) -> list[etree._Element]:
    """Return the nodes that a node or scene contains or instances."""
    urls = (instance.get("url", "") for instance in element.findall("{*}instance_node"))
    named = (nodes.get(url.removeprefix("#")) for url in urls)
    return [*element.findall("{*}node"), *(node for node in named if node is not None)]


def _cut_rows(
    element: etree._Element, points: np.ndarray, width: int, column: int
) -> Iterator[np.ndarray]:
    """Yield the triangles of each polygon as rows of indices, `width` indices for each corner."""
    if (counts := element.find("{*}vcount")) is not None:
        flat = _integers(element.find("{*}p")).reshape(-1, width)
        yield flat[cut(points[flat[:, column]], _integers(counts))]
    for outline in element.findall("{*}p") if counts is None else ():
        ring = _integers(outline).reshape(-1, width)
        yield ring[cut(points[ring[:, column]], [len(ring)])]
    for holed in element.findall("{*}ph"):
        rings = [_integers(ring).reshape(-1, width) for ring in holed]
        ring = np.concatenate(rings)
        ends = np.cumsum([len(part) for part in rings]).tolist()
        yield ring[cut_rings(points[ring[:, column]], ends)]


def _to_triangles(mesh: etree._Element, element: etree._Element) -> None:
    inputs = element.findall("{*}input")
    width = 1 + max(int(source.get("offset", "0")) for source in inputs)
    (vertex,) = (source for source in inputs if source.get("semantic") == "VERTEX")
    column = int(vertex.get("offset", "0"))
    points = _positions(mesh, vertex.get("source", "")[1:])
    rows = [np.empty((0, width), int)]
    rows += (part.reshape(-1, width) for part in _cut_rows(element, points, width, column))
    for child in element.iterchildren("{*}vcount", "{*}p", "{*}ph"):
        element.remove(child)
    name = element.tag.removesuffix(etree.QName(element).localname)
    made = np.concatenate(rows)
    element.tag = name + "triangles"
    element.set("count", str(len(made) // 3))
    body = etree.Element(name + "p")
    body.text = " ".join(map(str, made.ravel().tolist()))
    element.insert(1 + element.index(inputs[-1]), body)


def _positions(mesh: etree._Element, name: str) -> np.ndarray:
    """Return the positions (n, 3) of the <vertices> element of a mesh with the given id."""
    by_id = {child.get("id"): child for child in mesh}
    (position,) = (
        source for source in by_id[name].findall("{*}input") if source.get("semantic") == "POSITION"
    )
    source = by_id[position.get("source", "")[1:]]
    accessor = source.find(".//{*}accessor")
    values = np.array((source.find("{*}float_array").text or "").split(), dtype=float)
    stride, offset = int(accessor.get("stride", "1")), int(accessor.get("offset", "0"))
    first = offset + stride * np.arange(int(accessor.get("count")))
    return values[first[:, None] + np.arange(3)]


def _integers(element: etree._Element) -> np.ndarray:
    return np.array((element.text or "").split(), dtype=np.int64)
