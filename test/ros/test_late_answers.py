# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Answers that the middleware cannot send at first: the client's reader is not matched yet."""

import warnings

import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.service import Service
from std_srvs.srv import Trigger

from hrpsim.ros.base import guarded_node
from hrpsim.ros.base.guarded_node import AnsweringNode

TRIES = len(guarded_node._AGAIN_AFTER)  # after the first


@pytest.fixture
def deaf(monkeypatch):
    """Call with a number: so many times the middleware gives an answer up, as rclpy tells it."""
    monkeypatch.setattr(guarded_node, "_AGAIN_AFTER", (1e-3,) * TRIES)
    send, told = Service.send_response, []

    def begin(times):
        def gives_up_at_first(service, response, header):
            if len(told) < times:
                told.append(service.srv_name)
                text = "failed to send response (timeout): client will not receive response"
                warnings.warn(text, RuntimeWarning, stacklevel=1)
            else:
                send(service, response, header)

        monkeypatch.setattr(Service, "send_response", gives_up_at_first)
        return told

    return begin


@pytest.fixture
def asked(listener, deaf):
    """Call with a condition: one request to a node's service, and turns of both until it holds."""
    node = AnsweringNode("answers", context=listener.context)
    executor = SingleThreadedExecutor(context=listener.context)
    executor.add_node(node)
    handled = []

    def handle(request, response):
        handled.append(request)
        response.success = True
        return response

    node.create_service(Trigger, "late", handle)
    client = listener.node.create_client(Trigger, "late")

    def ask(until):
        assert listener.wait_for(client.service_is_ready)
        future = client.call_async(Trigger.Request())

        def turn():
            executor.spin_once(timeout_sec=0.01)
            return until(future)

        assert listener.wait_for(turn)
        assert len(handled) == 1
        return node

    yield ask
    executor.shutdown()
    node.destroy_node()


@pytest.mark.parametrize("times", [0, 1, TRIES])
def test_an_answer_is_sent_until_it_goes_out(deaf, asked, times):
    """Law: a request is handled once, and answered however often the first tries fail."""
    told = deaf(times)
    node = asked(lambda future: future.done() and future.result().success)
    assert len(told) == times and not list(node.timers)


def test_an_answer_that_never_goes_out_is_given_up(deaf, asked, capfd):
    """Law: who is never found is told of in the log, and nothing goes on for him."""
    told = deaf(2 * TRIES)
    node = asked(lambda future: len(told) > TRIES)
    assert len(told) == TRIES + 1 and not list(node.timers)
    assert "late: a response is lost" in "".join(capfd.readouterr())
