# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One wrapper for every compiled kernel: the numba options and the place of the compilation cache.

Numba's own cache looks at one file only: a caller stays compiled against the old text of a callee
that lives in another file. The cache folder is therefore named by a hash of every source in the
package, taken before anything is decorated, and lies where the user may write. A folder that can be
read only, filled by `hrpsim warm-up` as another user, serves as well.

Kernels of controllers have a folder of their own within it, named by a hash of the controllers'
sources as well, so that a change to a controller leaves the kernels of the step as they are.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import platform
import shutil
from collections.abc import Iterable
from pathlib import Path

import llvmlite
import numba
import numpy as np

from hrpsim.jit.compiler_choice import OPTIONS, choose_compilers
from hrpsim.jit.kernel_cache import file_name, keep_on_disk
from hrpsim.jit.kernel_files import VARIABLE, remove_abandoned

_KEPT_CACHES = 6
_HASH_LENGTH = 16
_WITHOUT_KERNELS = {"bag", "bridges", "commands", "control", "crane", "experiments"}
_WITHOUT_KERNELS |= {"geometry", "learning", "ros", "sweeps", "viewer"}
_NO_KERNELS = {"cli.py", "moved.py", "errors.py", "interrupts.py", "orphans.py"}
_NO_KERNELS |= {"resources.py", "user_modules.py"}
_NO_KERNELS |= {"kernel_cache.py", "kernel_files.py", "compiler_beside.py"}
_PACKAGE = Path(__file__).parent.parent
_CONTROL = "control"
_compilers = choose_compilers()


def _source_hash() -> str:
    tools = numba.__version__, llvmlite.__version__, platform.python_version(), _compilers.name
    sources = _PACKAGE.rglob("*.py")
    rooms = ((source.relative_to(_PACKAGE).parts[0], source) for source in sources)
    with_kernels = [source for room, source in rooms if room not in _WITHOUT_KERNELS]
    return _hash_of(" ".join(tools), with_kernels)


def _hash_of(seed: str, sources: Iterable[Path]) -> str:
    digest = hashlib.sha256(seed.encode())
    for source in sorted(sources):
        if source.name not in _NO_KERNELS:
            digest.update(source.relative_to(_PACKAGE).as_posix().encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:_HASH_LENGTH]


def _cache_home() -> Path:
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrpsim"
    except RuntimeError:  # nobody's home: neither HOME nor an entry in the list of users
        return Path("/nonexistent/hrpsim")


def _prepare_cache(home: Path, name: str) -> Path:
    """Return the folder `name` in `home`, made if need be; those used longest ago are removed."""
    folder = home / name
    with contextlib.suppress(OSError):  # read only, or another process tidies up at the same time
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        remove_abandoned(folder)
        _forget_oldest(home)
    return folder


def _forget_oldest(home: Path) -> None:
    siblings = sorted(
        (p for p in home.iterdir() if p.is_dir() and len(p.name) == _HASH_LENGTH),
        key=lambda p: p.stat().st_mtime,
    )
    for stale in siblings[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)


cache_directory = _prepare_cache(_cache_home(), _source_hash())


@functools.cache
def _control_directory() -> Path:
    """Return where the kernels of controllers are kept; found only where there are some."""
    name = _hash_of(cache_directory.name, _PACKAGE.joinpath(_CONTROL).rglob("*.py"))
    return _prepare_cache(cache_directory, name)


def cache_of(function) -> Path:
    """Return the folder that keeps what is compiled of a function."""
    room = function.__module__.split(".")[:2]
    return _control_directory() if room == ["hrpsim", _CONTROL] else cache_directory


def is_cached(dispatcher) -> bool:
    """Return whether an earlier process left a kernel's machine code."""
    function = dispatcher.py_func
    return (cache_of(function) / f"{file_name(function)}.nbi").exists()


_entry_points: dict[tuple, tuple] = {}


def entry_point(dispatcher, *arguments):
    """Return a kernel's machine code for arguments of the types of these, compiled if need be.

    The dispatcher finds out the types of its arguments at each call, which takes longer than a
    step for a tuple of many arrays of records. What is returned does not look: it takes any array
    as if it were of the type it was compiled for.
    """
    # Types of scenes take long to hash; as long as they are kept here, no others have their ids.
    key = (id(dispatcher), *map(_kind_of, arguments))
    if key not in _entry_points:
        kinds = tuple(numba.typeof(argument) for argument in arguments)
        if kinds not in dispatcher.overloads:
            dispatcher.compile(kinds)
        _entry_points[key] = dispatcher, kinds, dispatcher.overloads[kinds].entry_point
    return _entry_points[key][-1]


def _kind_of(argument) -> tuple:
    """Return what numba's type of an argument depends on, which is found sooner than the type."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        layout = flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned
        return type(argument), argument.dtype, argument.ndim, *layout
    if type(argument) in (bool, int, float):
        return (type(argument),)
    return (id(numba.typeof(argument)),)


def _give_signature(function) -> None:
    """Give a function the signature that numba looks for, twice, in a tenth of inspect's time.

    There are nine hundred kernels, so that it is 0.05 s of each start.
    """
    code = function.__code__
    if code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return
    names = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    values = (inspect.Parameter.empty,) * (len(names) - len(defaults)) + defaults
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    function.__signature__ = inspect.Signature(
        [inspect.Parameter(n, kind, default=v) for n, v in zip(names, values, strict=True)],
        __validate_parameters__=False,
    )


def kernel(function):
    """Compile `function` with numba: no Python objects, no GIL, cached on disk, deterministic.

    Additions and multiplications may be fused; nothing else may be reordered, so that the same
    input gives the same bits. Array arguments are not reference counted (an atomic count costs as
    much as a small contact), so a kernel may read and write the arrays it is given, but must not
    create, return or keep any.
    """
    _give_signature(function)
    dispatcher = numba.njit(function, pipeline_class=_compilers.kernels, **OPTIONS)
    keep_on_disk(dispatcher, cache_of(function))
    dispatcher.targetoptions["_nrt"] = False
    return dispatcher


def address_of(dispatcher, argument_types: tuple) -> int:
    """Return the address of a kernel's machine code, compiled for these types of numba."""
    dispatcher.compile(argument_types)
    compiled = dispatcher.overloads[argument_types]
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)


def inner_kernel(function, *, inline: bool = False):
    """Compile `function` as a kernel that other kernels call but Python cannot.

    With `inline` it always becomes part of its callers: for short ones on the hottest path.
    """
    _give_signature(function)
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
