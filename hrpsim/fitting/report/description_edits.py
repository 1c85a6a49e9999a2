# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Edit values of joints and links in the text of a URDF or an MJCF."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from hrpsim.common.foreign.text import read_text
from hrpsim.fitting.report.text_places import Edit, StartTag, changed, elements
from hrpsim.fitting.unknowns import FitError
from hrpsim.model.load import load_model

_MJCF_JOINT = {"damping": "damping", "friction": "frictionloss", "rotor_inertia": "armature"}
_SIDES = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))
_NOT_HERE = "the description has no place for this value"


def _number(value: float) -> str:
    return f"{value:.9g}"


class DescriptionEdits:
    """Edits of a robot's description. given: new values by path."""

    def __init__(
        self,
        robot: str,
        path: Path,
        given: Mapping[str, float],
        inertias: Mapping[str, Mapping[str, np.ndarray]],
    ) -> None:
        text = read_text(path, FitError, "XML_SIZE", "description")
        self._robot, self._text, self._inertias, self._values = robot, text, inertias, given
        self._elements = list(elements(text))
        if not self._elements or self._elements[0].tag not in ("robot", "mujoco"):
            raise FitError(f"{path}: must be a URDF or an MJCF")
        if any(element.tag.startswith("xacro:") for element in self._elements):
            raise FitError(
                f"{path}: is a xacro file. Run hrpsim convert, and name the converted file"
            )
        self._is_mjcf = self._elements[0].tag == "mujoco"
        self._model = load_model(path, base="fixed")
        self._done: set[str] = set()
        self._edits: list[Edit] = []

    def text(self) -> str:
        """Return the text with all edits applied."""
        return changed(self._text, self._edits)

    def put(self, path: str) -> str:
        """Write the new value of a parameter into the text.

        Returns:
            The reason why the value cannot be written, or "".
        """
        parts = path.removeprefix(f"robots.{self._robot}.").rsplit(".", 1)
        kind, _, name = parts[0].partition(".")
        if not path.startswith(f"robots.{self._robot}.") or len(parts) < 2:
            return "is not a value of this robot"
        if kind == "links":
            return self._put_link(name)
        if kind != "joints":
            return _NOT_HERE
        put = self._put_mjcf if self._is_mjcf else self._put_urdf
        return put(name, parts[1], self._values[path])

    # -- joints ----------------------------------------------------------------------------------

    def _element(self, tag: str, key: str, name: str) -> StartTag | None:
        """Return the element with a name. Defaults of an MJCF are ignored."""
        for element in self._elements:
            outside = all(above.tag != "default" for above in element.above)
            if element.tag == tag and element.get(key) == name and outside:
                return element
        return None

    def _child(self, element: StartTag, tag: str) -> StartTag | None:
        for child in self._elements:
            if child.tag == tag and child.above and child.above[-1] == element:
                return child
        return None

    def _put_mjcf(self, joint: str, what: str, value: float) -> str:
        element = self._element("joint", "name", joint)
        if element is None or what not in _MJCF_JOINT:
            return _NOT_HERE
        self._edits.append(element.set(_MJCF_JOINT[what], _number(value)))
        return ""

    def _put_urdf(self, joint: str, what: str, value: float) -> str:
        element = self._element("joint", "name", joint)
        if element is None:
            return _NOT_HERE
        if what in ("damping", "friction"):
            return self._put_dynamics(joint, element)
        extension = self._element("hrpsim", "reference", joint)
        tag, name = {
            "rotor_inertia": ("rotor", "inertia"),
            "stiffness": ("spring", "stiffness"),
            "kp": ("gains", "kp"),
            "kd": ("gains", "kd"),
        }.get(what, ("", ""))
        child = None if extension is None else self._child(extension, tag)
        if child is not None:
            ratio = float(child.get("gear_ratio") or 1.0)
            self._edits.append(child.set(name, _number(value / ratio**2)))
            return ""
        if tag != "rotor":
            return "write it to the world file (.yaml)" if tag == "gains" else _NOT_HERE
        rotor = f'<rotor inertia="{_number(value)}"/>'
        if extension is not None:
            self._edits.append(extension.add(self._text, rotor))
        else:
            new = f"<hrpsim reference={quoteattr(joint)}>{rotor}</hrpsim>"
            self._edits.append(self._elements[0].add(self._text, new))
        return ""

    def _put_dynamics(self, joint: str, element: StartTag) -> str:
        """Write damping and friction of a joint together."""
        if joint in self._done:
            return ""
        self._done.add(joint)
        values = {
            key: self._values[path]
            for key in ("damping", "friction")
            if (path := f"robots.{self._robot}.joints.{joint}.{key}") in self._values
        }
        child = self._child(element, "dynamics")
        if child is not None:
            self._edits += [child.set(key, _number(value)) for key, value in values.items()]
        else:
            text = "".join(f' {key}="{_number(value)}"' for key, value in values.items())
            self._edits.append(element.add(self._text, f"<dynamics{text}/>"))
        return ""

    # -- links -----------------------------------------------------------------------------------

    def _put_link(self, link: str) -> str:
        """Write mass, centre of mass and inertia of a link."""
        if link in self._done:
            return ""
        frames = self._model.frames
        if link not in frames or [f.body for f in frames.values()].count(frames[link].body) > 1:
            return "other links are fixed to this link: their values are fitted together"
        own = self._inertias[f"{self._robot}.{link}"]
        element = self._element("body" if self._is_mjcf else "link", "name", link)
        inertial = None if element is None else self._child(element, "inertial")
        if inertial is None:
            return "the link has no <inertial>"
        self._done.add(link)
        put = self._put_mjcf_inertial if self._is_mjcf else self._put_urdf_inertial
        put(inertial, float(own["mass"]), np.asarray(own["com"]), np.asarray(own["inertia"]))
        return ""

    def _put_mjcf_inertial(
        self, element: StartTag, mass: float, com: np.ndarray, inertia: np.ndarray
    ) -> None:
        for name in ("quat", "diaginertia", "euler", "axisangle", "xyaxes", "zaxis"):
            if name in element.attributes:
                _, begin, end = element.attributes[name]
                first = self._text.rindex(name, 0, begin)
                self._edits.append(Edit(first, end + 1, ""))
        full = " ".join(_number(inertia[i, j]) for _, i, j in _SIDES)
        self._edits += [
            element.set("mass", _number(mass)),
            element.set("pos", " ".join(map(_number, com))),
            element.set("fullinertia", full),
        ]

    def _put_urdf_inertial(
        self, element: StartTag, mass: float, com: np.ndarray, inertia: np.ndarray
    ) -> None:
        values = {
            "mass": {"value": _number(mass)},
            "origin": {"xyz": " ".join(map(_number, com)), "rpy": "0 0 0"},
            "inertia": {name: _number(inertia[i, j]) for name, i, j in _SIDES},
        }
        for tag, attributes in values.items():
            child = self._child(element, tag)
            if child is not None:
                self._edits += [child.set(name, value) for name, value in attributes.items()]
            else:
                text = "".join(f' {name}="{value}"' for name, value in attributes.items())
                self._edits.append(element.add(self._text, f"<{tag}{text}/>"))
