# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters: described, checked at the start and at run time."""

from functools import partial
from types import SimpleNamespace

import pytest
from rcl_interfaces.srv import GetParameters
from ros.conftest import LIMIT

from hrpsim.common.limits import PARAMETER_TEXT
from hrpsim.ros.base.parameters import SPECIFICATIONS, named_values
from hrpsim.ros.simulation.world_setup import warn_of_lockstep


@pytest.mark.quick_cases("time_step*", "publish_rate:=fast*", "world_file*")
@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("real_time_factor:=-1.0", "real_time_factor"),
        ("publish_rate:=fast", "publish_rate"),
        ("publish_rate:=200", "Write 2.0, not 2"),
        ("step_count:=0", "step_count"),
        ("integrator:=leapfrog", "'leapfrog'"),
        ("world_file:=no_such_world.yaml", "no_such_world.yaml"),
        ("xacro_arguments:=['bush=true']", "'bush=true'"),
        ("time_step:=-0.5", "time_step"),
    ],
)
def test_a_bad_parameter_ends_the_node_in_one_line(simulations, given, complaint):
    node = simulations.start_program(
        "hrpsim.ros.simulation.node", "--ros-args", "-p", given, "-p", "start_paused:=true"
    )
    assert node.wait(LIMIT) == 1, node.lines
    assert any(complaint in line for line in node.lines)
    assert not any("Traceback" in line for line in node.lines)


FILES = {
    "hrpsim: {real_time_factor: 2.0}": "at line 1; it takes 'hrpsim: {ros__parameters:",
    "hrpsim:\nros__parameters:\n  real_time_factor: 2.0\n": "before ros__parameters at line 1",
    "hrpsim: {ros__parameters: {foot_sensors: [a, 2.0]}}": "Sequence should be of same type",
    "hrpsim: {ros__parameters: {world_file: }}": "No value",
    "hrpsim:\n\tros__parameters: {}": "Error parsing a event",
    None: "the file does not exist",
}


@pytest.mark.quick_cases("simulation.node-*", "controller.controller_node-None")
@pytest.mark.parametrize("text", FILES)
@pytest.mark.parametrize("program", ["simulation.node", "controller.controller_node"])
def test_a_file_of_parameters_that_ros_refuses_ends_a_program_in_one_line(
    simulations, tmp_path, program, text
):
    """Law: rcl's reason is told, not where in hrpsim it was met."""
    file = tmp_path / "parameters.yaml"
    if text is not None:
        file.write_text(text)
    node = simulations.start_program(f"hrpsim.ros.{program}", "--ros-args", "--params-file", file)
    assert node.wait(LIMIT) == 1
    (line,) = node.lines
    assert str(file) in line and FILES[text] in line, line


@pytest.mark.quick_cases("/-hrpsim-None", "/robot1-hrpsim-/hrpsim", "/robot1-/??-None")
@pytest.mark.parametrize(
    ("namespace", "key", "told"),
    [
        ("/", "hrpsim", None),
        *(("/robot1", key, None) for key in ("/**", "/**/hrpsim", "robot1: {hrpsim")),
        ("/", "hrpsim_node", "/hrpsim_node"),
        ("/", "robot1: {hrpsim", "/robot1/hrpsim"),
        ("/robot1", "hrpsim", "/hrpsim"),
        ("/robot1", "/*", "/*"),
    ],
)
def test_a_file_of_parameters_for_other_nodes_is_named(simulations, tmp_path, namespace, key, told):
    """Law: a file that sets nothing, as its names are those of other nodes, is not passed over."""
    file = tmp_path / "parameters.yaml"
    file.write_text(f"{key}: {{ros__parameters: {{duration: 0.001}}}}" + "}" * key.count("{"))
    arguments = ["--ros-args", "--params-file", file, "-r", f"__ns:={namespace}"]
    if told:
        arguments += ["-p", "duration:=0.001"]  # which the file sets where it is for the node
    node = simulations.start_program("hrpsim.ros.simulation.node", *arguments)
    assert node.wait(LIMIT) == 0, node.lines
    (line,) = [line for line in node.lines if ": has no entry for " in line] or [None]
    assert (line is None) == (told is None), node.lines
    assert told is None or line.endswith(f"Entries: {told}")


def test_parameters_at_run_time(paused_simulation, listener):
    change = listener.set_parameter
    assert change("real_time_factor", 2.0).successful
    assert not change("real_time_factor", -2.0).successful
    assert not change("real_time_factor", "fast").successful
    assert change("step_count", 12).successful
    assert listener.call("/hrpsim/step").message.startswith("made 12 steps")
    for name, specification in SPECIFICATIONS.items():
        if specification.read_only:
            answer = change(name, specification.default)
            assert not answer.successful, name


def test_the_mode_off_may_be_written_as_yaml_has_it(simulations, listener):
    """Law: `-p modes.X:=off` and `ros2 param set /hrpsim modes.X off`, which YAML makes false."""
    node = simulations.start(
        namespace="/words",
        remap=["/clock:=clock"],
        start_paused=True,
        **{"modes.LARM_JOINT3": "off"},
    )
    change = partial(listener.set_parameter, node="/words/hrpsim")
    assert change("modes.RARM_JOINT3", False).successful
    assert "'True'" not in change("modes.RARM_JOINT3", True).reason
    request = GetParameters.Request(names=["modes.LARM_JOINT3", "modes.RARM_JOINT3"])
    answer = listener.call(
        "/words/hrpsim/get_parameters", request, "rcl_interfaces/srv/GetParameters"
    )
    assert [value.string_value for value in answer.values] == ["off", "off"], node.lines


def test_xacro_arguments():
    assert named_values("xacro_arguments", [""]) == {}
    assert named_values("xacro_arguments", ["bush:=true", "a:="]) == {"bush": "true", "a": ""}
    with pytest.raises(ValueError, match="'bush'"):
        named_values("xacro_arguments", ["bush"])


def test_a_long_text_is_refused_before_it_is_stored(paused_simulation, listener):
    """Law: a text over the limit changes nothing, and the reason does not repeat it."""
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import SetParameters

    value = ParameterValue(type=4, string_value="x" * (PARAMETER_TEXT + 1))
    request = SetParameters.Request(parameters=[Parameter(name="state_name", value=value)])
    kind = "rcl_interfaces/srv/SetParameters"
    (result,) = listener.call("/hrpsim/set_parameters", request, kind).results
    assert not result.successful and result.reason.endswith("are allowed (PARAMETER_TEXT)")
    value.string_value = "x" * PARAMETER_TEXT
    (result,) = listener.call("/hrpsim/set_parameters", request, kind).results
    assert result.successful, result.reason


@pytest.mark.parametrize(
    ("given", "warnings"),
    [
        ({"control_period": 0.005}, ["control_period has no effect without lockstep:=true"]),
        ({"lockstep": True, "control_period": 5.0}, ["control_period is 5 s, too long for"]),
        ({"lockstep": True, "control_period": 0.005}, []),
        ({}, []),
    ],
)
def test_parameters_of_lockstep_without_effect_are_named(given, warnings):
    """Law: what lockstep alone reads is named without it, and a period in milliseconds with it."""
    said = []
    values = {"lockstep": False, "control_period": 0.005, **given}
    node = SimpleNamespace(
        get_parameter=lambda name: SimpleNamespace(value=values[name]),
        get_logger=lambda: SimpleNamespace(warning=said.append),
        _parameter_overrides=given,
    )
    warn_of_lockstep(node)
    assert len(said) == len(warnings) and all(map(str.startswith, said, warnings))
