# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read and plot recordings of ROS topics without ROS. The writer takes serialised messages.

Contains the reader, also for damaged bags, foot wrenches and their plots.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

__all__ = ["BagError", "Foot", "FootWrenches", "messages", "read_foot_wrenches", "topic_types"]

if TYPE_CHECKING:
    from hrpsim.bag.foot_wrenches import Foot, FootWrenches, read_foot_wrenches
    from hrpsim.bag.reader import BagError, messages, topic_types
else:
    __getattr__, __dir__ = lazy_names(__name__)
