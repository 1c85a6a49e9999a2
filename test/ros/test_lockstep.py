# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers over topics in lockstep: the same bits as in process, and no silent waiting."""

import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from bridges.test_onnx_policy import SIZE, TEXT, lstm, network
from ros.conftest import LIMIT
from ros.messages import nanoseconds, time_told
from sensor_msgs.msg import JointState

import hrpsim
from hrpsim.control import ControlLoop, find_controller
from hrpsim.ros.base.child_process import own_shared_memory

STATE, WRENCH = "sensor_msgs/msg/JointState", "geometry_msgs/msg/WrenchStamped"
PROGRAM = "hrpsim.ros.controller.controller_node"
ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "tutorials" / "my_controller.md"
FEEDBACK = Path(__file__).with_name("feedback_controller.py")


def start_controller(simulations, name, *parameters, namespace="", lockstep=True):
    arguments = ["--ros-args", "-p", f"controller:={name}"]
    if lockstep:
        arguments += ["-p", "lockstep:=true"]
    if namespace:
        arguments += ["-r", f"__ns:={namespace}"]
    if parameters:
        arguments += ["-p", f"parameters:={list(parameters)}"]
    return simulations.start_program(PROGRAM, *arguments)


def documented(name):
    """Return the text of a file that docs/tutorials/my_controller.md tells to save."""
    block = rf"<!-- file: {name} -->\n```python\n(.*?)```"
    return re.search(block, DOCUMENT.read_text(), re.DOTALL)[1]


def in_process(name, parameters, ticks):
    """Return {stamp [ns]: joint positions, velocities, efforts, left foot's wrench} of a run."""
    world = hrpsim.load_world(ROOT / "config" / "stand.yaml")
    robot = world.robots["hrp2"]
    course = {}
    with ControlLoop(robot, find_controller(name)(), parameters) as loop:
        for _ in range(ticks + 1):
            measured = (robot.joint_positions, robot.joint_velocities, robot.joint_efforts)
            wrench = robot.sensors["lfsensor"].wrench
            course[round(world.time * 1e9)] = *measured, wrench
            if not loop.controller.finished:
                loop.tick()
    return course


OTHERS = "Touching", "Sway", "Demanding", "Guessing", "Policy", "LSTM"


@pytest.mark.parametrize(
    "controller", ["Feedback", *(pytest.param(other, marks=pytest.mark.long) for other in OTHERS)]
)
def test_the_same_bits_in_process_and_over_topics(simulations, listener, tmp_path, controller):
    if controller == "Sway":  # the one of the documentation, in a namespace, with states between
        (tmp_path / "sway.py").write_text(documented("sway.py"))
        name, parameters, namespace = f"{tmp_path}/sway.py:Sway", {"duration": 3.0}, "/left"
        ticks, options = 601, {"publish_rate": 1000.0}
    elif controller in ("Policy", "LSTM"):
        pytest.importorskip("onnxruntime")
        description = tmp_path / "policy.yaml"
        description.write_text(TEXT)
        if controller == "LSTM":
            lstm(tmp_path / "policy.onnx")
        else:
            weights = np.random.default_rng(0).normal(size=(SIZE, 2))
            network(tmp_path / "policy.onnx", weights)
        parameters = {"description": str(description), "commands": [[0.1, 0.5, 0.0, 0.0]]}
        name, namespace = "hrpsim.bridges:OnnxPolicy", ""
        parameters, ticks, options = parameters | {"duration": 2.5}, 501, {}
    else:
        ticks, options = 1000 if controller == "Feedback" else 500, {}
        name, parameters, namespace = f"{FEEDBACK}:{controller}", {"ticks": ticks}, ""
    node = simulations.start(namespace=namespace, lockstep=True, real_time_factor=0.0, **options)
    states = listener.collect(STATE, f"{namespace}/joint_states")
    wrenches = listener.collect(WRENCH, f"{namespace}/lfsensor")
    texts = [f"{key}:={value}" for key, value in parameters.items()]
    program = start_controller(simulations, name, *texts, namespace=namespace)
    last = ticks * 5_000_000  # there the node waits for a further command
    assert listener.wait_for(
        lambda: all(m and nanoseconds(m[-1]) == last for m in (states, wrenches)), LIMIT
    )
    assert program.wait(LIMIT) == 0
    assert node.stop() == 0
    assert f"{ticks} commands accepted, 0 rejected" in node.lines[-1]

    state_at = {nanoseconds(m): m for m in states}
    wrench_at = {nanoseconds(m): m.wrench for m in wrenches}
    course = in_process(name, parameters, ticks)
    assert len(course) == ticks + 1 >= 500
    for stamp, (positions, velocities, efforts, foot) in course.items():
        state, wrench = state_at[stamp], wrench_at[stamp]
        assert list(state.position) == positions.tolist(), stamp
        assert list(state.velocity) == velocities.tolist(), stamp
        assert list(state.effort) == efforts.tolist(), stamp
        over_topic = [getattr(part, k) for part in (wrench.force, wrench.torque) for k in "xyz"]
        assert over_topic == foot.tolist(), stamp
    assert np.ptp([foot[2] for *_, foot in course.values()]) > 50.0  # [N]: it did move


class Answering:
    """A node in lockstep that the test itself answers, message by message."""

    def __init__(self, simulations, listener):
        self.node = simulations.start(lockstep=True, lockstep_timeout=0.5, real_time_factor=0.0)
        self.listener = listener
        self.states = listener.collect(STATE, "joint_states")
        self.publisher = listener.publisher(STATE, "joint_commands")

    def send(self, stamp, names=("HEAD_JOINT0",), position=0.1):
        message = JointState(name=list(names), position=[position] * len(names))
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
        self.listener.send(self.publisher, message)

    def reaches(self, stamp):
        return self.listener.wait_for(lambda: self.states and nanoseconds(self.states[-1]) == stamp)

    def rejections(self):
        return [line for line in self.node.lines if "rejected: " in line]


def test_the_node_says_what_it_waits_for_and_what_it_does_not_take(simulations, listener):
    answering = Answering(simulations, listener)
    node = answering.node
    assert node.wait_for_line(
        "lockstep waits for /joint_commands with the stamp 0.000000000 s", LIMIT
    )
    assert answering.reaches(0)

    for stamp, names, cause in (
        (10_000_000, ["HEAD_JOINT0"], "its stamp is ahead (0.010000000 s, awaited 0.000000000 s)"),
        (0, ["NO_SUCH_JOINT"], "'hrp2': joint 'NO_SUCH_JOINT' does not exist"),
        (0, [], "the message names no joint"),
    ):
        answering.send(stamp, names)
        assert node.wait_for_line(f"/joint_commands rejected: {cause}", LIMIT), cause
    assert answering.reaches(0)  # still there

    answering.send(0)
    assert answering.reaches(5_000_000)
    assert node.wait_for_line("lockstep continues after", LIMIT)
    known = len(answering.rejections())
    answering.send(0)  # as a controller does that heard the state twice
    answering.send(5_000_000)
    assert answering.reaches(10_000_000)
    assert len(answering.rejections()) == known
    answering.send(5_000_001)
    assert node.wait_for_line("its stamp has passed (0.005000001 s, awaited 0.010000000 s)", LIMIT)
    answering.send(0)
    assert node.wait_for_line("it carries no stamp (0.000000000 s, awaited 0.010000000 s)", LIMIT)

    assert node.wait_for_line("with the stamp 0.010000000 s", LIMIT)
    time.sleep(0.7)  # it is not said again
    stalls = [line for line in node.lines if "lockstep waits" in line]
    stamps = [re.search(r"the stamp (\S+) s\. The wait", line)[1] for line in stalls]
    assert len(stamps) == len(set(stamps))  # once each
    assert (stamps[0], stamps[-1]) == ("0.000000000", "0.010000000")
    wait = r"0\.010000000 s\. The wait has lasted (\S+) s\. The topic has 1 publisher$"
    waited = re.search(wait, stalls[-1])
    assert float(waited[1]) >= 0.5
    node.send_signal(signal.SIGINT)
    assert node.wait(LIMIT) == 0
    assert "2 commands accepted, 5 rejected" in node.lines[-1]


def test_services_in_lockstep(simulations, listener):
    answering = Answering(simulations, listener)
    assert "Call ~/pause before" in listener.call("/hrpsim/step").message
    assert listener.call("/hrpsim/pause").success
    listener.set_parameter("step_count", 7)
    refused = listener.call("/hrpsim/step")
    assert not refused.success
    assert "made 0 of 7 steps: lockstep waits for /joint_commands" in refused.message

    answering.send(0)
    refused = listener.call("/hrpsim/step")  # the tick at 5 ms lacks its command
    assert "made 5 of 7 steps: lockstep waits" in refused.message
    assert answering.reaches(5_000_000)
    answering.send(5_000_000)
    listener.set_parameter("step_count", 4)
    assert "made 4 steps; time 0.009 s" in listener.call("/hrpsim/step").message
    assert answering.reaches(9_000_000)

    assert "time 0.015 s" in listener.call("/hrpsim/reset").message  # no tick at 10 ms
    assert answering.reaches(15_000_000)
    assert listener.call("/hrpsim/resume").success
    answering.send(10_000_000)
    assert answering.node.wait_for_line("its stamp has passed (0.010000000 s", LIMIT)
    answering.send(15_000_000)
    assert answering.reaches(20_000_000)


@pytest.mark.long
def test_a_killed_controller_is_missed_and_another_takes_over(simulations, listener):
    node = simulations.start(lockstep=True, lockstep_timeout=0.5, start_paused=True)
    states = listener.collect(STATE, "joint_states")
    first = start_controller(simulations, f"{FEEDBACK}:Feedback")
    assert first.wait_for_line("ready", LIMIT)
    assert listener.call("/hrpsim/resume").success
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) > 300_000_000)

    segments = own_shared_memory(first.pid)
    first.send_signal(signal.SIGKILL)
    assert first.wait(LIMIT) == -signal.SIGKILL
    for segment in segments:
        segment.unlink(missing_ok=True)

    def waits_where_it_stands():
        stamp = nanoseconds(states[-1])
        text = f"lockstep waits for /joint_commands with the stamp {stamp // 10**9}."
        return any(f"{text}{stamp % 10**9:09d} s" in line for line in node.lines)

    assert listener.wait_for(waits_where_it_stands)
    stopped_at = nanoseconds(states[-1])

    second = start_controller(simulations, f"{FEEDBACK}:Feedback")
    assert listener.wait_for(lambda: nanoseconds(states[-1]) > stopped_at + 300_000_000)

    def said(text):
        return sum(text in line for line in node.lines)

    # A busy machine lets it wait at other ticks, too.
    assert listener.wait_for(lambda: said("lockstep continues after") == said("lockstep waits"))
    assert second.lines.count("initialize") == 1

    # A reset: the controller notices, and the second life is the first, bit for bit.
    message = listener.call("/hrpsim/reset").message
    start = round(time_told(message) * 1e9)
    assert listener.wait_for(lambda: nanoseconds(states[-1]) > start + 300_000_000)
    assert second.lines.count("initialize") == 2
    at = {nanoseconds(m): (m.position, m.velocity, m.effort) for m in states}
    for t in range(0, 300_000_001, 5_000_000):
        assert at[start + t] == at[t], t
    assert start - 5_000_000 not in at
    assert second.stop() == 0


def test_errors_of_controllers_end_them_with_a_reason(simulations):
    simulations.start(lockstep=True)
    clumsy, dizzy, slow = (
        start_controller(simulations, f"{FEEDBACK}:{name}") for name in ("Clumsy", "Dizzy", "Slow")
    )
    assert clumsy.wait(LIMIT) == 1
    trace = clumsy.lines[clumsy.lines.index("Traceback (most recent call last):") :]
    assert str(FEEDBACK) in trace[1]
    assert "in control" in trace[1]
    assert "KeyError: 'third_foot'" in trace[-1]

    assert dizzy.wait(LIMIT) == 1
    assert (
        "hrpsim_controller: Dizzy: positions for joint 'RLEG_JOINT0' must be finite, got nan"
        in dizzy.lines[-1]
    )
    assert not any("Traceback" in line for line in dizzy.lines)

    assert slow.wait(LIMIT) == 1
    assert "period is 0.007 s, but the simulation expects commands 0.005 s apart" in slow.lines[-1]

    restless = start_controller(simulations, f"{FEEDBACK}:Restless")
    assert restless.wait_for_line("ready", LIMIT)
    restless.send_signal(signal.SIGINT)
    assert restless.wait(LIMIT) == 1
    assert "OSError: cannot stand still" in restless.lines[-1]
    assert restless.lines.count("stop") == 1


TOO_RARELY = (
    "hrpsim_controller: the controller's period is 0.005 s, but the simulation expects commands "
    "0.01 s apart"
)
REMEDY = ". Start the simulation with -p control_period:=0.005"


def test_a_controller_of_another_period_is_refused_before_its_first_command(simulations):
    node = simulations.start(lockstep=True, control_period=0.01, real_time_factor=0.0)
    hasty = start_controller(simulations, f"{FEEDBACK}:Feedback")
    assert hasty.wait(LIMIT) == 1
    assert hasty.lines[-1] == TOO_RARELY + REMEDY
    assert "ready" not in hasty.lines
    assert node.stop() == 0
    assert "0 commands accepted, 0 rejected" in node.lines[-1]


@pytest.mark.long
def test_a_controller_that_another_simulation_asks_too_rarely_ends(simulations, listener):
    """One that comes in place of the first is not asked for its period."""
    options = {"lockstep": True, "real_time_factor": 0.0, "publish_rate": 100.0}
    node = simulations.start(control_period=0.005, start_paused=True, **options)
    hasty = start_controller(simulations, f"{FEEDBACK}:Feedback")
    assert hasty.wait_for_line("ready", LIMIT)
    assert node.stop() == 0
    simulations.start(control_period=0.01, **options)
    assert hasty.wait(LIMIT) == 1
    assert hasty.lines[-1].startswith(f"{TOO_RARELY} (at ")
    assert hasty.lines[-1].endswith(f" s){REMEDY}")


@pytest.mark.quick_cases("Feedback-*", "no_such_package*", "*gain-parameters*")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no_such_package.module:Walk", "there is no module 'no_such_package'"),
        (f"{FEEDBACK}:Walk", "controller 'Walk' does not exist"),
        ("Feedback", "must be 'module:Class'"),
        (f"{FEEDBACK}:np", "is not a subclass of hrpsim.control.Controller"),
        (f"{FEEDBACK}:Feedback gain", "parameters: must be 'name:=value', got 'gain'"),
        (f"{FEEDBACK}:Feedback gain:=[", "parameters: gain:2:1: not YAML"),
    ],
)
def test_what_cannot_be_used_is_named(simulations, name, message):
    program = start_controller(simulations, *name.split())
    assert program.wait(LIMIT) == 1
    (line,) = program.lines
    assert message in line


def test_a_controller_that_cannot_be_imported_shows_where(simulations, tmp_path):
    file = tmp_path / "walk.py"
    file.write_text("import numpy\nimport no_such_thing\n")
    program = start_controller(simulations, f"{file}:Walk")
    assert program.wait(LIMIT) == 1
    assert program.lines[0] == "Traceback (most recent call last):"
    assert program.lines[1].strip().startswith(f'File "{file}", line 2')
    assert program.lines[-1] == "ModuleNotFoundError: No module named 'no_such_thing'"


def test_a_control_period_must_be_whole_steps(simulations):
    arguments = ["--ros-args", "-p", "lockstep:=true", "-p", "control_period:=0.0015"]
    node = simulations.start_program("hrpsim.ros.simulation.node", *arguments)
    assert node.wait(LIMIT) == 1
    expected = (
        "control_period of 0.0015 s is not a whole multiple of the world's time step of 0.001"
    )
    assert expected in node.lines[-1]
