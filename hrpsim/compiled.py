"""One wrapper for every compiled kernel: the numba options and the place of the compilation cache.

Numba's own cache looks at one file only: a caller stays compiled against the old text of a callee
that lives in another file. The cache folder is therefore named by a hash of every source in the
package, taken before anything is decorated, and lies where the user may write.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import tempfile
from pathlib import Path

import numba

_KEPT_CACHES = 6


def _source_hash() -> str:
    digest = hashlib.sha256(f"{numba.__version__} {platform.python_version()}".encode())
    package = Path(__file__).parent
    for source in sorted(package.rglob("*.py")):
        if source.parent.name in {"ros", "viewer", "experiments", "model"}:
            continue
        digest.update(source.relative_to(package).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def _cache_home() -> Path:
    chosen = os.environ.get("HRPSIM_CACHE_DIR")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrpsim"


def _prepare_cache() -> Path:
    home = _cache_home()
    folder = home / _source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="hrpsim-cache-"))
    siblings = sorted(
        (p for p in home.iterdir() if p.is_dir() and len(p.name) == 16),
        key=lambda p: p.stat().st_mtime,
    )
    for stale in siblings[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)
    return folder


cache_directory = _prepare_cache()


def is_compiled() -> bool:
    """Return whether an earlier process left compiled kernels for exactly these sources."""
    return any(cache_directory.rglob("*.nbi"))


def kernel(function):
    """Compile `function` with numba: no Python objects, no GIL, cached on disk, deterministic.

    Additions and multiplications may be fused; nothing else may be reordered, so that the same
    input gives the same bits. Array arguments are not reference counted (an atomic count costs as
    much as a small contact), so a kernel may read and write the arrays it is given, but must not
    create, return or keep any.
    """
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(cache_directory)
    try:
        dispatcher = numba.njit(
            function, cache=True, nogil=True, error_model="numpy", fastmath={"contract"}
        )
    finally:
        numba.config.CACHE_DIR = previous
    dispatcher.targetoptions["_nrt"] = False
    return dispatcher


def inner_kernel(function):
    """Compile `function` as a kernel that other kernels call but Python cannot: quicker to build."""
    dispatcher = kernel(function)
    dispatcher.targetoptions["no_cpython_wrapper"] = True
    dispatcher.targetoptions["no_cfunc_wrapper"] = True
    return dispatcher
