# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The commands of docs/howto/ros.md are good: calls get answers, files and parameters exist."""

import importlib.util
import re
from pathlib import Path

import pytest
import yaml
from pages.commands import launch_text

from hrpsim import World, load_model
from hrpsim.ros.base.parameters import SPECIFICATIONS
from hrpsim.ros.controller.controller_node import PARAMETERS
from hrpsim.ros.simulation.entity_services import bounding_box
from robots import HRP2_LIKE

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "howto" / "ros.md").read_text()
CALL = re.compile(r'^ros2 service call (\S+) (\S+)(?: "(.*)")?$', re.MULTILINE)


def fill(message, values):
    """Set fields as `ros2 service call` does."""
    for name, value in values.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        else:
            present = getattr(message, name)
            setattr(message, name, type(present)(value))


@pytest.mark.skipif(
    importlib.util.find_spec("simulation_interfaces") is None, reason="make setup-test builds it"
)
def test_service_calls_succeed_one_after_another(simulations, listener):
    from ros.conftest import message_type

    simulations.start(real_time_factor=0.5)
    calls = CALL.findall(TEXT)
    assert len(calls) > 8
    for service, kind, text in calls:
        request = message_type(kind).Request()
        fill(request, yaml.safe_load(text) if text else {})
        response = listener.call(service, request, kind)
        if hasattr(response, "result"):
            assert response.result.result == 1, (service, response.result.error_message)


def test_the_twin_stands_on_the_floor():
    """Law: the pose that is told puts the lowest point of the robot at the height of the floor."""
    call = next(line for line in TEXT.splitlines() if "name: twin" in line)
    pose = yaml.safe_load(re.search(r'"(.*)"$', call)[1])["initial_pose"]["pose"]["position"]
    world = World()
    robot = world.add_robot(load_model(HRP2_LIKE), name="twin")
    q = robot.q.copy()
    q[:3] = [pose.get(axis, 0.0) for axis in "xyz"]
    robot.q = q
    lower, _ = bounding_box(robot)
    assert lower[2] == pytest.approx(0.0, abs=1e-9)


def test_parameters_exist():
    known = {*SPECIFICATIONS, *PARAMETERS}
    named = set(re.findall(r"-p \"?(\w+):=", TEXT))
    assert named
    assert named <= known


def test_files_and_programs_exist():
    setup = (ROOT / "setup.cfg").read_text()
    for program in re.findall(r"^(hrpsim\w*|wrench_\w+) ", TEXT, re.MULTILINE):
        assert f"{program} = hrpsim." in setup, program
    for module in re.findall(r"python -m ([\w.]+)", TEXT):
        assert importlib.util.find_spec(module), module
    for name in re.findall(r"ros2 launch hrpsim (\S+)", TEXT):
        text = launch_text(name)
        line = TEXT.split(f"ros2 launch hrpsim {name}")[1].split("\n")[0].split("#")[0]
        for argument in re.findall(r"(\w+):=", line):
            assert f'"{argument}"' in text, argument
    for link in re.findall(r"\]\(([\w./]+\.\w+)[^ )]*\)", TEXT):
        assert (ROOT / "docs" / "howto" / link).exists(), link


def test_the_arm_command_has_a_number_for_each_joint():
    numbers = re.search(r"right_arm_controller/commands .*data: (\[.*?\])", TEXT)[1]
    parameters = yaml.safe_load((ROOT / "config" / "ros2_control.yaml").read_text())
    arm = parameters["/**/right_arm_controller"]["ros__parameters"]["joints"]
    assert len(yaml.safe_load(numbers)) == len(arm)


def test_the_description_of_a_robot_of_ones_own_is_understood():
    element = re.search(r"<ros2_control name=\"my_robot\".*?</ros2_control>", TEXT, re.DOTALL)[0]
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = f'<inertial><mass value="1"/>{inertia}</inertial>'
    model = load_model(
        f"""<robot name="r"><link name="thigh">{link}</link><link name="shank">{link}</link>
        <joint name="knee" type="continuous"><parent link="thigh"/><child link="shank"/></joint>
        {element}</robot>"""
    )
    assert model.command_interfaces == {"knee": ("position",)}
