# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find models of Gazebo Fuel that Gazebo, or the user, has saved on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from hrpsim.common.file_names import is_folder

_CACHES = (("GZ_FUEL_CACHE_PATH", ".gz/fuel"), ("IGN_FUEL_CACHE_PATH", ".ignition/fuel"))
_HOSTS = ("fuel.gazebosim.org", "fuel.ignitionrobotics.org")


class FuelUri(NamedTuple):
    """A model of Fuel. `version` is "" for the newest version, `file` is "" for the whole model."""

    owner: str
    name: str
    version: str
    file: str


def parse(uri: str) -> FuelUri | None:
    """Return the model of https://HOST/1.0/OWNER/models/NAME[/VERSION][/files/PATH], or None."""
    split = urlsplit(uri)
    if split.scheme not in ("http", "https", "fuel") or split.netloc not in _HOSTS:
        return None
    parts = [unquote(part) for part in split.path.split("/") if part]
    if parts and parts[0].replace(".", "").isdigit():
        parts = parts[1:]
    if len(parts) < 3 or parts[1] != "models" or ".." in parts:
        return None
    version = parts[3] if len(parts) > 3 and parts[3].isdigit() else ""
    file = "/".join(parts[parts.index("files", 3) + 1 :]) if "files" in parts[3:] else ""
    return FuelUri(parts[0], parts[2], version, file)


def cache_folders() -> list[Path]:
    """Return the folders of Gazebo's caches that exist."""
    named = (Path(os.environ.get(name) or Path.home() / usual) for name, usual in _CACHES)
    return [folder for folder in named if is_folder(folder)]


def places(uri: FuelUri, folders: Iterable[Path]) -> list[Path]:
    """Return the folders in which a model may be, the most specific first.

    Gazebo's cache has HOST/owner/models/name/VERSION in small letters. In a folder of the user the
    model is a folder called after the model, as written or like ground_plane.
    """
    candidates = []
    for cache in cache_folders():
        for host in _HOSTS:
            model = cache / host / uri.owner.lower() / "models" / uri.name.lower()
            candidates += [model / uri.version] if uri.version else _newest_first(model)
    names = dict.fromkeys((uri.name, uri.name.lower(), uri.name.lower().replace(" ", "_")))
    candidates += [folder / name for folder in folders for name in names]
    return [place / uri.file if uri.file else place for place in candidates]


def _newest_first(model: Path) -> list[Path]:
    if not is_folder(model):
        return []
    versions = [folder for folder in model.iterdir() if folder.name.isdigit()]
    return sorted(versions, key=lambda folder: int(folder.name), reverse=True)
