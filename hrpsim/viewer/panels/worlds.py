# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load another world file from the folder that was chosen when the viewer started."""

from __future__ import annotations

from pathlib import Path

from hrpsim.common.errors import HrpsimError
from hrpsim.viewer.panels.workbench import Panel, Workbench
from hrpsim.world.file.load_world import WORLD_FORMATS, load_world

_MOST_FILES = 1000


def _is_shown(path: Path, root: Path) -> bool:
    """Return whether a path is a file within a folder, without hidden parts in the path."""
    is_hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not is_hidden and path.is_file() and path.resolve().is_relative_to(root)


def world_files(folder: Path) -> dict[str, Path]:
    """Return the world files of a folder and its subfolders, by their path relative to the folder.

    Hidden files and links that lead out of the folder are left out.

    Raises:
        HrpsimError: the folder does not exist, has no world file, or has too many.
    """
    if not folder.is_dir():
        raise HrpsimError(f"{folder}: there is no such folder of worlds")
    root = folder.resolve()
    suffixes = {suffix for known in WORLD_FORMATS for suffix in known.suffixes}
    result: dict[str, Path] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix.lower() in suffixes and _is_shown(path, root):
            result[str(path.relative_to(root))] = path.resolve()
        if len(result) > _MOST_FILES:
            raise HrpsimError(
                f"{folder}: has more than {_MOST_FILES} world files. Name a subfolder"
            )
    if not result:
        known = ", ".join(sorted(suffixes))
        raise HrpsimError(f"{folder}: no world file ({known}) is in this folder")
    return result


class WorldsPanel(Panel):
    """A tab to choose a world file. A page can only name a file of the list, not a path."""

    def __init__(self, desk: Workbench, files: dict[str, Path]) -> None:
        super().__init__(desk)
        self._files = files
        self.chosen = desk.gui.add_dropdown("World", tuple(files))
        self.button = desk.gui.add_button("Load")
        self.button.on_click(lambda _: desk.request(self.load))

    def load(self) -> None:
        """Replace the world by the world of the chosen file.

        Raises:
            HrpsimError: the file is not in the list or is invalid, or a controller runs.
        """
        name = self.chosen.value
        if name not in self._files:
            raise HrpsimError(f"{name!r} is not a file of the list of worlds")
        self._desk.session.require_replaceable()
        self._desk.session.replace(load_world(self._files[name]))
