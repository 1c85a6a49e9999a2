# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The version of hrpsim that saved a world or snapshot: their fields depend on it.

It is pickled first, so that another version refuses before it reads fields that it lacks.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, NamedTuple

from hrpsim.errors import WorldError
from hrpsim.jit.fields import declared_fields
from hrpsim.step.arrays import Scene


class SavedFormat(NamedTuple):
    """The version of hrpsim, and a digest of the table of the scene's fields."""

    version: str
    fields: str

    def __reduce__(self) -> tuple[Any, ...]:
        """Make unpickling refuse what another version has saved."""
        return _unpickled, tuple(self)


def _unpickled(version: str, fields: str) -> SavedFormat:
    refuse_other_format("world or snapshot", (version, fields))
    return saved_format()


@cache
def saved_format() -> SavedFormat:
    """Return the format of this hrpsim."""
    from hrpsim.version import __version__

    table = [(path, field.dtype.descr, str(field.shape)) for path, field in declared_fields(Scene)]
    return SavedFormat(__version__, hashlib.sha256(repr(table).encode()).hexdigest()[:16])


def refuse_other_format(what: str, saved: tuple[str, str] | None) -> None:
    """Raise WorldError unless `what` was saved by this hrpsim; None: by one without this record.

    Worlds and snapshots are states of one version, and not converted.
    """
    ours = saved_format()
    if saved == ours:
        return
    theirs = "an earlier version" if saved is None else f"version {saved[0]}"
    if saved is not None and saved[0] == ours.version:
        theirs = f"another revision of version {saved[0]}"
    raise WorldError(
        f"the {what} was saved by {theirs} of hrpsim, whose state has other fields than that of "
        f"this one, version {ours.version}: load it there, or make it again here"
    )
