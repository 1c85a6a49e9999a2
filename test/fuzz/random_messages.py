# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random messages of any type of ROS, from a seed: sound in parts, nonsense in others."""

from __future__ import annotations

import importlib
import random
import re

NAMES = ("hrp2", "HEAD_JOINT0", "RLEG_JOINT3", "BODY", "l_sole", "odom", "world", "x", "", "nobody")
NAMES += ("a/b", "~", "/", "%s", "\0", "ü" * 40, "x" * 300, "gains.HEAD_JOINT0", "tf_rate")
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e3, 1e6, 1e300, -1e308, float("nan"), float("inf"))
WHOLE = (0, 1, 2, 3, 7, 100, -1, 255, 2**31 - 1, -(2**31), 2**32, 2**63 - 1, -(2**63), 2**64 - 1)
TEXTS = (
    "{shape: {box: [0.1, 0.1, 0.1]}, mass: 1}",
    "{name: ball, shape: {sphere: 0.1}, mass: 2, velocity: [1, 0, 0]}",
    "<robot name='r'><link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'"
    " ixy='0' ixz='0' iyz='0'/></inertial></link></robot>",
    "package://hrpsim/config/stand.yaml",
    "file:///dev/null.urdf",
    "^h.*2$|(a+)+b",
)
RANGES = {"byte": (0, 255), "octet": (0, 255), "char": (0, 255)}
_ARRAY = re.compile(r"^(?:sequence<(.*?)(?:, (\d+))?>|(.*)\[(\d+)\])$")


class RandomMessages:
    """Fills messages with numbers and words that programs stumble over."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def message(self, kind: type, depth: int = 0):
        """Return a message of a type; what a field cannot take is left as it is."""
        made = kind()
        for name, type_name in kind.get_fields_and_field_types().items():
            try:
                setattr(made, name, self._value(type_name, depth))
            except (AssertionError, ValueError, OverflowError, TypeError):
                continue
        return made

    def text(self) -> str:
        """Return a word, or a description that lost, gained or changed some letters."""
        if self.random.random() < 0.5:
            return self.random.choice(NAMES)
        letters = list(self.random.choice(TEXTS))
        for _ in range(self.random.choice((0, 0, 1, 1, 3, 10))):
            place = self.random.randrange(len(letters) + 1)
            new = self.random.choice(["", "[", "{", ":", "-", "&a ", "*a", "!!int ", "<", "/", "9"])
            letters[place : place + self.random.randrange(3)] = [new]
        return "".join(letters)

    def bytes(self) -> bytes:
        """Return bytes that are hardly ever a message."""
        return self.random.randbytes(self.random.choice((0, 1, 4, 8, 60, 1000)))

    def _value(self, type_name: str, depth: int):
        array = _ARRAY.match(type_name)
        if array:
            inner = array[1] or array[3]
            most = int(array[4]) if array[4] else self.random.choice((0, 1, 1, 2, 3, 5))
            return [self._value(inner, depth) for _ in range(most)]
        if "/" in type_name:
            package, name = type_name.split("/")
            kind = getattr(importlib.import_module(f"{package}.msg"), name)
            return self.message(kind, depth + 1)
        if type_name.startswith(("string", "wstring")):
            return self.text()
        if type_name == "boolean":
            return self.random.random() < 0.5
        if type_name in ("float", "double"):
            small = self.random.uniform(-2.0, 2.0)
            return small if self.random.random() < 0.6 else self.random.choice(REALS)
        return self._whole(type_name)

    def _whole(self, type_name: str) -> int:
        if type_name in RANGES:
            low, high = RANGES[type_name]
        else:
            bits = int(re.sub(r"\D", "", type_name))
            low, high = (0, 2**bits - 1) if type_name[0] == "u" else (-(2 ** (bits - 1)), 0)
            high = high or 2 ** (bits - 1) - 1
        if self.random.random() < 0.6:
            return self.random.randint(0, 3)
        return min(max(self.random.choice(WHOLE), low), high)
