"""Kernels that the step calls by address, so that a world compiles only what it uses.

What some worlds do and others never (meshes, the stages of rk4, the direct solver) is compiled, and
kept on disk, apart from the step. The scene has an address for each, 0 as long as it was not
needed; `hrpsim.step.late_kernels` has the kernels themselves.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hrpsim.jit.reference import load_field

# Places in Scene.late.
LATE_COUNT = 20
(
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
    STEEPEST_DESCENT,  # for them
    DIRECT_SYSTEM,
    DIRECT_ISLAND,  # the solution of rows for the direct solver
    REST,  # how long loose bodies have been at rest
    SLEEP,  # which of them are to sleep
    RESTITUTION,  # impacts where some pair of materials has restitution
    MOMENTUM,  # of floating trees
    GRIP,  # a division of normal forces that holds what begins to slip
) = range(LATE_COUNT)


@intrinsic
def call_with_scene(typing_context, scene, place, more):
    """Call the late kernel at a place with the scene and a tuple of further arguments.

    Returns the integer that it returns. The arguments must have exactly the types that it was
    compiled for.
    """
    plain = types.BaseTuple.from_types([types.unliteral(t) for t in more])

    def _generate(context, builder, signature, values):
        scene_type, _, more_type = signature.args
        scene, place, packed = values
        late_type = scene_type.type_of("late")
        late = context.make_array(late_type)(
            context, builder, load_field(builder, scene_type, scene, "late")
        )
        address = builder.load(builder.gep(late.data, [place]))
        unpacked = [builder.extract_value(packed, k) for k in range(len(more_type))]
        return _call(context, builder, address, [scene_type, *more_type], [scene, *unpacked])

    return types.int64(scene, types.int64, plain), _generate


@intrinsic
def call_late(typing_context, address, arguments):
    """Call the kernel at an address with a tuple of arguments; return the integer it returns.

    The arguments must have exactly the types that the kernel was compiled for.
    """
    plain = types.BaseTuple.from_types([types.unliteral(t) for t in arguments])

    def _generate(context, builder, signature, values):
        address, packed = values
        argument_types = list(signature.args[1])
        unpacked = [builder.extract_value(packed, k) for k in range(len(argument_types))]
        return _call(context, builder, address, argument_types, unpacked)

    return types.int64(types.int64, plain), _generate


def _call(context, builder, address, argument_types, arguments):
    """Emit a call of a compiled kernel that returns an integer."""
    builder.call(_unlikely(builder.module), [])
    function_type = context.call_conv.get_function_type(types.int64, argument_types)
    function = builder.inttoptr(address, function_type.as_pointer())
    _, result = context.call_conv.call_function(
        builder, function, types.int64, argument_types, arguments
    )
    return result


def _unlikely(module):
    """Return a function that does nothing: where it is called, LLVM expects to come rarely.

    So the registers of the many steps that need no late kernel are not kept free for those that do.
    """
    name = "hrpsim.unlikely"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
    function.linkage = "internal"
    function.attributes.add("cold")
    function.attributes.add("noinline")
    body = ir.IRBuilder(function.append_basic_block())
    body.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
    body.ret_void()
    return function
