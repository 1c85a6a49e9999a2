# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The statuses of a compiled step, and the limits beyond which a state has diverged."""

from hrpsim.engine.compile import lazy_kernels

LARGEST_SPEED = 1e9  # [m/s or rad/s]
LARGEST_POSITION = 1e12  # [m or rad]
# Limit of a commanded position, velocity, effort or speed of a robot. It is far beyond the limits
# of joints, and products with gains do not overflow. Programs also send 1e308 as "no value".
LARGEST_COMMAND = 1e12


NEEDS_KERNEL = lazy_kernels.NEEDS_KERNEL  # the step needs a kernel that was not loaded
DONE = 0
MORE_CANDIDATES = 1  # from here on: the array of this name must grow before the step
MORE_CONTACTS = 2
MORE_BLOCKS = 3
MORE_ROWS = 4
MORE_RESPONSES = 5
MORE_DIRECT = 6
MORE_NEWTON = 7
SINGULAR = 8  # a joint has no positive inertia
DIVERGED = 9  # the new state would not be finite
TOO_STIFF = 10  # a new penalty contact would be unstable
WAKES = 11  # a sleeping body is loaded: it must wake, and the step is repeated
FALLS_ASLEEP = 12  # the step is done, and an island is due to sleep
WIDER_SEARCH = 13  # within a step: shapes move beyond the contacts that were found
RESOLVED = 14  # within a step: impacts changed the start of the step
TOO_LARGE = 15  # within a step: Newton's method would take too long for an island
