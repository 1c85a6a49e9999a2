# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Frames of SDF: links, joints, models and <frame>, each with a pose relative to another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from hrpsim.common.errors import require_name
from hrpsim.model.readers.sdf.sdf_file import SdfFile
from hrpsim.model.shapes.placement import IDENTITY, Placement

MODEL_FRAME, WORLD_FRAME = "__model__", "world"


@dataclass(eq=False)
class SdfFrame:
    """A named frame of an SDF model or world.

    kind: "link", "joint", "frame", "model" or "world". relative_to: name of the frame to which
    `placement` is relative. If empty, `placement` is relative to `default`.
    """

    name: str
    kind: str
    file: SdfFile
    element: Any
    scope: Scope
    placement: Placement
    relative_to: str = ""
    default: SdfFrame | str = ""
    attached_to: str = ""
    placement_frame: str = ""  # for a model: name of the frame that has `placement`
    home: SdfFrame | None = None  # frame called __model__, if not the frame of the scope
    known: Placement | None = None  # computed placement in the frame of the scope
    is_open: bool = False  # whether the placement is being computed

    @property
    def above(self) -> SdfFrame | str:
        """The frame to which the placement is relative, or its name in the scope."""
        return self.relative_to or self.default

    def fail(self, cause: str) -> NoReturn:
        """Raise the ModelError that names the element and the cause."""
        self.file.fail(self.element, cause)


@dataclass(eq=False)
class Scope:
    """The contents of a model or of a world.

    path: "" for the first model and for a world, "a::b::" for the model b in a.
    frame: frame of the model or world. `in_scope` returns poses in this frame.
    """

    path: str
    file: SdfFile
    element: Any
    outer: Scope | None = None
    frame: SdfFrame = field(init=False)
    frames: dict[str, SdfFrame] = field(default_factory=dict)
    models: dict[str, Scope] = field(default_factory=dict)
    is_static: bool = False
    placement: SdfFrame | None = None  # for a model: its frame in the outer scope
    sources: list[Any] = field(default_factory=list)  # elements whose contents belong to the scope

    @property
    def name(self) -> str:
        """The name of a model, "" for a world."""
        return "" if self.placement is None else self.placement.name

    @property
    def has_links(self) -> bool:
        """Whether there is a link in this scope or in an inner model."""
        return any(scope.of_kind("link") for scope in self.all_scopes())

    def of_kind(self, kind: str) -> list[SdfFrame]:
        """Return the frames of a kind, in the order of the file."""
        return [frame for frame in self.frames.values() if frame.kind == kind]

    def all_scopes(self) -> Iterator[Scope]:
        """Yield this scope and the scopes of all models inside."""
        yield self
        for model in self.models.values():
            yield from model.all_scopes()

    def find(self, name: str, asker: SdfFrame) -> SdfFrame:
        """Return the frame of a name such as "arm::hand". ModelError names the asking element."""
        scope: Scope = self
        if name in self.frames:  # old files have names with colons in them
            return self.frames[name]
        if name == MODEL_FRAME and asker.home is not None:
            return asker.home
        *path, last = name.split("::")
        for part in path:
            require_name("model", part, scope.models, asker.fail)
            scope = scope.models[part]
        if last == MODEL_FRAME and scope.frame.kind == "model":
            return scope.frame
        if last == WORLD_FRAME and scope.frame.kind == "world":
            return scope.frame
        require_name("frame", last, scope.frames, asker.fail)
        return scope.frames[last]

    def _above(self, frame: SdfFrame) -> SdfFrame:
        above = frame.above
        return self.find(above, frame) if isinstance(above, str) else above

    def _opened(self, frame: SdfFrame) -> Placement:
        """Return the placement of a frame in its reference frame, and mark the frame as open.

        An open frame is being resolved. If the frame is open already, its pose depends on itself,
        and the method raises ModelError.
        """
        if frame.is_open:
            frame.fail(f"the pose of {frame.name!r} is relative to itself, in a circle")
        frame.is_open = True
        return self._local(frame)

    def in_scope(self, frame: SdfFrame) -> Placement:
        """Return the placement of a frame in the frame of this scope.

        The frame may be in an inner model. Raises ModelError for frames that form a cycle.
        """
        steps: list[tuple[SdfFrame, Placement]] = []
        while frame is not self.frame and (frame.scope is not self or frame.known is None):
            if frame.scope is not self:
                inner = self._model_of(frame)
                outside, frame = inner.in_scope(frame), inner.placement or self.frame
                if not steps:
                    return self.in_scope(frame).then(outside)
                steps[-1] = steps[-1][0], outside.then(steps[-1][1])
                continue
            steps.append((frame, self._opened(frame)))
            frame = self._above(frame)
        placement = IDENTITY if frame is self.frame else frame.known
        assert placement is not None
        for step, local in reversed(steps):
            placement = placement.then(local)
            step.known, step.is_open = placement, False
        return placement

    def _local(self, frame: SdfFrame) -> Placement:
        """Return the placement of a frame in the reference frame of the pose."""
        if not frame.placement_frame:
            return frame.placement
        inner = self.models[frame.name]
        point = inner.find(frame.placement_frame, frame)
        return frame.placement.then(inner.in_scope(point).inverse())

    def _model_of(self, frame: SdfFrame) -> Scope:
        """Return the model directly in this scope that contains a frame of an inner model."""
        scope = frame.scope
        while scope.outer is not self:
            assert scope.outer is not None
            scope = scope.outer
        return scope
