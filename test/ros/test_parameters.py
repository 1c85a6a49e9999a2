# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters: described, checked at the start and at run time."""

import pytest
from ros.conftest import LIMIT

from hrpsim.ros.base.parameter_table import SPECIFICATIONS
from hrpsim.ros.base.parameters import xacro_arguments


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("real_time_factor", "-1.0", "real_time_factor"),
        ("publish_rate", "fast", "publish_rate"),
        ("publish_rate", "200", "write 2.0, not 2"),
        ("step_count", "0", "step_count"),
        ("integrator", "leapfrog", "'leapfrog'"),
        ("world_file", "no_such_world.yaml", "no_such_world.yaml"),
        ("xacro_arguments", "['bush=true']", "'bush=true'"),
        ("time_step", "-0.5", "time_step"),
    ],
)
def test_a_bad_parameter_ends_the_node_in_one_line(simulations, name, value, complaint):
    node = simulations.start_program(
        "hrpsim.ros.simulation.node",
        "--ros-args",
        "-p",
        f"{name}:={value}",
        "-p",
        "start_paused:=true",
    )
    assert node.wait(LIMIT) == 1, node.lines
    assert any(complaint in line for line in node.lines)
    assert not any("Traceback" in line for line in node.lines)


def test_parameters_at_run_time(paused_simulation, listener):
    change = listener.set_parameter
    assert change("real_time_factor", 2.0).successful
    assert not change("real_time_factor", -2.0).successful
    assert not change("real_time_factor", "fast").successful
    assert change("step_count", 12).successful
    assert listener.call("/hrpsim/step").message.startswith("made 12 steps")
    for specification in SPECIFICATIONS:
        if specification.read_only:
            answer = change(specification.name, specification.default)
            assert not answer.successful, specification.name


def test_xacro_arguments():
    assert xacro_arguments([""]) == {}
    assert xacro_arguments(["bush:=true", "a:="]) == {"bush": "true", "a": ""}
    with pytest.raises(ValueError, match="'bush'"):
        xacro_arguments(["bush"])
