# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the files that an SDF names: by relative paths, model://, package:// and file://.

Nothing is read from the network, or from outside of the folders that are searched.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

from hrpsim.common.errors import ModelError, shown_value
from hrpsim.common.file_names import is_file, is_folder
from hrpsim.common.foreign.file_bytes import read_bytes
from hrpsim.common.foreign.xml_text import decoded_xml, xml_root
from hrpsim.model.readers.sdf import fuel
from hrpsim.model.readers.sdf.sdf_file import SdfFile
from hrpsim.model.readers.sdf.usual_models import usual_model
from hrpsim.model.readers.urdf.resolve_uris import Resources

SEARCH_VARIABLES = (
    "GZ_SIM_RESOURCE_PATH",
    "IGN_GAZEBO_RESOURCE_PATH",
    "GAZEBO_MODEL_PATH",
    "GAZEBO_RESOURCE_PATH",
)
_LOCAL = ("model", "package", "file", "")


class SdfFiles:
    """Finder and cache of the files of one SDF.

    Names are searched in the folder of the naming file, in the folder of the first file, in the
    folder above, and in the folders of SEARCH_VARIABLES. Gazebo keeps models and the models that
    they include in neighbouring folders. Models of Fuel are searched in Gazebo's cache, and then by
    their names in the same folders.
    """

    def __init__(self, first: SdfFile, resources: Resources) -> None:
        self._resources = resources
        self._opened: dict[Path, SdfFile] = {}
        listed = ":".join(os.environ.get(name, "") for name in SEARCH_VARIABLES).split(":")
        self._roots = [first.folder, first.folder.parent]
        self._roots += [Path(name).absolute() for name in listed if name]

    def model_file(self, source: SdfFile, element: object, uri: str) -> SdfFile:
        """Return the SDF of an <include>: a file, the folder of a model, or a built-in model."""
        path = self.locate(source, uri)
        if path is not None and is_folder(path):
            path = self._of_folder(path)
        if path is None:
            if (text := usual_model(uri)) is not None:
                return SdfFile(text, None)
            self._fail(source, element, uri)
        if path not in self._opened:
            if path.suffix.lower() == ".urdf":
                source.fail(element, f"<uri> {shown_value(uri)}: URDF within SDF is not supported")
            data = read_bytes(path, ModelError, "XML_SIZE")
            self._opened[path] = SdfFile(decoded_xml(data, path, ModelError), path)
        return self._opened[path]

    def locate(self, source: SdfFile, uri: str) -> Path | None:
        """Return the file or folder of a URI, or None if there is none in the searched folders."""
        scheme, separator, location = uri.partition("://")
        scheme, location = (scheme, unquote(location)) if separator else ("", uri)
        if scheme not in _LOCAL:
            return self._saved(source, uri)
        if scheme == "package":
            with contextlib.suppress(FileNotFoundError):
                return self._resources.locate(uri)
        folders = [source.folder, *self._roots]
        if os.path.isabs(location):
            folders = [Path("/")]
        for folder in folders:
            path = Path(os.path.normpath(folder / location))
            with contextlib.suppress(OSError, ValueError):
                if path.exists() and self._is_within(path, source):
                    return path
        return None

    def _saved(self, source: SdfFile, uri: str) -> Path | None:
        """Return the saved copy of a model of Fuel, or of a file in the model."""
        model = fuel.parse(uri)
        if model is None:
            return None
        for path in fuel.places(model, self._roots):
            with contextlib.suppress(OSError, ValueError):
                if path.exists() and self._is_within(path, source):
                    return path
        return None

    def why_missing(self, uri: str) -> str:
        """Return the error text for a missing file: the folders in which the URI was searched."""
        scheme, separator, _ = uri.partition("://")
        if separator and scheme not in _LOCAL:
            why = "files of the network are not fetched. Save the model, and name in"
            return f"{shown_value(uri)}: {why} {SEARCH_VARIABLES[0]} the folder that holds it"
        return (
            f"{shown_value(uri)} was not found in {', '.join(map(str, self._roots))}: name the"
            f" folder that holds it in {SEARCH_VARIABLES[0]}"
        )

    def _is_within(self, path: Path, source: SdfFile) -> bool:
        """Return whether a path lies in a searched folder, or in the model of the source."""
        roots = (*self._roots, source.folder, source.folder.parent, *fuel.cache_folders())
        return any(path.is_relative_to(root) for root in roots)

    def _fail(self, source: SdfFile, element: object, uri: str) -> NoReturn:
        source.fail(element, f"<uri> {self.why_missing(uri)}")

    def _of_folder(self, folder: Path) -> Path | None:
        """Return the SDF of the newest version that a model.config names, or model.sdf."""
        config, best = folder / "model.config", (-1.0, "model.sdf")
        if is_file(config):
            text = decoded_xml(read_bytes(config, ModelError, "YAML_SIZE"), config, ModelError)
            for entry in xml_root(text, config, ModelError).iterfind("sdf"):
                try:
                    version = float(entry.get("version", "0"))
                except ValueError:
                    version = 0.0
                if version > best[0] and (entry.text or "").strip():
                    best = version, (entry.text or "").strip()
        path = Path(os.path.normpath(folder / best[1]))
        return path if path.is_relative_to(folder) and is_file(path) else None
