# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim controller new NAME`: writes templates of a controller and a test."""

import argparse
import keyword
import re
import sys
from pathlib import Path

from hrpsim.commands.parts.output import print_report
from hrpsim.common.errors import HrpsimError

_TAKEN = (
    *("hrpsim", "numpy", "pytest"),
    *("command", "controller", "controller_error", "control_loop"),  # as classes
)
_CONTROLLER = '''\
"""{title}: a controller for hrpsim.

    hrpsim_controller --ros-args -p controller:={module}.py:{title} -p lockstep:=true
"""

import numpy as np

from hrpsim.control.framework.controller import Command, Controller, ControllerError


class {title}(Controller):
    """Holds the posture that it begins in, and damps the joints by torques of its own."""

    period = 0.005  # [s] between two calls of `control`
    needs = {{"base": "estimated"}}  # "true": the truth; leave it out and State.base is None

    def configure(self, model, parameters):
        """Read the model and the parameters; ControllerError for invalid ones."""
        self.damping = parameters.get("damping", 1.0)  # [Nms/rad]
        if self.damping < 0.0:
            raise ControllerError(f"damping must not be negative, got {{self.damping}}")

    def initialize(self, state):
        """Start from the measurements of the first tick."""
        self.posture = state.joint_positions

    def control(self, state):
        """Return the command for the period that begins now."""
        efforts = -self.damping * state.joint_velocities
        return Command(positions=self.posture, velocities=np.zeros_like(efforts), efforts=efforts)
'''
_TEST = '''\
"""{title} keeps the robot on its feet."""

from pathlib import Path

import hrpsim
import pytest
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.framework.plugins import find_controller
from hrpsim.common.resources import share_path

{title} = find_controller(f"{{Path(__file__).with_name('{module}.py')}}:{title}")


@pytest.fixture
def robot():
    world = hrpsim.load_world(share_path("config/stand.yaml"))
    return world.robots["hrp2"]


def test_it_stands(robot):
    height = robot.q[2]
    with ControlLoop(robot, {title}()) as loop:
        for _ in range(200):
            loop.tick()
    assert abs(robot.q[2] - height) < 0.01


def test_it_refuses_what_cannot_be(robot):
    with pytest.raises(ControllerError, match="damping"):
        ControlLoop(robot, {title}(), {{"damping": -1.0}})
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("action", choices=("new",), help="write NAME.py and test_NAME.py")
    parser.add_argument("name", help="of the module, small letters: my_walk has the class MyWalk")
    parser.add_argument("--folder", type=Path, default=Path(), help="folder to write to")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=new_controller)


def new_controller(options: argparse.Namespace) -> int:
    """Write the controller and the test.

    On failure raise HrpsimError, before any file is written.
    """
    name = options.name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise HrpsimError(
            f"controller {name!r}: the name of a module consists of small letters, digits and _, "
            "as in my_walk"
        )
    if name in _TAKEN or name in sys.stdlib_module_names:
        raise HrpsimError(
            f"controller {name!r}: Python or an import of the controller has a module of this "
            f"name. Choose another name, such as my_{name}"
        )
    title = "".join(part.capitalize() for part in name.split("_"))
    texts = {options.folder / f"{name}.py": _CONTROLLER, options.folder / f"test_{name}.py": _TEST}
    for path in texts:
        if path.exists():
            raise HrpsimError(f"{str(path)!r} exists and is not overwritten. Choose another name")
    options.folder.mkdir(parents=True, exist_ok=True)
    for path, text in texts.items():
        path.write_text(text.format(title=title, module=name), encoding="utf-8")
    controller, test = texts
    report = {"controller": str(controller), "test": str(test), "run": f"python -m pytest {test}"}
    print_report(report, options.json)
    return 0
