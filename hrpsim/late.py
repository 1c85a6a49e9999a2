"""Kernels that the step calls by address, so that a world compiles only what it uses.

What some worlds do and others never (meshes, the stages of rk4, the direct solver) is compiled, and
kept on disk, apart from the step. The scene has an address for each, 0 as long as it was not
needed; `hrpsim.world.late_kernels` has the kernels themselves.
"""

from __future__ import annotations

from numba import types
from numba.extending import intrinsic

# Places in Scene.late.
(
    SPHERES,  # contacts of spheres with anything but planes
    CONVEX,  # contacts of boxes, capsules and cylinders with one another
    MESHES,  # contacts of meshes
    SPIN,  # free rotation of bodies that are alone in their tree
    IMPACTS,  # times of impact of what is fast
    STRIKE,  # impacts at the start of an rk4 step
    RK4_STEP,
    STAGES,  # connections at the stages of an rk4 step
    CONNECTIONS,  # the rows of connections
    TENSION,  # of loaded connections
    PROJECTION,  # of rigid connections onto their error 0
    PENALTY_CONTACTS,
    SPRING_HINGES,  # the rows of spring hinges
    DESCENT,  # steepest descent for them
    DIRECT_SYSTEM,
    DIRECT_ISLAND,  # the solution of rows for the direct solver
    REST,  # how long loose bodies have been at rest
    SLEEP,  # which of them are to sleep
) = range(18)
LATE_COUNT = 18


@intrinsic
def call_late(typing_context, address, arguments):
    """Call the kernel at an address with a tuple of arguments; return the integer it returns.

    The arguments must have exactly the types that the kernel was compiled for.
    """
    plain = types.BaseTuple.from_types([types.unliteral(t) for t in arguments])

    def generate(context, builder, signature, values):
        argument_types = list(signature.args[1])
        pointer, packed = values
        function_type = context.call_conv.get_function_type(types.int64, argument_types)
        function = builder.inttoptr(pointer, function_type.as_pointer())
        unpacked = [builder.extract_value(packed, k) for k in range(len(argument_types))]
        _, result = context.call_conv.call_function(
            builder, function, types.int64, argument_types, unpacked
        )
        return result

    return types.int64(types.int64, plain), generate
