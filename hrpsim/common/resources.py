# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the files that hrpsim ships (urdf/, config/, launch/), in every kind of installation.

The files are at the root of the checkout that the code runs from, or in share/hrpsim of the
installation prefix. pip, virtual environments, --user, --target and colcon all keep that layout.
The package index of ROS may have another hrpsim and is not used.
"""

import os
from pathlib import Path

from hrpsim.common.errors import HrpsimError


def share_path(relative: str | os.PathLike[str] = "") -> Path:
    """Return the path of a file or folder that hrpsim ships, such as "config/walking_demo.yaml".

    Raises FileNotFoundError with the searched folder and the contents of that folder.
    """
    package = Path(__file__).resolve().parents[1]
    candidates = [package.parent, *(prefix / "share" / "hrpsim" for prefix in package.parents)]
    share_folder = next((path for path in candidates if (path / "package.xml").is_file()), None)
    if share_folder is None:
        raise FileNotFoundError(
            f"hrpsim is installed in {package} without its shared files: no folder above has "
            "share/hrpsim. Install hrpsim again"
        )
    path = share_folder / relative
    if not os.path.exists(path):
        nearest = next(folder for folder in path.parents if os.path.isdir(folder))
        names = sorted(entry.name for entry in nearest.iterdir() if entry.name[0] != ".")
        raise FileNotFoundError(f"{path} does not exist. Entries of {nearest}: {', '.join(names)}")
    return path


def user_path(path: str | os.PathLike[str]) -> Path:
    """Return a path with the home folder in place of a leading "~" or "~user".

    Raises HrpsimError for an unknown user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise HrpsimError(f"{os.fspath(path)}: {error}") from error
