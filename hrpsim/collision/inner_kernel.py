"""The collision layer's form of the kernel decorator, for speed of compilation and of calls."""

from __future__ import annotations

from hrpsim.compiled import kernel


def uncounted_kernel(function):
    """Compile `function` as a kernel whose array arguments are not reference counted.

    It may read and write the arrays it is given, but not create, return or keep any. Each atomic
    count costs as much as a small contact: with them, a box on a plane takes five times as long.
    """
    dispatcher = kernel(function)
    dispatcher.targetoptions["_nrt"] = False
    return dispatcher


def inner_kernel(function):
    """Compile `function` as an uncounted kernel that only other kernels call, never Python."""
    dispatcher = uncounted_kernel(function)
    dispatcher.targetoptions["no_cpython_wrapper"] = True
    dispatcher.targetoptions["no_cfunc_wrapper"] = True
    return dispatcher
