# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One file of SDF, with values in the texts of elements instead of attributes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common.errors import shown_value
from hrpsim.common.values import LARGEST
from hrpsim.model.readers.urdf.document import Document

_TRUE, _FALSE = ("true", "1"), ("false", "0")
UNBOUNDED = 1e16  # from which on a limit of SDF is none


class SdfFile(Document):
    """The parsed XML of one SDF. Relative URIs begin at `folder`.

    version: of the format, such as (1, 7).
    """

    def __init__(self, text: str, path: Path | None) -> None:
        super().__init__(text, "<text>" if path is None else str(path), tag="sdf", form="SDF")
        self.path = path
        self.folder = Path.cwd() if path is None else path.absolute().parent
        words = self.root.get("version", "").strip().split(".")[:2]
        if len(words) != 2 or not all(word.isascii() and word.isdigit() for word in words):
            version = shown_value(self.root.get("version", ""))
            self.fail(self.root, f'version={version}: must be a version such as "1.9"')
        self.version = tuple(map(int, words))

    def content(self, element: Any, path: str, default: str = "") -> str:
        """Return the text of the first element at a path, or `default` without a text."""
        return (element.findtext(path) or "").strip() or default

    def flag(self, element: Any, path: str, default: bool = False) -> bool:
        """Return a truth value at a path. Raises ModelError for another text."""
        text = self.content(element, path, _TRUE[0] if default else _FALSE[0]).lower()
        if text not in _TRUE + _FALSE:
            self.fail(element, f"<{path}> {shown_value(text)}: must be true or false")
        return text in _TRUE

    def values(self, element: Any, path: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Return the finite numbers in the text at a path, as many as `default` has."""
        text = self.content(element, path)
        return self.parsed(element, path, text, len(default)) if text else default

    def value(self, element: Any, path: str, default: float) -> float:
        """Return one finite number from the text at a path."""
        return self.values(element, path, (default,))[0]

    def bound(self, element: Any, path: str, default: float) -> float:
        """Return a limit at a path. A magnitude from UNBOUNDED on becomes inf or -inf."""
        text = self.content(element, path)
        try:
            value = float(text) if "_" not in text else math.nan
        except ValueError:
            value = math.nan
        if abs(value) >= UNBOUNDED:
            return math.copysign(math.inf, value)
        return self.value(element, path, default) if text else default

    def parsed(self, element: Any, path: str, text: str, count: int) -> tuple[float, ...]:
        """Return `count` finite numbers of a text. ModelError names the element and the path."""
        words = text.split()
        try:
            numbers = [float(word) if "_" not in word else math.nan for word in words]
        except ValueError:
            numbers = []
        if len(numbers) != count or not bool(np.all(np.abs(numbers) <= LARGEST)):
            needed = "a finite number" if count == 1 else f"{count} finite numbers"
            self.fail(element, f"<{path}> {shown_value(text)}: must be {needed}")
        return tuple(numbers)
