# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the files that hrpsim ships (urdf/, config/, launch/), however it was installed.

They are at the root of the checkout that the code runs from, or in
share/hrpsim of the prefix it is installed in. pip, virtual environments, --user, --target and
colcon all keep that layout, so ROS and its package index, which may have another hrpsim, are not
used.
"""

import os
from pathlib import Path


def share_path(relative: str | os.PathLike[str] = "") -> Path:
    """Return the path of a file or folder that hrpsim ships, such as "config/walking_demo.yaml".

    Raises FileNotFoundError with the folder that was searched and its contents.
    """
    package = Path(__file__).resolve().parents[1]
    candidates = [package.parent, *(prefix / "share" / "hrpsim" for prefix in package.parents)]
    share = next((path for path in candidates if (path / "package.xml").is_file()), None)
    if share is None:
        raise FileNotFoundError(
            f"hrpsim is installed in {package} without its shared files: no share/hrpsim above it"
        )
    path = share / relative
    if not os.path.exists(path):
        nearest = next(folder for folder in path.parents if os.path.isdir(folder))
        names = sorted(entry.name for entry in nearest.iterdir() if entry.name[0] != ".")
        raise FileNotFoundError(f"{path} does not exist. {nearest} holds {', '.join(names)}")
    return path
