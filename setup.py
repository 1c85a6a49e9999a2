# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What setup.cfg cannot say: files that ROS looks for, its programs and kernels in a wheel."""

import os
import shutil
import sys
from configparser import ConfigParser
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PACKAGE = "hrpsim"
KERNELS = os.environ.get("HRPSIM_KERNELS")  # a folder that tools/ship_kernels.py has filled
SHARED = {"launch": "*.py", "urdf": "*", "config": "*", "examples": "*"}

# `ros2 run` and `ros2 launch` look for a package's programs here. colcon puts them there by itself,
# as setup.cfg says; wheels have theirs in bin/, and this beside them.
LINK = f"""#!/bin/sh
# Runs the program of this name that was installed with {PACKAGE}.
exec "$(dirname "$0")/../../bin/$(basename "$0")" "$@"
"""


class BuildWithKernels(build_py):
    """Puts compiled kernels beside the sources that they were compiled from."""

    def run(self):
        """Copy the sources, then the kernels."""
        super().run()
        if KERNELS:
            to = Path(self.build_lib, PACKAGE, "kernels")
            shutil.copytree(KERNELS, to, dirs_exist_ok=True)


def links_to_programs():
    """Write a file for each program that setup.cfg names; return their paths."""
    config = ConfigParser()
    config.read("setup.cfg")
    entries = config["options.entry_points"]["console_scripts"].strip().splitlines()
    folder = Path("build", "programs")
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / entry.partition("=")[0].strip() for entry in entries]
    for path in paths:
        path.write_text(LINK)
        path.chmod(0o755)
    return [str(path) for path in paths]


data_files = {
    "share/ament_index/resource_index/packages": [f"resource/{PACKAGE}"],
    f"share/{PACKAGE}": ["package.xml"],
}
for folder, pattern in SHARED.items():
    for path in sorted(Path(folder).rglob(pattern)):
        if path.is_file() and not path.name.startswith(".") and "__pycache__" not in path.parts:
            data_files.setdefault(f"share/{PACKAGE}/{path.parent}", []).append(str(path))
if "bdist_wheel" in sys.argv:
    data_files[f"lib/{PACKAGE}"] = links_to_programs()

setup(
    data_files=list(data_files.items()),
    cmdclass={"build_py": BuildWithKernels},
    # Here and not in setup.cfg, which makes it an object that colcon cannot read.
    python_requires=">=3.10",
)
