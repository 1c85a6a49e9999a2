"""What pyproject.toml cannot say: the shared files that ROS looks for under share/hrpsim."""

import sys
from pathlib import Path

import setuptools
from setuptools import setup

if int(setuptools.__version__.split(".")[0]) < 61:
    sys.exit(
        f"hrpsim needs setuptools 61 or later, found {setuptools.__version__}: "
        "python3 -m pip install --upgrade setuptools"
    )

PACKAGE = "hrpsim"
SHARED = {"launch": "*.launch.py", "urdf": "*", "config": "*"}

data_files = {
    "share/ament_index/resource_index/packages": [f"resource/{PACKAGE}"],
    f"share/{PACKAGE}": ["package.xml"],
}
for folder, pattern in SHARED.items():
    for path in sorted(Path(folder).rglob(pattern)):
        if path.is_file():
            data_files.setdefault(f"share/{PACKAGE}/{path.parent}", []).append(str(path))

setup(data_files=list(data_files.items()), license="Apache-2.0")
