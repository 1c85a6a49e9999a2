"""What setup.cfg cannot say: the shared files that ROS looks for under share/hrpsim."""

from pathlib import Path

from setuptools import setup

PACKAGE = "hrpsim"
SHARED = {"launch": "*.launch.py", "urdf": "*", "config": "*"}

data_files = {
    "share/ament_index/resource_index/packages": [f"resource/{PACKAGE}"],
    f"share/{PACKAGE}": ["package.xml"],
}
for folder, pattern in SHARED.items():
    for path in sorted(Path(folder).rglob(pattern)):
        if path.is_file() and not path.name.startswith("."):
            data_files.setdefault(f"share/{PACKAGE}/{path.parent}", []).append(str(path))

setup(
    data_files=list(data_files.items()),
    # Here and not in setup.cfg, which makes it an object that colcon cannot read.
    python_requires=">=3.10,<3.14",
)
