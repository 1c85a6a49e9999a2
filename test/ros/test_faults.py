# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What callbacks raise: refusals are told to who asked, own faults are logged as well."""

import pytest
from rclpy.executors import ExternalShutdownException
from std_srvs.srv import Trigger

from hrpsim import WorldError
from hrpsim.ros.base.faults import Faults, Rejections, sendable


class Log:
    """Takes what a logger would."""

    def __init__(self):
        self.lines = []

    def error(self, text):
        self.lines.append(text)

    warning = error


@pytest.fixture
def log():
    return Log()


@pytest.fixture
def faults(log):
    return Faults(lambda: log, ending=(ExternalShutdownException,), clock=lambda: 0.0)


def raising(error):
    def callback(*arguments):
        raise error

    return callback


@pytest.mark.parametrize(
    "error, count, answer",
    [
        (WorldError("no such body"), 0, "no such body"),
        (RecursionError(), 0, "the input has too many nested levels"),
        (MemoryError(), 0, "the input needs more memory than available"),
        (KeyError("mass"), 1, "internal error: KeyError: 'mass'. See the traceback in the log"),
    ],
)
def test_a_service_answers_whatever_is_raised(faults, log, error, count, answer):
    """Law: every error becomes an answer; only the node's own are counted and logged."""
    callback = faults.answering(Trigger, "~/step", raising(error))
    response = callback(Trigger.Request(), Trigger.Response())
    assert not response.success and answer in response.message
    assert faults.count == count
    assert ["Traceback" in line for line in log.lines] == [True] * count


def test_the_same_traceback_stands_in_the_log_once(faults, log):
    """Law: a fault that comes again and again is counted, and logged once in a while."""
    for _ in range(50):
        with faults.held("publishing"):
            raise ValueError("again")
    assert faults.count == 50
    assert sum("Traceback" in line for line in log.lines) == 1


def test_the_end_of_ros_is_no_fault(faults):
    """Law: who ends ROS ends the loop."""
    with pytest.raises(ExternalShutdownException), faults.held("a turn"):
        raise ExternalShutdownException
    with pytest.raises(KeyboardInterrupt), faults.held("a turn"):
        raise KeyboardInterrupt


def test_a_rejection_is_counted_and_explained(faults, log):
    """Law: whatever a message raised is a rejection; only the node's own errors are faults."""
    rejections = Rejections(log, faults)
    rejections.note(WorldError("no such joint"), "/topic")
    assert rejections.last == "/topic rejected: no such joint" and faults.count == 0
    rejections.note(TypeError("odd"), "/topic", "the base stays")
    assert "rejected, the base stays: /topic: internal error: TypeError: odd" in rejections.last
    assert rejections.count == 2 and faults.count == 1


def test_a_flood_on_one_topic_hides_nothing_on_another(faults, log):
    """Law: of one topic 16 causes a second are named, whatever the others are sent."""
    rejections = Rejections(log, faults)
    for topic in ("/one", "/other"):
        for k in range(40):
            rejections.note(WorldError(f"cause {k}"), topic)
        assert sum(topic in line for line in log.lines) == 16
    assert rejections.count == 80


def test_answers_can_be_sent():
    """Law: an answer is Unicode of bounded length, whatever it quotes."""
    text = sendable("\ud800" * 10_000)
    text.encode("utf-8")
    assert len(text) < 3000
