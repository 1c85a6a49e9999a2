# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which files a description in xacro may read: below its folder, its package, or one found."""

from __future__ import annotations

import os
from pathlib import Path

from hrpsim.errors import ModelError
from hrpsim.model.urdf.resources import Resources
from hrpsim.model.urdf.xacro_budget import ExpressionError
from hrpsim.text_file import read_text


class Places:
    """Where a description's files may be, and what is there."""

    def __init__(self, path: Path | None, resources: Resources):
        self._roots, self._resources = _own_roots(path), resources

    def read(self, filename: str, size: int, limit: str) -> str:
        """Return a file's text; FileNotFoundError, ExpressionError, or ModelError if too large."""
        path = Path(filename)
        self.check(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {str(path)!r}")
        return read_text(path, ModelError, size, limit)

    def entries(self, folder: str) -> list[str]:
        """Return what is in a folder, sorted."""
        self.check(Path(folder) / "x")
        return sorted(os.listdir(folder or "."))

    def check(self, path: Path) -> None:
        """Refuse files that are neither near the description nor in a package."""
        real = path.resolve()
        if any(real.is_relative_to(root) for root in self._roots) or self._resources.may_hold(real):
            return
        raise ExpressionError(
            f"{str(path)!r} may not be read: it is neither below the description's folder or"
            " package nor in a package that is found; package_paths adds folders"
        )


def _own_roots(path: Path | None) -> list[Path]:
    """Return the description's folder, and the package that it lies in."""
    if path is None:
        return []
    folder = path.resolve().parent
    package = next((f for f in (folder, *folder.parents) if _is_package(f)), folder)
    return [folder, package]


def _is_package(folder: Path) -> bool:
    return (folder / "package.xml").is_file()
