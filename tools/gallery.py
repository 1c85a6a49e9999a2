# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Render the pictures of docs/gallery.md, each of the last state of an example: make gallery.

Some examples have no picture, because they leave no world, or show nothing new.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

from hrpsim.viewer.film import Film

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs/images/gallery"
SIZE = 640, 368  # [pixels]
# Where the camera is and what it looks at [m]; without, the robot, or all that moves.
EXAMPLES: dict[str, dict[str, Any]] = {
    "standing": {},
    "walking": {},
    "push": {},
    "balance": {},
    "controller": {},
    "rod_ankle": {"position": (0.5, 0.6, 0.35), "target": (0.0, 0.0, 0.15)},
    "solvers": {"position": (2.6, 2.8, -0.7), "target": (0.0, 0.0, -1.0)},
    "batch": {},
    "world_file": {},
}


def main() -> None:
    """Run the named examples, or all examples, and write a picture of each."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or EXAMPLES:
        sys.argv[1:] = []  # an example may have arguments of its own
        path = ROOT / "examples" / f"{name}.py"
        world = runpy.run_path(str(path), run_name="__main__")["world"]
        view = EXAMPLES[name] or {"follow": next(iter(world.robots), "")}
        with Film(world, PICTURES / f"{name}.png", size=SIZE, **view):
            print(f"docs/images/gallery/{name}.png", flush=True)


if __name__ == "__main__":
    main()
