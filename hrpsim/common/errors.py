# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The exceptions of hrpsim.

Each message names the given value, the location, and the alternatives.
"""

import importlib
import importlib.util
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from reprlib import Repr
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from hrpsim.common.limits import MESSAGE_LENGTH, SHOWN_LENGTH, WARNING_LENGTH

_Part = TypeVar("_Part")

_SEARCHED = 2000  # largest number of names that are searched for a similar one
_brief = Repr()
_brief.maxstring = _brief.maxother = SHOWN_LENGTH
_brief.maxlevel = 4


def shortened(text: str, longest: int = MESSAGE_LENGTH) -> str:
    """Return a text of at most `longest` characters, with a note in place of an omitted middle."""
    if len(text) <= longest:
        return text
    end = longest // 3
    left_out = len(text) - longest
    return f"{text[: longest - end]} ... ({left_out} characters) ... {text[-end:]}"


def one_line(message: object, longest: int = MESSAGE_LENGTH) -> str:
    """Return an error or text as one printable line, in the form in which hrpsim shows messages."""
    text = shortened(str(message), longest)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


class HrpsimError(Exception):
    """Base class of all errors of hrpsim. The text is one line of limited length."""

    def __str__(self) -> str:
        return one_line(Exception.__str__(self))  # the text of KeyError adds quotes


class ModelError(HrpsimError, ValueError):
    """A robot description that cannot be loaded. The message names file, element and cause."""


class WorldError(HrpsimError, ValueError):
    """A request that a world, robot or body cannot satisfy. The state does not change."""


class StateError(WorldError):
    """A state, command or wrench of the wrong shape or with values that are not finite."""


class UnknownNameError(WorldError, KeyError):
    """The lookup of a name that a mapping of robots, bodies or other elements does not have."""


class UnknownAttributeError(HrpsimError, AttributeError):
    """An attribute that a public object does not have, and so cannot be set."""


class ArgumentError(HrpsimError, TypeError):
    """Arguments that do not fit a class: one is missing, unknown or given twice."""


class FitError(HrpsimError, ValueError):
    """No parameters can be fitted to a recording or a request. The message names the cause."""


class ModelWarning(UserWarning):
    """A part of a file was corrected, replaced or ignored. The message names file and cause."""

    def __str__(self) -> str:
        return one_line(super().__str__(), WARNING_LENGTH)


class FitWarning(ModelWarning):
    """A part of a recording is not used, or a parameter is not determined.

    The message names the part or the parameter.
    """


def require_packages(purpose: str, packages: Iterable[str], remedy: str) -> None:
    """Raise HrpsimError "PURPOSE needs a, b: REMEDY" if a and b cannot be imported."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise HrpsimError(f"{purpose} needs {', '.join(missing)}: {remedy}")


def unknown_name(kind: str, given: Any, available: Iterable[str], limit: int = 12) -> str:
    """Return "joint 'x' does not exist. Did you mean 'y'? Available: ..." for an error message."""
    names = [str(name) for name in available]
    given = str(given)
    hint = suggestion(given, names)
    listed = ", ".join(name[:SHOWN_LENGTH] for name in names[:limit]) + (
        f", ... ({len(names)} in all)" if len(names) > limit else ""
    )
    return f"{kind} {shown_value(given)} does not exist{hint or '.'} Available: {listed or 'none'}"


def require_name(
    kind: str,
    given: Any,
    available: Collection[str],
    error: Callable[[str], Any] = WorldError,
    *,
    where: object = "",
    limit: int = 12,
) -> None:
    """Raise `error` with the text of `unknown_name` unless `given` is one of `available`.

    Args:
        kind: noun for the named object, such as "joint".
        given: a name. A value that is not text is refused too.
        available: the known names.
        error: class of the error, or a function that raises the error, given its text.
        where: start of the text, before a colon.
        limit: maximum number of known names in the text.

    Raises:
        error: `given` is not available.
    """
    try:
        is_known = given in available
    except TypeError:  # not hashable
        is_known = False
    if not is_known:
        text = unknown_name(kind, given, available, limit)
        raise error(f"{where}: {text}" if where else text)


def require_names(
    kind: str,
    given: Iterable[Any],
    available: Collection[str],
    error: Callable[[str], Any] = WorldError,
    *,
    where: object = "",
    limit: int = 12,
) -> None:
    """Raise `error` for the first of the given names that is unknown (see `require_name`)."""
    for name in given:
        require_name(kind, name, available, error, where=where, limit=limit)


def require_different(
    what: str, names: Sequence[str], error: Callable[[str], Any], where: str = ""
) -> None:
    """Raise `error`, "two WHAT have the name 'NAME'. Rename one", for a repeated name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise error(f"{where}two {what} have the name {name!r}. Rename one")


def suggestion(given: str, available: Iterable[str]) -> str:
    """Return ". Did you mean 'a', 'b'?" for an error message, "" if no name is similar."""
    if len(given) > SHOWN_LENGTH:
        return ""
    return _suggestion(given, tuple(islice(available, _SEARCHED)))


@lru_cache(maxsize=256)  # a file may repeat an unknown name a thousand times
def _suggestion(given: str, available: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(given, available, n=3)
    return f". Did you mean {', '.join(map(repr, close))}?" if close else ""


class NamedParts(dict[str, _Part]):
    """A dictionary from names to elements.

    A missing name raises UnknownNameError, which lists the existing `kind` names.
    """

    def __init__(self, kind: str, parts: Mapping[str, _Part]) -> None:
        super().__init__(parts)
        self._kind = kind

    def __missing__(self, name: str) -> NoReturn:
        raise UnknownNameError(unknown_name(self._kind, str(name), self))


def shown_value(value: object) -> str:
    """Return the repr of a value for an error message, cut if long or deep."""
    return _brief.repr(value)


def optional_module(name: str, consequence: str, log: Callable[[str], object]) -> ModuleType | None:
    """Return a module. If the package is missing, `log` the consequence and return None."""
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        log(f"{error.name} is not installed: {consequence}")
        return None
