"""How a compiled step ends."""

DONE = 0
MORE_CANDIDATES = 1  # the arrays named by these six must grow before the step can be done
MORE_CONTACTS = 2
MORE_BLOCKS = 3
MORE_ROWS = 4
MORE_RESPONSES = 5
MORE_DIRECT = 6
SINGULAR = 7  # a joint sees no positive inertia
DIVERGED = 8  # the new state would not be finite
TOO_STIFF = 9  # a penalty contact began that would explode
WAKES = 10  # something presses on a shape that sleeps: wake it, and do the step again
FALLS_ASLEEP = 11  # the step is done, and an island is to sleep from here on
NEEDS_KERNEL = 12  # a kernel that this world had no use for so far (hrpsim.jit.late)
LOOK_FURTHER = 13  # within a step: impacts drive shapes beyond the contacts that were found
RESOLVED = 14  # within a step: impacts changed its start
