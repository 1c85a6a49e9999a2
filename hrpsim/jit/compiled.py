"""One wrapper for every compiled kernel: the numba options and the place of the compilation cache.

Numba's own cache looks at one file only: a caller stays compiled against the old text of a callee
that lives in another file. The cache folder is therefore named by a hash of every source in the
package, taken before anything is decorated, and lies where the user may write. A folder that can be
read only, filled by `hrpsim warm-up` as another user, serves as well.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
from pathlib import Path

import llvmlite
import numba

from hrpsim.jit.compiler_choice import OPTIONS, choose_compilers
from hrpsim.jit.kernel_cache import file_name, keep_on_disk
from hrpsim.jit.kernel_files import VARIABLE, remove_abandoned

_KEPT_CACHES = 6
_WITHOUT_KERNELS = {"bag", "commands", "control", "crane", "experiments", "ros", "viewer"}
_NO_KERNELS = {"cli.py", "moved.py", "errors.py", "interrupts.py", "resources.py"}
_NO_KERNELS |= {"kernel_cache.py", "kernel_files.py"}
_compilers = choose_compilers()


def _source_hash() -> str:
    tools = numba.__version__, llvmlite.__version__, platform.python_version(), _compilers.name
    digest = hashlib.sha256(" ".join(tools).encode())
    package = Path(__file__).parent.parent
    for source in sorted(package.rglob("*.py")):
        name = source.relative_to(package)
        if name.parts[0] in _WITHOUT_KERNELS or name.name in _NO_KERNELS:
            continue
        digest.update(name.as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path:
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrpsim"
    except RuntimeError:  # nobody's home: neither HOME nor an entry in the list of users
        return Path("/nonexistent/hrpsim")


def _prepare_cache() -> Path:
    home = _cache_home()
    folder = home / _source_hash()
    with contextlib.suppress(OSError):  # read only, or another process tidies up at the same time
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        remove_abandoned(folder)
        _forget_oldest(home)
    return folder


def _forget_oldest(home: Path) -> None:
    siblings = sorted(
        (p for p in home.iterdir() if p.is_dir() and len(p.name) == 16),
        key=lambda p: p.stat().st_mtime,
    )
    for stale in siblings[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)


cache_directory = _prepare_cache()
_found_compiled = any(cache_directory.glob("*.nbi"))


def is_compiled() -> bool:
    """Return whether an earlier process left compiled kernels for exactly these sources."""
    return _found_compiled


def is_cached(dispatcher) -> bool:
    """Return whether an earlier process left a kernel's machine code."""
    return (cache_directory / f"{file_name(dispatcher.py_func)}.nbi").exists()


def machine_code(dispatcher):
    """Return what `dispatcher` compiled, to be called with arguments of the same types.

    The dispatcher finds out the types of its arguments at each call, which takes longer than a
    step for a tuple of many arrays of records. What is returned does not look; ask for it once.
    """
    (compiled,) = dispatcher.overloads.values()
    return compiled.entry_point


def entry_point(dispatcher, *arguments):
    """Return a kernel's machine code for arguments of the types of these, compiled if need be.

    It takes any array as if it were of the type it was compiled for: hand over no others.
    """
    kinds = tuple(numba.typeof(argument) for argument in arguments)
    if kinds not in dispatcher.overloads:
        dispatcher.compile(kinds)
    return dispatcher.overloads[kinds].entry_point


def kernel(function):
    """Compile `function` with numba: no Python objects, no GIL, cached on disk, deterministic.

    Additions and multiplications may be fused; nothing else may be reordered, so that the same
    input gives the same bits. Array arguments are not reference counted (an atomic count costs as
    much as a small contact), so a kernel may read and write the arrays it is given, but must not
    create, return or keep any.
    """
    dispatcher = numba.njit(function, pipeline_class=_compilers.kernels, **OPTIONS)
    keep_on_disk(dispatcher, cache_directory)
    dispatcher.targetoptions["_nrt"] = False
    return dispatcher


def late_kernel(function):
    """Compile `function` as a kernel that others call by address (hrpsim.jit.late).

    It must return an integer.
    """
    dispatcher = kernel(function)
    dispatcher.targetoptions["no_cpython_wrapper"] = True
    dispatcher.targetoptions["no_cfunc_wrapper"] = True
    return dispatcher


def address_of(dispatcher, argument_types: tuple) -> int:
    """Return the address of a late kernel's machine code, compiled for these types of numba."""
    dispatcher.compile(argument_types)
    compiled = dispatcher.overloads[argument_types]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def inner_kernel(function, *, inline: bool = False):
    """Compile `function` as a kernel that other kernels call but Python cannot.

    With `inline` it always becomes part of its callers: for short ones on the hottest path.
    """
    dispatcher = numba.njit(
        function, pipeline_class=_compilers.inner_kernels, forceinline=inline, **OPTIONS
    )
    dispatcher.targetoptions["_nrt"] = False
    dispatcher.targetoptions["no_cpython_wrapper"] = True
    dispatcher.targetoptions["no_cfunc_wrapper"] = True
    return dispatcher


def inlined_kernel(function):
    """Compile `function` as an inner kernel that always becomes part of its callers.

    For short ones on the hottest path, where a call that hands over many arrays costs more than
    the work.
    """
    return inner_kernel(function, inline=True)
