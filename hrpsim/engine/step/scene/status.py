# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The statuses of a compiled step, and the limits beyond which a state has diverged."""

from hrpsim.engine.compile import lazy_kernels

LARGEST_SPEED = 1e9  # [m/s or rad/s]
LARGEST_POSITION = 1e12  # [m or rad]
# Of a commanded position, velocity, effort or speed of a robot: far beyond any limit of a joint,
# and products with gains stay far from overflow. Programs also send 1e308 to say "no value".
LARGEST_COMMAND = 1e12


NEEDS_KERNEL = lazy_kernels.NEEDS_KERNEL  # one that this world did not use so far
DONE = 0
MORE_CANDIDATES = 1  # the arrays named by these must grow before the step can be done
MORE_CONTACTS = 2
MORE_BLOCKS = 3
MORE_ROWS = 4
MORE_RESPONSES = 5
MORE_DIRECT = 6
MORE_NEWTON = 7
SINGULAR = 8  # a joint sees no positive inertia
DIVERGED = 9  # the new state would not be finite
TOO_STIFF = 10  # a penalty contact began that would explode
WAKES = 11  # something presses on a shape that sleeps: wake it, and do the step again
FALLS_ASLEEP = 12  # the step is done, and an island is to sleep from here on
WIDER_SEARCH = 13  # within a step: impacts drive shapes beyond the contacts that were found
RESOLVED = 14  # within a step: impacts changed its start
TOO_LARGE = 15  # within a step: an island whose solution by Newton's method would take too long
