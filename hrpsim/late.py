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
    CONVEX,  # contacts of boxes, capsules and cylinders with one another
    MESHES,  # contacts of meshes
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
    SLEEP,
) = range(15)
LATE_COUNT = 15


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
