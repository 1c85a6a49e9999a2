# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read and plot recordings of ROS topics without ROS. The writer takes serialised messages.

Contains the reader, also for damaged bags, foot wrenches and their plots.
"""

from typing import TYPE_CHECKING

from hrpsim.common.lazy_names import lazy_names

if TYPE_CHECKING:
    from hrpsim.bag.foot_wrenches import Foot as Foot
    from hrpsim.bag.foot_wrenches import FootWrenches as FootWrenches
    from hrpsim.bag.foot_wrenches import read_foot_wrenches as read_foot_wrenches
    from hrpsim.bag.reader import BagError as BagError
    from hrpsim.bag.reader import messages as messages
    from hrpsim.bag.reader import topic_types as topic_types
else:
    __all__, __getattr__, __dir__ = lazy_names(__name__)
