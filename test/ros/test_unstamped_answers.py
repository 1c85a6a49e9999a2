# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lockstep with commands that carry no stamp: each tick has its own answer."""

import pytest
from ros.stand_ins import Log, Topic

from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.lockstep import Lockstep, LockstepSettings
from hrpsim.ros.unitree.unstamped_answers import UnstampedAnswers

SILENCE = 0.2  # longer than answers to copies are awaited [s]


class Client:
    """A topic of commands, and a node that asks and polls as the simulation does."""

    def __init__(self):
        self.now = 0.0
        self.clock, log, self.topic = SimulationClock(1e-3), Log(), Topic()
        self.topic.topic = "/lowcmd"
        settings = LockstepSettings(2e-3, 1.0, "pause")
        rejections = Rejections(log, Faults(lambda: log))
        self.lockstep = Lockstep(self.clock, rejections, log, settings)
        self.answers = UnstampedAnswers(self.topic, self.lockstep, self.clock, lambda: self.now)
        self.acting = []

    def send(self, *commands):
        self.topic.arrived += commands

    def poll(self):
        """Take what is due; return whether time may continue."""
        for command in self.answers.take_due():
            self.acting.append(command)
            self.answers.accepted()
        return not self.lockstep.is_waiting

    def step(self):
        self.clock.steps += 2


@pytest.fixture
def client():
    return Client()


def test_a_command_answers_the_state_before_it(client):
    client.send("early")
    assert client.answers.asks() and not client.poll()
    client.send("a")
    assert client.poll() and client.acting == ["a"]
    client.step()
    client.send("between")
    assert client.answers.asks() and not client.poll()
    client.send("b")
    assert client.poll() and client.acting == ["a", "b"]


def test_time_continues_once_all_copies_are_answered(client):
    """Law: an answer to a copy never counts for the next tick."""
    assert client.answers.asks() and client.answers.asks() and client.answers.asks()
    client.send("1", "2")
    assert not client.poll()
    client.send("3")
    assert client.poll() and client.acting == ["1", "2", "3"]
    client.step()
    assert client.answers.asks()
    assert not client.answers.asks(), "a client that answers is asked once"


def test_time_continues_after_a_silence_if_a_copy_was_not_heard(client):
    assert client.answers.asks() and client.answers.asks()
    client.send("1")
    assert not client.poll() and not client.poll()
    assert not client.answers.asks(), "the client is there"
    client.now += SILENCE
    assert client.poll() and client.acting == ["1"]


def test_a_late_answer_does_not_count_for_the_next_tick(client):
    """Law: after a reset, or a tick without an answer, two answers are awaited."""
    assert client.answers.asks()
    client.send("0")
    assert client.poll()
    client.step()
    assert client.answers.asks()
    client.answers.discard()
    client.step()
    assert client.answers.asks()
    client.send("late")
    assert not client.poll()
    client.send("1")
    assert client.poll()
    client.step()
    assert client.answers.asks()
    client.step()
    client.send("late, but before the state")
    assert client.answers.asks()
    client.send("2")
    assert client.poll() and client.acting == ["0", "late", "1", "2"]


def test_a_client_that_starts_again_is_asked_again(client):
    assert client.answers.asks()
    client.send("1")
    assert client.poll()
    client.step()
    assert client.answers.asks() and not client.answers.asks()
    client.topic.publishers = 0
    assert client.answers.asks(), "nobody is there"
    client.topic.publishers = 1
    assert client.answers.asks(), "the next client has not heard the state"
    client.send("2")
    assert not client.poll()
    client.now += SILENCE
    assert client.poll()


def test_the_wait_names_the_topic_and_the_state(client):
    assert client.answers.asks()
    assert not client.lockstep.wait(0.0, client.poll)
    text = client.lockstep.describe_wait()
    assert "waits for /lowcmd in answer to the state of 0.000000000 s" in text
