# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What messages of the node say."""


def seconds(message):
    """Return the stamp of a message [s]."""
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def warnings_in(log):
    """Return the node's warnings about messages, not those about the solver."""
    told = [entry.msg for entry in log if entry.name == "hrpsim" and entry.level == 30]
    return [text for text in told if "did not converge" not in text]
