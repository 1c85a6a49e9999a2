# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find packages and meshes of a robot description, given as URIs or paths."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote

from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.file_names import is_folder
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.common.resources import share_path

PackagePaths = Mapping[str, "str | os.PathLike"] | Iterable["str | os.PathLike"] | str | os.PathLike

_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")


def source_path(
    source: str | os.PathLike, package_paths: PackagePaths | None = None
) -> str | os.PathLike:
    """Return the file that a source names by a URI, or any other source unchanged.

    Args:
        source: package:// or file:// URI, path, or text of a description.
        package_paths: as for `Resources`.

    Raises FileNotFoundError with the cause as text.
    """
    if not isinstance(source, str) or _SCHEME.match(source) is None:
        return source
    return Resources(None, package_paths).locate(source)


class Resources:
    """Looks up packages and files for one description.

    folder: start of relative paths (the description's folder). None means the working directory.
    package_paths: {package name: folder}, or folders that are packages or hold packages.

    Packages are searched in package_paths first, then in AMENT_PREFIX_PATH, ROS_PACKAGE_PATH and
    upwards from `folder`. A folder above is the package if the folder has the package's name, or a
    package.xml with the name. The package hrpsim is the running one, unless package_paths name it.
    """

    def __init__(self, folder: Path | None, package_paths: PackagePaths | None = None) -> None:
        self._folder = folder
        self._named: dict[str, Path] = {}
        self._searched: list[Path] = []
        if isinstance(package_paths, Mapping):
            self._named = {name: Path(path) for name, path in package_paths.items()}
        elif isinstance(package_paths, (str, os.PathLike)):
            self._searched = [Path(package_paths)]
        elif package_paths is not None:
            self._searched = [Path(path) for path in package_paths]
        for folder_of_packages in (*self._named.values(), *self._searched):
            if not is_folder(folder_of_packages):
                text = shown_value(str(folder_of_packages))
                raise ModelError(f"package_paths: there is no folder {text}")
        self._known: dict[str, list[Path]] = {}

    def packages(self, name: str) -> list[Path]:
        """Return the folders of the package `name` in search order, or [] if not found."""
        if name not in self._known:
            self._known[name] = list(dict.fromkeys(self._candidates(name)))
        return self._known[name]

    def absent(self, package: str) -> str:
        """Return the error text for a missing package: the folders that were searched."""
        return (
            f"package {shown_value(package)} was not found in package_paths, AMENT_PREFIX_PATH,"
            f" ROS_PACKAGE_PATH or above {self._folder or 'the working directory'}"
        )

    def locate(self, uri: str) -> Path:
        """Return the file of `uri`: package://, file://, absolute or relative path.

        Raises FileNotFoundError with the cause as text.
        """
        scheme, separator, location = uri.partition("://")
        if not separator:
            return self._existing((self._folder or Path.cwd()) / uri)
        if scheme == "file":
            return self._existing(Path("/") / unquote(location).lstrip("/"))
        if scheme != "package":
            raise FileNotFoundError(
                f"{shown_value(uri)}: {shown_value(scheme)} is not a known scheme. Use package://,"
                " file:// or a path"
            )
        package, _, inside = location.partition("/")
        folders = self.packages(package)
        if not folders:
            raise FileNotFoundError(f"{shown_value(uri)}: {self.absent(package)}")
        for folder in folders:
            if _exists((folder / inside).is_file):
                return folder / inside
        raise FileNotFoundError(
            f"{shown_value(uri)}: there is no file {inside!r} in {', '.join(map(str, folders))}"
            f"{_other_case([folder / inside for folder in folders])}"
        )

    @staticmethod
    def _existing(path: Path) -> Path:
        if not _exists(path.is_file):
            raise FileNotFoundError(
                f"there is no file {shown_value(str(path))}{_other_case([path])}"
            )
        return path

    def _candidates(self, name: str) -> Iterator[Path]:
        if name in self._named:
            yield self._named[name]
        for folder in self._searched:
            yield from _package_in(folder, name)
        if name == "hrpsim":
            yield share_path()
        for prefix in _environment_paths("AMENT_PREFIX_PATH"):
            if _exists((prefix / "share" / name).is_dir):
                yield prefix / "share" / name
        for folder in _environment_paths("ROS_PACKAGE_PATH"):
            yield from _package_in(folder, name)
        start = (self._folder or Path.cwd()).absolute()
        for folder in (start, *start.parents):
            yield from _package_in(folder, name)


def _exists(check: Callable[[], bool]) -> bool:
    """Return whether a file or folder exists. False for an impossible name."""
    try:
        return check()
    except (OSError, ValueError):
        return False


def _other_case(paths: Iterable[Path]) -> str:
    """Return the end of an error text if another entry of the folder has nearly the same name.

    Examples are ". Did you mean 'A.stl'? ..." and ". 'a.stl' is not a regular file".
    """
    for path in paths:
        with contextlib.suppress(OSError, ValueError):
            for other in path.parent.iterdir():
                if other.name == path.name:
                    return f". {path.name!r} is not a regular file"
                if other.name.lower() == path.name.lower():
                    return f". Did you mean {other.name!r}? Upper and lower case differ"
    return ""


def _environment_paths(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _package_in(folder: Path, name: str) -> Iterator[Path]:
    if folder.name == name or declared_name(folder) == name:
        yield folder
    if _exists((folder / name).is_dir):
        yield folder / name


def declared_name(folder: Path) -> str | None:
    """Return the name in the package.xml of a folder, or None without a name."""
    file = folder / "package.xml"
    if not _exists(file.is_file):
        return None
    from hrpsim.common.foreign.xml_text import decoded_xml, xml_root  # few descriptions need it

    try:
        text = decoded_xml(read_bytes(file, ModelError, "YAML_SIZE"), file, ModelError)
        return (xml_root(text, file, ModelError).findtext("name") or "").strip()
    except ModelError:
        return None
