# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The text of a robot description, and where it is from."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from hrpsim import limits
from hrpsim.errors import ModelError
from hrpsim.model.urdf.resolve_uris import Resources
from hrpsim.text_file import refuse_pointer

_ENCODING = re.compile(
    r"utf-?(8|16|32)(-sig|-?[lb]e)?|(us-)?ascii|iso-?8859-?\d+|latin-?1|windows-125\d"
)
_DECLARED_ENCODING = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']""")


class UrdfText(NamedTuple):
    """URDF text and where it is from.

    has_lines: whether its lines are the file's; not_simulated: what another format had besides.
    """

    text: str
    path: Path | None
    has_lines: bool
    resources: Resources
    not_simulated: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Its name in errors."""
        return "<text>" if self.path is None else str(self.path)


def read_source(source: str | os.PathLike) -> tuple[str, Path | None]:
    """Return the XML text of `source` (a path, or XML text) and its path (None for text)."""
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source.lstrip("\ufeff \t\r\n"), None
    if not isinstance(source, (str, os.PathLike)):
        raise ModelError(f"a robot description is a path or XML text, not {type(source).__name__}")
    path = Path(source)
    if not str(source).strip() or "\n" in str(path):
        raise ModelError("the robot description is neither a path nor XML text that begins with <")
    try:
        with path.open("rb") as file:
            data = file.read(limits.XML_SIZE + 1)
    except (OSError, ValueError) as cause:  # ValueError: a name with a null character
        reason = getattr(cause, "strerror", None) or cause
        raise ModelError(f"{path}: cannot be read: {reason}") from cause
    refuse_pointer(path, data, ModelError)
    if len(data) > limits.XML_SIZE:
        raise ModelError(f"{path}: over {limits.XML_SIZE} bytes (XML_SIZE)")
    declared = _DECLARED_ENCODING.match(data)
    encoding = declared[1].decode() if declared else "utf-8-sig"
    if not _ENCODING.fullmatch(encoding.lower()):
        raise ModelError(f"{path}:1: encoding {encoding[:40]!r} is not known; use UTF-8")
    try:
        # Comments of Japanese VRML files are in many encodings.
        errors = "replace" if path.suffix.lower() == ".wrl" else "strict"
        return data.decode(encoding, errors).lstrip("\ufeff \t\r\n"), path
    except (UnicodeError, LookupError) as cause:
        raise ModelError(f"{path}: is not text: {cause}") from cause
