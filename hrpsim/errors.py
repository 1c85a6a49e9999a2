"""The exceptions of hrpsim; each message names what was given, where, and what exists instead."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class HrpsimError(Exception):
    """Base of every error that hrpsim raises on purpose."""


class ModelError(HrpsimError, ValueError):
    """A robot description that cannot be loaded; the message names file, element and cause."""


class WorldError(HrpsimError, ValueError):
    """A request that a world, robot or body cannot satisfy; its state is left unchanged."""


class StateError(WorldError):
    """A state, command or wrench with the wrong shape or with values that are not finite."""


class ModelWarning(UserWarning):
    """What was mended, replaced or left out of a file; the message names file and cause."""


def unknown_name(kind: str, given: str, available: Iterable[str], limit: int = 12) -> str:
    """Return "joint 'x' does not exist; did you mean ...; available: ..." for an error message."""
    names = list(available)
    close = get_close_matches(given, names, n=3)
    hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
    shown = ", ".join(names[:limit]) + (
        f", ... ({len(names)} in all)" if len(names) > limit else ""
    )
    return f"{kind} {given!r} does not exist{hint}; available: {shown or 'none'}"
