# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What messages of the node say."""

import numpy as np


def seconds(message):
    """Return the stamp of a message [s]."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def nanoseconds(message):
    """Return the stamp of a message, or the time that /clock tells [ns]; 0 if it has none."""
    header = getattr(message, "header", None)
    stamp = getattr(message, "clock", None) or getattr(header, "stamp", None)
    return stamp.sec * 1_000_000_000 + stamp.nanosec if stamp else 0


def stamps(messages):
    """Return the stamps of messages (n,) [ns]."""
    return np.array([nanoseconds(message) for message in messages])


def vector(message):
    """Return a message's x, y, z (3,)."""
    return np.array([message.x, message.y, message.z])


def time_told(answer):
    """Return the simulated time that an answer of the node ends with [s]."""
    return float(answer.split("time ")[1].split()[0])


def wait_for_state(listener, answer, *topics):
    """Wait until the last message of each topic is of the state that an answer tells of [s]."""
    assert answer.success, answer.message
    now = time_told(answer.message)
    assert listener.wait_for(
        lambda: all(received and abs(seconds(received[-1]) - now) < 1e-9 for received in topics)
    )
    return now


def warnings_in(log):
    """Return the node's warnings about messages, not those about the solver."""
    told = [entry.msg for entry in log if entry.name == "hrpsim" and entry.level == 30]
    return [text for text in told if "did not converge" not in text]
