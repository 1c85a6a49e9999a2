# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The base installation (pip install hrpsim): what works there, and what names its extra.

A child process sees only the packages that setup.cfg's `install_requires` brings.
"""

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

import pytest
from committed import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hrpsim.commands.cli import _parser
from hrpsim.common.extras import EXTRAS, MissingPackageError, missing_package

# Each child of Python executes this before all else, also children of children.
SITE = """
import sys
STDLIB = sys.stdlib_module_names
def only_base(finder):
    class Base:
        def find_spec(self, fullname, path=None, target=None):
            package = fullname.partition(".")[0]
            if package in BASE or package in STDLIB or package.startswith("_sysconfigdata"):
                return finder.find_spec(fullname, path, target)
            return None
        def __getattr__(self, attribute):
            return getattr(finder, attribute)
    return Base()
sys.meta_path[:] = [only_base(finder) for finder in sys.meta_path]
"""
MODULES = """
import importlib, pkgutil, hrpsim, evidence.crane, evidence.experiments
rooms = hrpsim, evidence.crane, evidence.experiments
for module in (m for r in rooms for m in pkgutil.walk_packages(r.__path__, f"{r.__name__}.")):
    if module.name.startswith("hrpsim.ros.") or module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
    except ImportError as error:
        print(module.name, (error.name or "").partition(".")[0])
    except hrpsim.HrpsimError as error:
        print(module.name, error)
"""
DOORS = """
import importlib, pkgutil, hrpsim
doors = [hrpsim.__name__, "evidence.crane"]
doors += [m.name for m in pkgutil.iter_modules(hrpsim.__path__, "hrpsim.") if m.ispkg]
for door in doors:
    room = importlib.import_module(door)
    for name in getattr(room, "__all__", ()):
        try:
            getattr(room, name)
        except hrpsim.HrpsimError as error:
            print(f"{door}.{name}: {error}")
            continue
        print(f"{door}.{name}: works")
"""
# Modules for one extra alone, apart from hrpsim.ros.
OF_EXTRAS = {
    "evidence.crane.joystick",
    "hrpsim.bag.checked_writer",
    "hrpsim.bridges.onnx_trial",
    "hrpsim.learning.environments",
    "hrpsim.model.readers.usd.stage",
    "hrpsim.model.readers.usd.stage_filters",
    "hrpsim.model.readers.usd.stage_joints",
    "hrpsim.model.readers.usd.stage_notes",
    "hrpsim.viewer.controls",
    "hrpsim.viewer.gate",
    "hrpsim.viewer.viewer",
}
NAMES_OF_EXTRAS = {
    "evidence.crane.JoystickCrane": "ros",
    "hrpsim.learning.TaskEnv": "learning",
    "hrpsim.learning.TaskVectorEnv": "learning",
    "hrpsim.viewer.Viewer": "viewer",
}

STAND, URDF = ROOT / "config/stand.yaml", ROOT / "urdf/hrp2_like.urdf.xacro"
WORLD = """
robots:
  - {name: arm, urdf: arm.urdf, base: fixed, gains: {shoulder: [10.0, 1.0]}}
"""
ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<origin xyz="0 0 -0.2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="shoulder" type="continuous"><parent link="base"/>
<child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
FIT = """
world: arm.yaml
recordings: [{file: arm.csv}]
parameters: {robots.arm.joints.shoulder.kp: 10.0}
"""
MOTION = """
keyframes:
- {time: 0.0, joints: {HEAD_JOINT0: 0.0}, fixed_link: [l_sole, r_sole]}
- {time: 0.1, joints: {HEAD_JOINT0: 0.1}}
"""
POLICY = """
policy: policy.onnx
period: 0.002
decimation: 5
joints: [shoulder]
default: 0.0
kp: 50.0
kd: 5.0
action: {scale: 0.5}
observations: [{term: joint_positions}]
"""
FILES = {
    "arm.yaml": WORLD,
    "arm.urdf": ARM,
    "arm.csv": "time,position.shoulder,command.shoulder\n"
    + "".join(f"{0.02 * k},{0.001 * k},{0.1}\n" for k in range(50)),
    "fit.yaml": FIT,
    "motion.yaml": MOTION,
    "policy.yaml": POLICY,
    "policy.onnx": "",
    "results/.zgroup": '{"zarr_format": 2}',
}

# Each command with arguments for a quick run, and the extra that it needs, "" for none.
COMMANDS = {
    "run": ([STAND, "--duration", "0.002"], ""),
    "walk": (["--duration", "0.01"], ""),
    "doctor": ([], ""),
    "view": ([STAND], "viewer"),
    "example": (["stand"], ""),
    "plot": (["run.npz", "solver"], "plot"),
    "crane": ([], "viewer"),
    "inverse-dynamics": ([URDF, "motion.yaml"], ""),
    "record": (["--output", "bag"], "ros,record"),
    "play": (["bag"], "record"),
    "wrench-plot": (["bag"], "record,plot"),
    "check-model": ([URDF], ""),
    "check-policy": (["policy.yaml", "arm.yaml"], "onnx"),
    "explain": (["policy.yaml", "arm.yaml"], "onnx,sweep"),
    "rollout": (["policy.yaml", "--world", "arm.yaml", "--worlds", "1"], "onnx,sweep"),
    "convert": ([URDF, "robot.urdf"], ""),
    "controller": (["new", "my_walk"], ""),
    "check-simulation-interfaces": ([], "ros"),
    "sweep": ([ROOT / "config/push_study.yaml", "--store", "store"], "sweep"),
    "fit": (["fit.yaml", "--processes", "1"], ""),
    "bench": (["--list"], ""),
    "verify": (["results"], "sweep"),
    "warm-up": (["rays"], ""),
    "reproduce": (["E7", "--quick"], ""),
}
# Options that need an extra, wherever a command has them, with the value that they take.
OPTIONS = {
    "--film": ("film.mp4", "camera"),
    "--plot": ("figure.png", "plot"),
    "--record": ("run.mcap", "record"),
    "--residuals": ("figure.png", "plot"),
    "--ros": (None, "ros"),
    "--viewer": (None, "viewer"),
}


def base_distributions():
    """Return the distributions that `install_requires` brings, with all that these require."""
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    wanted = [line for line in config["options"]["install_requires"].split("\n") if line]
    found = set()
    while wanted:
        requirement = Requirement(wanted.pop())
        name = canonicalize_name(requirement.name)
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        try:
            wanted += requires(requirement.name) or []
        except PackageNotFoundError:
            continue
    return found


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Return run(arguments, folder), which runs Python as in the base installation."""
    distributions = base_distributions()
    assert {"numba", "llvmlite", "numpy"} <= distributions and "rosbags" not in distributions
    packages = {"evidence", "hrpsim", "simulator_conformance"}
    for package, providers in packages_distributions().items():
        if distributions & {canonicalize_name(name) for name in providers}:
            packages.add(package)
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(f"BASE = {sorted(packages)}\n{SITE}", encoding="utf-8")
    path = os.pathsep.join([str(site), str(ROOT)])

    def run(arguments, folder):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def lines_of(done):
    assert done.returncode == 0, done.stderr
    return dict(re.split(": | ", line, maxsplit=1) for line in done.stdout.splitlines())


def test_the_child_sees_no_package_of_an_extra(base, tmp_path):
    code = f"import importlib.util as u; print([n for n in {sorted(EXTRAS)} if u.find_spec(n)])"
    assert base(["-c", code], tmp_path).stdout == "[]\n"


def test_only_modules_of_extras_need_their_packages(base, tmp_path):
    """Law: a feature of the base installation imports nothing that only an extra brings."""
    missing = lines_of(base(["-c", MODULES], tmp_path))
    assert set(missing) == OF_EXTRAS


def test_every_public_name_works_or_names_its_extra(base, tmp_path):
    """Law: each name of each `__all__` can be had, or its error says what to install."""
    found = lines_of(base(["-c", DOORS], tmp_path))
    assert len(found) > 150
    failed = {name: text for name, text in found.items() if text != "works"}
    assert set(failed) == set(NAMES_OF_EXTRAS)
    for name, extra in NAMES_OF_EXTRAS.items():
        assert f"pip install 'hrpsim[{extra}]'" in failed[name]


def commands():
    return _parser(None).get_default("commands")


def with_options():
    """Return (command, option) of each command that has an option of OPTIONS."""
    return [
        (name, option)
        for name, parser in commands().items()
        for option in OPTIONS
        if option in parser._option_string_actions and not COMMANDS[name][1]
    ]


def outcome(base, folder, *arguments):
    """Run a command; return its extra, "" if it worked. It must name it in one line."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    done = base(["-m", "hrpsim", *arguments], folder)
    if done.returncode == 0:
        return ""
    *_, line = done.stderr.splitlines()
    assert done.returncode == 1 and line.startswith("hrpsim: "), done.stderr
    assert "internal error" not in line and "Traceback" not in done.stderr, done.stderr
    named = re.search(r"pip install '?hrpsim\[([\w,]+)\]", line)
    assert named, line
    return named[1]


@pytest.mark.parametrize("name", commands())
def test_every_command_works_or_names_its_extra(name, base, tmp_path):
    """Law: exit status 0, or 1 with one line that says which extra to install."""
    assert name in COMMANDS, f"add arguments of a quick run of `hrpsim {name}`"
    arguments, extra = COMMANDS[name]
    assert outcome(base, tmp_path, name, *arguments).startswith(extra)


@pytest.mark.quick_cases("walk-*")
@pytest.mark.parametrize("name, option", with_options(), ids=lambda value: value)
def test_every_option_names_its_extra(name, option, base, tmp_path):
    """Law: an option that needs an extra says so before it computes."""
    value, extra = OPTIONS[option]
    arguments = [*COMMANDS[name][0], option, *([value] if value else [])]
    if name == "walk" and option in ("--ros", "--viewer"):
        arguments = [option]
    assert outcome(base, tmp_path, name, *arguments).startswith(extra)


def test_modules_of_no_extra_keep_their_error():
    error = ModuleNotFoundError("No module named 'my_robot'", name="my_robot")
    assert missing_package("walk", error) is error


def test_an_extra_is_named_with_what_needs_it():
    """Law: who catches ImportError, as for any optional package, catches this error too."""
    error = missing_package("walk", ModuleNotFoundError("none", name="websockets.asyncio"))
    assert isinstance(error, MissingPackageError) and isinstance(error, ImportError)
    assert str(error) == "walk needs websockets (none): pip install 'hrpsim[viewer]'"
