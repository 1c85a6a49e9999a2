# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the models and frames of an SDF, with all includes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.common import limits
from hrpsim.common.errors import shown_value
from hrpsim.model.readers.gazebo.poses import pose_of
from hrpsim.model.readers.robot_data import Notes
from hrpsim.model.readers.sdf.files import SdfFiles
from hrpsim.model.readers.sdf.frames import Scope, SdfFrame
from hrpsim.model.readers.sdf.sdf_file import SdfFile
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.shapes.placement import IDENTITY

_FRAMES = ("link", "joint", "frame")
_OWN_NAMES = (1, 7)  # the version since which all frames of a scope have different names
_RESERVED = ("world", "__model__", "__root__")


class SdfContents(NamedTuple):
    """The contents of an SDF: the world or the only model, and the finder of further files."""

    scope: Scope
    file: SdfFile
    files: SdfFiles
    notes: Notes


class _Include(NamedTuple):
    """An <include> element and its file, which may override properties of the included model."""

    file: SdfFile
    element: Any


def read_sdf(text: str, path: Path | None, resources: Resources) -> SdfContents:
    """Read the world or the only model of an SDF. ModelError names an invalid element."""
    file = SdfFile(text, path)
    reader = _Reader(SdfFiles(file, resources))
    worlds, models = (list(file.children(file.root, tag)) for tag in ("world", "model"))
    for tag in ("light", "actor"):
        for element in file.children(file.root, tag):
            reader.notes.add(f"<{tag}>", "not simulated", element.get("name", ""))
    for world in worlds[1:]:
        reader.notes.add("<world>", "the first world of a file is read", world.get("name", ""))
    if worlds:
        scope = reader.world(file, worlds[0])
    elif len(models) == 1:
        scope = reader.model(file, models[0], None, None)
    else:
        file.fail(
            file.root, f"must have one model or a world, got {len(models)} models and no world"
        )
    return SdfContents(scope, file, reader.files, reader.notes)


def relative_to(file: SdfFile, element: Any) -> str:
    """Return the frame that the <pose> of an element is relative to, "" for the default."""
    pose = element.find("pose")
    if pose is None:
        return ""
    names = (pose.get(key, "").strip() for key in ("relative_to", "frame"))
    return next((name for name in names if name), "")


def _flag(name: str, said: _Include, default: _Include) -> bool:
    """Return a flag of an <include>, or else of the included element."""
    source = default if said.element.find(name) is None else said
    return source.file.flag(source.element, name)


class _Reader:
    def __init__(self, files: SdfFiles) -> None:
        self.files = files
        self.notes = Notes()
        self._count = 0
        self._open: list[SdfFile] = []  # files that include each other
        self._depth = 0

    def world(self, file: SdfFile, element: Any) -> Scope:
        """Return the scope of a <world>."""
        scope = Scope("", file, element)
        scope.frame = SdfFrame(element.get("name", ""), "world", file, element, scope, IDENTITY)
        self._fill(scope, file, element, scope.frame)
        return scope

    def model(
        self, file: SdfFile, element: Any, outer: Scope | None, include: _Include | None
    ) -> Scope:
        """Return the scope of a <model>. An <include> may replace name and pose."""
        inclusion = include or _Include(file, element)
        included_name = "" if include is None else include.file.content(include.element, "name")
        name = included_name or file.text(element, "name")
        prefix = (
            f"{outer.path}{name}::" if outer is not None and outer.frame.kind == "model" else ""
        )
        scope = Scope(prefix, file, element, outer)
        scope.frame = SdfFrame("__model__", "model", file, element, scope, IDENTITY)
        has_pose = inclusion.element.find("pose") is not None
        placed = inclusion if has_pose else _Include(file, element)
        frame = SdfFrame(
            *(name, "model", inclusion.file, inclusion.element, outer or scope),
            pose_of(placed.file, placed.element),
            relative_to(placed.file, placed.element),
            default=scope.frame if outer is None else outer.frame,
            placement_frame=self._placement_frame(file, element, include, has_pose),
        )
        scope.placement = frame
        scope.is_static = _flag("static", inclusion, _Include(file, element))
        if outer is not None:
            self._add(outer, frame)
            outer.models[name] = scope
        self._fill(scope, file, element, scope.frame)
        return scope

    def _placement_frame(
        self, file: SdfFile, element: Any, include: _Include | None, has_pose: bool
    ) -> str:
        own = element.get("placement_frame", "").strip()
        if include is None or not has_pose:
            return own
        return include.file.content(include.element, "placement_frame") or own

    def _fill(self, scope: Scope, file: SdfFile, element: Any, base: SdfFrame) -> None:
        """Add the frames and models of an element to a scope. `base`: default frame."""
        scope.sources.append(element)
        self._depth += 1
        if self._depth > limits.SDF_DEPTH:
            file.fail(element, limits.excess("SDF_DEPTH", "nested models"))
        for child in file.children(element):
            if child.tag in _FRAMES:
                self._add_frame(scope, file, child, base)
            elif child.tag == "model":
                self.model(file, child, scope, None)
            elif child.tag == "include":
                self._include(scope, file, child, base)
        self._depth -= 1

    def _add_frame(self, scope: Scope, file: SdfFile, element: Any, base: SdfFrame) -> None:
        name, attached = file.text(element, "name"), element.get("attached_to", "").strip()
        default: SdfFrame | str = attached or base
        if element.tag == "joint":
            default = file.content(element, "child")
            if not default or not file.content(element, "parent"):
                file.fail(element, "<parent> and <child> are needed")
        self._add(
            scope,
            SdfFrame(
                *(name, element.tag, file, element, scope, pose_of(file, element)),
                relative_to(file, element),
                default=default,
                attached_to=attached,
                home=base,
            ),
        )

    def _add(self, scope: Scope, frame: SdfFrame) -> None:
        self._count += 1
        if self._count > limits.SDF_PARTS:
            frame.fail(limits.excess("SDF_PARTS", "links, joints, frames and models"))
        other = scope.frames.get(frame.name)
        if other is not None and other.kind != frame.kind and frame.file.version < _OWN_NAMES:
            renamed = f"{frame.name}_{frame.kind}"
            self.notes.add(f"<{frame.kind}> with the name of a <{other.kind}>", renamed, frame.name)
            frame.name = renamed
        if frame.name in scope.frames:
            frame.fail(f"there is a {scope.frames[frame.name].kind} {frame.name!r} already")
        if frame.name in _RESERVED:
            frame.fail(f"the name {frame.name!r} is reserved")
        scope.frames[frame.name] = frame

    def _include(self, scope: Scope, file: SdfFile, element: Any, base: SdfFrame) -> None:
        """Add the model of an <include>."""
        uri = file.content(element, "uri")
        if not uri:
            file.fail(element, "<uri> is missing")
        included = self.files.model_file(file, element, uri)
        if included in self._open or included is scope.file:
            file.fail(element, f"<uri> {shown_value(uri)}: files cannot include each other")
        models = list(included.children(included.root, "model"))
        if not models and (other := included.root.find("*")) is not None and other.tag != "world":
            self.notes.add(f"<include> of <{other.tag}>", "not simulated", uri)
            return
        if len(models) != 1:
            file.fail(element, f"<uri> {shown_value(uri)}: must have one model, got {len(models)}")
        self._open.append(included)
        if file.flag(element, "merge") or element.get("merge", "").strip() in ("true", "1"):
            self._merge(scope, included, models[0], _Include(file, element), base)
        else:
            self.model(included, models[0], scope, _Include(file, element))
        self._open.pop()

    def _merge(
        self, scope: Scope, found: SdfFile, model: Any, include: _Include, base: SdfFrame
    ) -> None:
        """Add the contents of a model to a scope.

        A <pose> of the <include> replaces the pose of the model.
        """
        file, element = include
        name = file.content(element, "name") or found.text(model, "name")
        placed = include if element.find("pose") is not None else _Include(found, model)
        proxy = SdfFrame(
            *(f"_merged__{name}__model__", "frame", file, element, scope),
            pose_of(placed.file, placed.element),
            relative_to(placed.file, placed.element),
            default=base,
        )
        if self._placement_frame(found, model, include, placed is include):
            self.notes.add("placement_frame of a merged <include>", "its pose is the model's", name)
        self._add(scope, proxy)
        self._fill(scope, found, model, proxy)
