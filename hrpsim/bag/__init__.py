# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recorded signals and bags of ROS topics: write, read and plot them without ROS.

Contains the table of a world's signals, a logger of signals, and a reader of intact and damaged
bags.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = [
    "BagError",
    "Foot",
    "FootWrenches",
    "SignalLog",
    "draw_signals",
    "messages",
    "read_foot_wrenches",
    "read_signals",
    "topic_types",
]

if TYPE_CHECKING:
    from hrpsim.bag.foot_wrenches import Foot, FootWrenches, read_foot_wrenches
    from hrpsim.bag.reader import BagError, messages, topic_types
    from hrpsim.bag.signal_figure import draw_signals
    from hrpsim.bag.signal_files import read_signals
    from hrpsim.bag.signal_log import SignalLog
else:
    __getattr__, __dir__ = lazy_names(__name__)
