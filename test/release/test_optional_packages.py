# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What only some features need may be missing: they say so in one line, with the remedy."""

import subprocess
import sys

import pytest

from hrpsim import share_path

# Hides a package from the import system, as if it were not installed.
HIDDEN = """
import sys
def hide(finder, name):
    class Hidden:
        def find_spec(self, fullname, path=None, target=None):
            if fullname.partition(".")[0] == name:
                return None
            return finder.find_spec(fullname, path, target)
        def __getattr__(self, attribute):
            return getattr(finder, attribute)
    return Hidden()
sys.meta_path[:] = [hide(finder, {name!r}) for finder in sys.meta_path]
"""
CLI = "from hrpsim.commands.cli import main; sys.exit(main({arguments!r}))"
PROGRAM = "from hrpsim.ros.programs import {name}; sys.exit({name}())"
LOADED = """
from hrpsim import HrpsimError
try:
    {code}
except HrpsimError as error:
    print(f"hrpsim: {{error}}", file=sys.stderr)
    sys.exit(1)
"""


def cli(*arguments: str) -> str:
    return CLI.format(arguments=list(arguments))


def program(name: str) -> str:
    return PROGRAM.format(name=name)


def code(text: str) -> str:
    return LOADED.format(code=text)


STUDY = str(share_path("config/push_study.yaml"))
OBJ = "v 0 0 0\\nv 1 0 0\\nv 0 1 0\\nv 0 0 1\\nf 1 2 3\\n"
CASES = [
    ("rclpy", program("node"), "source a ROS 2, or pip install 'hrpsim[ros,record]'"),
    ("rclpy", program("controller"), "source a ROS 2, or pip install 'hrpsim[ros,record]'"),
    ("rclpy", program("observer"), "source a ROS 2, or pip install 'hrpsim[ros,record]'"),
    ("rclpy", program("recorder"), "source a ROS 2, or pip install 'hrpsim[ros,record]'"),
    ("rosbags", program("recorder"), "source a ROS 2, or pip install 'hrpsim[ros,record]'"),
    ("rclpy", cli("walk", "--ros"), "pip install 'hrpsim[ros,record,plot]'"),
    ("rclpy", cli("crane", "--ros"), "pip install 'hrpsim[ros]'"),
    ("rclpy", cli("check-simulation-interfaces"), "pip install 'hrpsim[ros]'"),
    ("simulation_interfaces", cli("check-simulation-interfaces"), "simulation-interfaces"),
    ("rosbags", cli("record", "--output", "bag"), "pip install 'hrpsim[ros,record,plot]'"),
    ("rosbags", cli("play", "bag.mcap"), "pip install 'hrpsim[record,plot]'"),
    ("rosbags", cli("wrench-plot", "bag"), "pip install 'hrpsim[record,plot]'"),
    ("matplotlib", cli("wrench-plot", "bag"), "pip install 'hrpsim[record,plot]'"),
    ("zarr", cli("sweep", STUDY, "--store", "s"), "'hrpsim[sweep]'"),
    ("xarray", cli("sweep", STUDY, "--store", "s"), "'hrpsim[sweep]'"),
    ("mujoco", code("import hrpsim.bridges.mujoco as m; m.mjtObj"), "hrpsim[mjcf]"),
    ("onnxruntime", code("import hrpsim.bridges.onnx_network as n; n.Network(None)"), "[onnx]"),
    (
        "torch",
        code(
            "import hrpsim.bridges.torch_network as n; from pathlib import Path;"
            " Path('p.pt').write_bytes(b'x'); n.TorchNetwork(Path('p.pt'))"
        ),
        "hrpsim[torch]",
    ),
    ("coal", code("import hrpsim.geometry.engines as e; e.distance_engine('coal')"), "[geometry]"),
    ("viser", code("from hrpsim.viewer.viewer import Viewer; Viewer(None)"), "'hrpsim[viewer]'"),
    (
        "imageio_ffmpeg",
        code("from hrpsim.viewer import make_film; make_film(None, 'a.mp4', 1.0)"),
        "'hrpsim[camera]'",
    ),
    ("matplotlib", cli("walk", "--plot", "a.png"), "pip install 'hrpsim[plot]'"),
    ("gymnasium", code("import hrpsim.learning.environments"), "pip install 'hrpsim[learning]'"),
    (
        "trimesh",
        code(f"import hrpsim; open('a.obj', 'w').write('{OBJ}'); hrpsim.load_mesh('a.obj')"),
        "pip install trimesh",
    ),
    (
        "collada",
        code("import hrpsim; open('a.dae', 'w').write('<COLLADA/>'); hrpsim.load_mesh('a.dae')"),
        "pip install pycollada",
    ),
    (
        "xacro",
        code(
            "import hrpsim; from hrpsim.common.resources import share_path;"
            " hrpsim.load_model(share_path('urdf/hrp2_like.urdf.xacro'))"
        ),
        "pip install xacro",
    ),
]


@pytest.mark.long
@pytest.mark.parametrize(
    "name, script, remedy", CASES, ids=[f"{name}-{k}" for k, (name, *_) in enumerate(CASES)]
)
def test_a_missing_package_is_named_with_its_remedy(name, script, remedy, tmp_path):
    """Law: exit status 1 and one line of `hrpsim: ...` that names what to install; no traceback."""
    if name == "zarr":
        pytest.importorskip("xarray")
    command = [sys.executable, "-c", HIDDEN.format(name=name) + script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (line,) = done.stderr.strip().splitlines()
    assert done.returncode == 1 and line.startswith("hrpsim: "), done.stderr
    assert remedy in line and name in line.lower(), line
